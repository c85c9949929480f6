import { classify } from '../../src/verifier/classify.js';
import { index, judged, names, text } from './helpers.js';

const cargo = (stderr: string, exitCode = 101, more = {}) =>
  classify({ tool: 'cargo', command: 'cargo check', exitCode, stdout: '', stderr, ...more });

describe('diagnostics of rustc', () => {
  test.each([
    ['e0308_return', 'e0308_type_mismatch', 'E0308', 'type'],
    ['e0369', 'e0369_missing_trait_bound', 'E0369', 'trait_bound'],
    ['e0106', 'e0106_missing_lifetime_specifier', 'E0106', 'lifetime'],
    ['e0382', 'e0382_use_after_move', 'E0382', 'borrow'],
    ['e0425_type', 'e0425_unresolved_name', 'E0425', 'resolution'],
    ['e0004', 'e0004_non_exhaustive_match', 'E0004', 'pattern'],
    ['macro_missing', 'rust_macro_not_found', null, 'resolution'],
    ['lifetime_uncoded', 'rust_lifetime_may_not_live', null, 'lifetime'],
    ['syntax_unclosed', 'rust_unclosed_delimiter', null, 'syntax'],
    ['compile_error', 'rust_compile_error_macro', null, 'build_config'],
    ['lint_deny', 'rust_unused_variables', null, 'lint'],
    ['lint_deny_warnings', 'rust_unused_mut', null, 'lint'],
  ])('%s is %s, as text and as JSON', (name, pattern, code, category) => {
    for (const format of [name, `${name}.json`]) {
      const { verdict, confidence, patterns } = judged(format);
      expect([verdict, confidence]).toEqual(['fail', 'high']);
      expect(patterns).toEqual([{ pattern, code, category, file: 'src/lib.rs', count: 1 }]);
    }
  });

  test('several diagnostics of one code are counted once each, however often they were printed', () => {
    expect(judged('e0308_many').patterns).toEqual([expect.objectContaining({ code: 'E0308', count: 3 })]);
    expect(judged('e0308_many.json', (json) => json + json).patterns).toEqual([expect.objectContaining({ code: 'E0308', count: 3 })]);
  });

  test('one pattern in two files has an entry for each', () => {
    const of = (file: string) => `error[E0308]: mismatched types\n --> ${file}:1:1\n  |\n1 | x\n  | ^ expected \`u8\`, found \`u16\`\n\n`;
    expect(cargo(of('src/a.rs') + of('src\\b.rs')).patterns.map(({ pattern, file }) => [pattern, file])).toEqual([
      ['e0308_type_mismatch', 'src/a.rs'],
      ['e0308_type_mismatch', 'src/b.rs'],
    ]);
  });

  test('a renamed code is what it is called today, an unknown one is named by its number', () => {
    const of = (code: string) =>
      cargo(`error[${code}]: no such thing\n --> src/a.rs:1:1\n\nerror: could not compile \`x\` (lib) due to 1 previous error\n`);
    expect(of('E0412').patterns).toEqual([expect.objectContaining({ code: 'E0425', pattern: 'e0425_unresolved_name' })]);
    expect(of('E9998').patterns).toEqual([expect.objectContaining({ code: 'E9998', pattern: 'e9998_error', category: 'unknown' })]);
  });

  test('an error without a code is known by its message, names masked; two messages stay two', () => {
    const of = (message: string) => cargo(`error: ${message}\n --> src/a.rs:1:1\n  |\n\n`).patterns[0]?.pattern;
    expect(of('expected one of `;` or `{`, found `/`')).toBe('rust_expected_one_of_x_or_x_found_x');
    expect(of('expected one of `(` or `<`, found `x`')).toBe('rust_expected_one_of_x_or_x_found_x');
    const long = 'something that goes on and on and on and on and on and on and on and on and on and then ends';
    expect(of(`${long} here`)).not.toBe(of(`${long} there`));
    expect(of(`${long} here`)?.length).toBeLessThan(90);
  });

  test('words that close a run are no patterns', () => {
    const only = cargo(
      'error[E0308]: mismatched types\n --> a.rs:1:1\n\nerror: aborting due to 1 previous error\n\nerror: could not compile `x` (lib) due to 1 previous error\n',
    );
    expect(only.patterns.map((each) => each.code)).toEqual(['E0308']);
  });

  test('of a cut output the closing words still tell the code, with low confidence', () => {
    const tail = cargo(
      'Some errors have detailed explanations: E0308, E0599.\nFor more information about an error, try `rustc --explain E0308`.\nerror: could not compile `x` (lib) due to 4 previous errors\n',
    );
    expect([tail.verdict, tail.confidence, tail.patterns.map((each) => each.code)]).toEqual(['fail', 'low', ['E0308', 'E0599']]);
  });
});

