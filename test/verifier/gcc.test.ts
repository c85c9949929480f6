import { judgedRun, runs, told } from './programs.js';

describe('gcc and g++', () => {
  test.each([
    ['undeclared', ['gcc_undeclared (resolution) undeclared.c']],
    ['not_declared', ['gcc_no_member (resolution) not_declared.cpp', 'gcc_undeclared (resolution) not_declared.cpp']],
    ['no_member', ['gcc_no_member (resolution) no_member.cpp']],
    ['unknown_type', ['gcc_unknown_type (resolution) unknown_type.c']],
    ['missing_header', ['gcc_missing_header (import) missing_header.c']],
    ['syntax', ['gcc_expected_token (syntax) syntax.c']],
    ['incompatible', ['gcc_incompatible_types (type) incompatible.c']],
    ['cannot_convert', ['gcc_incompatible_types (type) cannot_convert.cpp']],
    ['too_few', ['gcc_argument_count (type) too_few.c']],
    ['readonly', ['gcc_const_violation (type) readonly.cpp']],
    ['private', ['gcc_inaccessible (visibility) private.cpp']],
    ['deleted', ['gcc_deleted_function (type) deleted.cpp']],
    ['abstract', ['gcc_abstract_or_override (trait_bound) abstract.cpp']],
    ['static_assert', ['gcc_static_assert (const_eval) static_assert.cpp']],
    ['redefinition', ['gcc_redefinition (resolution) redefinition.c']],
    ['error_directive', ['gcc_error_directive (build_config) error_directive.c']],
    ['werror', ['gcc_werror_unused-variable (lint) werror.c']],
    // A header of the system complains: the file is the one that used it.
    ['sort_list', ['gcc_no_match_operator (type) sort_list.cpp']],
    ['bad_option', ['gcc_bad_option (manifest)']],
  ])('%s', (name, expected) => {
    const answer = judgedRun(`gcc_${name}`);
    expect(told(`gcc_${name}`)).toEqual(expected);
    expect([answer.verdict, answer.confidence, answer.tool, answer.signature]).toEqual(['fail', 'high', 'gcc', expect.any(String)]);
  });

  const inForms = Object.keys(runs)
    .filter((name) => /^gcc_[a-z_]+\.json$/.test(name))
    .map((name) => name.replace('.json', ''));
  test.each(inForms)('%s: text, JSON, colours and plain quotes are one failure', (name) => {
    const { signature, patterns } = judgedRun(name);
    for (const form of ['json', 'color', 'ascii']) {
      if (runs[`${name}.${form}`] === undefined) continue;
      const other = judgedRun(`${name}.${form}`);
      expect([form, other.patterns.map((each) => each.pattern)]).toEqual([form, patterns.map((each) => each.pattern)]);
      // Its JSON does not say which file used the header.
      if (name !== 'gcc_sort_list') expect([form, other.signature]).toEqual([form, signature]);
    }
  });

  test('different failures have different signatures', () => {
    const signatures = inForms.map((name) => judgedRun(name).signature);
    expect(new Set(signatures).size).toBe(inForms.length);
  });

  test('a warning is none', () => expect(judgedRun('gcc_warning').verdict).toBe('pass'));

  test('localised errors are known by the word for error', () => {
    const of = (output: string) => judgedRun('gcc_undeclared', () => output).patterns.map((each) => each.pattern);
    expect(of('a.c:1:22: Fehler: »nope« nicht deklariert (erste Verwendung in dieser Funktion)\n')).toEqual(['gcc_undeclared']);
    expect(of('a.c:1:22: erreur: « nope » non déclaré (première utilisation)\n')).toEqual(['gcc_undeclared']);
    expect(of('a.c:1:22: 错误：‘nope’未声明(在此函数内第一次使用)\n')).toEqual(['gcc_undeclared']);
    expect(of('a.c:1:22: Warnung: Variable »nope« wird nicht verwendet\n')).toEqual([]);
  });
});

