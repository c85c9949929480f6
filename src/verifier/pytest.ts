import type { Category } from './categories.js';
import { failedTest, found } from './found.js';
import { slashed } from './normalise.js';
import { type Body, readBody } from './pytest-body.js';
import { categoryOfException, exceptionAt, exceptionSlug } from './python-errors.js';
import type { Grammar, Scan } from './scan.js';

/** pytest's terminal report: sections between rules of `=`, in them one block a failure, between rules of `_`. */

const SUMMARY = /^(FAILED|ERROR|SUBFAILED(?:\([^)]{0,200}\)|\[[^\]]{0,200}\]){0,2}|SUBFAIL) (\S.*)$/;
const COUNTS = /^\d{1,9} (?:failed|passed|skipped|deselected|xfailed|xpassed|warnings?|errors?|rerun|subtests passed)\b.{0,300} in \d/;
const PROGRESS = /^(\S.{0,400}?::\S.{0,400}?)(?: (PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS|RERUN))?(?:\s{1,200}\[ {0,2}\d{1,3}%\])?$/;

/** The title between two runs of one character, or null: `=== FAILURES ===`. */
export const ruled = (line: string, character: string): string | null => {
  if (line[0] !== character || !line.endsWith(character) || line.length > 600) return null;
  let [from, to] = [0, line.length];
  while (from < to && line[from] === character) from += 1;
  while (to > from && line[to - 1] === character) to -= 1;
  const title = line.slice(from, to);
  return title.startsWith(' ') && title.endsWith(' ') && title.trim() !== '' ? title.trim() : null;
};

interface Id {
  file: string | null;
  /** `TestA.test_b`, without parameters. */
  test: string;
}

