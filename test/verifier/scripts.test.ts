import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { categories } from '../../src/verifier/categories.js';
import { classify } from '../../src/verifier/classify.js';
import { scripted, scriptNames, scriptText } from './helpers.js';

/** Outputs of real tools for the programs under fixtures/programs, made by fixtures/make-scripts.mjs. */

const patterns = (name: string): string[] => scripted(name).patterns.map((each) => each.pattern);
const kinds = (name: string): string[] => patterns(name).map((each) => each.split(':')[0] ?? '');

describe('one failure has one signature, whatever wrote it', () => {
  test.each([
    [
      'pytest',
      ['pytest/kinds', 'pytest/kinds.plain', 'pytest/kinds.color', 'pytest/kinds.short', 'pytest/kinds.native', 'pytest/kinds.junit'],
    ],
    ['pytest, collection', ['pytest/collect', 'pytest/collect.junit']],
    ['unittest', ['unittest/unittest', 'unittest/unittest.verbose']],
    ['jest', ['jest/kinds', 'jest/kinds.color', 'jest/kinds.json', 'jest/kinds.junit']],
    ['jest, suites', ['jest/suites', 'jest/suites.json']],
    ['vitest', ['vitest/kinds', 'vitest/kinds.verbose', 'vitest/kinds.junit']],
    ['vitest, reports without a diff', ['vitest/json', 'vitest/tap']],
    ['mocha', ['mocha/kinds', 'mocha/kinds.dot', 'mocha/kinds.json', 'mocha/kinds.tap', 'mocha/kinds.xunit', 'mocha/kinds.junit']],
    ['node:test', ['node-test/kinds', 'node-test/kinds.spec', 'node-test/kinds.dot', 'node-test/kinds.junit']],
    ['node:test, a file that cannot be loaded', ['node-test/crash', 'node-test/crash-spec']],
    ['eslint', ['eslint/kinds', 'eslint/kinds.color', 'eslint/kinds.json']],
    ['biome', ['biome/kinds', 'biome/kinds.json', 'biome/kinds.sarif']],
    ['a script, through npm, pnpm and yarn', ['npm/script', 'npm/pnpm-script', 'npm/yarn-script']],
    ['npm, as text and as JSON', ['npm/refused', 'npm/refused.json']],
  ])('%s', (_name, names) => {
    const all = names.map((name) => [name, scripted(name).verdict, scripted(name).signature]);
    expect(all).toEqual(names.map((name) => [name, scripted(names[0] ?? '').verdict, scripted(names[0] ?? '').signature]));
    expect(all[0]?.[2]).not.toBeNull();
  });

  test('and failures that differ have different ones', () => {
    const seen = new Map<string | null, string>();
    for (const name of scriptNames.filter((each) => !each.split('/')[1]?.includes('.'))) {
      const { verdict, signature, infraKind } = scripted(name);
      if (verdict !== 'fail') continue;
      const known = seen.get(signature);
      const same = [known ?? '', name].every((each) => /script$|crash|^vitest\/(?:json|tap)$/.test(each));
      expect([name, infraKind, known === undefined || same ? null : known]).toEqual([name, null, null]);
      seen.set(signature, name);
    }
  });
});

