import { classify } from '../../src/verifier/classify.js';
import { judgedRun, runs, told } from './programs.js';

describe('javac', () => {
  test.each([
    ['symbol', ['javac_cant_resolve (resolution) symbol.java']],
    ['incompatible', ['javac_incompatible_types (type) incompatible.java']],
    ['syntax', ['javac_expected_token (syntax) syntax.java']],
    ['not_abstract', ['javac_does_not_override_abstract (trait_bound) not_abstract.java']],
    ['unreported', ['javac_unreported_exception (type) unreported.java']],
    ['missing_return', ['javac_missing_return (type) missing_return.java']],
    ['not_initialized', ['javac_not_initialized (null_safety) not_initialized.java']],
    ['no_package', ['javac_package_does_not_exist (import) no_package.java', 'javac_cant_resolve (resolution) no_package.java']],
    ['private_access', ['javac_access (visibility) private_access.java']],
    ['final_assign', ['javac_final (type) final_assign.java']],
    ['wrong_arguments', ['javac_incompatible_types (type) wrong_arguments.java']],
    ['unreachable', ['javac_unreachable (syntax) unreachable.java']],
    ['duplicate', ['javac_already_defined (resolution) duplicate.java']],
    ['werror', ['javac_werror (lint)']],
    ['bad_flag', ['javac_bad_option (manifest)']],
    ['no_file', ['javac_bad_option (manifest)']],
  ])('%s', (name, expected) => {
    expect([judgedRun(`javac_${name}`).verdict, told(`javac_${name}`)]).toEqual(['fail', expected]);
    if (runs[`javac_${name}.raw`] !== undefined) expect(told(`javac_${name}.raw`)).toEqual(expected);
  });

  test.each(['symbol', 'incompatible', 'missing_return', 'syntax'])('%s: text and raw diagnostics are one failure', (name) => {
    expect(judgedRun(`javac_${name}.raw`).signature).toBe(judgedRun(`javac_${name}`).signature);
  });

  test('other languages, and a warning', () => {
    expect(told('javac_symbol.zh')).toEqual(told('javac_symbol'));
    expect(told('javac_symbol.ja')).toEqual(told('javac_symbol'));
    expect(judgedRun('javac_warning').verdict).toBe('pass');
  });

  test('another symbol, another type: another failure; another line: the same', () => {
    const { signature } = judgedRun('javac_symbol');
    expect(judgedRun('javac_symbol', (text) => text.replaceAll('Strng', 'Sting')).signature).not.toBe(signature);
    expect(judgedRun('javac_symbol', (text) => text.replaceAll('java:3', 'java:33')).signature).toBe(signature);
  });

  test('the JDK that is installed', () => {
    expect(judgedRun('javac_no_release')).toMatchObject({ verdict: 'blocked', infraKind: 'toolchain', confidence: 'low' });
    expect(judgedRun('javac_no_release', undefined, { filesTouched: ['pom.xml'] })).toMatchObject({ verdict: 'fail' });
    expect(judgedRun('java_no_heap')).toMatchObject({ verdict: 'blocked', infraKind: 'memory' });
  });
});

describe('java', () => {
  test.each([
    ['java_npe', ['java_nullpointerexception (runtime) throws_npe.java']],
    ['java_out_of_memory', ['java_outofmemoryerror (runtime_crash) out_of_memory.java']],
    ['java_no_class', ['java_classnotfound (import)']],
  ])('%s', (name, expected) => expect([judgedRun(name).verdict, told(name)]).toEqual(['fail', expected]));
});

/** By hand, in the grammar of Maven 3.9 and its plugins. */
const maven = (body: string) =>
  `[INFO] Scanning for projects...\n[INFO] \n[INFO] ------------------------------< g:cart >-------------------------------\n[INFO] Building cart 1\n${body}`;
const failed = (reason: string) =>
  maven(
    `[INFO] BUILD FAILURE\n[INFO] Total time:  1.203 s\n[INFO] Finished at: 2026-03-01T10:00:00Z\n[ERROR] ${reason} -> [Help 1]\n[ERROR] \n[ERROR] To see the full stack trace of the errors, re-run Maven with the -e switch.\n[ERROR] [Help 1] http://cwiki.apache.org/confluence/display/MAVEN/DependencyResolutionException\n`,
  );
