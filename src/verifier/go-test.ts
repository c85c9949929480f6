import type { Category } from './categories.js';
import { failedTest, found } from './found.js';
import { crashAt, type GoCrash, goCrashFinding } from './go-crash.js';
import { objectOf, parsed, at as pick, stringOf } from './machine-json.js';
import type { Grammar, Scan } from './scan.js';

/** `go test`, as text (with and without `-v`) and as the events of `-json`. */

const FAIL = /^( *)--- FAIL: (\S{1,400}) \(\d/;
const OTHER = /^ *--- (?:PASS|SKIP|BENCH): (\S{1,400}) \(/;
const MARK = /^=== (RUN|CONT|NAME|PAUSE) +(\S{1,400})?/;
const LOG = /^ {4,}(\S{1,300}\.go):(\d{1,8}): ?(.*)$/;
const PACKAGE = /^(FAIL|ok {2})\t(\S{1,300})(?:\t(.{0,200})| (\[.{1,40}\]))?$/;
const MOST_LOG = 60;

interface Logged {
  file: string | null;
  line: string | undefined;
  lines: string[];
}

/** Further instances of one subtest are told apart by a number, which depends on order. */
const stableName = (test: string): string => test.replace(/#\d{2,4}(?=\/|$)/g, '');

/** testify's frame: a trace of places and the test's own name are no part of what failed. */
const saidBy = (lines: readonly string[]): string[] =>
  lines
    .map((line) => line.trim())
    .filter((line) => line !== '' && !/^(?:Error Trace:|Test:|\S{1,300}\.go:\d{1,8}$)/.test(line))
    .map((line) => line.replace(/^(?:Error|Messages):\s{1,20}/, ''));

const addTest = (scan: Scan, test: string, log: Logged | undefined, at: number): void => {
  const said = saidBy(log?.lines ?? []);
  const race = said.some((line) => line.startsWith('race detected during execution of test'));
  const name = stableName(test);
  const [first = 'failed', ...details] = said.filter((line) => !line.startsWith('race detected'));
  const category: Category = race ? 'runtime_crash' : 'test_assertion';
  scan.add(
    failedTest({
      tool: 'go',
      kind: race ? 'go_data_race' : 'go_test_fail',
      category,
      test: name,
      testFile: race ? null : (log?.file ?? null),
      file: log?.file ?? null,
      line: log?.line,
      message: race ? 'race detected during execution of test' : first,
      details: race ? [] : details,
      identity: race ? 'data race' : [first, ...details].slice(0, 12).join('\n'),
      at,
    }),
  );
};

/** A test's own lines, from a report that keeps them apart. */
export const addGoTest = (scan: Scan, test: string, _package: string, lines: readonly string[], at: number): void => {
  const crash = lines.map((_line, index) => crashAt(lines, index)).find((each) => each !== null);
  if (crash != null) scan.add(goCrashFinding(crash, stableName(test), at));
  else addTest(scan, test, logOf(lines), at);
};

const takeLog = (log: Logged, line: string): boolean => {
  const match = LOG.exec(line.slice(0, 2_000));
  if (match?.[1] !== undefined) {
    log.file ??= match[1].split('/').at(-1) ?? null;
    log.line ??= match[2];
    if (log.lines.length < MOST_LOG) log.lines.push(match[3] ?? '');
    return true;
  }
  if (!/^ {8,}\S|^\t/.test(line) || log.lines.length === 0) return false;
  if (log.lines.length < MOST_LOG) log.lines.push(line);
  return true;
};
const logOf = (lines: readonly string[]): Logged => {
  const log: Logged = { file: null, line: undefined, lines: [] };
  // An example has no place: what it printed and what was wanted stand under these words.
  if (lines.some((line) => line === 'got:') && lines.some((line) => line === 'want:'))
    log.lines.push(...lines.slice(lines.indexOf('got:')).filter((line) => !/^(?:FAIL|exit status)\b/.test(line)));
  for (const line of lines) takeLog(log, line);
  return log;
};

/** State of one package's tests in a text. */
class Run {
  readonly failed = new Map<string, number>();
  readonly logs = new Map<string, Logged>();
  crash: { crash: GoCrash; at: number } | null = null;
  current: string | null = null;
  running: string | null = null;

  constructor(private readonly scan: Scan) {}

  log(line: string): boolean {
    if (this.current === null) return false;
    const log = this.logs.get(this.current) ?? { file: null, line: undefined, lines: [] };
    const taken = takeLog(log, line);
    if (taken) this.logs.set(this.current, log);
    return taken;
  }

  close(): void {
    const groups = new Set(
      [...this.failed.keys()].flatMap((name) =>
        name
          .split('/')
          .slice(0, -1)
          .map((_part, index, parts) => parts.slice(0, index + 1).join('/')),
      ),
    );
    if (this.crash !== null)
      this.scan.add(goCrashFinding(this.crash.crash, stableName(this.crash.crash.test ?? this.current ?? ''), this.crash.at));
    for (const [name, at] of this.failed) {
      const log = this.logs.get(name);
      // A group fails with its members, and the test that crashed is told by the crash.
      if (log === undefined && (groups.has(name) || this.crash !== null)) continue;
      addTest(this.scan, name, log, at);
    }
    this.failed.clear();
    this.logs.clear();
    [this.crash, this.current] = [null, null];
  }
}

/** `-json`: the lines of each test, of each package, and of each build are put together again. */
class Events {
  private readonly outputs = new Map<string, string[]>();
  private readonly failed: { package: string; test: string; at: number }[] = [];
  private readonly running = new Set<string>();
  any = false;

  take(value: unknown, at: number): boolean {
    const event = objectOf(value);
    const action = stringOf(event?.Action);
    if (event === null || action === '' || !('Package' in event || 'ImportPath' in event)) return false;
    this.any = true;
    const [name, test] = [stringOf(event.Package) || stringOf(event.ImportPath), stringOf(event.Test)];
    const key = JSON.stringify([name, test]);
    if (action === 'output' || action === 'build-output') {
      const lines = this.outputs.get(key) ?? [''];
      const parts = stringOf(event.Output).split('\n');
      lines[lines.length - 1] += parts[0] ?? '';
      for (const part of parts.slice(1)) lines.push(part);
      this.outputs.set(key, lines);
    } else if (action === 'run') this.running.add(test);
    else if (action === 'fail' && test !== '') this.failed.push({ package: name, test, at });
    if (['pass', 'fail', 'skip'].includes(action)) this.running.delete(test);
    return true;
  }

  close(scan: Scan, readText: (lines: readonly string[], at: number) => void): void {
    const groups = new Set(this.failed.map((each) => `${each.package} ${each.test.split('/').slice(0, -1).join('/')}`));
    for (const { package: name, test, at } of this.failed) {
      const lines = this.outputs.get(JSON.stringify([name, test])) ?? [];
      const log = logOf(lines);
      const crashed = lines.some((_line, index) => crashAt(lines, index) !== null);
      if (groups.has(`${name} ${test}`) && log.lines.length === 0 && !crashed) continue;
      addGoTest(scan, test, name, lines, at);
    }
    for (const [key, lines] of this.outputs) if (stringOf(pick({ test: (parsed(key) as unknown[])[1] }, 'test')) === '') readText(lines, 0);
    if (this.running.size > 0 && scan.reading.activity === 'test')
      scan.reading.runningTest = [...this.running].filter((each) => each !== '').at(-1) ?? null;
  }
}

export const goTest = (readPlain: (scan: Scan, lines: readonly string[]) => void): Grammar => ({
  tool: 'go',
  words: [],
  telltale: (line) =>
    FAIL.test(line.slice(0, 500)) ||
    /^(?:FAIL|ok {2})\t\S{1,300}(?:\t\d| \[)/.test(line.slice(0, 400)) ||
    /^\{"(?:Time|ImportPath|Action)":".{1,60}"(?:,"Action"|,"Package")/.test(line.slice(0, 120)),
  start: (scan) => {
    const { lines, words, reading } = scan;
    const run = new Run(scan);
    const events = new Events();
    const testing = words.has('go') && words.has('test');
    if (testing && reading.activity !== null) reading.activity = 'test';
    return {
      read: (at) => {
        const line = lines[at] ?? '';
        if (line.startsWith('{"')) return events.take(parsed(line), at) ? at + 1 : null;
        const fail = line.includes('--- FAIL: ') ? FAIL.exec(line.slice(0, 600)) : null;
        if (fail?.[2] !== undefined) {
          run.current = fail[2];
          if (!run.failed.has(fail[2])) run.failed.set(fail[2], at);
          reading.summary = 'failed';
          if (lines[at + 1] !== 'got:') return at + 1;
          let end = at + 1;
          while (end < lines.length && end - at < 200 && !/^(?:FAIL|---|===|exit status|ok )/.test(lines[end] ?? '')) end += 1;
          run.logs.set(fail[2], { file: null, line: undefined, lines: lines.slice(at + 1, end) });
          return end;
        }
        const mark = line.startsWith('=== ') ? MARK.exec(line.slice(0, 500)) : null;
        if (mark !== null) {
          if (mark[1] !== 'PAUSE') run.current = mark[2] ?? run.current;
          run.running = run.current;
          return at + 1;
        }
        const other = /^ *--- /.test(line) ? OTHER.exec(line.slice(0, 500)) : null;
        if (other?.[1] !== undefined) {
          run.current = other[1];
          run.running = null;
          return at + 1;
        }
        const closing = PACKAGE.exec(line.slice(0, 700));
        if (closing?.[1] !== undefined) {
          const before = reading.findings.length + reading.infra.length;
          run.close();
          if (closing[1] === 'FAIL') {
            reading.summary = 'failed';
            const neutral = /\[(?:build|setup) failed\]/.test(line);
            if (!neutral && reading.findings.length + reading.infra.length === before && /^\d/.test(closing[3] ?? '')) {
              if (lines.slice(Math.max(0, at - 3), at).some((each) => each === 'signal: killed'))
                scan.infra({ kind: 'killed', tool: 'go', line: 'signal: killed', sure: false });
              else if (!reading.findings.some((each) => each.tool === 'go'))
                scan.add(
                  found({
                    tool: 'go',
                    pattern: `go_package_failed:${closing[2]}`,
                    category: 'test_assertion',
                    message: `FAIL ${closing[2]}`,
                    owner: closing[2] ?? '',
                    at,
                  }),
                );
            }
          } else reading.summary ??= 'passed';
          reading.activity = null;
          return at + 1;
        }
        if (line === '*** Test killed with quit: ran too long' || line.startsWith('*** Test killed')) {
          scan.add(found({ tool: 'go', pattern: 'go_test_timeout', category: 'timeout', message: line, identity: 'timeout', at }));
          return at + 1;
        }
        const crash = crashAt(lines, at);
        if (crash !== null) {
          run.crash ??= { crash, at };
          return crash.end;
        }
        return run.log(line) ? at + 1 : null;
      },
      end: () => {
        run.close();
        if (run.running !== null && reading.activity === 'test') reading.runningTest = run.running;
        if (events.any) events.close(scan, (text) => readPlain(scan, text));
      },
    };
  },
});
