import { classify } from '../../src/verifier/classify.js';

/** Outputs by hand, in the grammar of tools that are not installed here: .NET 8, RSpec 3, minitest 5, Bundler, PHPUnit 10, Composer, Swift 5.10, cargo-nextest. */
const of = (command: string, output: string, exitCode = 1) => {
  const { verdict, infraKind, patterns } = classify({ command, exitCode, output });
  return [verdict, infraKind, patterns.map(({ pattern, category, file }) => `${pattern} (${category})${file === null ? '' : ` ${file}`}`)];
};
const signature = (command: string, output: string) => classify({ command, exitCode: 1, output }).signature;

describe('dotnet', () => {
  const error = (line: number) =>
    `  Determining projects to restore...\n/home/ci/w/Cart.cs(${line},9): error CS0103: The name 'nope' does not exist in the current context [/home/ci/w/Cart.csproj]\n\nBuild FAILED.\n\n/home/ci/w/Cart.cs(${line},9): error CS0103: The name 'nope' does not exist in the current context [/home/ci/w/Cart.csproj]\n    0 Warning(s)\n    1 Error(s)\n\nTime Elapsed 00:00:01.20\n`;
  test('compilers', () => {
    expect(of('dotnet build', error(3))).toEqual(['fail', null, ['cs0103_name_not_found (resolution) /home/ci/w/Cart.cs']]);
    expect(signature('dotnet build', error(3))).toBe(signature('dotnet build', error(30)));
    expect(signature('dotnet build', error(3))).not.toBe(signature('dotnet build', error(3).replaceAll("'nope'", "'nada'")));
    expect(of('dotnet build', '/w/A.cs(3,20): error CS1002: ; expected [/w/a.csproj]\n')[2]).toEqual(['cs1002_error (syntax) /w/A.cs']);
    expect(of('dotnet build', '/w/A.cs(3,20): error CS8602: Dereference of a possibly null reference. [/w/a.csproj]\n')[2]).toEqual([
      'cs8602_error (null_safety) /w/A.cs',
    ]);
  });

  test.each([
    ['/w/a.csproj : error NU1101: Unable to find package Nope. No packages exist with this id in source(s): nuget.org\n', 'fail', null],
    [
      '/w/a.csproj : error NU1301: Unable to load the service index for source https://api.nuget.org/v3/index.json.\n  Name or service not known (api.nuget.org:443)\n',
      'blocked',
      'dns',
    ],
    [
      '/w/a.csproj : error NU1301: Unable to load the service index for source https://nuget.example/v3/index.json.\n  Response status code does not indicate success: 401 (Unauthorized).\n',
      'blocked',
      'auth',
    ],
    [
      '/usr/share/dotnet/sdk/8.0.100/Sdks/x.targets(90,5): error NETSDK1045: The current .NET SDK does not support targeting .NET 9.0. [/w/a.csproj]\n',
      'blocked',
      'toolchain',
    ],
    [
      '/w/x.targets(1,5): error MSB3027: Could not copy "a.dll" to "b.dll". Exceeded retry count of 10. Failed. The file is locked by: "x (7)" [/w/a.csproj]\n',
      'blocked',
      'lock',
    ],
  ])('%j', (output, verdict, kind) => expect(of('dotnet build', output).slice(0, 2)).toEqual([verdict, kind]));

  test('tests', () => {
    const run = (ms: number) =>
      `  Failed Shop.CartTests.Adds [${ms} ms]\n  Error Message:\n   Assert.Equal() Failure: Values differ\nExpected: 3\nActual:   2\n  Stack Trace:\n     at Shop.CartTests.Adds() in /home/ci/w/CartTests.cs:line 10\n\nFailed!  - Failed:     1, Passed:     0, Skipped:     0, Total:     1, Duration: ${ms} ms - w.dll (net8.0)\n`;
    expect(of('dotnet test', run(3))).toEqual([
      'fail',
      null,
      ['dotnet_test_failed:Shop.CartTests.Adds (test_assertion) /home/ci/w/CartTests.cs'],
    ]);
    expect(signature('dotnet test', run(3))).toBe(signature('dotnet test', run(88)));
    expect(signature('dotnet test', run(3))).not.toBe(signature('dotnet test', run(3).replace('Actual:   2', 'Actual:   4')));
  });
});

