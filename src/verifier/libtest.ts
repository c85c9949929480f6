import type { Category } from './categories.js';
import { abortAt, kindOfPanic, type Panic, panicAt } from './panics.js';
import { patternOfTest } from './patterns.js';
import { isClosing } from './rust-messages.js';
import { blockAt, headerOf, readBlock } from './rustc-text.js';
import type { Finding } from './types.js';

/** What libtest prints between `running N tests` and `test result:`. All other lines in between belong to the tests, and are no evidence. */
export interface TestRun {
  findings: Finding[];
  /** Index of the first line after the run. */
  end: number;
  finished: boolean;
  /** A test that had started, or ran long, when the text ends. */
  running: string | null;
  /** The process died: what the runtime said. */
  abort: { kind: string; thread: string | null } | null;
}

export const TESTS_START = /^running \d{1,9} tests?$/;
const RESULT = /^test (\S.{0,500}?)(?: - should panic)?(?: - compile(?: fail)?)? \.\.\. ?(ok|FAILED|ignored)?/;
const QUIET_RESULT = /^(\S.{0,500}?)(?: - should panic)? --- FAILED$/;
const LONG_RUNNING = /^test (\S.{0,500}?) has been running for over \d+ seconds$/;
const BLOCK = /^---- (\S.{0,500}?) (?:stdout|stderr) ----$/;
const CARGO_STATUS = /^ {1,12}(?:Running|Doc-tests|Compiling|Checking|Finished|Blocking) \S/;
const DOCTEST = /^\S.{0,400}\.(?:rs|md) - .{0,300}\(line \d+\)$/;
const SHOULD_PANIC = /^note: (?:test did not panic as expected|panic did not contain expected string|expected panic with )/;

const stableName = (test: string): string => test.replace(/ \(line \d+\)$/, '').replaceAll('\\', '/');

/**
 * A panic in words of the test's own is an assertion with a message, unless it is seen to come from elsewhere: a backtrace whose top
 * frame is not the test itself, or an integration test that panicked in `src/`.
 */
const ownWords = (panic: Panic, test: string, binary: string | null): { kind: string; category: Category } => {
  const framed =
    panic.frame !== null &&
    !new Set([test, test.split('::').at(-1)]).has(panic.frame.replace(/^[^:]+::/, '').replace(/(?:::\{\{?closure[^}]*\}?\})+$/, ''));
  const elsewhere = binary?.startsWith('tests/') === true && /(?:^|\/)src\//.test(panic.file);
  return framed || elsewhere ? { kind: 'panic_explicit', category: 'panic' } : { kind: 'test_assert', category: 'test_assertion' };
};

const testFinding = (
  test: string,
  kind: string,
  category: Category,
  message: string,
  details: string[],
  place: string,
  file: string | null,
  at: number,
): Finding => ({
  tool: 'cargo',
  pattern: patternOfTest(kind, stableName(test)),
  code: null,
  category,
  file,
  place,
  identity: [message, ...details].join('\n'),
  owner: stableName(test),
  messages: [`test ${test}: ${message}`, ...(place === '' ? [] : [` --> ${place}`]), ...details],
  at,
});

