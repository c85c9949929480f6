import type { Category } from './categories.js';
import { JDK, jvmCause, withoutPackages } from './java-messages.js';
import { slashed } from './normalise.js';
import { maskNames, slugOf } from './patterns.js';
import { emptyReading, type Finding, type Reading, type ToolFamily } from './types.js';

/** Maven's own words: what could not be resolved, which POM is wrong, which goal failed. Compilers and tests in it speak for themselves. */

const ERROR = /^\[(?:ERROR|FATAL)\] (.*)$/;
const GOAL =
  /^Failed to execute goal (?:([\w.-]{1,200}):([\w.-]{1,200}):[\w.-]{1,80}:([\w-]{1,80}) (?:\([^)]{1,100}\) )?)?on project ([\w.-]{1,200}): (.*)$/;
const RESOLUTION =
  /could not be resolved|Could not resolve dependencies|Could not (?:find|transfer) artifact|Failed to collect dependencies|Non-resolvable (?:parent POM|import POM)|Unresolveable build extension|Failed to read artifact descriptor|No plugin found for prefix|Error resolving version for plugin|Plugin .{1,200} not found/;
const POM =
  /^(?:Malformed POM|Non-parseable POM|Some problems were encountered|The project .{1,300} has \d+ errors?|'[\w.[\]-]{1,120}' .{1,300}|The build could not read|Child module .{1,300} does not exist|Unknown lifecycle phase|The goal you specified requires a project|No goals have been specified|Could not find (?:goal|the selected project)|Unrecognised tag|Project '.{1,200}' is duplicated|The parameters .{1,200} are missing or invalid|Unable to parse configuration)/;
const CHECKSTYLE =
  /^\[(?:ERROR|WARN(?:ING)?)\] (\S{1,400}\.\w{1,8}):(?:\[(\d{1,7})(?:,(\d{1,7}))?\]|(\d{1,7})(?::(\d{1,7}))?:) \((\w{1,40})\) (\w{1,60}): (.*)$/;
const ANT_CHECKSTYLE = /^\[ant:checkstyle\] \[ERROR\] (\S{1,400}):(\d{1,7})(?::(\d{1,7}))?: (.{1,500}) \[(\w{1,60})\]$/;
/** Closing words: they name a failure that something else has explained. */
const CLOSING = /^(?:Compilation failure|There (?:are|were) test failures|There was a timeout|Please refer to|There are test failures)/;

const of = (pattern: string, category: Category, text: string, at: number, more: Partial<Finding> = {}): Finding => ({
  ...{
    tool: 'maven',
    pattern,
    code: null,
    category,
    file: null,
    place: '',
    identity: text,
    owner: null,
    messages: [text.slice(0, 600)],
    at,
  },
  ...more,
});

const infra = (reading: Reading, kind: Reading['infra'][number]['kind'], line: string, at: number, sure = true): void => {
  reading.infra.push({ kind, tool: 'maven', line: line.slice(0, 600), sure, at });
};

/** Transport trouble is the machine's; a reached repository that has no such artifact is the POM's. */
const readResolution = (text: string, at: number, reading: Reading): void => {
  const cause = jvmCause(text);
  const absent =
    /(?:Could not find artifact (\S{1,300}?)(?:,? in |\s|$)|Failure to find (\S{1,300}?)(?: in |\s|$)|(\S{1,300}) was not found in http)/.exec(
      text,
    );
  if (cause === 'offline' || (cause !== null && absent === null)) infra(reading, cause, text, at);
  else if (absent !== null) {
    const artifact = absent[1] ?? absent[2] ?? absent[3] ?? '';
    reading.findings.push(
      of('maven_artifact_not_found', 'dependency', `artifact not found: ${artifact}`, at, { messages: [text.slice(0, 600)] }),
    );
  } else if (/No plugin found for prefix/.test(text)) reading.findings.push(of('maven_no_such_plugin', 'manifest', maskNames(text), at));
  else if (/\(absent\)|version range|No versions available/.test(text))
    reading.findings.push(of('maven_version_not_found', 'dependency', text, at));
  else infra(reading, 'registry', text, at, false);
};

const readGoal = (match: RegExpExecArray, lines: readonly string[], at: number, reading: Reading): void => {
  const [, , plugin = '', goal = '', , reason = ''] = match;
  const text = [reason, ...lines.slice(at + 1, at + 6).map((line) => line.replace(/^\[ERROR\] /, ''))].join('\n');
  if (RESOLUTION.test(reason)) readResolution(reason, at, reading);
  else if (
    JDK.test(reason.replace(/^(?:Fatal error compiling|Compilation failure):? ?/, '')) ||
    /release version \S+ not supported|invalid target release|No compiler is provided/.test(text)
  )
    infra(reading, 'toolchain', text.slice(0, 300), at, false);
  else if (/enforcer/.test(plugin)) readEnforcer(text, at, reading);
  else if (/forked VM terminated without properly saying goodbye|The forked VM/.test(text))
    reading.findings.push(of('java_forked_vm_crash', 'runtime_crash', 'the forked VM ended', at, { recovered: true }));
  else if (/spotless|fmt-maven|formatter/.test(plugin)) reading.findings.push(of('maven_format', 'format', 'not formatted', at));
  else if (/There was a timeout/.test(reason)) reading.findings.push(of('test_timeout', 'timeout', 'timeout', at));
  else if (jvmCause(reason) === 'disk') infra(reading, 'disk', reason, at);
  // What a compiler or a test has said is not said again; other goals have nobody else to speak for them.
  else if (!CLOSING.test(reason) && !/(?:compiler|surefire|failsafe|kotlin)/.test(plugin)) {
    const first = reason.replace(/ -> \[Help \d+\]$/, '').split('\n', 1)[0] ?? '';
    const category: Category = /checkstyle|pmd|spotbugs|findbugs/.test(plugin) ? 'lint' : 'unknown';
    const counted = first.replace(/\b\d{1,7}\b/g, 'N');
    reading.findings.push(
      of(`maven_${slugOf(`${plugin.replace(/-?maven-?|-?plugin$/g, '')} ${goal}`)}`, category, counted, at, {
        recovered: true,
        messages: [first],
      }),
    );
  }
};

