import fc from 'fast-check';
import { classify } from '../../src/verifier/classify.js';
import { text } from './helpers.js';

const exits = [{ exitCode: 0 }, { exitCode: 101 }, { exitCode: null, signal: 'SIGKILL' }, { timedOut: true }];
/** A script may have run any tool: every family looks at its output. */
const timedByAll = (output: string): number => {
  const started = performance.now();
  classify({ command: './ci.sh', exitCode: 1, output });
  return performance.now() - started;
};
const timed = (output: string, tool = 'cargo'): number => {
  const started = performance.now();
  classify({ tool, command: `${tool} check`, exitCode: 101, output });
  return performance.now() - started;
};

test('no string makes it throw', () => {
  const pieces = [
    'error[E0308]: mismatched types\n',
    ' --> src/a.rs:1:1\n',
    '  | ^^^ expected',
    'running 3 tests\n',
    '---- a stdout ----\n',
    "thread 'a' panicked at 'x",
    "thread 'a' (1) panicked at b:1:2:\n",
    'Caused by:\n',
    'error: failed to run custom build command for `x`\n',
    "error: process didn't exit successfully\n",
    '{"reason":"compiler-message","message":{"level":"error","message":1}}\n',
    '{"reason":"compiler-message","message":{"level":"error","message":"m","spans":[null,{"is_primary":true}],"children":[null]}}\n',
    '{"$message_type":"diagnostic","level":"error","message":"x","spans":7}\n',
    'a.ts(1,1): error TS2322: ',
    'a.c:1:2: error: ',
    '[{"kind": "error", "locations": [{"caret": 7}], "message": "m"}]\n',
    '/usr/bin/ld: ',
    'undefined reference to `x',
    'CMake Error at a.txt:1 (x):\n  ',
    'make: *** [a:1: b] ',
    '==1==ERROR: AddressSanitizer: ',
    '[ RUN      ] A.b\n',
    '[  FAILED  ] A.b\n',
    'A.java:1: error: cannot find symbol\n',
    '[ERROR] Failed to execute goal on project x: ',
    'Exception in thread "main" java.lang.Error: ',
    '* What went wrong:\n> ',
    '[ERROR] a.B.c -- Time elapsed: 1 s <<< FAILURE!\n',
    'a.cs(1,2): error CS0103: ',
    '  Failed A.b [1 ms]\n  Error Message:\n',
    'Failures:\n\n  1) x\n     Failure/Error: ',
    'There was 1 failure:\n\n1) A::b\n',
    'a.swift:1:2: error: ',
    '        FAIL [   0.1s] a b\n',
    '--- STDOUT: a b ---\n',
    'In a.sh line 3:\n',
    '=== FAILURES ===\n',
    '___ test_a ___\n',
    'E   assert 1 == 2\n',
    'FAILED a.py::b[1] - x\n',
    'Traceback (most recent call last):\n',
    '  File "a.py", line 1, in f\n',
    `${'='.repeat(70)}\nFAIL: a (b.C)\n`,
    'a.py:1: error: x  [arg-type]\n',
    'F401 [*] x\n --> a.py:1:2\n',
    'npm error code E404\n',
    ' ERR_PNPM_X  y\n',
    '➤ YN0035: │ x\n',
    ' FAIL  a.test.js > b\n',
    '  ● a › b\n',
    '  2 failing\n\n  1) a\n',
    'TAP version 13\nnot ok 1 - a\n  ---\n  error: |-\n',
    '✖ failing tests:\n\n✖ a (1ms)\n',
    '/w/a.js:1\nx\n^\n\nTypeError: y\n    at z (/w/a.js:1:2) {\n',
    '/w/a.js\n  1:2  error  x  no-undef\n',
    'a.js:1:2 lint/a/b ━━━━━━\n\n  × x\n',
    '--- FAIL: TestA (0.00s)\n',
    '    a_test.go:1: x\n',
    'panic: x\n\ngoroutine 1 [running]:\n',
    'WARNING: DATA RACE\n',
    'go: errors parsing go.mod:\n',
    '{"Action":"output","Package":7,"Output":{}}\n',
    '{"Action":"fail","Package":"a","Test":"b"}\n',
    '<testsuites name="pytest"><testsuite><testcase name="a"><failure>',
    '{"numFailedTests":1,"testResults":[{"assertionResults":[null,{"status":"failed","ancestorTitles":7}]}]}\n',
    '[{"filePath":1,"messages":[{"severity":2},null]}]\n',
    '{"$schema":"sarif-2.1.0","version":"2.1.0","runs":[{"results":[{"level":"error","locations":7}]}]}\n',
    '\ud800',
    '\u0000',
    '\r',
    '\r\n',
    '\u001b[',
    '\u001b]0;',
    'Diff in ',
    'fatal: ',
    '\n',
  ];
  const soup = fc
    .array(fc.oneof(fc.constantFrom(...pieces), fc.string({ unit: 'binary', maxLength: 20 })), { maxLength: 40 })
    .map((parts) => parts.join(''));
  fc.assert(
    fc.property(
      soup,
      soup,
      fc.constantFrom(...exits),
      fc.constantFrom('cargo', 'tsc', 'gcc', 'mvn', 'dotnet', 'x'),
      (stdout, stderr, exit, tool) => {
        const answer = classify({ tool, command: `${tool} check | tail`, stdout, stderr, ...exit });
        expect(['pass', 'fail', 'blocked']).toContain(answer.verdict);
        expect(answer.infraKind === null).toBe(answer.verdict !== 'blocked');
        expect(answer.excerpt.length).toBeLessThanOrEqual(2_000);
        if (answer.verdict !== 'fail') expect(answer.patterns).toEqual([]);
      },
    ),
    { numRuns: 500 },
  );
});