describe('pytest', () => {
  test('each kind of failure is named, and its test; what a test printed is nothing', () => {
    expect(scripted('pytest/kinds').patterns.map(({ pattern, category, file, count }) => [pattern, category, file, count])).toEqual([
      ['pytest_fixture_not_found:test_missing_fixture', 'resolution', 'test_kinds.py', 1],
      ['pytest_runtimeerror:test_setup', 'runtime', 'test_kinds.py', 1],
      ['pytest_assertionerror:test_sum', 'test_assertion', 'test_kinds.py', 1],
      ['pytest_emptycart:TestCart.test_empty', 'runtime', 'shop/cart.py', 1],
      ['pytest_typeerror:TestCart.test_discount', 'runtime', 'shop/cart.py', 1],
      ['pytest_assertionerror:test_words', 'test_assertion', 'test_kinds.py', 1],
      ['pytest_assertionerror:test_lists', 'test_assertion', 'test_kinds.py', 1],
      ['pytest_did_not_raise:test_raises', 'test_assertion', 'test_kinds.py', 1],
      ['pytest_connectionrefusederror:test_refused', 'runtime', 'test_kinds.py', 1],
      ['pytest_xpass_strict:test_expected_to_fail', 'test_assertion', 'test_kinds.py', 1],
    ]);
  });

  test('with no more than the summary the tests are still known', () => {
    const named = (name: string) =>
      patterns(name)
        .map((each) => each.split(':')[1])
        .sort();
    for (const name of ['pytest/no-tb', 'pytest/one-line']) expect([name, named(name)]).toEqual([name, named('pytest/kinds')]);
    const tail = scriptText('pytest/kinds').trimEnd().split('\n').slice(-4).join('\n');
    const masked = classify({ command: 'pytest -q | tail -4', exitCode: 0, output: tail });
    expect([masked.verdict, masked.patterns.length]).toEqual(['fail', 3]);
  });

  test.each([
    ['collect', ['pytest_modulenotfounderror', 'pytest_syntaxerror']],
    ['conftest', ['pytest_conftest_importerror']],
    ['no-such-path', ['pytest_path_not_found']],
    ['bad-option', ['pytest_usage']],
    ['none', ['pytest_no_tests']],
  ])('%s', (name, expected) => expect(kinds(`pytest/${name}`)).toEqual(expected));
});

describe('Python', () => {
  test('unittest', () => {
    expect(scripted('unittest/unittest').patterns.map(({ pattern, category }) => [pattern, category])).toEqual([
      ['unittest_modulenotfounderror:test_absent', 'import'],
      ['unittest_keyerror:Money.test_crashes', 'runtime'],
      ['unittest_assertionerror:Money.test_adds', 'test_assertion'],
      ['unittest_assertionerror:Money.test_lists', 'test_assertion'],
      ['unittest_assertionerror:Money.test_parts', 'test_assertion'],
      ['unittest_unexpected_success:Money.test_surprise', 'test_assertion'],
    ]);
  });

  test.each([
    ['uncaught', 'python_keyerror', 'runtime', 'uncaught.py'],
    ['syntax', 'python_syntaxerror', 'syntax', 'syntax.py'],
    ['absent', 'python_modulenotfounderror', 'import', 'absent.py'],
    ['refused', 'python_urlerror', 'runtime', 'refused.py'],
    ['segfault', 'signal_sigsegv', 'runtime_crash', 'segfault.py'],
    ['no-file', 'python_file_not_found', 'manifest', undefined],
  ])('%s', (name, pattern, category, file) => {
    const [first] = scripted(`python/${name}`).patterns;
    expect([first?.pattern, first?.category, first?.file?.split('/').at(-1)]).toEqual([pattern, category, file]);
  });

  test('a module that is to be run and is not there is the machine’s, unsurely', () => {
    expect(scripted('python/no-module')).toMatchObject({ verdict: 'blocked', infraKind: 'toolchain', confidence: 'low' });
  });
});