describe('ruby', () => {
  const rspec = (line: number) =>
    `F\n\nFailures:\n\n  1) Cart adds items\n     Failure/Error: expect(cart.total).to eq(3)\n\n       expected: 3\n            got: 2\n\n       (compared using ==)\n     # ./spec/cart_spec.rb:${line}:in \`block (2 levels) in <top (required)>'\n\nFinished in 0.01234 seconds (files took 0.1 seconds to load)\n1 example, 1 failure\n\nFailed examples:\n\nrspec ./spec/cart_spec.rb:${line} # Cart adds items\n`;
  test('rspec', () => {
    expect(of('bundle exec rspec', rspec(5))).toEqual([
      'fail',
      null,
      ['rspec_expectation:Cart adds items (test_assertion) spec/cart_spec.rb'],
    ]);
    expect(signature('rspec', rspec(5))).toBe(signature('rspec', rspec(50)));
    expect(signature('rspec', rspec(5))).not.toBe(signature('rspec', rspec(5).replace('got: 2', 'got: 9')));
    const loading =
      "\nAn error occurred while loading ./spec/cart_spec.rb.\nFailure/Error: require 'nope'\n\nLoadError:\n  cannot load such file -- nope\n# ./spec/cart_spec.rb:1:in `<top (required)>'\n\n0 examples, 0 failures, 1 error occurred outside of examples\n";
    expect(of('rspec', loading)).toEqual(['fail', null, ['rspec_loaderror (import) spec/cart_spec.rb']]);
  });

  test('minitest, ruby, rubocop', () => {
    const minitest =
      '  1) Failure:\nCartTest#test_adds [test/cart_test.rb:5]:\nExpected: 3\n  Actual: 2\n\n1 runs, 1 assertions, 1 failures, 0 errors, 0 skips\n';
    expect(of('rake test', minitest)).toEqual(['fail', null, ['minitest_assertion:CartTest#test_adds (test_assertion) test/cart_test.rb']]);
    expect(
      of(
        'ruby a.rb',
        "a.rb:3:in `total': undefined local variable or method `nope' for main:Object (NameError)\n\tfrom a.rb:7:in `<main>'\n",
      )[2],
    ).toEqual(['ruby_nameerror (resolution) a.rb']);
    expect(of('ruby a.rb', 'a.rb:3: syntax error, unexpected end-of-input\n')[2]).toEqual(['ruby_syntaxerror (syntax) a.rb']);
    expect(of('rubocop', 'a.rb:3:5: C: [Correctable] Style/StringLiterals: Prefer single-quoted strings.\n')[2]).toEqual([
      'rubocop_style/stringliterals (lint) a.rb',
    ]);
  });

  test.each([
    ["Could not find gem 'nope' in rubygems repository https://rubygems.org/ or installed locally.\n", 'fail', null],
    ['Could not reach host rubygems.org. Check your network connection and try again.\n', 'blocked', 'dns'],
    ['Your Ruby version is 3.1.2, but your Gemfile specified 3.3.0\n', 'blocked', 'toolchain'],
  ])('%j', (output, verdict, kind) => expect(of('bundle install', output, 7).slice(0, 2)).toEqual([verdict, kind]));
});

describe('php', () => {
  const unit = (line: number) =>
    `PHPUnit 10.5.0 by Sebastian Bergmann and contributors.\n\nF                                                                   1 / 1 (100%)\n\nTime: 00:00.005, Memory: 8.00 MB\n\nThere was 1 failure:\n\n1) CartTest::testAdds\nFailed asserting that 2 matches expected 3.\n\n/home/ci/w/tests/CartTest.php:${line}\n\nFAILURES!\nTests: 1, Assertions: 1, Failures: 1.\n`;
  test('phpunit', () => {
    expect(of('vendor/bin/phpunit', unit(9))).toEqual([
      'fail',
      null,
      ['phpunit_failed:CartTest::testAdds (test_assertion) /home/ci/w/tests/CartTest.php'],
    ]);
    expect(signature('phpunit', unit(9))).toBe(signature('phpunit', unit(90)));
    expect(signature('phpunit', unit(9))).not.toBe(signature('phpunit', unit(9).replace('that 2', 'that 5')));
  });

  test.each([
    ['PHP Parse error:  syntax error, unexpected token "}" in /w/a.php on line 3\n', 'php_parse_error (syntax) /w/a.php'],
    [
      'PHP Fatal error:  Uncaught Error: Call to undefined function nope() in /w/a.php:3\nStack trace:\n#0 {main}\n',
      'php_error_call_to_undefined_function_x (resolution) /w/a.php',
    ],
    [
      'PHP Fatal error:  Allowed memory size of 134217728 bytes exhausted (tried to allocate 20480 bytes) in /w/a.php on line 9\n',
      'php_memory_exhausted (runtime_crash) /w/a.php',
    ],
  ])('%j', (output, expected) => expect(of('php a.php', output, 255)).toEqual(['fail', null, [expected]]));

  test('composer', () => {
    expect(
      of(
        'composer install',
        'Your requirements could not be resolved to an installable set of packages.\n\n  Problem 1\n    - Root composer.json requires a/nope, it could not be found in any version.\n',
        2,
      ),
    ).toEqual(['fail', null, ['composer_conflict (dependency) composer.json']]);
    expect(
      of(
        'composer install',
        '  curl error 6 while downloading https://repo.packagist.org/packages.json: Could not resolve host: repo.packagist.org\n',
        100,
      ).slice(0, 2),
    ).toEqual(['blocked', 'dns']);
  });
});

