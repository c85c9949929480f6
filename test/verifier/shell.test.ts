import { classify } from '../../src/verifier/classify.js';

const of = (output: string, exitCode: number, command = './ci.sh') => {
  const { verdict, infraKind, confidence, patterns } = classify({ command, exitCode, output });
  return [verdict, infraKind, patterns.map(({ pattern, category }) => `${pattern} (${category})`), confidence];
};

test.each([
  [
    "./ci.sh: line 3: syntax error near unexpected token `fi'\n./ci.sh: line 3: `fi'\n",
    2,
    ['fail', null, ['shell_syntax (syntax)'], 'high'],
  ],
  ["bash: -c: line 1: syntax error near unexpected token `then'\n", 2, ['fail', null, ['shell_syntax (syntax)'], 'high']],
  ['./ci.sh: 4: Syntax error: end of file unexpected (expecting "fi")\n', 2, ['fail', null, ['shell_syntax (syntax)'], 'high']],
  ['./ci.sh: line 2: NAME: unbound variable\n', 1, ['fail', null, ['shell_unbound_variable (resolution)'], 'high']],
  ['./ci.sh: line 2: shellcheck: command not found\n', 127, ['blocked', 'toolchain', [], 'high']],
  ['./ci.sh: 2: shellcheck: not found\n', 127, ['blocked', 'toolchain', [], 'high']],
  ['./ci.sh: line 9:  4242 Segmentation fault      (core dumped) ./app\n', 139, ['fail', null, ['signal_sigsegv (runtime_crash)'], 'low']],
  ['./ci.sh: line 9:  4242 Killed                  ./app\n', 137, ['blocked', 'killed', [], 'low']],
  ['bash: line 1: ./s.sh: Permission denied\n', 126, ['fail', null, ['shell_not_executable (manifest)'], 'low']],
  [
    'cc1plus: error while loading shared libraries: libgmp.so.10: failed to map segment from shared object\n',
    127,
    ['blocked', 'memory', [], 'high'],
  ],
] as const)('%j, %d', (output, exitCode, expected) => expect(of(output, exitCode)).toEqual(expected));

test('shellcheck, in both of its formats', () => {
  const tty = '\nIn ci.sh line 3:\necho $name\n     ^---^ SC2086 (info): Double quote to prevent globbing and word splitting.\n\n';
  const gcc = 'ci.sh:3:6: note: Double quote to prevent globbing and word splitting. [SC2086]\n';
  expect(of(tty, 1, 'shellcheck ci.sh')[2]).toEqual(['shellcheck_sc2086 (lint)']);
  expect(of(gcc, 1, 'shellcheck -f gcc ci.sh')[2]).toEqual(['shellcheck_sc2086 (lint)']);
  const signature = (output: string) => classify({ command: 'shellcheck ci.sh', exitCode: 1, output }).signature;
  expect(signature(tty)).toBe(signature(gcc));
});

test.each([
  ['E: Could not get lock /var/lib/dpkg/lock-frontend. It is held by process 77 (apt)\n', ['blocked', 'lock', [], 'high']],
  ["E: Failed to fetch http://deb.example/x.deb  Temporary failure resolving 'deb.example'\n", ['blocked', 'dns', [], 'high']],
  ['E: Unable to locate package libnope-dev\n', ['fail', null, ['apt_package_not_found (dependency)'], 'high']],
  [
    'Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?\n',
    ['blocked', 'connect', [], 'high'],
  ],
  ['docker: Error response from daemon: toomanyrequests: You have reached your pull rate limit.\n', ['blocked', 'rate_limit', [], 'high']],
  ['curl: (6) Could not resolve host: example.invalid\n', ['blocked', 'dns', [], 'low']],
  ['curl: (22) The requested URL returned error: 503\n', ['blocked', 'registry', [], 'low']],
])('%j', (output, expected) => expect(of(output, 100)).toEqual(expected));

test('what a script got over does not excuse what it failed of', () => {
  const output =
    "curl: (6) Could not resolve host: example.invalid\nretrying with the mirror\na.c:1:1: error: expected ';' before '}' token\n";
  expect(of(output, 1)).toEqual(['fail', null, ['gcc_expected_token (syntax)'], 'high']);
});