describe('JavaScript runners', () => {
  const of = (name: string) => scripted(name).patterns.map(({ pattern, category, file }) => [pattern, category, file?.split('/').at(-1)]);
  test('jest', () => {
    expect(of('jest/kinds')).toEqual([
      ['jest_expect_tobe:a cart adds up', 'test_assertion', 'kinds.test.js'],
      ['jest_expect_toequal:a cart compares', 'test_assertion', 'kinds.test.js'],
      ['jest_typeerror_read_undefined:a cart when empty costs nothing', 'runtime', 'cart.js'],
      ['jest_expect_tothrow:a cart refuses', 'test_assertion', 'kinds.test.js'],
      ['jest_expect_tobe:a cart speaks of networks', 'test_assertion', 'kinds.test.js'],
      ['jest_assertionerror:a cart uses assert', 'test_assertion', 'kinds.test.js'],
      ['jest_test_error:a cart connects', 'runtime', 'kinds.test.js'],
      ['jest_timeout:a cart is slow', 'timeout', 'kinds.test.js'],
    ]);
    expect(kinds('jest/suites').sort()).toEqual(
      ['cannot_find_module', 'cannot_find_module', 'no_tests', 'syntaxerror', 'typeerror', 'unexpected_token_import'].map(
        (each) => `jest_${each}`,
      ),
    );
    expect(kinds('jest/no-tests')).toEqual(['jest_no_tests']);
    expect(kinds('jest/bad-option')).toEqual(['jest_usage']);
  });

  test('vitest', () => {
    expect(of('vitest/kinds').map(([pattern, category]) => [pattern, category])).toEqual([
      ['vitest_assertionerror:a cart adds up', 'test_assertion'],
      ['vitest_assertionerror:a cart compares', 'test_assertion'],
      ['vitest_typeerror_read_undefined:a cart when empty costs nothing', 'runtime'],
      ['vitest_assertionerror:a cart refuses', 'test_assertion'],
      ['vitest_assertionerror:a cart speaks of networks', 'test_assertion'],
      ['vitest_assertionerror:a cart uses assert', 'test_assertion'],
      ['vitest_test_error:a cart connects', 'runtime'],
      ['vitest_timeout:a cart is slow', 'timeout'],
    ]);
    for (const report of ['vitest/json', 'vitest/tap']) expect([report, patterns(report)]).toEqual([report, patterns('vitest/kinds')]);
    expect(kinds('vitest/suites').sort()).toEqual([
      'vitest_import_failed',
      'vitest_import_failed',
      'vitest_syntaxerror',
      'vitest_typeerror',
    ]);
    expect(kinds('vitest/no-tests')).toEqual(['vitest_no_tests']);
  });

  test('mocha', () => {
    expect(of('mocha/kinds').map(([pattern, category]) => [pattern, category])).toEqual([
      ['mocha_rangeerror:at the top', 'runtime'],
      ['mocha_assertion:a cart adds up', 'test_assertion'],
      ['mocha_assertion:a cart compares', 'test_assertion'],
      ['mocha_assertion:a cart speaks of networks', 'test_assertion'],
      ['mocha_timeout:a cart is slow', 'timeout'],
      ['mocha_typeerror_read_undefined:a cart when empty costs nothing', 'runtime'],
      ['mocha_test_error:hooks "before each" hook for "never runs"', 'runtime'],
    ]);
  });

  test('node:test; what is only to be done is no failure', () => {
    expect(of('node-test/kinds').map(([pattern, category]) => [pattern, category])).toEqual([
      ['node_test_assertion:adds up', 'test_assertion'],
      ['node_test_assertion:compares', 'test_assertion'],
      ['node_test_typeerror_read_undefined:reads nothing', 'runtime'],
      ['node_test_assertion:says why', 'test_assertion'],
      ['node_test_econnrefused:connects', 'runtime'],
      ['node_test_timeout:is slow', 'timeout'],
      ['node_test_cancelled:the child', 'test_assertion'],
      ['node_test_error:throws', 'runtime'],
    ]);
    expect(kinds('node-test/crash')).toEqual(['node_err_module_not_found']);
  });

  test.each([
    ['syntax', 'node_syntaxerror', 'syntax'],
    ['reference', 'node_referenceerror', 'runtime'],
    ['undefined', 'node_typeerror_read_undefined', 'runtime'],
    ['relative', 'node_err_module_not_found', 'import'],
    ['package', 'node_err_module_not_found', 'import'],
    ['require', 'node_err_module_not_found', 'import'],
    ['nowhere', 'node_err_module_not_found', 'import'],
    ['assert', 'node_err_assertion', 'test_assertion'],
    ['in-use', 'node_eaddrinuse', 'runtime'],
    ['enoent', 'node_enoent', 'runtime'],
    ['refused', 'node_econnrefused', 'runtime'],
    ['thrown', 'node_thrown', 'runtime'],
    ['rejected', 'node_err_unhandled_rejection', 'runtime'],
    ['heap', 'node_heap_oom', 'runtime_crash'],
  ])('node: %s', (name, pattern, category) => {
    expect(scripted(`node/${name}`).patterns.map((each) => [each.pattern, each.category])).toEqual([[pattern, category]]);
  });
});

