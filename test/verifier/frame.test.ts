import { classify } from '../../src/verifier/classify.js';
import { ecosystemsOf, isOpaque, masksStatus, programsOf } from '../../src/verifier/command.js';
import { text } from './helpers.js';

const tsError = "src/a.ts(3,5): error TS2322: Type 'string' is not assignable to type 'number'.\n";

describe('what a command calls', () => {
  test.each([
    ['cd x && cargo test -- --nocapture | tail -n 40', ['cd', 'cargo', 'tail']],
    ['RUSTFLAGS=-Dwarnings timeout -s KILL 60s ./gradlew build', ['gradlew']],
    ['PATH=/a/b:$PATH npx tsc --noEmit; echo done', ['tsc', 'echo']],
    ['python3.12 -m pytest -q', ['pytest']],
    ['poetry run pytest || true', ['pytest', 'true']],
  ])('%s', (command, programs) => expect(programsOf(command)).toEqual(programs));

  test('only tools of one ecosystem, or whatever a script likes', () => {
    expect([...ecosystemsOf(undefined, 'cd x && cargo check 2>&1 | tee log')!]).toEqual(['rust']);
    expect([...ecosystemsOf('tsc', undefined)!]).toEqual(['js']);
    for (const command of ['make', 'npm test', './ci.sh', 'cargo xtask ci', 'cargo test && ./run', 'cargo test && npm test'])
      expect(ecosystemsOf(undefined, command)).toBeNull();
  });

  test('a status that cannot be trusted', () => {
    expect(masksStatus('mvn -B -Dmaven.test.failure.ignore=true test')).toBe(true);
    expect(masksStatus('make -i all')).toBe(true);
    expect(masksStatus('mvn -B test')).toBe(false);
    expect([isOpaque('bash ci.sh'), isOpaque('cargo test')]).toEqual([true, false]);
    expect(classify({ command: './ci.sh', exitCode: 0, output: text('e0369') })).toMatchObject({ verdict: 'pass', confidence: 'low' });
  });
});

describe('several tools in one output', () => {
  const rust = text('e0369');
  test('are taken apart, in the order of the text', () => {
    const answer = classify({ command: './ci.sh', exitCode: 1, output: tsError + rust });
    expect(answer.patterns.map((each) => each.code)).toEqual(['TS2322', 'E0369']);
    expect(answer.tool).toBe('tsc');
    expect(classify({ command: './ci.sh', exitCode: 1, output: rust + tsError }).patterns.map((each) => each.code)).toEqual([
      'E0369',
      'TS2322',
    ]);
  });

  test("what a test printed is no other tool's error", () => {
    const run = `\nrunning 1 test\n${tsError}test a ... FAILED\n\nfailures:\n\n---- a stdout ----\n${tsError}thread 'a' panicked at src/lib.rs:1:1:\nassertion failed: x\n\nfailures:\n    a\n\ntest result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\n`;
    const answer = classify({ command: './ci.sh', exitCode: 1, output: run });
    expect(answer.patterns.map((each) => each.pattern)).toEqual(['rust_test_assert:a']);
    expect(classify({ command: './ci.sh', exitCode: 1, output: run + tsError }).patterns.map((each) => each.pattern)).toEqual([
      'rust_test_assert:a',
      'ts2322_type_mismatch',
    ]);
  });

  test('a command of one ecosystem does not speak for another', () => {
    const answer = classify({ command: 'cargo run -q --bin x', exitCode: 1, output: tsError });
    expect(answer.patterns.map((each) => each.code)).toEqual(['TS2322']);
    expect(classify({ command: 'cargo check', exitCode: 101, output: rust + tsError }).patterns.map((each) => each.code)).toEqual([
      'E0369',
    ]);
  });
});

describe('the diff is laid against complaints about inputs', () => {
  const msrv = 'error: rustc 1.70.0 is not supported by the following package:\n  x@0.1.0 requires rustc 1.95\n';
  const of = (output: string, filesTouched?: string[]) => {
    const { verdict, confidence, infraKind, patterns } = classify({ command: 'cargo check', exitCode: 101, output, filesTouched });
    return [verdict, confidence, infraKind, patterns.map(({ category }) => category)];
  };
  test('a toolchain that the edited manifest asks for is the model’s', () => {
    expect(of(msrv)).toEqual(['blocked', 'low', 'toolchain', []]);
    expect(of(msrv, ['src/lib.rs'])).toEqual(['blocked', 'low', 'toolchain', []]);
    expect(of(msrv, ['crates/x/Cargo.toml'])).toEqual(['fail', 'high', null, ['build_config']]);
  });

  test('a dependency that only a manifest can name is not of a diff that left the manifests alone', () => {
    const missing =
      'error: no matching package named `nope` found\nlocation searched: registry `crates-io`\nrequired by package `x v0.1.0 (/w)`\n';
    expect(of(missing)).toEqual(['fail', 'high', null, ['dependency']]);
    expect(of(missing, [])).toEqual(['fail', 'high', null, ['dependency']]);
    expect(of(missing, ['Cargo.toml', 'src/lib.rs'])).toEqual(['fail', 'high', null, ['dependency']]);
    expect(of(missing, ['src/lib.rs'])).toEqual(['blocked', 'low', 'registry', []]);
  });

  test('no edit brings about a name server', () => {
    expect(of(text('dep_dns'), ['Cargo.toml'])[2]).toBe('dns');
  });
});

test('an explanation says what the signature was made of', () => {
  const [evidence] = classify({ command: 'cargo check', exitCode: 101, output: text('e0369') }).evidence;
  expect(evidence?.signed).toMatch(/^E0369 \| .+ \| \w+\.rs$/);
});
