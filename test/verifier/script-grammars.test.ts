import { classify, type VerifierInput } from '../../src/verifier/classify.js';

/** Outputs written by hand, in the grammar of tools that are not installed where the fixtures are made, and of versions of them. */

const run = (command: string, output: string, more: Partial<VerifierInput> = {}) => classify({ command, exitCode: 1, output, ...more });
const named = (command: string, output: string) => run(command, output).patterns.map(({ pattern, category }) => `${pattern} ${category}`);

describe('go build, vet and test', () => {
  test.each([
    ['undefined: nope', 'go_undefined resolution'],
    ['undeclared name: nope', 'go_undefined resolution'],
    ['"os" imported and not used', 'go_unused_import lint'],
    ['imported and not used: "os"', 'go_unused_import lint'],
    ['declared and not used: x', 'go_unused_variable lint'],
    ['x declared and not used', 'go_unused_variable lint'],
    ['missing return', 'go_missing_return type'],
    ['syntax error: unexpected newline, expected )', 'go_syntax syntax'],
    ["expected ';', found 'EOF'", 'go_syntax syntax'],
    ['cannot use "a" (untyped string constant) as int value in assignment', 'go_type_mismatch type'],
    ['invalid operation: a + b (mismatched types int and string)', 'go_type_mismatch type'],
    [
      'cannot use S{} (value of type S) as I value in return statement: S does not implement I (missing method A)',
      'go_missing_method trait_bound',
    ],
    ['S does not satisfy I (missing method A)', 'go_missing_method trait_bound'],
    ['s.foo undefined (type S has no field or method foo)', 'go_no_field_or_method resolution'],
    ['s.foo undefined (cannot refer to unexported field foo)', 'go_unexported visibility'],
    ['name foo not exported by package bar', 'go_unexported visibility'],
    ['not enough arguments in call to f\n\thave ()\n\twant (int)', 'go_wrong_arg_count type'],
    ['too many return values\n\thave (int, int)\n\twant (int)', 'go_return_count type'],
    ['assignment mismatch: 2 variables but f returns 1 value', 'go_assignment_mismatch type'],
    ['x redeclared in this block\n\t./a.go:3:5: other declaration of x', 'go_redeclared resolution'],
    ['no new variables on left side of :=', 'go_no_new_variables resolution'],
    ['unknown field z in struct literal of type S', 'go_unknown_field resolution'],
    ['cannot use 300 (untyped int constant) as uint8 value in assignment (overflows)', 'go_type_mismatch type'],
    ['package foo/bar is not in std (/usr/local/go/src/foo/bar)', 'go_package_not_found import'],
    ['no required module provides package github.com/a/b; to add it:\n\tgo get github.com/a/b', 'go_missing_module dependency'],
    ['use of internal package example.com/a/internal/b not allowed', 'go_internal_package visibility'],
  ])('%s', (message, expected) => {
    expect(named('go build ./...', `# ex.test/m\n./a.go:6:11: ${message}\n`)).toEqual([expected]);
    expect(run('make', `# ex.test/m\n./a.go:6:11: ${message}\nmake: *** [Makefile:2: all] Error 1\n`).verdict).toBe('fail');
  });

  test('old words and new ones are one failure; other names, files and types are not', () => {
    const of = (message: string, file = 'a.go', line = 6) =>
      run('go build ./...', `# ex.test/m\n./${file}:${line}:11: ${message}\n`).signature;
    expect(of('undefined: nope')).toBe(of('undeclared name: nope', 'a.go', 90));
    expect(of('"os" imported and not used')).toBe(of('imported and not used: "os"'));
    expect(of('declared and not used: x')).toBe(of('x declared but not used'));
    expect(of('undefined: nope')).not.toBe(of('undefined: nape'));
    expect(of('undefined: nope')).not.toBe(of('undefined: nope', 'b.go'));
  });

  const text = (line: number, seconds: string) =>
    `--- FAIL: TestSum (${seconds}s)\n    --- FAIL: TestSum/negative (0.00s)\n        sum_test.go:${line}: got -1, want 1\n--- FAIL: TestDial (0.01s)\n    dial_test.go:9: dial tcp 127.0.0.1:5432: connect: connection refused\nFAIL\nFAIL\tex.test/m\t${seconds}s\nok  \tex.test/m/b\t0.1s\nFAIL\n`;
  const verbose = `=== RUN   TestSum\n=== RUN   TestSum/negative\n    sum_test.go:12: got -1, want 1\n--- FAIL: TestSum (0.00s)\n    --- FAIL: TestSum/negative (0.00s)\n=== RUN   TestFine\n--- PASS: TestFine (0.00s)\n=== RUN   TestDial\n    dial_test.go:9: dial tcp 127.0.0.1:5432: connect: connection refused\n--- FAIL: TestDial (0.01s)\nFAIL\nexit status 1\nFAIL\tex.test/m\t0.02s\nFAIL\n`;
  const event = (action: string, test: string | null, output?: string) =>
    JSON.stringify({
      Time: '2026-01-02T03:04:05Z',
      Action: action,
      Package: 'ex.test/m',
      ...(test === null ? {} : { Test: test }),
      ...(output === undefined ? {} : { Output: output }),
    });
  const json = [
    event('start', null),
    event('run', 'TestSum'),
    event('output', 'TestSum', '=== RUN   TestSum\n'),
    event('run', 'TestSum/negative'),
    event('output', 'TestDial', '    dial_test.go:9: dial tcp 127.0.0.1:5432: '),
    event('output', 'TestDial', 'connect: connection refused\n'),
    event('output', 'TestSum/negative', '    sum_test.go:12: got -1, want 1\n'),
    event('output', 'TestSum/negative', '    --- FAIL: TestSum/negative (0.00s)\n'),
    event('fail', 'TestSum/negative'),
    event('output', 'TestSum', '--- FAIL: TestSum (0.00s)\n'),
    event('fail', 'TestSum'),
    event('output', 'TestDial', '--- FAIL: TestDial (0.01s)\n'),
    event('fail', 'TestDial'),
    event('output', null, 'FAIL\n'),
    event('output', null, 'FAIL\tex.test/m\t0.003s\n'),
    event('fail', null),
  ].join('\n');
  const junit =
    '<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n<testsuite name="ex.test/m" tests="3" failures="2">\n<testcase classname="ex.test/m" name="TestSum/negative" time="0"><failure message="Failed"><![CDATA[    sum_test.go:12: got -1, want 1\n    --- FAIL: TestSum/negative (0.00s)\n]]></failure></testcase>\n<testcase classname="ex.test/m" name="TestDial" time="0"><failure message="Failed"><![CDATA[    dial_test.go:9: dial tcp 127.0.0.1:5432: connect: connection refused\n--- FAIL: TestDial (0.01s)\n]]></failure></testcase>\n</testsuite>\n</testsuites>\n';

  test('go test: plain, -v, -json and a JUnit report are one failure, and a refused connection in a test is the test’s', () => {
    const all = [text(5, '0.00'), text(88, '1.25'), verbose, json, junit].map((output) => run('go test ./...', output));
    for (const answer of all) {
      expect([answer.verdict, answer.patterns.map((each) => each.pattern).sort()]).toEqual([
        'fail',
        ['go_test_fail:TestDial', 'go_test_fail:TestSum/negative'],
      ]);
      expect(answer.signature).toBe(all[0]?.signature);
    }
    expect(run('go test ./...', text(5, '0.0').replace('want 1', 'want 2')).signature).not.toBe(all[0]?.signature);
  });

  test('testify’s frame is not what failed', () => {
    const of = (path: string, line: number) =>
      run(
        'go test ./...',
        `--- FAIL: TestA (0.00s)\n    a_test.go:${line}: \n        \tError Trace:\t${path}/a_test.go:${line}\n        \tError:      \tNot equal: \n        \t            \texpected: 1\n        \t            \tactual  : 2\n        \tTest:       \tTestA\nFAIL\nFAIL\tex.test/m\t0.002s\nFAIL\n`,
      );
    expect(of('/a/b', 3).signature).toBe(of('/c', 77).signature);
    expect(of('/a', 3).patterns[0]).toMatchObject({ pattern: 'go_test_fail:TestA', file: 'a_test.go' });
  });

  const stack =
    'goroutine 7 [running]:\ntesting.tRunner.func1.2({0x51, 0xc0})\n\t/usr/local/go/src/testing/testing.go:1632 +0x230\npanic({0x51?, 0xc0?})\n\t/usr/local/go/src/runtime/panic.go:785 +0x132\nex.test/m.pick(...)\n\t/w/a.go:9\nex.test/m.TestA(0xc0)\n\t/w/a_test.go:5 +0x1d\nFAIL\tex.test/m\t0.005s\nFAIL\n';
  test.each([
    [
      'panic: runtime error: index out of range [3] with length 1 [recovered]\n\tpanic: runtime error: index out of range [3] with length 1',
      'go_panic_index_out_of_range:TestA panic',
    ],
    [
      'panic: runtime error: invalid memory address or nil pointer dereference [recovered, repanicked]\n[signal SIGSEGV: segmentation violation code=0x1 addr=0x0 pc=0x4f]',
      'go_panic_nil_dereference:TestA panic',
    ],
    ['panic: assignment to entry in nil map', 'go_panic_nil_map:TestA panic'],
    ['panic: boom', 'go_panic:TestA panic'],
    ['fatal error: concurrent map writes', 'go_concurrent_map:TestA runtime_crash'],
  ])('%j', (head, expected) => {
    const answer = run('go test ./...', `--- FAIL: TestA (0.00s)\n${head}\n\n${stack}`, { exitCode: 1 });
    expect(answer.patterns.map(({ pattern, category }) => `${pattern} ${category}`)).toEqual([expected]);
    expect(answer.patterns[0]?.file).toBe('/w/a.go');
  });

  test('the deadline of go test names the test', () => {
    const answer = run(
      'go test -timeout 1s ./...',
      `panic: test timed out after 1s\n\trunning tests:\n\t\tTestSlow (1s)\n\ngoroutine 17 [running]:\ntesting.(*M).startAlarm.func1()\n\t/usr/local/go/src/testing/testing.go:2373 +0x385\nFAIL\tex.test/m\t1.006s\nFAIL\n`,
    );
    expect(answer.patterns.map(({ pattern, category }) => [pattern, category])).toEqual([['go_test_timeout:TestSlow', 'timeout']]);
  });

  test('vet, as text and as JSON', () => {
    const plain = run('go vet ./...', '# ex.test/m\n# [ex.test/m]\n./a.go:5:2: fmt.Printf format %d has arg "x" of wrong type string\n');
    const machine = run(
      'go vet -json ./...',
      '# ex.test/m\n{\n\t"ex.test/m": {\n\t\t"printf": [\n\t\t\t{\n\t\t\t\t"posn": "/w/a.go:5:2",\n\t\t\t\t"message": "fmt.Printf format %d has arg \\"x\\" of wrong type string"\n\t\t\t}\n\t\t]\n\t}\n}\n',
    );
    expect(plain.patterns.map(({ pattern, category }) => [pattern, category])).toEqual([
      ['go_vet_fmt_printf_format_d_has_arg_x_of_wrong_type_string', 'lint'],
    ]);
    expect(machine.signature).toBe(plain.signature);
  });

  test('a package whose build failed is told by its errors', () => {
    expect(
      named('go test ./...', '# ex.test/m [ex.test/m.test]\n./a_test.go:5:28: undefined: nope\nFAIL\tex.test/m [build failed]\nFAIL\n'),
    ).toEqual(['go_undefined resolution']);
    const build = `${JSON.stringify({ ImportPath: 'ex.test/m', Action: 'build-output', Output: '# ex.test/m\n' })}\n${JSON.stringify({ ImportPath: 'ex.test/m', Action: 'build-output', Output: './a.go:5:28: undefined: nope\n' })}\n${JSON.stringify({ ImportPath: 'ex.test/m', Action: 'build-fail' })}\n${event('output', null, 'FAIL\tex.test/m [build failed]\n')}\n`;
    expect(named('go test -json ./...', build)).toEqual(['go_undefined resolution']);
  });
});