const of = (output: string, command = 'mvn -B test') => {
  const { verdict, infraKind, patterns } = classify({ command, exitCode: 1, output });
  return [verdict, infraKind, patterns.map(({ pattern, category }) => `${pattern} (${category})`)];
};
const transfer = (cause: string) =>
  failed(
    `Failed to execute goal on project cart: Could not resolve dependencies for project g:cart:jar:1: Failed to collect dependencies at a:b:jar:2: Failed to read artifact descriptor for a:b:jar:2: Could not transfer artifact a:b:pom:2 from/to central (https://repo.example/m2): ${cause}`,
  );

describe('maven', () => {
  test.each([
    ['repo.example: Name or service not known', 'dns'],
    ['Connect to repo.example:443 [repo.example/10.0.0.1] failed: Connection refused (Connection refused)', 'connect'],
    [
      'PKIX path building failed: sun.security.provider.certpath.SunCertPathBuilderException: unable to find valid certification path',
      'tls',
    ],
    ['status code: 401, reason phrase: Unauthorized (401)', 'auth'],
    ['authorization failed for https://repo.example/m2/a.pom, status: 403 Forbidden', 'auth'],
    ['status code: 429, reason phrase: Too Many Requests (429)', 'rate_limit'],
    ['status code: 503, reason phrase: Service Unavailable (503)', 'registry'],
    ['Read timed out', 'net_timeout'],
    ['/home/ci/.m2/repository/a/b/2/b-2.pom.part: No space left on device', 'disk'],
  ])('%s', (cause, kind) => expect(of(transfer(cause))).toEqual(['blocked', kind, []]));

  test('what a reached repository does not have is the POM’s; what a POM says wrongly, too', () => {
    const absent = failed(
      'Failed to execute goal on project cart: Could not resolve dependencies for project g:cart:jar:1: Could not find artifact a:nope:jar:1 in central (https://repo.example/m2)',
    );
    expect(of(absent)).toEqual(['fail', null, ['maven_artifact_not_found (dependency)']]);
    const version = maven(
      "[ERROR] [ERROR] Some problems were encountered while processing the POMs:\n[ERROR] 'dependencies.dependency.version' for a:b:jar is missing. @ line 12, column 17\n[ERROR] The build could not read 1 project -> [Help 1]\n",
    );
    expect(of(version)[2]).toEqual([expect.stringMatching(/^maven_.*missing.* \(manifest\)$/)]);
    expect(of(failed('Unknown lifecycle phase "tset". You must specify a valid lifecycle phase'))[2]).toEqual([
      expect.stringMatching(/\(manifest\)$/),
    ]);
  });

  const compile = (line: number) =>
    maven(
      `[INFO] --- compiler:3.11.0:compile (default-compile) @ cart ---\n[ERROR] COMPILATION ERROR : \n[ERROR] /home/ci/cart/src/main/java/g/Cart.java:[${line},16] cannot find symbol\n  symbol:   variable nope\n  location: class g.Cart\n[INFO] 1 error\n[INFO] BUILD FAILURE\n[ERROR] Failed to execute goal org.apache.maven.plugins:maven-compiler-plugin:3.11.0:compile (default-compile) on project cart: Compilation failure\n[ERROR] /home/ci/cart/src/main/java/g/Cart.java:[${line},16] cannot find symbol\n[ERROR]   symbol:   variable nope\n[ERROR]   location: class g.Cart\n[ERROR] \n[ERROR] -> [Help 1]\n`,
    );
  test('a compilation error is javac’s, said twice but counted once', () => {
    const answer = classify({ command: 'mvn -B compile', exitCode: 1, output: compile(3) });
    expect(answer.patterns).toEqual([
      { pattern: 'javac_cant_resolve', code: null, category: 'resolution', file: '/home/ci/cart/src/main/java/g/Cart.java', count: 1 },
    ]);
    const plain =
      'Cart.java:7: error: cannot find symbol\n    int f() { return nope; }\n                     ^\n  symbol:   variable nope\n  location: class Cart\n1 error\n';
    expect(classify({ command: 'mvn -B compile', exitCode: 1, output: compile(9) }).signature).toBe(answer.signature);
    expect(classify({ command: 'javac Cart.java', exitCode: 1, output: plain }).signature).toBe(answer.signature);
  });

  const tests = (head: string) =>
    maven(
      `[INFO] --- surefire:3.2.5:test (default-test) @ cart ---\n[INFO] Running g.CartTest\nConnection refused: what a test prints\n[ERROR] Tests run: 1, Failures: 1, Errors: 0, Skipped: 0, Time elapsed: 0.056 s <<< FAILURE! -- in g.CartTest\n${head}\norg.opentest4j.AssertionFailedError: expected: <2> but was: <1>\n\tat org.junit.jupiter.api.AssertionUtils.fail(AssertionUtils.java:39)\n\tat g.CartTest.adds(CartTest.java:10)\n\n[INFO] \n[INFO] Results:\n[INFO] \n[ERROR] Failures: \n[ERROR]   CartTest.adds:10 expected: <2> but was: <1>\n[INFO] \n[ERROR] Tests run: 1, Failures: 1, Errors: 0, Skipped: 0\n[INFO] BUILD FAILURE\n[ERROR] Failed to execute goal org.apache.maven.plugins:maven-surefire-plugin:3.2.5:test (default-test) on project cart: There are test failures.\n`,
    );
  const newer = tests('[ERROR] g.CartTest.adds -- Time elapsed: 0.009 s <<< FAILURE!');
  test('a failed test, in the forms of three surefires', () => {
    const answer = classify({ command: 'mvn test', exitCode: 1, output: newer });
    expect(answer.patterns).toMatchObject([
      { pattern: 'java_assertionfailederror:g.CartTest.adds', category: 'test_assertion', file: 'CartTest.java' },
    ]);
    for (const head of ['[ERROR] adds(g.CartTest)  Time elapsed: 0.1 s  <<< FAILURE!', '[ERROR] adds  Time elapsed: 0.1 s  <<< FAILURE!'])
      expect(classify({ command: 'mvn test', exitCode: 1, output: tests(head) }).signature).toBe(answer.signature);
    expect(classify({ command: 'mvn test', exitCode: 1, output: newer.replaceAll('was: <1>', 'was: <5>') }).signature).not.toBe(
      answer.signature,
    );
  });

  test('failures that were told to be ignored are seen', () => {
    const ignored = newer.replace('[INFO] BUILD FAILURE', '[INFO] BUILD SUCCESS');
    expect(classify({ command: 'mvn -Dmaven.test.failure.ignore=true test', exitCode: 0, output: ignored }).verdict).toBe('fail');
    expect(classify({ command: 'mvn test', exitCode: 0, output: ignored }).verdict).toBe('pass');
  });

  test('the last the tool did, at a deadline', () => {
    const late = (output: string) => {
      const { verdict, infraKind, patterns } = classify({ command: 'mvn test', timedOut: true, output: maven(output) });
      return [verdict, infraKind, patterns.map(({ pattern }) => pattern)];
    };
    expect(late('[INFO] Downloading from central: https://repo.example/m2/a.pom\n')).toEqual(['blocked', 'net_timeout', []]);
    expect(late('[INFO] --- surefire:3.2.5:test (default-test) @ cart ---\n[INFO] Running g.CartTest\n')).toEqual([
      'fail',
      null,
      ['test_timeout:g.CartTest'],
    ]);
  });
});

