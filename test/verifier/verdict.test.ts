import { classify, type VerifierInput } from '../../src/verifier/classify.js';
import { text } from './helpers.js';

const of = (input: VerifierInput) => {
  const { verdict, confidence, infraKind, patterns } = classify(input);
  return [verdict, infraKind, patterns.map((each) => each.pattern), confidence];
};
const failed = text('e0369');
const started =
  '   Compiling x v0.1.0 (/w)\n    Finished `test` profile in 0.1s\n     Running unittests src/lib.rs (target/debug/deps/x-0123456789abcdef)\n\nrunning 2 tests\n';

describe('an unknown tool is judged by its end alone', () => {
  test.each([
    [{ exitCode: 0 }, ['pass', null, [], 'high']],
    [{ exitCode: 1, stdout: 'FAILED tests/x.py::y - ECONNREFUSED' }, ['fail', null, [], 'low']],
    [{ exitCode: 127, stderr: 'bash: line 1: frob: command not found' }, ['blocked', 'toolchain', [], 'high']],
    [{ exitCode: null, signal: 'SIGKILL' }, ['blocked', 'killed', [], 'low']],
    [{ exitCode: 137 }, ['blocked', 'killed', [], 'low']],
    [{ exitCode: 124, timedOut: true }, ['fail', null, [], 'low']],
    [{ exitCode: 139 }, ['fail', null, ['signal_sigsegv'], 'low']],
    [{}, ['fail', null, [], 'low']],
  ])('%j', (input, expected) => {
    expect(of({ tool: 'frob', ...input })).toEqual(expected);
    expect(classify({ tool: 'frob', ...input }).tool).toBe('frob');
  });
});

describe('the exit status', () => {
  test('0 is a pass, whatever words were printed', () => {
    expect(
      of({ command: 'cargo check', exitCode: 0, output: 'warning: error[E0308]: connection refused\n    Finished `dev` profile\n' })[0],
    ).toBe('pass');
  });

  test.each(['cargo check 2>&1 | tail -n 40', 'cargo check || true', 'cargo check; echo done', 'cargo check 2>&1 | tee log'])(
    '0 of `%s` is seen through',
    (command) => {
      expect(of({ command, exitCode: 0, output: failed })).toEqual(['fail', null, ['e0369_missing_trait_bound'], 'high']);
    },
  );

  test.each(['cargo check', 'set -o pipefail; cargo check | tee log', 'cargo check && cargo test'])('0 of `%s` is believed', (command) => {
    expect(of({ command, exitCode: 0, output: failed })[0]).toBe('pass');
  });

  test('missing: the summary decides, with low confidence', () => {
    expect(of({ tool: 'cargo', output: failed })).toEqual(['fail', null, ['e0369_missing_trait_bound'], 'low']);
    expect(of({ tool: 'cargo', output: '    Finished `dev` profile in 0.1s\n' })).toEqual(['pass', null, [], 'low']);
  });
});

describe('a deadline is judged by what was going on', () => {
  const late = (output: string, more: VerifierInput = { timedOut: true }) => of({ tool: 'cargo', command: 'cargo test', output, ...more });
  test.each([
    ['    Blocking waiting for file lock on build directory\n', ['blocked', 'lock', [], 'high']],
    ['    Updating crates.io index\n', ['blocked', 'net_timeout', [], 'high']],
    [started, ['fail', null, ['test_timeout'], 'high']],
    [
      `${started}test tests::fine ... ok\ntest tests::spins has been running for over 60 seconds\n`,
      ['fail', null, ['test_timeout:tests::spins'], 'high'],
    ],
    ['   Compiling x v0.1.0 (/w)\n', ['fail', null, ['build_timeout'], 'low']],
    ['    Blocking waiting for file lock on build directory\n   Compiling x v0.1.0 (/w)\n', ['fail', null, ['build_timeout'], 'low']],
  ])('%j', (output, expected) => expect(late(output)).toEqual(expected));

  test('an error that was already printed is worth more than the deadline', () => {
    expect(late(failed)).toEqual(['fail', null, ['e0369_missing_trait_bound'], 'high']);
  });

  test('a kill is the deadline where the command set one, and unknown where not', () => {
    expect(late(started, { exitCode: 137, command: 'timeout -s KILL 6 cargo test' })).toEqual(['fail', null, ['test_timeout'], 'low']);
    expect(late(started, { exitCode: 137 })).toEqual(['blocked', 'killed', [], 'low']);
  });
});