describe('go modules', () => {
  const get = (rest: string) =>
    `go: downloading example.com/dep v1.0.0\na.go:3:8: example.com/dep@v1.0.0: Get "https://proxy.example/dep/@v/v1.0.0.zip": ${rest}\n`;
  test.each([
    [get('dial tcp: lookup proxy.example on 10.0.0.2:53: no such host'), 'dns'],
    [get('dial tcp: lookup proxy.example: Temporary failure in name resolution'), 'dns'],
    [get('dial tcp 10.1.1.1:443: connect: connection refused'), 'connect'],
    [get('read tcp 10.0.0.1:5->10.1.1.1:443: read: connection reset by peer'), 'connect'],
    [get('dial tcp 10.1.1.1:443: i/o timeout'), 'net_timeout'],
    [get('net/http: TLS handshake timeout'), 'net_timeout'],
    [get('tls: failed to verify certificate: x509: certificate signed by unknown authority'), 'tls'],
    ['go: example.com/dep@v1.0.0: reading https://proxy.example/dep/@v/v1.0.0.mod: 403 Forbidden\n', 'auth'],
    ['go: example.com/dep@v1.0.0: reading https://proxy.example/dep/@v/v1.0.0.mod: 429 Too Many Requests\n', 'rate_limit'],
    ['go: example.com/dep@v1.0.0: reading https://proxy.example/dep/@v/v1.0.0.mod: 502 Bad Gateway\n', 'registry'],
    ['go: module lookup disabled by GOPROXY=off\n', 'offline'],
    [
      "go: example.com/p@v1.0.0: invalid version: git ls-remote -q origin in /c/vcs/x: exit status 128:\n\tfatal: could not read Username for 'https://example.com': terminal prompts disabled\n",
      'auth',
    ],
    ['go: creating work dir: mkdir /tmp/go-build1: no space left on device\n', 'disk'],
    ['/usr/local/go/pkg/tool/linux_amd64/compile: signal: killed\n', 'killed'],
    ['cgo: C compiler "gcc" not found: exec: "gcc": executable file not found in $PATH\n', 'toolchain'],
    ['go: go.mod requires go >= 1.99 (running go 1.22.1; GOTOOLCHAIN=local)\n', 'toolchain'],
    ['failed to initialize build cache at /x/.cache/go-build: mkdir /x/.cache: permission denied\n', 'permission'],
  ])('%j', (output, kind) => expect(run('go build ./...', output)).toMatchObject({ verdict: 'blocked', infraKind: kind }));

  test.each([
    [
      'go: example.com/nope@v1.0.0: reading https://proxy.example/nope/@v/v1.0.0.mod: 404 Not Found\n\tserver response: not found: nope\n',
      'go_module_not_found dependency',
    ],
    ['go: example.com/dep@v9.9.9: invalid version: unknown revision v9.9.9\n', 'go_unknown_revision dependency'],
    ['go: updates to go.mod needed; to update it:\n\tgo mod tidy\n', 'go_mod_updates dependency'],
    [
      'verifying example.com/dep@v1.0.0: checksum mismatch\n\tdownloaded: h1:a\n\tgo.sum:     h1:b\n\nSECURITY ERROR\n',
      'go_checksum_mismatch dependency',
    ],
    ['go: errors parsing go.mod:\n/w/go.mod:3: unknown directive: requir\n', 'go_mod_parse manifest'],
    ["go: go.mod file not found in current directory or any parent directory; see 'go help modules'\n", 'go_no_module manifest'],
    ['no Go files in /w\n', 'go_no_files manifest'],
    ['package ex.test/m\n\timports ex.test/m/b\n\timports ex.test/m: import cycle not allowed\n', 'go_import_cycle import'],
  ])('%j', (output, expected) => expect(named('go build ./...', output)).toEqual([expected]));
});