describe('swift', () => {
  test.each([
    ["/w/Sources/a/Cart.swift:3:12: error: cannot find 'nope' in scope\n", 'swift_cannot_find (resolution) /w/Sources/a/Cart.swift'],
    [
      "/w/Sources/a/Cart.swift:3:12: error: cannot convert return expression of type 'String' to return type 'Int'\n",
      'swift_type_mismatch (type) /w/Sources/a/Cart.swift',
    ],
    ["/w/Sources/a/Cart.swift:1:8: error: no such module 'Nope'\n", 'swift_no_such_module (import) /w/Sources/a/Cart.swift'],
    [
      '/w/Tests/CartTests.swift:10: error: CartTests.testAdds : XCTAssertEqual failed: ("2") is not equal to ("3")\n',
      'xctest_equal:CartTests.testAdds (test_assertion) /w/Tests/CartTests.swift',
    ],
    ['a/Cart.swift:3: Fatal error: Index out of range\n', 'swift_fatal_error (runtime_crash) a/Cart.swift'],
  ])('%j', (output, expected) => expect(of('swift test', output)).toEqual(['fail', null, [expected]]));

  test('the toolchain', () => {
    expect(
      of('swift build', "error: 'w': package 'w' is using Swift tools version 6.0.0 but the installed version is 5.10.0\n").slice(0, 2),
    ).toEqual(['blocked', 'toolchain']);
  });
});

describe('cargo nextest', () => {
  const panic =
    "thread 'tests::adds' panicked at src/lib.rs:5:9:\nassertion `left == right` failed\n  left: 2\n right: 3\nnote: run with `RUST_BACKTRACE=1` environment variable to display a backtrace\n";
  const old = `    Finished \`test\` profile [unoptimized + debuginfo] target(s) in 0.10s\n    Starting 2 tests across 1 binary\n        PASS [   0.003s] shop tests::fine\n        FAIL [   0.004s] shop tests::adds\n\n--- STDOUT:              shop tests::adds ---\n\nrunning 1 test\ntest tests::adds ... FAILED\n\nfailures:\n\nfailures:\n    tests::adds\n\ntest result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 1 filtered out; finished in 0.00s\n\n\n--- STDERR:              shop tests::adds ---\n${panic}\n   Canceling due to test failure\n------------\n     Summary [   0.006s] 2 tests run: 1 passed, 1 failed, 0 skipped\n        FAIL [   0.004s] shop tests::adds\nerror: test run failed\n`;
  const indented = (text: string) => text.replace(/^(?=.)/gm, '    ');
  const newer = `    Starting 2 tests across 1 binary\n        FAIL [   0.004s] (1/2) shop tests::adds\n  stdout ───\n${indented('\nrunning 1 test\ntest tests::adds ... FAILED\n\nfailures:\n\nfailures:\n    tests::adds\n\ntest result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 1 filtered out; finished in 0.00s\n')}\n  stderr ───\n${indented(panic)}\n  Cancelling due to test failure\n────────────\n     Summary [   0.006s] 2 tests run: 1 passed, 1 failed, 0 skipped\n        FAIL [   0.004s] (1/2) shop tests::adds\nerror: test run failed\n`;
  test('one failure, in both of its forms and as cargo test’s', () => {
    const expected = ['fail', null, ['rust_test_assert_eq:tests::adds (test_assertion) src/lib.rs']];
    expect(of('cargo nextest run', old, 100)).toEqual(expected);
    expect(of('cargo nextest run', newer, 100)).toEqual(expected);
    expect(of('./ci.sh', old, 100)).toEqual(expected);
    expect(signature('cargo nextest run', old)).toBe(signature('cargo nextest run', newer));
    const libtest = `\nrunning 1 test\ntest tests::adds ... FAILED\n\nfailures:\n\n---- tests::adds stdout ----\n${panic}\n\nfailures:\n    tests::adds\n\ntest result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\nerror: test failed, to rerun pass \`--lib\`\n`;
    expect(signature('cargo test', libtest)).toBe(signature('cargo nextest run', old));
  });

  test('timeouts, signals, and a retry that passed', () => {
    const line = (text: string) => `${text}\n     Summary [   0.006s] 1 test run: 0 passed, 1 failed, 0 skipped\nerror: test run failed\n`;
    expect(of('cargo nextest run', line('     TIMEOUT [  60.004s] shop tests::spins'), 100)[2]).toEqual([
      'test_timeout:tests::spins (timeout)',
    ]);
    expect(of('cargo nextest run', line('     SIGSEGV [   0.004s] shop tests::derefs'), 100)[2]).toEqual([
      'signal_sigsegv:tests::derefs (runtime_crash)',
    ]);
    expect(
      of(
        'cargo nextest run',
        line(
          '  TRY 1 FAIL [   0.004s] shop tests::shaky\n  TRY 2 PASS [   0.004s] shop tests::shaky\n        FAIL [   0.004s] shop tests::adds',
        ),
        100,
      )[2],
    ).toEqual(['rust_test_failed:tests::adds (test_assertion)']);
  });
});
