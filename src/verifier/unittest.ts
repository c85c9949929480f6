import { failedTest } from './found.js';
import { slashed } from './normalise.js';
import { categoryOfException, exceptionAt, exceptionSlug, missingPackage, type Raised, TRACEBACK, tracebackAt } from './python-errors.js';
import type { Grammar, Scan } from './scan.js';

/** unittest's text runner (Django's too): one block a failing test, between rules of `=` and `-`. */

const RULE = /^={60,120}$/;
const LINE = /^-{60,120}$/;
const HEAD = /^(FAIL|ERROR|UNEXPECTED SUCCESS): (.{1,800})$/;
const RAN = /^Ran \d{1,9} tests? in /;
const CLOSING = /^(?:FAILED \(|OK\b|NO TESTS RAN)/;

/** `test_a (test_a.T.test_a) (i=1)`, before 3.11 `test_a (test_a.T)`: both are `T.test_a`. Parameters of subtests are left out. */
const nameOf = (title: string): { test: string; module: string | null } => {
  const match = /^(\S{1,300}) \(([\w.<>]{1,400})\)/.exec(title);
  if (match?.[1] === undefined || match[2] === undefined) return { test: title.slice(0, 200), module: null };
  const [name, dotted] = [match[1], match[2]];
  if (dotted.includes('_FailedTest')) return { test: name, module: name };
  const full = dotted.endsWith(`.${name}`) ? dotted : `${dotted}.${name}`;
  const parts = full.split('.');
  return { test: parts.slice(-2).join('.'), module: parts.slice(0, -2).join('.') || null };
};

/** The exception of a block: its last traceback, or, where loading failed, the one that is told inside. */
const readBlock = (scan: Scan, kind: string, title: string, at: number, end: number): void => {
  const { lines } = scan;
  const { test, module } = nameOf(title);
  const testFile = module === null ? null : `${module.split('.').at(-1)}.py`;
  if (kind === 'UNEXPECTED SUCCESS') {
    scan.add(
      failedTest({
        tool: 'unittest',
        kind: 'unittest_unexpected_success',
        category: 'test_assertion',
        test,
        testFile,
        message: 'unexpected success',
        at,
      }),
    );
    return;
  }
  let raised: Raised | null = null;
  let [file, line]: [string | null, string | undefined] = [null, undefined];
  let details: string[] = [];
  for (let index = at; index < end; index += 1) {
    const text = lines[index] ?? '';
    if (text !== TRACEBACK) {
      if (/^(?:Stdout|Stderr):$/.test(text)) break;
      if (raised === null && text.startsWith('ImportError: Failed to import test module: ')) raised = exceptionAt(text);
      continue;
    }
    const traceback = tracebackAt(lines, index, end);
    if (traceback === null) continue;
    raised = traceback.raised;
    details = diffOf(lines, traceback.end - traceback.rest.length, end);
    [file, line] = [traceback.file, traceback.line];
    index = traceback.end - 1;
  }
  if (raised === null) raised = { name: kind === 'FAIL' ? 'AssertionError' : 'Error', message: '' };
  scan.add(
    failedTest({
      tool: 'unittest',
      kind: `unittest_${exceptionSlug(raised.name)}`,
      category: categoryOfException(raised.name),
      test,
      testFile: testFile ?? file,
      file: file === null ? testFile : slashed(file),
      line,
      message: raised.message === '' ? raised.name : `${raised.name}: ${raised.message}`,
      identity: [raised.message, ...details].join('\n'),
      details,
      at,
      needs: missingPackage(raised),
    }),
  );
};

/** assertEqual of long values: what was expected and found stands in the lines of a diff. */
const diffOf = (lines: readonly string[], from: number, end: number): string[] => {
  const diff: string[] = [];
  for (const line of lines.slice(from, Math.min(end, from + 60))) {
    if (/^(?:Stdout|Stderr):$/.test(line) || line === TRACEBACK) break;
    if (/^[-+] /.test(line)) diff.push(line);
  }
  return diff.slice(0, 20);
};

export const unittest: Grammar = {
  tool: 'unittest',
  words: ['unittest', 'manage.py', 'django-admin'],
  telltale: (line) => RAN.test(line),
  activity: 'test',
  start: (scan) => ({
    read: (at) => {
      const { lines } = scan;
      const line = lines[at] ?? '';
      if (RAN.test(line)) {
        for (const closing of lines.slice(at + 1, at + 4))
          if (CLOSING.test(closing) && scan.reading.summary === null) scan.reading.summary = closing.startsWith('OK') ? 'passed' : 'failed';
        return at + 1;
      }
      if (!RULE.test(line)) return null;
      const head = HEAD.exec(lines[at + 1] ?? '');
      if (head?.[1] === undefined) return null;
      let end = at + 2;
      while (end < lines.length && !RULE.test(lines[end] ?? '') && !(LINE.test(lines[end] ?? '') && RAN.test(lines[end + 1] ?? '')))
        end += 1;
      readBlock(scan, head[1], head[2] ?? '', at + 1, end);
      return end;
    },
  }),
};