describe('mypy', () => {
  const line =
    'a.py:3: error: Incompatible return value type (got "str", expected "int")  [return-value]\nFound 1 error in 1 file (checked 1 source file)\n';
  test('text, with columns, broken into lines, as JSON', () => {
    const all = [
      line,
      line.replace('a.py:3:', 'a.py:99:12:'),
      'a.py:3: error: Incompatible return value type (got "str", expected\n"int")  [return-value]\n        return x\n               ^\nFound 1 error in 1 file (checked 1 source file)\n',
      '{"file": "a.py", "line": 3, "column": 11, "message": "Incompatible return value type (got \\"str\\", expected \\"int\\")", "hint": null, "code": "return-value", "severity": "error"}\n',
    ].map((output) => run('mypy a.py', output));
    for (const answer of all)
      expect([answer.patterns.map((each) => each.pattern), answer.signature]).toEqual([['mypy_return-value'], all[0]?.signature]);
  });

  test.each([
    ['a.py:1: error: Name "x" is not defined  [name-defined]', 'mypy_name-defined resolution'],
    ['a.py:1: error: Item "None" of "str | None" has no attribute "upper"  [union-attr]', 'mypy_union-attr null_safety'],
    ['a.py:1: error: Module "os" has no attribute "nope"  [attr-defined]', 'mypy_attr-defined import'],
    ['a.py:1: error: invalid syntax  [syntax]', 'mypy_syntax syntax'],
    ['a.py:1: error: Unused "type: ignore" comment  [unused-ignore]', 'mypy_unused-ignore lint'],
    ["mypy: can't read file 'nowhere.py': No such file or directory", 'mypy_usage manifest'],
  ])('%s', (output, expected) => expect(named('mypy .', `${output}\n`)).toEqual([expected]));
});