describe('linters', () => {
  test('eslint', () => {
    expect(scripted('eslint/kinds').patterns.map(({ pattern, category, count }) => [pattern, category, count])).toEqual([
      ['eslint_no-unused-vars', 'lint', 1],
      ['eslint_no-undef', 'lint', 2],
      ['eslint_parsing_error', 'syntax', 1],
    ]);
    expect(scripted('eslint/warnings')).toMatchObject({ verdict: 'pass', patterns: [] });
    expect(patterns('eslint/max-warnings')).toEqual(['eslint_eqeqeq', 'eslint_max_warnings']);
    expect(patterns('eslint/no-config')).toEqual(['eslint_config']);
    expect(patterns('eslint/broken')).toEqual(['eslint_plugin_not_found']);
    expect(patterns('eslint/bad-option')).toEqual(['eslint_usage']);
  });

  test('biome', () => {
    const expected = ['biome_noDoubleEquals', 'biome_noDebugger', 'biome_format', 'biome_format', 'biome_parse', 'biome_format'];
    expect(patterns('biome/kinds')).toEqual(expected);
    // These two leave out what cannot be formatted, or all of the formatting.
    expect(patterns('biome/kinds.github')).toEqual(expected.slice(0, 5));
    expect(patterns('biome/kinds.junit')).toEqual(expected.filter((each) => each !== 'biome_format'));
  });
});

describe('package managers', () => {
  test.each([
    ['refused', 'connect'],
    ['dns', 'dns'],
    ['offline', 'offline'],
    ['git-refused', 'connect'],
    ['install-script', 'dns'],
    ['no-program', 'toolchain'],
    ['pnpm-refused', 'connect'],
    ['pnpm-offline', 'offline'],
    ['yarn-refused', 'connect'],
    ['yarn-offline', 'offline'],
  ])('%s is the machine’s or the network’s', (name, kind) => {
    expect(scripted(`npm/${name}`)).toMatchObject({ verdict: 'blocked', infraKind: kind, confidence: 'high' });
  });

  test.each([
    ['broken', 'npm_ejsonparse', 'manifest'],
    ['no-lock', 'npm_eusage_no_lock', 'dependency'],
    ['no-script', 'npm_missing_script', 'manifest'],
    ['unknown-command', 'npm_unknown_command', 'manifest'],
    ['script', 'node_err_assertion', 'test_assertion'],
    ['pnpm-broken', 'pnpm_json_parse', 'manifest'],
    ['pnpm-no-script', 'pnpm_no_script', 'manifest'],
    ['pnpm-no-lock', 'pnpm_no_lockfile', 'dependency'],
    ['yarn-broken', 'yarn_manifest', 'manifest'],
    ['yarn-no-script', 'yarn_missing_script', 'manifest'],
  ])('%s is the model’s', (name, pattern, category) => {
    expect(scripted(`npm/${name}`).patterns.map((each) => [each.pattern, each.category])).toEqual([[pattern, category]]);
  });
});

test('every pattern has a category of the closed list; excerpts hold no line of a program', () => {
  const known: readonly string[] = categories;
  for (const name of scriptNames) {
    const answer = scripted(name);
    for (const { category } of answer.patterns) expect(known).toContain(category);
    expect([name, /^\s*(?:>?\s*\d+ \||def |import |const \w+ = require)/m.test(answer.excerpt)]).toEqual([name, false]);
  }
});

test('fixtures hold no path of the machine that made them', () => {
  const index = readFileSync(fileURLToPath(new URL('./fixtures/script/index.json', import.meta.url)), 'utf8');
  for (const text of [index, ...scriptNames.map(scriptText)])
    expect(/\/(?:root|tmp|work)\/(?!not)/.test(text.replaceAll('/home/ci/work', ''))).toBe(false);
});
