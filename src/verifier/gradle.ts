import type { Category } from './categories.js';
import { JDK, jvmCause } from './java-messages.js';
import { slashed } from './normalise.js';
import { maskNames, slugOf } from './patterns.js';
import { emptyReading, type Finding, type InfraKind, type Reading, type ToolFamily } from './types.js';

/** Gradle's own words, in the blocks `* What went wrong:`: a head, and causes under it behind `>`, the innermost last. */

const LONGEST_BLOCK = 200;
/** What compilers and tests have said themselves. */
const CLOSING =
  /Compilation (?:failed|error)|There were failing tests|Compile(?:r daemon)? (?:failed|error)|see the (?:compiler )?(?:error )?(?:output|log)|Could not compile|violations? (?:were|was) found|Checkstyle rule violations|finished with non-zero exit value|A failure occurred while executing org\.jetbrains/;

const NAMES: readonly (readonly [RegExp, string, Category])[] = [
  [/Plugin \[id: '([^']{1,200})'.{0,200}was not found/, 'plugin_not_found', 'dependency'],
  [/Could not find (\S{1,300}:\S{1,300}:\S{0,100}?)\.?$/, 'dependency_not_found', 'dependency'],
  [/Could not find any (?:version|matching) .{0,40}?(\S{1,300}:\S{1,300})/, 'version_not_found', 'dependency'],
  [
    /(?:Conflict found|Cannot find a version of '[^']{1,200}' that satisfies|Dependency verification failed|is not part of the dependency lock state|Could not resolve all .{1,80} strict)/,
    'version_conflict',
    'dependency',
  ],
  [
    /(?:No matching (?:variant|configuration) of|Cannot choose between|Unable to find a matching variant|No variants of)/,
    'no_matching_variant',
    'dependency',
  ],
  [
    /Task '[^']{1,200}' (?:not found|is ambiguous)|Project '[^']{1,200}' not found|Cannot locate (?:tasks|project)/,
    'task_not_found',
    'manifest',
  ],
  [/does not contain a Gradle build|Directory '.{1,300}' does not contain/, 'no_build', 'manifest'],
  [
    /Could not compile (?:build|settings|initialization) (?:file|script)|startup failed|Script compilation error|Could not open cp_proj/,
    'script_invalid',
    'manifest',
  ],
  [
    /Could not (?:find method|get unknown property|set unknown property|create (?:task|domain object))|unknown property|Could not find method|No signature of method|A problem occurred (?:evaluating|configuring)/,
    'script_error',
    'manifest',
  ],
  [/Circular dependency between/, 'circular_dependency', 'manifest'],
  [/violations? (?:were|was) found|Checkstyle rule violations|found \d+ .{0,40}violations|Lint found errors|SpotBugs/, 'lint', 'lint'],
  [/The following files had format violations|spotlessCheck/, 'format', 'format'],
];

const infra = (reading: Reading, kind: InfraKind, line: string, at: number, sure = true): void => {
  reading.infra.push({ kind, tool: 'gradle', line: line.trim().slice(0, 600), sure, at });
};

const finding = (
  pattern: string,
  category: Category,
  text: string,
  block: readonly string[],
  at: number,
  more: Partial<Finding> = {},
): Finding => ({
  ...{ tool: 'gradle', pattern, code: null, category, file: null, place: '', identity: text, owner: null },
  ...{ messages: block.slice(0, 6), at },
  ...more,
});

const blockAt = (lines: readonly string[], at: number): string[] => {
  const block: string[] = [];
  for (const line of lines.slice(at + 1, at + LONGEST_BLOCK)) {
    if (/^\* |^BUILD FAILED|^={3,}$/.test(line)) break;
    if (line.trim() !== '') block.push(line);
  }
  return block;
};

/** `build file '/w/build.gradle': 12`, `Build file '/w/build.gradle.kts' line: 12`. */
const scriptOf = (lines: readonly string[], from: number, to: number): { file: string | null; place: string } => {
  for (const line of lines.slice(Math.max(0, from - 6), to)) {
    const match = /(?:[Bb]uild|[Ss]ettings|[Ii]nitialization) (?:file|script) '([^']{1,400})'(?:: (\d{1,7})| line: (\d{1,7}))?/.exec(line);
    if (match?.[1] !== undefined) return { file: slashed(match[1]), place: `${slashed(match[1])}:${match[2] ?? match[3] ?? ''}` };
  }
  return { file: null, place: '' };
};

interface Trouble {
  kind: InfraKind;
  line: string;
  sure: boolean;
}