describe('ruff', () => {
  test('every format is one failure', () => {
    const all = [
      'a.py:1:8: F401 [*] `os` imported but unused\nFound 1 error.\n[*] 1 fixable with the `--fix` option.\n',
      'F401 [*] `os` imported but unused\n --> a.py:1:8\n  |\n1 | import os\n  |        ^^\n  |\nhelp: Remove unused import: `os`\n\nFound 1 error.\n',
      'a.py:1:8: F401 [*] `os` imported but unused\n  |\n1 | import os\n  |        ^^ F401\n  |\n  = help: Remove unused import: `os`\n\nFound 1 error.\n',
      'a.py:\n  1:8 F401 [*] `os` imported but unused\n\nFound 1 error.\n',
      'a.py:1: [F401] `os` imported but unused\n',
      '::error title=Ruff (F401),file=/w/a.py,line=1,col=8,endLine=1,endColumn=10::a.py:1:8: F401 `os` imported but unused\n',
      '[{"cell":null,"code":"F401","end_location":{"column":10,"row":1},"filename":"/w/a.py","fix":null,"location":{"column":8,"row":1},"message":"`os` imported but unused","noqa_row":1,"url":"u"}]\n',
      '{"cell":null,"code":"F401","end_location":{"column":10,"row":1},"filename":"/w/a.py","fix":null,"location":{"column":8,"row":1},"message":"`os` imported but unused","noqa_row":1,"url":"u"}\n',
      '[{"check_name":"F401","description":"`os` imported but unused","fingerprint":"f","location":{"path":"a.py","positions":{"begin":{"line":1,"column":8},"end":{"line":1,"column":10}}},"severity":"major"}]\n',
      '{"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "runs": [{"results": [{"level": "error", "locations": [{"physicalLocation": {"artifactLocation": {"uri": "file:///w/a.py"}, "region": {"startLine": 1, "startColumn": 8}}}], "message": {"text": "`os` imported but unused"}, "ruleId": "F401"}], "tool": {"driver": {"name": "ruff", "rules": []}}}], "version": "2.1.0"}\n',
      '<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="ruff" tests="1" failures="1" errors="0">\n    <testsuite name="/w/a.py" tests="1" disabled="0" errors="0" failures="1" package="org.ruff">\n        <testcase name="org.ruff.F401" classname="/w/a" line="1" column="8">\n            <failure message="`os` imported but unused">line 1, col 8, `os` imported but unused</failure>\n        </testcase>\n    </testsuite>\n</testsuites>\n',
    ].map((output) => run('ruff check .', output));
    for (const answer of all)
      expect([answer.patterns.map((each) => each.pattern), answer.signature]).toEqual([['ruff_f401'], all[0]?.signature]);
  });

  test.each([
    ['a.py:1:7: SyntaxError: Expected an identifier', 'ruff_invalid-syntax syntax'],
    ['error: Failed to parse a.py:1:7: Expected an identifier', 'ruff_invalid-syntax syntax'],
    ['Would reformat: a.py\n1 file would be reformatted', 'ruff_format format'],
    ['ruff failed\n  Cause: Failed to parse /w/pyproject.toml\n  Cause: TOML parse error at line 2, column 1', 'ruff_config manifest'],
    ["error: unexpected argument '--frob' found", 'ruff_usage manifest'],
  ])('%j', (output, expected) => expect(named('ruff check .', `${output}\n`)).toEqual([expected]));
});