export const findingsOfTest = (
  test: string,
  block: readonly string[],
  inline: Panic | null,
  at: number,
  binary: string | null,
): Finding[] => {
  const doctest = DOCTEST.test(test);
  if (doctest && block.some((line) => line.startsWith("Couldn't compile the test."))) {
    const compile = block.flatMap((line, index) => {
      const header = headerOf(line);
      if (header === null || header.level === 'warning' || isClosing(header.message)) return [];
      return [{ ...readBlock(blockAt(block, index, header), at + index), owner: stableName(test) }];
    });
    if (compile.length > 0) return compile;
  }
  const panics = block.flatMap((_line, index) => panicAt(block, index) ?? []);
  const panic = panics.find((each) => each.thread === test) ?? panics[0] ?? inline;
  const expected = block.find((line) => SHOULD_PANIC.test(line));
  if (expected !== undefined) {
    const why = expected.replace(/ at \S+:\d+:\d+$/, '').replace(/^note: /, '');
    const details = block.filter((line) => /^ *(?:panic message|expected substring): /.test(line));
    return [testFinding(test, 'rust_test_should_panic', 'test_assertion', why, details, '', null, at)];
  }
  if (panic != null) {
    const [message = '', ...details] = panic.message;
    const { kind, category } = kindOfPanic(message) ?? ownWords(panic, test, binary);
    const name = doctest && kind.startsWith('test_') ? `rust_doc${kind}` : `rust_${kind}`;
    return [testFinding(test, name, category, message, details, panic.place, panic.file, at)];
  }
  const error = block.find((line) => line.startsWith('Error: '));
  if (error !== undefined) return [testFinding(test, 'rust_test_returned_err', 'test_assertion', error, [], '', null, at)];
  return [testFinding(test, doctest ? 'rust_doctest_failed' : 'rust_test_failed', 'test_assertion', 'failed', [], '', null, at)];
};

export const readTests = (lines: readonly string[], start: number, binary: string | null): TestRun => {
  const failed = new Map<string, number>();
  const blocks = new Map<string, { at: number; lines: string[] }>();
  const inline = new Map<string, Panic>();
  let current: string | null = null;
  let open: { at: number; lines: string[] } | null = null;
  let running: string | null = null;
  let abort: TestRun['abort'] = null;
  let finished = false;
  let inList = false;
  let index = start + 1;
  for (; index < lines.length; index += 1) {
    const line = lines[index] ?? '';
    if (line.startsWith('test result: ')) {
      finished = true;
      index += 1;
      break;
    }
    const title = line.startsWith('---- ') ? BLOCK.exec(line) : null;
    if (title?.[1] !== undefined) {
      open = blocks.get(title[1]) ?? { at: index, lines: [] };
      blocks.set(title[1], open);
      continue;
    }
    if (line === 'failures:') {
      open = null;
      inList = blocks.size > 0 || inList || /^ {4}\S/.test(lines[index + 1] ?? '');
      continue;
    }
    if (open !== null) {
      open.lines.push(line);
      continue;
    }
    if (inList) {
      const listed = /^ {4}(\S.*)$/.exec(line);
      if (listed?.[1] !== undefined && !failed.has(listed[1])) failed.set(listed[1], index);
      if (listed !== null || line.trim() === '') continue;
    }
    if (
      CARGO_STATUS.test(line) ||
      (line.startsWith('error: ') && (isClosing(line.slice(7)) || line.startsWith("error: process didn't exit")))
    )
      break;
    const long = LONG_RUNNING.exec(line);
    const result = long === null && line.startsWith('test ') ? RESULT.exec(line) : null;
    const quiet = line.endsWith('--- FAILED') ? QUIET_RESULT.exec(line) : null;
    if (long?.[1] !== undefined) running = long[1];
    else if (result?.[1] !== undefined) {
      current = result[1];
      if (result[2] === undefined) running = current;
      else if (running === current) running = null;
      if (result[2] === 'FAILED') failed.set(current, index);
    } else if (quiet?.[1] !== undefined) failed.set(quiet[1], index);
    else if (/^FAILED$/.test(line) && current !== null) failed.set(current, index);
    abort ??= abortAt(line);
    const panic = panicAt(lines, index);
    if (panic === null) continue;
    inline.set(panic.thread, panic);
    if (current !== null && !inline.has(current)) inline.set(current, panic);
  }
  for (const [test, block] of blocks) if (!failed.has(test)) failed.set(test, block.at);
  const findings = [...failed].flatMap(([test, at]) => {
    const block = blocks.get(test);
    return findingsOfTest(test, block?.lines ?? [], inline.get(test) ?? null, block?.at ?? at, binary);
  });
  return { findings, end: index, finished, running: finished ? null : running, abort };
};
