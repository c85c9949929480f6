/** What happens to an output on its way: none of it changes what failed. Each is deterministic. */

export interface Mutation {
  name: string;
  change: (text: string) => string;
  /** Is the signature to stay, too? */
  signature: boolean;
}

const eachLine = (text: string, change: (line: string, at: number) => string): string =>
  text
    .split('\n')
    .map((line, at) => (line === '' ? line : change(line, at)))
    .join('\n');

/** Lines that look like infrastructure, in the words of tools and of programs under test. */
const NOISE = [
  'npm error code ENOTFOUND',
  'npm ERR! network request to https://registry.example/x failed, reason: connect ECONNREFUSED 127.0.0.1:443',
  'curl: (6) Could not resolve host: example.invalid',
  "fatal: unable to access 'https://git.example/a.git/': Could not resolve host: git.example",
  'warning: spurious network error (3 tries remaining): [6] Could not resolve host: index.crates.io',
  'java.net.UnknownHostException: repo.example',
  'requests.exceptions.ConnectionError: HTTPConnectionPool: Max retries exceeded (Connection refused)',
  'OSError: [Errno 28] No space left on device',
  'Killed',
  'dial tcp: lookup proxy.golang.org: no such host',
  'Error: Cannot find module left-pad',
  'E: Could not get lock /var/lib/dpkg/lock-frontend. It is held by process 77 (apt)',
];

const withNoise = (text: string, from: number): string => {
  const lines = text.split('\n');
  const at = [0, Math.floor(lines.length / 2), lines.length - 1];
  return lines
    .flatMap((line, index) => [...at.flatMap((place, n) => (place === index ? [NOISE[(from + n) % NOISE.length]!] : [])), line])
    .join('\n');
};

/** Two processes that write to one terminal: a line of the other after every second line. */
const interleaved = (text: string, other: readonly string[]): string =>
  text
    .split('\n')
    .flatMap((line, at) => (at % 2 === 0 ? [line, other[(at / 2) % other.length]!] : [line]))
    .join('\n');

const cutHead = (text: string): string => {
  const lines = text.split('\n');
  return lines.slice(Math.floor(lines.length / 5)).join('\n');
};
const cutTail = (text: string): string => {
  const lines = text.split('\n');
  return lines.slice(0, Math.max(1, lines.length - Math.floor(lines.length / 5))).join('\n');
};

export const mutations: Mutation[] = [
  ...NOISE.map((_, n) => ({ name: `noise ${n}`, change: (text: string) => withNoise(text, n), signature: false })),
  {
    name: 'timestamps',
    change: (text) => eachLine(text, (line, at) => `2026-03-01T10:00:${String(at % 60).padStart(2, '0')}.123Z ${line}`),
    signature: true,
  },
  { name: 'docker build', change: (text) => eachLine(text, (line, at) => `#11 ${at}.123 ${line}`), signature: true },
  { name: 'compose', change: (text) => eachLine(text, (line) => `verify_1  | ${line}`), signature: true },
  { name: 'stderr:', change: (text) => eachLine(text, (line) => `[stderr] ${line}`), signature: true },
  { name: 'CRLF', change: (text) => text.replaceAll('\n', '\r\n'), signature: true },
  {
    name: 'colours',
    change: (text) =>
      eachLine(text, (line) => `\u001b[0m\u001b[1;31m${line.replace(/error|Error|FAILED/g, '\u001b[31m$&\u001b[0m')}\u001b[0m`),
    signature: true,
  },
  { name: 'progress before it', change: (text) => eachLine(text, (line) => `Building [=>   ] 3/7\r${line}`), signature: true },
  { name: 'head cut', change: cutHead, signature: false },
  { name: 'tail cut', change: cutTail, signature: false },
  {
    name: 'interleaved with a build',
    change: (text) => interleaved(text, ['   Compiling serde v1.0.219', '[INFO] Building shop 1', '[2/9] Building CXX object b.o']),
    signature: false,
  },
];