describe('pip', () => {
  const retry = (why: string) =>
    `Collecting requests\nWARNING: Retrying (Retry(total=0, connect=None, read=None, redirect=None, status=None)) after connection broken by '${why}': /simple/requests/\nERROR: Could not find a version that satisfies the requirement requests (from versions: none)\nERROR: No matching distribution found for requests\n`;
  test.each([
    [retry("NewConnectionError('<x>: Failed to establish a new connection: [Errno -3] Temporary failure in name resolution')"), 'dns'],
    [retry('NameResolutionError("<x>: Failed to resolve \'pypi.org\' ([Errno -2] Name or service not known)")'), 'dns'],
    [retry("NewConnectionError('<x>: Failed to establish a new connection: [Errno 111] Connection refused')"), 'connect'],
    [retry("ConnectTimeoutError(<x>, 'Connection to pypi.org timed out. (connect timeout=15)')"), 'net_timeout'],
    [retry("ProxyError('Cannot connect to proxy.', OSError('Tunnel connection failed: 503 Service Unavailable'))"), 'connect'],
    ['ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device\n', 'disk'],
    ["ERROR: Could not install packages due to an OSError: [Errno 13] Permission denied: '/usr/lib/x'\n", 'permission'],
    ['ERROR: HTTP error 503 while getting https://files.example/x.whl\n', 'registry'],
    ['ERROR: HTTP error 429 while getting https://files.example/x.whl\n', 'rate_limit'],
    [
      'ERROR: Exception:\nTraceback (most recent call last):\n  File "/v/lib/python3.12/site-packages/pip/_internal/cli/base_command.py", line 180, in exc_logging_wrapper\n    status = run_func(*args)\npip._vendor.urllib3.exceptions.ReadTimeoutError: HTTPSConnectionPool(host=\'files.pythonhosted.org\', port=443): Read timed out.\n',
      'net_timeout',
    ],
  ])('%j', (output, kind) =>
    expect(run('pip install requests', output)).toMatchObject({ verdict: 'blocked', infraKind: kind, confidence: 'high' }),
  );

  test.each([
    [
      'ERROR: Could not find a version that satisfies the requirement x==9 (from versions: 1.0, 1.1)\nERROR: No matching distribution found for x==9',
      'pip_version_not_found dependency',
    ],
    [
      'ERROR: Could not find a version that satisfies the requirement nope (from versions: none)\nERROR: No matching distribution found for nope',
      'pip_no_matching_distribution dependency',
    ],
    [
      'ERROR: Cannot install a==1 and b==2 because these package versions have conflicting dependencies.\n\nThe conflict is caused by:\n    a 1 depends on c==1\n\nERROR: ResolutionImpossible: for help visit https://pip.pypa.io/en/latest/topics/dependency-resolution/',
      'pip_resolution_impossible dependency',
    ],
    ["ERROR: Invalid requirement: 'x=>1': Expected end or semicolon", 'pip_invalid_requirement manifest'],
    [
      "ERROR: Could not open requirements file: [Errno 2] No such file or directory: 'requirements.txt'",
      'pip_requirements_missing manifest',
    ],
    [
      'ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE. If you have updated the package versions, please update the hashes.',
      'pip_hash_mismatch dependency',
    ],
    [
      '  error: subprocess-exited-with-error\n  \n  × Building wheel for x (pyproject.toml) did not run successfully.\n  │ exit code: 1\nERROR: Failed building wheel for x\nERROR: Failed to build installable wheels for some pyproject.toml based projects (x)',
      'pip_build_failed build_script',
    ],
  ])('%j', (output, expected) => expect(named('pip install -r requirements.txt', `${output}\n`)).toEqual([expected]));

  test('what could not be installed is missed later, and is no failure of the code; what the code spells wrong is', () => {
    const dns = retry("NewConnectionError('<x>: Failed to establish a new connection: [Errno -2] Name or service not known')");
    const trace = (error: string) => `Traceback (most recent call last):\n  File "/w/a.py", line 1, in <module>\n    import x\n${error}\n`;
    expect(run('pip install requests; python a.py', dns + trace("ModuleNotFoundError: No module named 'requests'"))).toMatchObject({
      verdict: 'blocked',
      infraKind: 'dns',
    });
    expect(run('pip install requests; python a.py', dns + trace("NameError: name 'x' is not defined"))).toMatchObject({ verdict: 'fail' });
  });
});