describe('cargo test', () => {
  test('a failing test is named by its kind and its name, with the kind of its cause', () => {
    expect(judged('test_mixed').patterns.map(({ pattern, category }) => [pattern, category])).toEqual([
      ['rust_test_assert_eq:tests::adds', 'test_assertion'],
      ['rust_test_should_panic:tests::booms', 'test_assertion'],
      ['rust_test_assert:tests::holds', 'test_assertion'],
      ['rust_test_assert:tests::prints', 'test_assertion'],
      ['rust_test_returned_err:tests::reports', 'test_assertion'],
      ['rust_panic_unwrap_err:tests::unwraps', 'panic'],
    ]);
  });

  test('what a test prints is no evidence, neither of errors nor of infrastructure', () => {
    expect(text('test_mixed')).toContain('[6] Could not resolve hostname');
    expect(judged('test_mixed')).toMatchObject({ verdict: 'fail', infraKind: null });
    expect(judged('test_mixed').patterns.some((each) => each.code !== null)).toBe(false);
    expect(judged('test_pass').verdict).toBe('pass');
  });

  test('a doc test that does not compile has the code, one that fails has its item', () => {
    expect(names('test_doc')).toEqual(['e0425_unresolved_name', 'rust_doctest_assert_eq:src/lib.rs - two']);
  });

  test('a process that dies is a crash of the program', () => {
    expect(names('test_overflow_stack')).toEqual(['rust_stack_overflow:tests::dives']);
    expect(names('test_abort')).toEqual(['signal_sigabrt']);
    expect(names('run_panics')).toEqual(['rust_panic_index_out_of_bounds']);
  });

  test('the streams apart give what they give together', () => {
    const all = text('test_abort');
    const cut = all.indexOf('\nrunning 1 test');
    const end = all.indexOf('error: test failed');
    const apart = classify({
      command: 'cargo test',
      exitCode: 101,
      stdout: all.slice(cut, end),
      stderr: all.slice(0, cut) + all.slice(end),
    });
    expect(apart).toMatchObject({ verdict: 'fail', signature: judged('test_abort').signature });
  });
});

describe('before a line is compiled', () => {
  test.each([
    ['dep_offline', 'offline'],
    ['dep_dns', 'dns'],
    ['dep_refused', 'connect'],
    ['no_subcommand', 'toolchain'],
    ['no_toolchain', 'toolchain'],
  ])('%s is blocked: %s', (name, kind) => {
    expect(judged(name)).toMatchObject({ verdict: 'blocked', infraKind: kind, patterns: [] });
    expect(judged(name).signature).toMatch(/^[0-9a-f]{32}$/);
  });

  test.each([
    ['dep_missing_path', 'cargo_path_dep_missing', 'manifest'],
    ['manifest_broken', 'cargo_manifest_invalid', 'manifest'],
    ['build_script', 'rust_build_script_failed', 'build_script'],
    ['link_undefined', 'ld_undefined_reference', 'link'],
    ['fmt_check', 'rustfmt_diff', 'format'],
  ])('%s is a failure: %s', (name, pattern, category) => {
    expect(judged(name).verdict).toBe('fail');
    expect(judged(name).patterns).toEqual([expect.objectContaining({ pattern, category })]);
  });

  test.each([
    ['got 429', 'rate_limit'],
    ['failed to get successful HTTP response from `https://r.example/x`, got 403', 'auth'],
    ['failed to get successful HTTP response from `https://r.example/x`, got 503', 'registry'],
    ['[28] Timeout was reached (Operation too slow)', 'net_timeout'],
    ['[60] SSL peer certificate or SSH remote key was not OK', 'tls'],
    ['failed to write `/home/ci/x`: No space left on device (os error 28)', 'disk'],
    ['failed to verify the checksum of `left-pad v1.0.0`', 'registry'],
  ])('a chain that ends in "%s" is %s', (cause, kind) => {
    const chain = cargo(
      `    Updating crates.io index\nerror: failed to get \`serde\` as a dependency of package \`x v0.1.0\`\n\nCaused by:\n  download of config.json failed\n\nCaused by:\n  ${cause}\n`,
    );
    expect([chain.verdict, chain.infraKind]).toEqual(['blocked', kind]);
  });

  test.each([
    [
      'failed to select a version for the requirement `a = "^9"`\ncandidate versions found which didn\'t match: 0.1.0',
      'cargo_version_not_found',
    ],
    ['failed to select a version for the requirement `a = "^0.1"`\n  version 0.1.0 is yanked', 'cargo_version_yanked'],
    ['no matching package named `srede` found\nlocation searched: crates.io index', 'cargo_package_not_found'],
  ])('a dependency that does not exist is a failure', (message, pattern) => {
    const missing = cargo(`error: ${message}\nrequired by package \`x v0.1.0\`\n`);
    expect([missing.verdict, missing.infraKind, missing.patterns.map((each) => [each.pattern, each.category])]).toEqual([
      'fail',
      null,
      [[pattern, 'dependency']],
    ]);
  });
});

test('every fixture that failed is judged fail or blocked, every other passes', () => {
  for (const [name, { exitCode }] of Object.entries(index)) expect([name, judged(name).verdict === 'pass']).toEqual([name, exitCode === 0]);
});