const readEnforcer = (text: string, at: number, reading: Reading): void => {
  if (/Detected (?:JDK|Maven) [Vv]ersion/.test(text)) infra(reading, 'toolchain', text.slice(0, 300), at, false);
  else
    reading.findings.push(
      of(
        'maven_enforcer',
        'build_config',
        text.split('\n').find((line) => /^Rule \d|failed with message/.test(line)) ?? 'enforcer rule failed',
        at,
      ),
    );
};

const readError = (text: string, lines: readonly string[], at: number, reading: Reading): void => {
  const goal = GOAL.exec(text);
  if (goal !== null) readGoal(goal, lines, at, reading);
  else if (RESOLUTION.test(text) && !/^\s/.test(text)) readResolution(text, at, reading);
  else if (/^(?:Error executing Maven|The JAVA_HOME)/.test(text) || JDK.test(text)) infra(reading, 'toolchain', text, at, false);
  else if (POM.test(text.trim()) && !/^(?:Some problems|The project .* has|The build could not read)/.test(text)) {
    const place = /@ (?:line (\d{1,7}), column (\d{1,7})|\S{1,200}, (\S{1,300}pom\.xml))/.exec(text);
    const clean = text
      .trim()
      .replace(/ @ .{1,400}$/, '')
      .replace(/ \([^()]{1,300}\)$/, '');
    const name = /^(?:Malformed|Non-parseable|Unrecognised)/.test(clean)
      ? 'maven_pom_malformed'
      : `maven_${slugOf(maskNames(clean).replace(/\bfor \S{1,200}/, 'for x'))}`;
    reading.findings.push(
      of(name, 'manifest', withoutPackages(clean), at, { file: 'pom.xml', place: place === null ? '' : `pom.xml:${place[1] ?? ''}` }),
    );
  }
};

const lintAt = (line: string, at: number): Finding | null => {
  const maven = CHECKSTYLE.exec(line);
  const ant = maven === null ? ANT_CHECKSTYLE.exec(line) : null;
  const [file, rule, text, row] =
    maven !== null ? [maven[1], maven[7], maven[8], maven[2] ?? maven[4]] : [ant?.[1], ant?.[5], ant?.[4], ant?.[2]];
  if (file === undefined || rule === undefined) return null;
  const path = slashed(file);
  return of(`checkstyle_${rule.toLowerCase()}`, 'lint', text ?? '', at, {
    tool: 'checkstyle',
    file: path,
    place: `${path}:${row}`,
    messages: [`${path}:${row}: ${rule}: ${text}`],
  });
};

const read = (lines: readonly string[]): Reading => {
  const reading = emptyReading('maven');
  for (const [at, printed] of lines.entries()) {
    const line = printed.slice(0, 4_000);
    if (/^(?:\[INFO\] )?Download(?:ing|ed)(?: from \S{1,200})?: /.test(line))
      reading.activity = line.includes('Downloading') ? 'network' : 'build';
    else if (/^\[INFO\] --- .{1,300} @ /.test(line))
      reading.activity = /(?:surefire|failsafe)[^@]{0,100}test/.test(line) ? 'test' : 'build';
    else if (/^\[INFO\] BUILD SUCCESS$/.test(line)) reading.summary ??= 'passed';
    else if (/^\[(?:INFO|ERROR)\] BUILD FAILURE$/.test(line)) reading.summary = 'failed';
    else if (/^The JAVA_HOME environment variable is not defined correctly|^Error: JAVA_HOME is not defined/.test(line))
      infra(reading, 'toolchain', line, at);
    const lint = line.startsWith('[') ? lintAt(line, at) : null;
    const error = lint === null ? ERROR.exec(line)?.[1] : undefined;
    if (lint !== null && /^\[ERROR|^\[ant/.test(line)) reading.findings.push(lint);
    if (error !== undefined) readError(error, lines, at, reading);
  }
  return reading;
};

export const maven: ToolFamily = {
  ecosystem: 'jvm',
  owns: (words, lines) =>
    ['mvn', 'mvnw', 'mvnd', 'maven'].some((word) => words.has(word)) ||
    lines.some((line) =>
      /^\[INFO\] (?:Scanning for projects|BUILD (?:SUCCESS|FAILURE)|--- .{1,300} @ )|^\[ERROR\] (?:Failed to execute goal |Plugin \S{1,300} or one of|BUILD FAILURE)|^\[ant:checkstyle\] |^The JAVA_HOME environment/.test(
        line,
      ),
    ),
  read,
};