describe('npm, pnpm and yarn', () => {
  const npm = (code: string, text = 'x', word = 'error') =>
    `npm ${word} code ${code}\nnpm ${word} ${text}\nnpm ${word} A complete log of this run can be found in: /r/_logs/2026-01-01T00_00_00_000Z-debug-0.log\n`;
  test.each([
    [npm('EAI_AGAIN', 'network request to https://r.example/x failed, reason: getaddrinfo EAI_AGAIN r.example', 'ERR!'), 'dns'],
    [npm('ETIMEDOUT', 'network request to https://r.example/x failed, reason: connect ETIMEDOUT 1.1.1.1:443'), 'net_timeout'],
    [npm('ERR_SOCKET_TIMEOUT', 'network Socket timeout'), 'net_timeout'],
    [
      npm('SELF_SIGNED_CERT_IN_CHAIN', 'request to https://r.example/x failed, reason: self-signed certificate in certificate chain'),
      'tls',
    ],
    [npm('UNABLE_TO_GET_ISSUER_CERT_LOCALLY'), 'tls'],
    [npm('E503', '503 Service Unavailable - GET https://r.example/x'), 'registry'],
    [npm('E401', 'Unable to authenticate, need: Basic'), 'auth'],
    [npm('EACCES', 'Your cache folder contains root-owned files'), 'permission'],
    [npm('FETCH_ERROR', 'invalid json response body at https://r.example/x reason: Unexpected token < in JSON'), 'registry'],
    [
      npm(
        '128',
        'An unknown git error occurred\nnpm error command git --no-replace-objects ls-remote ssh://git@github.com/a/b.git\nnpm error git@github.com: Permission denied (publickey).\nnpm error fatal: Could not read from remote repository.',
      ),
      'auth',
    ],
    [
      '\u2009WARN\u2009 GET https://r.example/x error (ENOTFOUND). Will retry in 10 seconds. 2 retries left.\n\u2009ERR_PNPM_META_FETCH_FAIL\u2009 GET https://r.example/x: request to https://r.example/x failed, reason: getaddrinfo ENOTFOUND r.example\n',
      'dns',
    ],
    [' ERR_PNPM_FETCH_403  GET https://r.example/x: Forbidden - 403\n', 'auth'],
    [' ERR_PNPM_FETCH_503  GET https://r.example/x: Service Unavailable - 503\n', 'registry'],
    [' ERR_PNPM_UNSUPPORTED_ENGINE  Unsupported environment (bad pnpm and/or Node.js version)\n', 'toolchain'],
    [
      'yarn install v1.22.22\ninfo There appears to be trouble with your network connection. Retrying...\nerror An unexpected error occurred: "https://r.example/x: getaddrinfo ENOTFOUND r.example".\n',
      'dns',
    ],
    ['➤ YN0000: ┌ Resolution step\n➤ YN0001: │ RequestError: connect ECONNREFUSED 127.0.0.1:9\n➤ YN0000: └ Completed\n', 'connect'],
  ])('%j', (output, kind) => {
    const command = output.includes('npm ') ? 'npm install' : output.includes('PNPM') ? 'pnpm install' : 'yarn install';
    expect(run(command, output)).toMatchObject({ verdict: 'blocked', infraKind: kind });
  });

  test.each([
    [
      'npm install',
      npm('E404', "404 Not Found - GET https://r.example/nope\nnpm error 404\nnpm error 404  'nope@*' is not in this registry."),
      'npm_e404 dependency',
    ],
    ['npm install', npm('ETARGET', 'notarget No matching version found for x@99.'), 'npm_etarget dependency'],
    [
      'npm install',
      npm(
        'ERESOLVE',
        'ERESOLVE unable to resolve dependency tree\nnpm error While resolving: p@1.0.0\nnpm error Found: react@18.0.0',
        'error',
      ),
      'npm_eresolve dependency',
    ],
    [
      'npm ci',
      npm(
        'EUSAGE',
        '\nnpm error `npm ci` can only install packages when your package.json and package-lock.json or npm-shrinkwrap.json are in sync.\nnpm error Missing: x@1.0.0 from lock file',
      ),
      'npm_eusage_lock_mismatch dependency',
    ],
    [
      'npm run build',
      'npm ERR! Missing script: "build"\nnpm ERR! \nnpm ERR! To see a list of scripts, run:\n',
      'npm_missing_script manifest',
    ],
    ['pnpm install', ' ERR_PNPM_FETCH_404  GET https://r.example/nope: Not Found - 404\n', 'pnpm_fetch_404 dependency'],
    ['pnpm install', ' ERR_PNPM_NO_MATCHING_VERSION  No matching version found for x@99\n', 'pnpm_no_matching_version dependency'],
    [
      'pnpm i --frozen-lockfile',
      ' ERR_PNPM_OUTDATED_LOCKFILE  Cannot install with "frozen-lockfile" because pnpm-lock.yaml is not up to date with package.json\n',
      'pnpm_outdated_lockfile dependency',
    ],
    [
      'yarn add nope',
      'yarn add v1.22.22\nerror Couldn\'t find package "nope" on the "npm" registry.\n',
      'yarn_package_not_found dependency',
    ],
    [
      'yarn install --frozen-lockfile',
      'yarn install v1.22.22\nerror Your lockfile needs to be updated, but yarn was run with `--frozen-lockfile`.\n',
      'yarn_frozen_lockfile dependency',
    ],
    [
      'yarn install',
      '➤ YN0000: ┌ Resolution step\n➤ YN0035: │ nope@npm:1.0.0: Package not found\n➤ YN0000: └ Completed\n',
      'yarn_package_not_found dependency',
    ],
  ])('%s: %j', (command, output, expected) => expect(named(command, output)).toEqual([expected]));

  test('an import of a package that npm could not bring is no failure of the code; of a file of one’s own it is', () => {
    const lost = npm('ENOTFOUND', 'network request to https://r.example/x failed, reason: getaddrinfo ENOTFOUND r.example');
    const missing = (name: string) =>
      `node:internal/modules/esm/resolve:873\n  throw new ERR_MODULE_NOT_FOUND(packageName, fileURLToPath(base), null);\n        ^\n\nError [ERR_MODULE_NOT_FOUND]: Cannot find ${name} imported from /w/a.mjs\n    at packageResolve (node:internal/modules/esm/resolve:873:9) {\n  code: 'ERR_MODULE_NOT_FOUND'\n}\n\nNode.js v22.1.0\n`;
    expect(run('npm install; node a.mjs', lost + missing("package 'x'"))).toMatchObject({ verdict: 'blocked', infraKind: 'dns' });
    expect(run('npm install; node a.mjs', lost + missing("module '/w/b.mjs'"))).toMatchObject({ verdict: 'fail' });
  });
});

