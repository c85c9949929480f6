import { nameOfException, topFrame } from './java.js';
import { patternOfTest } from './patterns.js';
import { emptyReading, type Finding, type Reading, type ToolFamily } from './types.js';

/** Failed JUnit and TestNG tests, as surefire, Gradle and the console launchers print them. */

/** `[ERROR] adds(g.ATest)  Time elapsed: …`, `[ERROR] g.ATest.adds -- Time elapsed: …`, `[ERROR] adds  Time elapsed: …`. */
const SUREFIRE = /^(?:\[ERROR\]\s{1,3})?(\S.{0,300}?)(?: --|) {1,2}Time elapsed: .{1,30}? {1,2}<<< (FAILURE|ERROR)!/;
const CLASS = /^(?:\[ERROR\] )?Tests run: .{1,120}<<< (?:FAILURE|ERROR)! -{1,2} in (\S{1,300})$/;
const RUNNING = /^(?:\[INFO\] )?Running (\S{1,300})$/;
const COUNTS = /^(?:\[(?:INFO|ERROR|WARNING)\] )?Tests run: (\d{1,7}), Failures: (\d{1,7}), Errors: (\d{1,7}), Skipped: \d{1,7}\s*$/;
/** The closing list: `[ERROR]   ATest.adds:10 expected:<2> but was:<1>`. */
const LISTED = /^(?:\[ERROR\])? {2,4}([\w$.]{1,200}\.[\w$[\](){}, ]{1,200}?)(?::\d{1,7})?(?:->[\w$.:]{1,300})? (?:»\s?)?(.*)$/;
const GRADLE = /^(\S.{0,300}? > .{1,300}?) FAILED$/;
const GRADLE_DONE = /^(\d{1,7}) tests? completed, (\d{1,7}) failed/;
const CONSOLE4 = /^\d{1,6}\) ([\w$[\]., ]{1,200})\(([\w$.]{1,300})\)$/;
const EXCEPTION = /^\s*((?:[\w$]{1,100}\.){1,12}[\w$]{1,100})(?:: (.*))?$/;

interface Failed {
  name: string;
  at: number;
  /** Lines from the first below the head. */
  from: number;
}

/** Messages run on over lines until the first frame. */
const whatOf = (lines: readonly string[], from: number): { type: string; message: string } | null => {
  for (let at = from; at < Math.min(from + 3, lines.length); at += 1) {
    const match = EXCEPTION.exec((lines[at] ?? '').slice(0, 2_000));
    if (match?.[1] === undefined) continue;
    const more: string[] = [];
    for (const line of lines.slice(at + 1, at + 12)) {
      if (/^\s{1,8}at |^\[|^\s*$|^\s*(?:Caused by|\.\.\. \d)/.test(line)) break;
      more.push(line.trim());
    }
    return { type: match[1], message: [match[2] ?? '', ...more].join('\n').trim() };
  }
  return null;
};

const stable = (name: string): string => name.replace(/\(\)$/, '').trim();

const findingOf = (failed: Failed, lines: readonly string[]): Finding => {
  const what = whatOf(lines, failed.from);
  const { kind, category } = what === null ? { kind: 'junit_failed', category: 'test_assertion' as const } : nameOfException(what.type);
  const top = topFrame(lines, failed.from + 1);
  const said = what === null ? 'failed' : `${what.type}${what.message === '' ? '' : `: ${what.message}`}`;
  return {
    ...{ tool: 'junit', pattern: patternOfTest(kind, failed.name), code: null, category, file: top?.file ?? null, place: top?.place ?? '' },
    ...{ identity: said, owner: failed.name, messages: [`test ${failed.name}: ${said}`], at: failed.at },
  };
};

/** The list at the end is read only where the blocks are gone. */
const listedIn = (lines: readonly string[]): Finding[] => {
  const found: Finding[] = [];
  let open = false;
  for (const [at, line] of lines.entries()) {
    if (/^(?:\[ERROR\] )?(?:Failures|Errors|Failed tests|Tests in error): ?/.test(line)) open = true;
    else if (open && COUNTS.test(line)) open = false;
    const match = open ? LISTED.exec(line.slice(0, 1_000)) : null;
    if (match?.[1] === undefined) continue;
    const [, name, message = ''] = match;
    const { kind, category } = nameOfException(/^(\w{1,80}(?:Exception|Error))\b/.exec(message)?.[1] ?? 'AssertionError');
    found.push({
      ...{ tool: 'junit', pattern: patternOfTest(kind, stable(name)), code: null, category, file: null, place: '' },
      ...{ identity: message, owner: stable(name), messages: [`test ${name}: ${message}`], at },
    });
  }
  return found;
};

const read = (lines: readonly string[]): Reading => {
  const reading = emptyReading(null);
  const failed: Failed[] = [];
  let running: string | null = null;
  let owner = '';
  for (const [at, printed] of lines.entries()) {
    if (printed === '') continue;
    const line = printed.slice(0, 1_000);
    const start = RUNNING.exec(line)?.[1];
    if (start !== undefined) {
      running = start;
      reading.activity = 'test';
    }
    owner = CLASS.exec(line)?.[1] ?? owner;
    if (/^(?:\[\w{4,7}\] )?Tests run: .{1,120}Time elapsed/.test(line)) running = null;
    else {
      const surefire = line.includes('<<< ') ? SUREFIRE.exec(line) : null;
      if (surefire?.[1] !== undefined) {
        const old = /^([^()]{1,200})\(([\w$.]{1,300})\)$/.exec(surefire[1]);
        const name =
          old !== null ? `${old[2]}.${old[1]}` : surefire[1].includes('.') || owner === '' ? surefire[1] : `${owner}.${surefire[1]}`;
        failed.push({ name: stable(name), at, from: at + 1 });
      }
    }
    const gradle = line.endsWith(' FAILED') && !line.startsWith('> Task ') ? GRADLE.exec(line)?.[1] : undefined;
    if (gradle !== undefined) failed.push({ name: gradle.split(' > ').map(stable).join('.'), at, from: at + 1 });
    const console4 = CONSOLE4.exec(line);
    if (console4?.[2] !== undefined) failed.push({ name: `${console4[2]}.${console4[1]}`, at, from: at + 1 });
    const counts = COUNTS.exec(line);
    if (counts !== null) reading.summary = counts[2] === '0' && counts[3] === '0' ? (reading.summary ?? 'passed') : 'failed';
    if (GRADLE_DONE.test(line)) reading.summary = 'failed';
  }
  reading.runningTest = running;
  reading.findings = reading.findings.concat(failed.map((each) => findingOf(each, lines)));
  if (reading.findings.length === 0) reading.findings = reading.findings.concat(listedIn(lines));
  if (reading.findings.length > 0) reading.summary = 'failed';
  return reading;
};

const TELLTALE =
  /<<< (?:FAILURE|ERROR)!|^(?:\[INFO\] )?Running [\w$]{1,80}\.[\w$.]{1,300}$|^(?:\[\w{4,7}\] )?Tests run: \d|^\d{1,7} tests? completed, \d|^\S.{0,300}? > .{1,300} FAILED$|^There (?:was|were) \d{1,6} failures?:$/;

export const junit: ToolFamily = {
  ecosystem: 'jvm',
  owns: (_words, lines) => lines.some((line) => line.length < 1_000 && TELLTALE.test(line)),
  read,
};