describe('clang', () => {
  const of = (output: string, command = 'clang -c a.c') => {
    const { patterns, verdict, infraKind, tool } = judgedRun('gcc_undeclared', () => output, { command });
    return [verdict, infraKind, patterns.map(({ pattern, category }) => `${pattern} (${category})`), tool];
  };
  test.each([
    [
      "a.c:2:12: error: use of undeclared identifier 'nope'\n    2 |     return nope + 1;\n      |            ^\n1 error generated.\n",
      'clang_undeclared (resolution)',
    ],
    ["a.cpp:6:14: error: no member named 'total' in 'Cart'\n1 error generated.\n", 'clang_no_member (resolution)'],
    ["a.c:1:10: fatal error: 'mine.h' file not found\n1 error generated.\n", 'clang_missing_header (import)'],
    ["a.c:2:13: error: expected ';' after return statement\n1 error generated.\n", 'clang_expected_token (syntax)'],
    [
      "a.cpp:5:12: error: no viable conversion from returned value of type 'std::string' to function return type 'int'\n1 error generated.\n",
      'clang_incompatible_types (type)',
    ],
    [
      "a.c:3:9: error: call to undeclared function 'go'; ISO C99 and later do not support implicit function declarations [-Wimplicit-function-declaration]\n1 error generated.\n",
      'clang_implicit_declaration (resolution)',
    ],
    ["a.c:2:9: error: unused variable 'spare' [-Werror,-Wunused-variable]\n1 error generated.\n", 'clang_werror_unused-variable (lint)'],
    ["a.cpp:5:25: error: 'secret' is a private member of 'Box'\n1 error generated.\n", 'clang_inaccessible (visibility)'],
    ["clang: error: unknown argument: '-fno-such'\n", 'clang_bad_option (manifest)'],
  ])('%j', (output, expected) => expect(of(output)).toEqual(['fail', null, [expected], 'clang']));

  test('is told from gcc by its closing line, also inside make', () => {
    expect(
      of("a.c:2:12: error: use of undeclared identifier 'nope'\n1 error generated.\nmake: *** [Makefile:2: a.o] Error 1\n", 'make')[2],
    ).toEqual(['clang_undeclared (resolution)']);
  });

  test('the machine', () => {
    expect(of("error: unable to open output file 'a.o': 'No space left on device'\n1 error generated.\n").slice(0, 2)).toEqual([
      'blocked',
      'disk',
    ]);
    expect(
      of(
        'clang: error: unable to execute command: Killed\nclang: error: linker command failed due to signal (use -v to see invocation)\n',
      ).slice(0, 2),
    ).toEqual(['blocked', 'killed']);
  });
});

describe('linkers', () => {
  test.each([
    ['ld_undefined', ['ld_undefined_reference (link) link_undefined.c']],
    ['ld_library', ['ld_cannot_find_library (link)']],
    ['ld_twice', ['ld_multiple_definition (link) link_twice_main.c']],
  ])('%s', (name, expected) => expect([judgedRun(name).verdict, told(name)]).toEqual(['fail', expected]));

  test('with and without debug information it is the same failure; another symbol is another', () => {
    expect(judgedRun('ld_undefined.debug').signature).toBe(judgedRun('ld_undefined').signature);
    expect(judgedRun('ld_undefined', (text) => text.replaceAll('elsewhere', 'nowhere')).signature).not.toBe(
      judgedRun('ld_undefined').signature,
    );
  });

  test.each([
    [
      'ld.lld: error: undefined symbol: elsewhere()\n>>> referenced by a.cpp:3\n>>>               /tmp/a-1b2c3d.o:(main)\nclang: error: linker command failed with exit code 1 (use -v to see invocation)\n',
      'ld_undefined_reference',
    ],
    [
      'Undefined symbols for architecture arm64:\n  "_elsewhere", referenced from:\n      _main in a-1b2c3d.o\nld: symbol(s) not found for architecture arm64\nclang: error: linker command failed with exit code 1 (use -v to see invocation)\n',
      'ld_undefined_reference',
    ],
    [
      "ld: library 'nope' not found\nclang: error: linker command failed with exit code 1 (use -v to see invocation)\n",
      'ld_cannot_find_library',
    ],
    [
      '/usr/bin/ld: /tmp/ccA1b2C3.o: relocation R_X86_64_32 against `.rodata` can not be used when making a PIE object; recompile with -fPIE\ncollect2: error: ld returned 1 exit status\n',
      'ld_relocation',
    ],
  ])('%j', (output, expected) => {
    const answer = judgedRun('ld_undefined', () => output);
    expect([answer.verdict, answer.patterns.map((each) => each.pattern)]).toEqual(['fail', [expected]]);
  });

  test('a full disk is the machine', () => {
    const full = '/usr/bin/ld: final link failed: No space left on device\ncollect2: error: ld returned 1 exit status\n';
    expect(judgedRun('ld_undefined', () => full)).toMatchObject({ verdict: 'blocked', infraKind: 'disk', confidence: 'high' });
    expect(judgedRun('gcc_full')).toMatchObject({ verdict: 'blocked', infraKind: 'disk' });
    expect(judgedRun('gcc_no_memory')).toMatchObject({ verdict: 'blocked', infraKind: 'memory' });
    const killed = 'g++: fatal error: Killed signal terminated program cc1plus\ncompilation terminated.\n';
    expect(judgedRun('gcc_no_member', () => killed)).toMatchObject({ verdict: 'blocked', infraKind: 'killed', confidence: 'low' });
  });
});

describe('programs that died', () => {
  test.each([
    ['gcc_asan', ['asan_heap-use-after-free (runtime_crash)']],
    ['gcc_ubsan', ['ubsan_signed-integer-overflow (runtime_crash) ubsan.c']],
    ['gcc_assertion', ['c_assertion_failed (test_assertion) assertion.c']],
    ['gcc_throws', ['cpp_uncaught_exception (runtime)']],
  ])('%s', (name, expected) => expect([judgedRun(name).verdict, told(name)]).toEqual(['fail', expected]));

  test('addresses and process ids are not part of a signature, the function is', () => {
    const other = judgedRun('gcc_asan', (text) =>
      text.replace(/0x[0-9a-f]{6,}/g, (at) => at.replace('5', '7')).replace(/==\d+==/g, '==77=='),
    );
    expect(other.signature).toBe(judgedRun('gcc_asan').signature);
    expect(judgedRun('gcc_asan', (text) => text.replaceAll(' in main ', ' in release_all ')).signature).not.toBe(other.signature);
  });
});