describe('TypeScript’s codes through other tools', () => {
  test.each([
    [
      'ts-jest',
      'jest',
      "FAIL src/a.test.ts\n  ● Test suite failed to run\n\n    src/a.ts:3:7 - error TS2322: Type 'string' is not assignable to type 'number'.\n\n    3 const n: number = \"a\";\n            ~\n\nTest Suites: 1 failed, 1 total\n",
    ],
    [
      'ts-node',
      'ts-node src/a.ts',
      "/w/node_modules/ts-node/src/index.ts:859\n    return new TSError(diagnosticText, diagnosticCodes, diagnostics);\n           ^\nTSError: ⨯ Unable to compile TypeScript:\nsrc/a.ts(3,7): error TS2322: Type 'string' is not assignable to type 'number'.\n\n    at createTSError (/w/node_modules/ts-node/src/index.ts:859:12)\n",
    ],
    [
      'webpack',
      'webpack',
      "ERROR in ./src/a.ts:3:7\nTS2322: Type 'string' is not assignable to type 'number'.\n    1 | \n  > 3 | const n: number = \"a\";\n\nwebpack 5.90.0 compiled with 1 error in 900 ms\n",
    ],
    [
      'ng',
      'ng build',
      "✘ [ERROR] TS2322: Type 'string' is not assignable to type 'number'. [plugin angular-compiler]\n\n    src/a.ts:3:7:\n      3 │ const n: number = \"a\";\n",
    ],
    [
      'deno',
      'deno check src/a.ts',
      "TS2322 [ERROR]: Type 'string' is not assignable to type 'number'.\nconst n: number = \"a\";\n      ^\n    at file:///w/src/a.ts:3:7\n",
    ],
    [
      'rollup',
      'rollup -c',
      "[!] (plugin typescript) RollupError: [plugin typescript] src/a.ts (3:7): @rollup/plugin-typescript TS2322: Type 'string' is not assignable to type 'number'.\n",
    ],
  ])('%s', (_tool, command, output) => {
    const answer = run(command, output);
    expect([answer.verdict, [...new Set(answer.patterns.map((each) => each.pattern))]]).toEqual(['fail', ['ts2322_type_mismatch']]);
    expect(answer.patterns[0]?.file).toMatch(/src\/a\.ts$/);
  });
});

