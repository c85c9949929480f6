/**
 * Raw text to lines that a grammar can be anchored on (taxonomy, section 5.1): colours, progress, CRLF and the prefixes of log
 * collectors are taken off. Every expression here is linear: no quantifier inside a quantifier.
 */

const ESC = '\u001b';
/** OSC (ended by BEL or ST), then CSI, then the two-character escapes. The OSC body is bounded: an unended one is no reason to scan on. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: escapes are what is looked for
const ESCAPES = /\u001b\][^\u0007\u001b\n]{0,2000}(?:\u0007|\u001b\\)|[\u001b\u009b]\[?[0-?]{0,64}[ -/]{0,8}[@-~]|\u001b/g;

export const stripEscapes = (text: string): string => (text.includes(ESC) || text.includes('\u009b') ? text.replace(ESCAPES, '') : text);

/** What a terminal would show of a line that was overwritten: the text after its last carriage return. */
const afterProgress = (line: string): string => {
  let end = line.length;
  while (end > 0 && line[end - 1] === '\r') end -= 1;
  const start = line.lastIndexOf('\r', end - 1);
  return start < 0 || end === 0 ? line.slice(0, end) : line.slice(start + 1, end);
};

/** A line of text longer than this is cut for reading; JSON and XML are kept whole, because half of it is nothing. */
const LONGEST_LINE = 8_000;
const LONGEST_JSON = 4_000_000;
const MACHINE_FORMAT = /^(?:\{|\[ {0,8}[[{])|<\?xml|<testsuites?[ >]/;

const cut = (line: string): string => {
  if (line.length <= LONGEST_LINE) return line;
  return MACHINE_FORMAT.test(line.slice(0, 200)) && line.length <= LONGEST_JSON ? line : line.slice(0, LONGEST_LINE);
};

/** Prefixes that only log collectors write. Each takes exactly the one space that they put before the tool's own text. */
const COLLECTOR_PREFIXES: readonly RegExp[] = [
  /^[^\t]{1,80}\t[^\t]{1,80}\t\ufeff?\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z(?: |$)/,
  /^\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z| ?[+-]\d\d:?\d\d)?\]?(?: |\t|$)/,
  /^\[?\d\d:\d\d:\d\d(?:[.,]\d{1,9})?\]?(?: |\t|$)/,
  /^#\d{1,4} \d{1,6}\.\d{1,4}(?: |$)/,
  /^\[ {0,6}\d{1,6}(?:\.\d{1,6})?s?\](?: |$)/,
  /^(?:\[(?:stderr|stdout|err|out)\]|(?:stderr|stdout|err|out)(?::| ?\|| ?>))(?: |$)/i,
];
/** `web_1  | text`, `[build] text`, `job: text`: only when the very same label starts nearly every line. */
const LABEL_PREFIX = /^(?:\[[\w./ -]{1,40}\]|[A-Za-z_][\w.-]{0,40}(?: {0,12}\||:))(?: |$)/;
const COMPOSE = /^[A-Za-z][\w.-]{0,40} {1,12}\|(?: |$)/;
const SEVERITY = /^\[?(?:error|warning|warn|note|help|fatal|info|test|e|w|remote|hint)\b/i;

const share = (count: number, lines: number): boolean => count >= 0.8 * lines;

const withoutOnePrefix = (lines: string[]): string[] | null => {
  const filled = lines.filter((line) => line.trim() !== '');
  if (filled.length === 0) return null;
  for (const prefix of COLLECTOR_PREFIXES) {
    let count = 0;
    for (const line of filled) if (prefix.test(line)) count += 1;
    if (count > 0 && share(count, filled.length)) return lines.map((line) => line.replace(prefix, ''));
  }
  // The bar of a compose log is plain even on a single line; other labels need company.
  if (filled.length < 3) return filled.every((line) => COMPOSE.test(line)) ? lines.map((line) => line.replace(COMPOSE, '')) : null;
  const counts = new Map<string, number>();
  for (const line of filled) {
    const label = LABEL_PREFIX.exec(line.slice(0, 64))?.[0].trimEnd();
    if (label !== undefined && !SEVERITY.test(label)) counts.set(label, (counts.get(label) ?? 0) + 1);
  }
  for (const [label, count] of counts) {
    if (!share(count, filled.length)) continue;
    return lines.map((line) => (line.startsWith(label) ? line.slice(label.length).replace(/^ /, '') : line));
  }
  return null;
};

export const toLines = (text: string): string[] => {
  let lines = stripEscapes(text)
    .split('\n')
    .map((line) => (line.includes('\r') ? afterProgress(line) : line));
  for (let round = 0; round < 3; round += 1) {
    const stripped = withoutOnePrefix(lines);
    if (stripped === null) break;
    lines = stripped;
  }
  return lines.map(cut);
};

/** As printed, but with forward slashes, and without the prefix that Windows puts before long paths. */
export const slashed = (path: string): string =>
  path
    .trim()
    .replace(/^\\\\\?\\/, '')
    .replaceAll('\\', '/');

export const baseName = (path: string): string => slashed(path).split('/').at(-1) ?? '';