describe('googletest and ctest', () => {
  const run = (output: string) => judgedRun('make_recipe_fails', () => output, { command: 'ctest --output-on-failure', exitCode: 8 });
  const gtest = (line: number, ms: number) =>
    `[==========] Running 2 tests from 1 test suite.\n[ RUN      ] Cart.Total\n/home/ci/w/cart_test.cc:${line}: Failure\nExpected equality of these values:\n  cart.total()\n    Which is: 3\n  4\n[  FAILED  ] Cart.Total (${ms} ms)\n[ RUN      ] Cart.Prints\nerror: Could not resolve host\na.c:1:1: error: expected ';'\n[       OK ] Cart.Prints (0 ms)\n[  FAILED  ] 1 test, listed below:\n[  FAILED  ] Cart.Total\n\n 1 FAILED TEST\n`;
  test('a failed test is known by its name and operands', () => {
    const answer = run(gtest(12, 0));
    expect(answer.patterns).toMatchObject([
      { pattern: 'gtest_failed:Cart.Total', category: 'test_assertion', file: '/home/ci/w/cart_test.cc' },
    ]);
    expect(run(gtest(99, 31)).signature).toBe(answer.signature);
    expect(run(gtest(12, 0).replace('Which is: 3', 'Which is: 5')).signature).not.toBe(answer.signature);
  });

  test('ctest around plain programs', () => {
    const text =
      'Test project /home/ci/w/build\n    Start 1: parses\n1/2 Test #1: parses ...........................***Failed    0.01 sec\n    Start 2: crashes\n2/2 Test #2: crashes ..........................***Exception: SegFault  0.10 sec\n\n0% tests passed, 2 tests failed out of 2\n';
    expect(run(text).patterns.map((each) => each.pattern)).toEqual(['ctest_failed:parses', 'ctest_crashed:crashes']);
    const late = judgedRun('make_recipe_fails', () => '    Start 1: spins\n', { command: 'ctest', exitCode: null, timedOut: true });
    expect(late.patterns.map((each) => each.pattern)).toEqual(['test_timeout:spins']);
  });
});

describe('make, cmake, ninja', () => {
  test.each([
    ['make_calls_gcc', ['gcc_undeclared (resolution) a.c'], 'fail', null],
    ['make_no_rule', ['make_no_rule (manifest)'], 'fail', null],
    ['make_broken', ['make_syntax (manifest) Makefile'], 'fail', null],
    ['make_no_program', [], 'blocked', 'toolchain'],
    // curl's own words, unsure: nothing tells whether the recipe went on without it.
    ['make_recipe_fails', [], 'blocked', 'dns'],
  ])('%s', (name, patterns, verdict, kind) => {
    const answer = judgedRun(name);
    expect([answer.verdict, answer.infraKind, told(name)]).toEqual([verdict, kind, patterns]);
  });

  const cmake = (output: string) => judgedRun('make_calls_gcc', () => output, { command: 'cmake -S . -B build', exitCode: 1 });
  test('cmake', () => {
    const missing = `CMake Error at CMakeLists.txt:3 (find_package):\n  By not providing "FindNope.cmake" in CMAKE_MODULE_PATH this project has asked\n  CMake to find a package configuration file provided by "Nope", but CMake did\n  not find one.\n\n\n-- Configuring incomplete, errors occurred!\n`;
    expect(cmake(missing).patterns).toMatchObject([{ pattern: 'cmake_package_not_found', category: 'manifest', file: 'CMakeLists.txt' }]);
    const noCompiler =
      'CMake Error at CMakeLists.txt:2 (project):\n  No CMAKE_CXX_COMPILER could be found.\n\n  Tell CMake where to find the compiler\n\n\n';
    expect(cmake(noCompiler)).toMatchObject({ verdict: 'blocked', infraKind: 'toolchain' });
    const download =
      'CMake Error at build/_deps/x.cmake:170 (message):\n  Each download failed!\n\n    error: downloading \'https://example.invalid/x.tar.gz\' failed\n          status_code: 6\n          status_string: "Could not resolve host: example.invalid"\n\n\n';
    expect(cmake(download)).toMatchObject({ verdict: 'blocked', infraKind: 'dns' });
  });

  test('ninja', () => {
    const ninja = (output: string) => judgedRun('make_calls_gcc', () => output, { command: 'ninja', exitCode: 1 });
    expect(ninja("ninja: error: 'a.c', needed by 'a.o', missing and no known rule to make it\n").patterns).toMatchObject([
      { pattern: 'ninja_missing_input', category: 'manifest' },
    ]);
    expect(
      ninja(
        "[1/1] gcc -c a.c -o a.o\nFAILED: a.o \ngcc -c a.c -o a.o\na.c:1:22: error: 'nope' undeclared (first use in this function)\nninja: build stopped: subcommand failed.\n",
      ).patterns,
    ).toMatchObject([{ pattern: 'gcc_undeclared' }]);
  });
});