describe('what a test prints is nobody’s word', () => {
  const noise =
    'npm error code ENOTFOUND\nERROR: No matching distribution found for x\nerror[E0308]: mismatched types\na.c:1:2: error: expected expression\nTraceback (most recent call last):\n  File "a.py", line 1, in f\nValueError: inner\n';
  test('in pytest', () => {
    const report = (captured: string) =>
      `=== FAILURES ===\n___ test_a ___\n\n    def test_a():\n>       assert 1 == 2\nE       assert 1 == 2\n\ntest_a.py:2: AssertionError\n${captured}=== short test summary info ===\nFAILED test_a.py::test_a - assert 1 == 2\n=== 1 failed in 0.01s ===\n`;
    const [plain, noisy] = [report(''), report(`--- Captured stdout call ---\n${noise}`)].map((output) => run('make test', output));
    expect(noisy?.patterns).toEqual(plain?.patterns);
    expect(noisy?.signature).toBe(plain?.signature);
  });

  test('in jest', () => {
    const report = (console: string) =>
      `FAIL ./a.test.js\n  ● Console\n\n${console.replace(/^/gm, '    ')}\n\n  ● adds\n\n    expect(received).toBe(expected) // Object.is equality\n\n    Expected: 3\n    Received: 2\n\nTests:       1 failed, 1 total\n`;
    expect(run('make test', report(noise)).patterns.map((each) => each.pattern)).toEqual(['jest_expect_tobe:adds']);
  });
});

describe('git and patch', () => {
  test.each([
    ['git apply x.patch', 'error: patch failed: a.txt:1\nerror: a.txt: patch does not apply\n', 'git_patch_does_not_apply patch_apply'],
    ['git apply x.patch', 'error: corrupt patch at line 5\n', 'git_corrupt_patch patch_apply'],
    ['git apply x.patch', 'error: No valid patches in input (allow with "--allow-empty")\n', 'git_no_valid_patches patch_apply'],
    ['git apply x.patch', 'error: a.txt: No such file or directory\n', 'git_patch_wrong_file patch_apply'],
    [
      'git merge x',
      'Auto-merging a\nCONFLICT (content): Merge conflict in a\nAutomatic merge failed; fix conflicts and then commit the result.\n',
      'git_merge_conflict vcs',
    ],
    ['git status', 'fatal: not a git repository (or any of the parent directories): .git\n', 'git_not_a_repository vcs'],
    ['git checkout nope', "error: pathspec 'nope' did not match any file(s) known to git\n", 'git_unknown_revision vcs'],
    ['git push', " ! [rejected]        main -> main (fetch first)\nerror: failed to push some refs to 'x'\n", 'git_push_rejected vcs'],
    [
      'patch -p1',
      'patching file a.txt\nHunk #1 FAILED at 1.\n1 out of 1 hunk FAILED -- saving rejects to file a.txt.rej\n',
      'patch_hunk_failed patch_apply',
    ],
  ])('%s: %j', (command, output, expected) => expect([...new Set(named(command, output))]).toEqual([expected]));
});

describe('a deadline, by what was going on', () => {
  const late = (command: string, output: string) => {
    const { verdict, infraKind, patterns } = classify({ command, exitCode: 124, timedOut: true, output });
    return [verdict, infraKind, patterns.map((each) => each.pattern)];
  };
  test.each([
    ['npm install', '', ['blocked', 'net_timeout', []]],
    ['pip install x', 'Collecting x\n', ['blocked', 'net_timeout', []]],
    ['go build ./...', 'go: downloading example.com/a v1.0.0\n', ['blocked', 'net_timeout', []]],
    ['go test ./...', '', ['fail', null, ['test_timeout']]],
    ['jest', '', ['fail', null, ['test_timeout']]],
    [
      'pytest -v',
      '=== test session starts ===\ncollecting ... collected 2 items\n\ntest_a.py::test_fast PASSED [ 50%]\ntest_a.py::test_slow ',
      ['fail', null, ['test_timeout:test_slow']],
    ],
  ])('%s: %j', (command, output, expected) => expect(late(command, output)).toEqual(expected));
});

test('groups of exceptions, usage and timeouts of Python’s tools', () => {
  const group =
    '  + Exception Group Traceback (most recent call last):\n  |   File "/w/a.py", line 2, in <module>\n  |     raise ExceptionGroup("many", [ValueError(1)])\n  | ExceptionGroup: many (1 sub-exception)\n  +-+---------------- 1 ----------------\n    | ValueError: 1\n    +------------------------------------\n';
  expect(named('python a.py', group)).toEqual(['python_exceptiongroup runtime']);
  expect(named('python a.py', 'usage: a.py [-h] x\na.py: error: the following arguments are required: x\n')).toEqual([]);
  const timeout =
    '=== test session starts ===\ncollected 1 item\n\ntest_a.py::test_hang \n+++++++++ Timeout +++++++++\n~~~ Stack of MainThread (140) ~~~\n  File "/w/test_a.py", line 5, in test_hang\n+++++++++ Timeout +++++++++\n';
  expect(named('pytest -v', timeout)).toEqual(['pytest_timeout:test_hang timeout']);
});