/** By hand, in the grammar of Gradle 8. */
const gradle = (wrong: string, head = '> Task :compileJava FAILED\n') =>
  `${head}\nFAILURE: Build failed with an exception.\n\n* What went wrong:\n${wrong}\n\n* Try:\n> Run with --stacktrace option to get the stack trace.\n\nBUILD FAILED in 3s\n1 actionable task: 1 executed\n`;
const ofGradle = (output: string) => of(output, './gradlew build');
const resolving = (cause: string) =>
  gradle(
    `Execution failed for task ':compileJava'.\n> Could not resolve all files for configuration ':compileClasspath'.\n   > Could not resolve a:b:2.\n     Required by:\n         root project :\n      > Could not resolve a:b:2.\n         > Could not get resource 'https://repo.example/m2/a/b/2/b-2.pom'.\n            > Could not GET 'https://repo.example/m2/a/b/2/b-2.pom'.${cause}`,
  );

describe('gradle', () => {
  test.each([
    ['\n               > repo.example: Name or service not known', 'dns'],
    ['\n               > No such host is known (repo.example)', 'dns'],
    ['\n               > Connect to repo.example:443 [repo.example/10.0.0.1] failed: Connection refused', 'connect'],
    ['\n               > PKIX path building failed: unable to find valid certification path', 'tls'],
    [' Received status code 401 from server: Unauthorized', 'auth'],
    [' Received status code 429 from server: Too Many Requests', 'rate_limit'],
    [' Received status code 502 from server: Bad Gateway', 'registry'],
    ['\n               > Read timed out', 'net_timeout'],
  ])('%j', (cause, kind) => expect(ofGradle(resolving(cause))).toEqual(['blocked', kind, []]));

  test.each([
    [
      "Execution failed for task ':compileJava'.\n> Could not resolve all files for configuration ':compileClasspath'.\n   > Could not find a:nope:1.\n     Searched in the following locations:\n       - https://repo.example/m2/a/nope/1/nope-1.pom\n     Required by:\n         root project :",
      ['fail', null, ['gradle_dependency_not_found (dependency)']],
    ],
    [
      "Plugin [id: 'com.nope', version: '1.0'] was not found in any of the following sources:\n\n- Gradle Core Plugins (plugin is not in 'org.gradle' namespace)\n- Plugin Repositories (could not resolve plugin artifact 'com.nope:com.nope.gradle.plugin:1.0')",
      ['fail', null, ['gradle_plugin_not_found (dependency)']],
    ],
    [
      "Could not compile build file '/home/ci/w/build.gradle'.\n> startup failed:\n  build file '/home/ci/w/build.gradle': 3: Unexpected input: '{' @ line 3, column 9.\n     plugins {\n             ^\n\n  1 error",
      ['fail', null, ['gradle_script_invalid (manifest)']],
    ],
    ["Task 'buidl' not found in root project 'w'.", ['fail', null, ['gradle_task_not_found (manifest)']]],
    ["Execution failed for task ':compileJava'.\n> error: release version 21 not supported", ['blocked', 'toolchain', []]],
    [
      'Timeout waiting to lock journal cache (/home/ci/.gradle/caches/journal-1). It is currently in use by another Gradle instance.',
      ['blocked', 'lock', []],
    ],
    ['Gradle build daemon disappeared unexpectedly (it may have been killed or may have crashed)', ['blocked', 'killed', []]],
  ])('%s', (wrong, expected) => expect(ofGradle(gradle(wrong))).toEqual(expected));

  test('compiler and tests speak for themselves', () => {
    const java =
      '/home/ci/w/src/main/java/Cart.java:3: error: cannot find symbol\n    int f() { return nope; }\n                     ^\n  symbol:   variable nope\n  location: class Cart\n1 error\n';
    expect(
      ofGradle(
        gradle(
          "Execution failed for task ':compileJava'.\n> Compilation failed; see the compiler error output for details.",
          `> Task :compileJava FAILED\n${java}`,
        ),
      ),
    ).toEqual(['fail', null, ['javac_cant_resolve (resolution)']]);
    const kotlin = 'e: file:///home/ci/w/src/main/kotlin/Cart.kt:3:18 Unresolved reference: nope\n';
    expect(
      ofGradle(
        gradle(
          "Execution failed for task ':compileKotlin'.\n> A failure occurred while executing org.jetbrains.kotlin.compilerRunner.GradleCompilerRunnerWithWorkers$GradleKotlinCompilerWorkAction\n   > Compilation error. See log for more details",
          kotlin,
        ),
      ),
    ).toEqual(['fail', null, ['kotlin_unresolved_reference (resolution)']]);
    const tests =
      'CartTest > adds() FAILED\n    org.opentest4j.AssertionFailedError: expected: <2> but was: <1>\n        at app//CartTest.adds(CartTest.java:10)\n\n2 tests completed, 1 failed\n\n> Task :test FAILED\n';
    expect(
      ofGradle(
        gradle(
          "Execution failed for task ':test'.\n> There were failing tests. See the report at: file:///home/ci/w/build/reports/tests/test/index.html",
          tests,
        ),
      ),
    ).toEqual(['fail', null, ['java_assertionfailederror:CartTest.adds (test_assertion)']]);
  });

  test('a wrapper that cannot be fetched', () => {
    const wrapper =
      'Downloading https://services.gradle.org/distributions/gradle-8.5-bin.zip\nException in thread "main" java.net.UnknownHostException: services.gradle.org\n\tat java.base/sun.nio.ch.NioSocketImpl.connect(NioSocketImpl.java:567)\n\tat org.gradle.wrapper.Download.downloadInternal(Download.java:100)\n';
    expect(ofGradle(wrapper)).toEqual(['blocked', 'dns', []]);
  });
});