describe('the machine and the code', () => {
  const dns = text('dep_dns');
  test('an error in the code wins over infrastructure in another step', () => {
    expect(of({ exitCode: 101, command: 'rustc src/lib.rs; cargo check', output: failed + dns })).toEqual([
      'fail',
      null,
      ['e0369_missing_trait_bound'],
      'high',
    ]);
  });

  test('errors about a package that could not be fetched are consequences', () => {
    const missing =
      'error[E0432]: unresolved import `serde`\n --> src/lib.rs:1:5\n  |\n1 | use serde::Serialize;\n  |     ^^^^^ use of unresolved module or unlinked crate `serde`\n\n';
    expect(of({ tool: 'cargo', exitCode: 101, output: dns + missing })).toEqual(['blocked', 'dns', [], 'high']);
    expect(of({ tool: 'cargo', exitCode: 101, output: dns + missing.replaceAll('serde', 'sdere') })[0]).toBe('fail');
  });

  test('a compiler that ran out of memory says nothing about the code', () => {
    const starved =
      'error: cannot resolve a prelude import\n\nerror[E0786]: found invalid metadata files for crate `core`\n  |\n  = note: failed to mmap file: Cannot allocate memory (os error 12)\n\nmemory allocation of 4096 bytes failed\nerror: could not compile `x` (lib) due to 2 previous errors\n';
    expect(of({ tool: 'cargo', exitCode: 101, output: starved })).toEqual(['blocked', 'memory', [], 'high']);
    const test = `${started}memory allocation of 4096 bytes failed\nerror: test failed, to rerun pass \`--lib\`\n\nCaused by:\n  process didn't exit successfully: \`/w/x\` (signal: 6, SIGABRT: process abort signal)\n`;
    expect(of({ tool: 'cargo', exitCode: 101, output: test })).toEqual(['fail', null, ['rust_alloc_failed'], 'high']);
  });

  test('a killed compiler is the machine, unsurely; a killed test is the test, unsurely', () => {
    const killed = (head: string) => `${head}\n\nCaused by:\n  process didn't exit successfully: \`/w/x\` (signal: 9, SIGKILL: kill)\n`;
    expect(of({ tool: 'cargo', exitCode: 101, output: killed('error: could not compile `x` (lib)') })).toEqual([
      'blocked',
      'killed',
      [],
      'low',
    ]);
    expect(of({ tool: 'cargo', exitCode: 101, output: `${started}${killed('error: test failed, to rerun pass `--lib`')}` })).toEqual([
      'fail',
      null,
      ['signal_sigkill'],
      'low',
    ]);
  });

  test('git inside cargo: the cause is in git’s own line, in any language', () => {
    const chain = (line: string) =>
      `${line}\nerror: failed to get \`foo\` as a dependency of package \`x v0.1.0\`\n\nCaused by:\n  failed to clone into: /w/foo\n\nCaused by:\n  process didn't exit successfully: \`git fetch 'https://g.example/foo.git'\` (exit status: 128)\n`;
    expect(
      of({
        tool: 'cargo',
        exitCode: 101,
        output: chain("fatal: unable to access 'https://g.example/': Could not resolve host: g.example"),
      })[1],
    ).toBe('dns');
    expect(
      of({ tool: 'cargo', exitCode: 101, output: chain("致命错误：无法访问 'https://g.example/'：Could not resolve host: g.example") })[1],
    ).toBe('dns');
  });
});

describe('steps', () => {
  test('the first that did not pass decides, an error in the code before all others', () => {
    const steps = [
      { command: 'cargo fetch', exitCode: 101, stderr: text('dep_dns') },
      { command: 'cargo check', exitCode: 101, stderr: failed },
    ];
    const answer = classify({ steps });
    expect([answer.verdict, answer.patterns.map((each) => each.code)]).toEqual(['fail', ['E0369']]);
    expect(answer.evidence.map(({ pattern, step }) => [pattern, step])).toEqual([
      ['infra_dns', 0],
      ['e0369_missing_trait_bound', 1],
    ]);
    expect(classify({ steps: steps.slice(0, 1) })).toMatchObject({ verdict: 'blocked', infraKind: 'dns' });
  });

  test('all passed is a pass; a failed whole is not', () => {
    const steps = [
      { command: 'cargo fmt --check', exitCode: 0 },
      { command: 'cargo check', exitCode: 0 },
    ];
    expect(of({ steps })).toEqual(['pass', null, [], 'high']);
    expect(of({ steps, exitCode: 1 })[0]).toBe('fail');
  });
});