/** `tests/test_a.py::TestA::test_b[1-x]`: what stands in brackets may hold anything, also ` - `. */
export const nodeId = (text: string): Id & { rest: string } => {
  const bracket = text.indexOf('[');
  const dash = text.indexOf(' - ');
  let end = dash < 0 ? text.length : dash;
  if (bracket >= 0 && bracket < end) {
    const close = text.indexOf('] - ', bracket);
    end = close < 0 ? text.length : close + 1;
  }
  const id = text.slice(0, end).replace(/\[.*$/s, '').trim();
  const [file = '', ...names] = id.split('::');
  return { file: slashed(file), test: names.join('.'), rest: text.slice(end).replace(/^ - /, '') };
};

const masked = (title: string): string =>
  title
    .replace(/\[.*$/s, '')
    .replace(/ \(.{0,300}\)$/, '')
    .replace(/ \(?<subtest>\)?.*$/, '')
    .trim();

export interface Failed {
  phase: 'call' | 'setup' | 'teardown' | 'collect';
  test: string;
  body: Body;
  at: number;
}

const headOf = (title: string): Pick<Failed, 'phase' | 'test'> => {
  const error = /^ERROR (?:at (setup|teardown) of|(collecting)) (.{1,500})$/.exec(title);
  if (error === null) return { phase: 'call', test: masked(title.replace(/^\[doctest\] /, '')) };
  if (error[2] !== undefined) return { phase: 'collect', test: slashed(error[3] ?? '') };
  return { phase: error[1] === 'teardown' ? 'teardown' : 'setup', test: masked(error[3] ?? '') };
};

export const kindOf = (body: Body, phase: Failed['phase'] = 'call'): { kind: string; category: Category } => {
  const { raised } = body;
  const own = raised.name.split('.').at(-1) ?? '';
  if (body.fixture) return { kind: 'fixture_not_found', category: 'resolution' };
  if (body.xpass) return { kind: 'xpass_strict', category: 'test_assertion' };
  if (own === 'DocTestFailure') return { kind: 'doctest', category: 'test_assertion' };
  if (own === 'Failed') {
    if (/^Timeout\b/.test(raised.message)) return { kind: 'timeout', category: 'timeout' };
    if (/^DID NOT RAISE/.test(raised.message)) return { kind: 'did_not_raise', category: 'test_assertion' };
    return { kind: 'failed', category: 'test_assertion' };
  }
  if (/^worker '.{1,20}' crashed/.test(raised.message)) return { kind: 'worker_crashed', category: 'runtime_crash' };
  if (own === '')
    return { kind: phase === 'collect' ? 'collection_error' : 'failed', category: phase === 'collect' ? 'runtime' : 'test_assertion' };
  return { kind: exceptionSlug(own), category: categoryOfException(own) };
};

/** `collected`: whose a failure to collect is, and the file that is then named. */
export const addFailed = (
  scan: Scan,
  { phase, test, body, at }: Failed,
  testFile: string | null,
  collected = { owner: test, file: body.file ?? testFile ?? test } as { owner: string; file: string | null },
): void => {
  const { kind, category } = kindOf(body, phase);
  const file = body.file ?? testFile;
  const message = [body.raised.name, body.raised.message].filter((part) => part !== '').join(': ') || kind.replaceAll('_', ' ');
  if (phase === 'collect') {
    scan.add(
      found({
        tool: 'pytest',
        pattern: `pytest_${kind}`,
        category,
        message,
        identity: `${kind} ${body.raised.message}`,
        owner: `${collected.owner.split('/').at(-1)}::`,
        file: collected.file,
        at,
        needs: body.needs,
      }),
    );
    return;
  }
  scan.add(
    failedTest({
      tool: 'pytest',
      kind: `pytest_${kind}`,
      category,
      test,
      testFile: testFile ?? body.firstFile,
      file,
      line: body.line,
      message,
      identity: `${phase} ${body.identity}`,
      details: body.details,
      at,
      needs: body.needs,
    }),
  );
};

/** What the last lines say of a failure whose block was not printed (`--tb=no`, a tail). */
const fromSummary = (scan: Scan, id: ReturnType<typeof nodeId>, at: number): void => {
  const raised = id.rest.startsWith('assert ') ? { name: 'AssertionError', message: id.rest } : exceptionAt(id.rest);
  const xpass = id.rest.startsWith('[XPASS(strict)]');
  const body: Body = {
    ...EMPTY,
    xpass,
    raised: raised ?? { name: '', message: id.rest },
    identity: (raised?.message ?? id.rest).replace(/\.\.\.$/, ''),
  };
  addFailed(scan, { phase: id.test === '' ? 'collect' : 'call', test: id.test === '' ? (id.file ?? '') : id.test, body, at }, id.file);
};
const EMPTY: Body = {
  raised: { name: '', message: '' },
  identity: '',
  details: [],
  file: null,
  firstFile: null,
  line: undefined,
  fixture: false,
  xpass: false,
  needs: undefined,
};

/** Nothing was run; where a path that is not there is the reason, that is said below. */
const noTests = (scan: Scan, at: number): void => {
  if (scan.lines.slice(at + 1, at + 4).some((line) => /^ERROR: (?:file or directory )?not found: /.test(line))) return;
  scan.add(found({ tool: 'pytest', pattern: 'pytest_no_tests', category: 'manifest', message: 'no tests ran', at }));
};

const TITLES = new Set(['test session starts', 'FAILURES', 'ERRORS', 'short test summary info', 'warnings summary']);
const startsSection = (line: string): string | null => {
  const title = ruled(line, '=');
  return title !== null && (TITLES.has(title) || COUNTS.test(title) || title.startsWith('no tests ran')) ? title : null;
};

/** Reads from a rule of pytest's to its closing counts. */
const readReport = (scan: Scan, start: number): number => {
  const { lines, reading } = scan;
  const failed: Failed[] = [];
  const summaries: { id: ReturnType<typeof nodeId>; at: number }[] = [];
  const progress: { id: string; at: number }[] = [];
  let running: string | null = null;
  let section = '';
  let block: { head: ReturnType<typeof headOf>; at: number } | null = null;
  let finished = false;
  const close = (end: number): void => {
    if (block !== null) failed.push({ ...block.head, body: readBody(lines, block.at + 1, end), at: block.at });
    block = null;
  };
  let at = start;
  for (; at < lines.length && !finished; at += 1) {
    const line = lines[at] ?? '';
    const title = startsSection(line);
    if (title !== null || (section !== 'FAILURES' && section !== 'ERRORS' && COUNTS.test(line.slice(0, 400)))) {
      close(at);
      section = title ?? '';
      finished = title === null || COUNTS.test(title) || title.startsWith('no tests ran');
      if (title?.startsWith('no tests ran') || /^\d{1,9} deselected(?:, \d{1,9} warnings?)? in \d/.test(title ?? line.slice(0, 200)))
        noTests(scan, at);
      else if (finished)
        reading.summary = /\d (?:failed|error)/.test(title ?? line.slice(0, 400)) ? 'failed' : (reading.summary ?? 'passed');
      continue;
    }
    if (section === 'FAILURES' || section === 'ERRORS') {
      const name = line.startsWith('_') && !line.startsWith('_ _') ? ruled(line, '_') : null;
      if (name !== null) {
        close(at);
        block = { head: headOf(name), at };
      }
      if (block !== null && COUNTS.test(line.slice(0, 400)) && (lines[at + 1] ?? '') === '' && at + 2 >= lines.length) {
        close(at);
        reading.summary = 'failed';
        finished = true;
      }
    } else if (section === 'short test summary info') {
      const summary = SUMMARY.exec(line);
      if (summary?.[2] !== undefined) summaries.push({ id: nodeId(summary[2]), at });
    } else if (section === 'test session starts') {
      // pytest-timeout stops the whole run when it cannot stop the test.
      if (/^\++ Timeout \++$/.test(line) && failed.every((each) => each.phase !== 'call')) {
        const test = running === null ? '' : nodeId(running).test;
        const body: Body = { ...EMPTY, raised: { name: 'Failed', message: 'Timeout' }, identity: 'Timeout' };
        failed.push({ phase: 'call', test, body, at });
        continue;
      }
      const result = line.includes('::') ? PROGRESS.exec(line.slice(0, 900).trimEnd()) : null;
      if (result?.[1] === undefined) continue;
      running = result[2] === undefined ? result[1] : null;
      if (result[2] === 'FAILED' || result[2] === 'ERROR') progress.push({ id: result[1], at });
    }
  }
  close(at);
  const waiting = new Map<string, typeof summaries>();
  for (const summary of summaries) {
    const key = summary.id.test || (summary.id.file ?? '');
    const known = waiting.get(key);
    if (known === undefined) waiting.set(key, [summary]);
    else known.push(summary);
  }
  for (const failure of failed) addFailed(scan, failure, waiting.get(failure.test)?.shift()?.id.file ?? null);
  const printed = new Set(failed.map((each) => each.test));
  for (const { id, at: line } of summaries) if (!printed.has(id.test || (id.file ?? ''))) fromSummary(scan, id, line);
  if (failed.length === 0 && summaries.length === 0) for (const { id, at: line } of progress) fromSummary(scan, nodeId(id), line);
  if (finished) reading.activity = null;
  else {
    reading.activity = 'test';
    reading.runningTest = running === null ? null : nodeId(running).test;
  }
  return at;
};

const TROUBLE: readonly (readonly [RegExp, string, Category])[] = [
  [/^ERROR: (?:file or directory not found|not found): /, 'pytest_path_not_found', 'manifest'],
  [/^(?:\S{1,80}: )?error: unrecognized arguments: /, 'pytest_usage', 'manifest'],
  [/^ERROR: (?:Unknown config option|.{0,300}\.(?:ini|toml|cfg):)/, 'pytest_config', 'manifest'],
  [/^pytest\.PytestConfigWarning: |^ERROR: .{0,200}(?:pytest\.ini|pyproject\.toml|setup\.cfg)/, 'pytest_config', 'manifest'],
  [/^(?:FAIL|ERROR:?) (?:Required test coverage of|Coverage failure: )/, 'pytest_coverage', 'lint'],
];

export const pytest: Grammar = {
  tool: 'pytest',
  words: ['pytest', 'py.test', 'tox', 'nox'],
  telltale: (line) =>
    startsSection(line) !== null ||
    (line.length < 300 && COUNTS.test(line)) ||
    line.startsWith('INTERNALERROR> ') ||
    line.startsWith('ImportError while loading conftest '),
  activity: 'test',
  start: (scan) => {
    const { lines } = scan;
    let internal: { at: number; last: string } | null = null;
    return {
      read: (at) => {
        const line = lines[at] ?? '';
        if (startsSection(line) !== null) return readReport(scan, at);
        // The end of a report whose beginning was cut off.
        const summary = /^(?:FAILED|ERROR) \S{1,400}\.py(?:::| - |$)/.test(line) ? SUMMARY.exec(line) : null;
        if (summary?.[2] !== undefined) {
          fromSummary(scan, nodeId(summary[2]), at);
          return at + 1;
        }
        if (line.startsWith('INTERNALERROR> ')) {
          const text = line.slice('INTERNALERROR> '.length);
          if (/^[A-Za-z]/.test(text) || internal === null) internal = { at, last: text };
          return at + 1;
        }
        if (line.startsWith('ImportError while loading conftest ')) {
          let end = at + 1;
          while (end < lines.length && end - at < 400 && !/^E {3,}\S{1,200}(?:Error|Exception)\b/.test(lines[end] ?? '')) end += 1;
          const body = readBody(lines, at + 1, Math.min(end + 1, lines.length));
          const { kind, category } = kindOf(body, 'collect');
          const named = category === 'import' ? 'importerror' : kind;
          scan.add(
            found({
              tool: 'pytest',
              pattern: `pytest_conftest_${named}`,
              category,
              message: `${body.raised.name}: ${body.raised.message}`,
              identity: `conftest ${body.identity}`,
              owner: 'conftest.py::',
              file: body.file ?? 'conftest.py',
              at,
              needs: body.needs,
            }),
          );
          return end + 1;
        }
        if (scan.words.has('pytest') || scan.words.has('py.test'))
          for (const [words, pattern, category] of TROUBLE)
            if (words.test(line.slice(0, 600))) {
              scan.add(found({ tool: 'pytest', pattern, category, message: line, at }));
              return at + 1;
            }
        if (scan.words.has('pytest') && /^(?:no tests ran|\d{1,9} deselected(?:, \d{1,9} warnings?)?) in \d/.test(line)) {
          noTests(scan, at);
          return at + 1;
        }
        if (line.length < 300 && COUNTS.test(line)) {
          scan.reading.summary ??= /\d (?:failed|error)/.test(line) ? 'failed' : 'passed';
          scan.reading.activity = null;
          return at + 1;
        }
        return null;
      },
      end: () => {
        if (internal !== null)
          scan.add(
            found({ tool: 'pytest', pattern: 'pytest_internal_error', category: 'tool_crash', message: internal.last, at: internal.at }),
          );
      },
    };
  },
};