test('the same text gives the same answer', () => {
  const run = { command: 'cargo test', exitCode: 101, output: text('test_mixed') };
  expect(classify(run)).toEqual(classify(run));
});

const line = 'x'.repeat(1_000_000);
test.each([
  ['a line of a megabyte', `error[E0308]: ${line}\n --> src/a.rs:1:1\n`],
  ['quotes and backticks without end', `error: ${'`'.repeat(500_000)}${"'".repeat(500_000)}\n`],
  ['a megabyte of carets', `error[E0308]: m\n --> a.rs:1:1\n  | ${'^ '.repeat(500_000)}\n`],
  ['a megabyte of spaces', `error: m\n${' '.repeat(1_000_000)}\n`],
  ['escapes without end', '\u001b]'.repeat(500_000)],
  ['half colours', '\u001b[1;'.repeat(250_000)],
  ['carriage returns', 'a\r'.repeat(500_000)],
  ['path bait', `error: ${'/a'.repeat(500_000)}\n`],
  ['nested braces', `${'{'.repeat(1_000_000)}\n`],
  ['broken JSON', `{"reason":"compiler-message",${'"a":['.repeat(200_000)}\n`],
  ['empty lines', '\n'.repeat(1_000_000)],
  ['open tests', 'running 1 test\n'.repeat(60_000)],
  ['open blocks', `running 1 test\n${'---- a stdout ----\n'.repeat(60_000)}`],
  ['chains', `error: failed to get \`a\`\n${'\nCaused by:\n  b\n'.repeat(60_000)}`],
  ['headers', 'error: something\n'.repeat(60_000)],
  ['panics of the old form', "thread 'a' panicked at 'b\n".repeat(40_000)],
  ['compiler heads', "a.c:1:2: error: 'x' undeclared\n".repeat(40_000)],
  ['headers of a system', "/usr/include/a.h:1:2: error: 'x' undeclared\n".repeat(20_000)],
  ['half a place', `${'a:1:'.repeat(250_000)}\n`],
  ['half a place in each line', 'a.c:1:2:3:4:5:6:7: b: c: d: error\n'.repeat(30_000)],
  ['undefined names', `Undefined symbols for architecture x:\n${'  "_a", referenced from:\n'.repeat(40_000)}`],
  ['symbols heads', 'Undefined symbols for architecture x:\n'.repeat(20_000)],
  ['cmake heads', 'CMake Error at a.txt:1 (x):\n'.repeat(30_000)],
  ['sanitizer heads', '==1==ERROR: AddressSanitizer: heap-use-after-free on address\n'.repeat(20_000)],
  ['javac heads', 'A.java:1: error: cannot find symbol\n'.repeat(40_000)],
  ['gradle blocks', `${'* What went wrong:\n> a\n'.repeat(30_000)}`],
  ['surefire heads', '[ERROR] a.B.c -- Time elapsed: 1 s <<< FAILURE!\n'.repeat(30_000)],
  ['uncaught exceptions', 'Exception in thread "main" java.lang.Error: x\n\tat java.lang.A.b(A.java:1)\n'.repeat(20_000)],
  ['maven goals', '[ERROR] Failed to execute goal on project x: Could not resolve dependencies\n'.repeat(30_000)],
  ['failed examples', `Failures:\n${'  1) x\n     y\n'.repeat(40_000)}`],
  ['an example without end', `Failures:\n  1) x\n${'     y\n'.repeat(100_000)}`],
  ['phpunit', `There was 1 failure:\n${'1) A::b\n'.repeat(40_000)}`],
  ['dotnet', '  Failed A.b [1 ms]\n'.repeat(40_000)],
  ['dotnet parentheses', `${'a(1,2'.repeat(100_000)}: error CS0103: x\n`],
  ['nextest', '        FAIL [   0.1s] a b\n  stdout ───\n    x\n'.repeat(20_000)],
  ['googletest', '[ RUN      ] A.b\nx\n[  FAILED  ] A.b (0 ms)\n'.repeat(20_000)],
  ['quotations without end', `${'running 1 test\n'.repeat(100)}${'a.c:1:2: error: x\n'.repeat(20_000)}`],
  ['pytest blocks', `=== FAILURES ===\n${'___ test_a ___\nE   assert 1\na.py:1: AssertionError\n'.repeat(30_000)}`],
  ['pytest summaries', `=== short test summary info ===\n${'FAILED a.py::b[1] - x\n'.repeat(60_000)}`],
  ['reports that begin and begin', '=== FAILURES ===\n'.repeat(60_000)],
  ['tracebacks', 'Traceback (most recent call last):\n  File "a.py", line 1, in f\nValueError: x\n'.repeat(30_000)],
  ['a traceback without end', `Traceback (most recent call last):\n${'  File "a.py", line 1, in f\n    x\n'.repeat(50_000)}`],
  [
    'chained tracebacks',
    'Traceback (most recent call last):\n  File "a.py", line 1, in f\nValueError: x\n\nDuring handling of the above exception, another exception occurred:\n\n'.repeat(
      20_000,
    ),
  ],
  ['half tracebacks', 'Traceback (most recent call last):\n'.repeat(60_000)],
  ['unittest rules', `${'='.repeat(70)}\nFAIL: a (b.C)\n`.repeat(30_000)],
  ['jest blocks', 'FAIL a.test.js\n  ● a › b\n\n    x\n'.repeat(30_000)],
  ['vitest heads', ' RUN  v3.0.0\n FAIL  a.test.js > b\n'.repeat(30_000)],
  ['mocha numbers', `  2 failing\n${'  1) a\n'.repeat(60_000)}`],
  ['points', `TAP version 13\n${'not ok 1 - a\n  ---\n'.repeat(30_000)}`],
  ['node places', '/w/a.js:1\n'.repeat(60_000)],
  ['node errors', '/w/a.js:1\nx\n^\n\nTypeError: y\n    at z (/w/a.js:1:2)\n'.repeat(20_000)],
  ['eslint rows', `/w/a.js\n${'  1:2  error  x  no-undef\n'.repeat(60_000)}`],
  ['biome heads', 'a.js:1:2 lint/a/b ━━━━━━\n'.repeat(60_000)],
  ['npm lines', 'npm error code E404\nnpm error x\n'.repeat(30_000)],
  ['go errors', '# m\n./a.go:1:2: undefined: x\n\ty\n'.repeat(30_000)],
  ['go tests', '--- FAIL: TestA (0.00s)\n    a_test.go:1: x\n'.repeat(30_000)],
  ['go panics', 'panic: x\n\ngoroutine 1 [running]:\nmain.f(0x1)\n\t/w/a.go:1 +0x1\n'.repeat(20_000)],
  ['races without end', 'WARNING: DATA RACE\n'.repeat(30_000)],
  ['go events', '{"Action":"output","Package":"a","Test":"b","Output":"x"}\n'.repeat(60_000)],
  ['mypy and ruff rows', 'a.py:1: error: x  [arg-type]\na.py:1:2: F401 x\n'.repeat(30_000)],
  ['open JSON', '{\n'.repeat(100_000)],
  ['open arrays', `[\n${'{\n'.repeat(50_000)}${'}\n'.repeat(50_000)}]\n`],
  ['a report without end', `<testsuites name="pytest">${'<testsuite><testcase name="a"><failure>'.repeat(30_000)}`],
  ['reports without end', '<testsuites name="pytest">\n'.repeat(30_000)],
  ['entities', `<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b "${'x'.repeat(1_000)}">]><testsuites>${'&b;'.repeat(100_000)}</testsuites>\n`],
  [
    'diagnostics by the hundred thousand',
    Array.from({ length: 100_000 }, (_, n) => `error[E0${300 + (n % 9)}]: m${n}\n --> a.rs:${n}:1\n\n`).join(''),
  ],
])('%s takes no more than linear time', (_name, output) => {
  expect(timed(output)).toBeLessThan(12_000);
  expect(timedByAll(output)).toBeLessThan(12_000);
});

test('twice the errors take about twice the time, and patterns stay bounded', () => {
  const errors = (count: number) =>
    Array.from(
      { length: count },
      (_, n) => `error: message number m${String.fromCharCode(97 + (n % 26))}${n}\n --> src/f${n}.rs:1:1\n\n`,
    ).join('');
  timed(errors(5_000));
  const once = timed(errors(20_000));
  expect(timed(errors(80_000))).toBeLessThan(Math.max(once, 50) * 12);
  expect(classify({ tool: 'cargo', exitCode: 101, output: errors(20_000) }).patterns.length).toBe(100);
});