const TRANSPORT =
  /Could not (?:resolve|GET|HEAD|download|get resource|determine|install|create|write|open|move|copy|delete|list)|No cached version|offline mode|No space left|Permission denied/;

/** `bare`: the lines of a block without their `>`. A repository that was reached and has no such thing is not the machine's. */
const troubleOf = (bare: readonly string[]): Trouble | null => {
  const by = (words: RegExp) => bare.find((line) => words.test(line));
  const jdk = by(JDK);
  if (jdk !== undefined) return { kind: 'toolchain', line: jdk, sure: false };
  const lock = by(/Timeout waiting to lock/);
  if (lock !== undefined) return { kind: 'lock', line: lock, sure: true };
  const absent = by(/^Could not find \S+:\S+|was not found in any of the following sources|^Could not find any version/) !== undefined;
  const transport = bare.toReversed().find((line) => !/^https?:\/\//.test(line) && jvmCause(line) !== null);
  const cause = transport === undefined ? null : jvmCause(transport);
  if (transport !== undefined && cause !== null && (!absent || cause === 'offline') && by(TRANSPORT) !== undefined)
    return { kind: cause, line: transport, sure: true };
  const starting = by(/^A problem occurred starting process/);
  if (starting !== undefined) return { kind: 'toolchain', line: starting, sure: false };
  const gone = by(/build daemon disappeared unexpectedly/);
  if (gone !== undefined) return { kind: 'killed', line: gone, sure: false };
  const heap = by(/JVM heap space is exhausted|Java heap space|GC overhead limit|Metaspace/);
  return heap === undefined ? null : { kind: 'memory', line: heap, sure: false };
};

const failureOf = (bare: readonly string[], script: { file: string | null; place: string }, at: number): Finding | null => {
  for (const [words, name, category] of NAMES) {
    const line = bare.find((each) => words.test(each));
    if (line === undefined) continue;
    const reason =
      category === 'manifest' ? bare.find((each, index) => index > bare.indexOf(line) && !/^(?:\d+ errors?|\^)/.test(each)) : undefined;
    const said = (reason ?? line)
      .replace(/^(?:build|settings) file '[^']{1,400}': \d{1,7}: /, '')
      .replace(/ @ line \d{1,7}, column \d{1,7}\.?$/, '');
    return finding(`gradle_${name}`, category, words.exec(line)?.[1] ?? said, bare, at, category === 'manifest' ? script : {});
  }
  if (CLOSING.test(bare.join('\n'))) return null;
  const last = bare.at(-1) ?? '';
  return finding(`gradle_${slugOf(maskNames(last))}`, 'unknown', last, bare, at, { recovered: true });
};

const readBlock = (block: readonly string[], lines: readonly string[], at: number, reading: Reading): void => {
  const bare = block.map((line) => line.replace(/^[\s>]+/, ''));
  const trouble = troubleOf(bare);
  const failure = trouble === null ? failureOf(bare, scriptOf(lines, at, at + block.length), at) : null;
  if (trouble !== null) infra(reading, trouble.kind, trouble.line, at, trouble.sure);
  else if (failure !== null) reading.findings.push(failure);
};

const read = (lines: readonly string[]): Reading => {
  const reading = emptyReading('gradle');
  for (const [at, printed] of lines.entries()) {
    const line = printed.slice(0, 1_000);
    if (/^\* What went wrong:$/.test(line)) {
      reading.summary = 'failed';
      readBlock(blockAt(lines, at), lines, at, reading);
    } else if (/^(?:> Task )?:\S{1,200}(?: FAILED)?$/.test(line)) reading.activity = /[tT]est\b/.test(line) ? 'test' : 'build';
    else if (/^Download(?:ing)? https?:/.test(line)) reading.activity = 'network';
    else if (/^Timeout waiting to lock|^Waiting to acquire .{0,60}lock/.test(line)) reading.activity = 'lock';
    else if (/^BUILD SUCCESSFUL/.test(line)) reading.summary ??= 'passed';
    else if (/^BUILD FAILED/.test(line)) reading.summary = 'failed';
    else if (/^ERROR: JAVA_HOME is |^ERROR: JAVA_HOME is not set/.test(line)) infra(reading, 'toolchain', line, at);
  }
  return reading;
};

export const gradle: ToolFamily = {
  ecosystem: 'jvm',
  owns: (words, lines) =>
    ['gradle', 'gradlew'].some((word) => words.has(word)) ||
    lines.some((line) =>
      /^\* What went wrong:$|^BUILD (?:SUCCESSFUL|FAILED) in |^> Task :|^FAILURE: Build (?:failed with an exception|completed with)/.test(
        line,
      ),
    ),
  read,
};
