import type { Category } from './categories.js';
import { causeOf } from './infra.js';
import { slashed } from './normalise.js';
import { maskNames, patternOfTest, slugOf } from './patterns.js';
import { emptyReading, type Finding, findingWith, type Reading, type ToolFamily } from './types.js';

/** PHPUnit, PHPStan, Composer, and PHP itself. */

const TEST = /^\d{1,6}\) ([\w\\]{1,300}::[^\n]{1,300}?)$/;
const SECTION = /^There (?:was|were) \d{1,6} (failure|error|warning|risky test)s?:$/;
const PLACE = /^(\S.{0,400}\.php):(\d{1,7})$/;
const FATAL = /^(?:PHP )?(Fatal error|Parse error|Uncaught \w+): {1,2}(.{1,1000}?) in (\S{1,400}?)(?::(\d{1,7})| on line (\d{1,7}))$/;
const STAN_RAW = /^((?:[A-Za-z]:)?[^\s:]{1,400}\.php):(\d{1,7}):(.+)$/;
const PSALM = /^ERROR: (\w{1,80}) - ([^\s:]{1,400}):(\d{1,7}):(\d{1,7}) - (.*)$/;

const categoryOf = (message: string): Category => {
  if (/undefined (?:function|method|constant|property|variable)|Undefined (?:variable|constant|property)/.test(message))
    return 'resolution';
  if (/Class "?[^"]{1,200}"? not found|Failed opening required|Interface "?[^"]{1,200}"? not found/.test(message)) return 'import';
  if (/must be of type|must be an instance|Argument #|Too few arguments|Unsupported operand|Return value/.test(message)) return 'type';
  if (/Allowed memory size|Maximum execution time/.test(message)) return 'runtime_crash';
  if (/abstract method|must be compatible with|contains \d+ abstract/.test(message)) return 'trait_bound';
  return 'runtime';
};

/** `1) CartTest::testAdds`, the words, a blank line, the places. */
const testAt = (name: string, isError: boolean, lines: readonly string[], at: number): Finding => {
  const said: string[] = [];
  let place: RegExpExecArray | null = null;
  for (const line of lines.slice(at + 1, at + 60)) {
    place = PLACE.exec(line.slice(0, 600));
    if (place !== null || TEST.test(line) || (/^(?:--|FAILURES!|ERRORS!)/.test(line) && !/^--- /.test(line))) break;
    if (line.trim() !== '') said.push(line.trimEnd());
  }
  const error = isError ? (/^([\w\\]{1,200}(?:Error|Exception)|Error|Exception): /.exec(said[0] ?? '')?.[1] ?? 'Error') : undefined;
  const stable = name.replace(/ with data set .{0,200}$/, (set) => set.replace(/ \(.*$/, ''));
  const kind = error === undefined ? 'phpunit_failed' : `phpunit_${slugOf(error.split('\\').at(-1) ?? '')}`;
  return findingWith({
    ...{ tool: 'phpunit', pattern: patternOfTest(kind, stable), owner: stable, identity: said.join('\n'), at },
    ...{
      category: error === undefined ? 'test_assertion' : categoryOf(said[0] ?? ''),
      messages: [stable, ...said.slice(0, 10).map((line) => `  ${line}`)],
    },
    ...{ file: place?.[1] === undefined ? null : slashed(place[1]), place: place == null ? '' : `${place[1]}:${place[2]}` },
  });
};

const fatalAt = (line: string, at: number): Finding | null => {
  const match = FATAL.exec(line);
  if (match === null) return null;
  const message = (match[2] ?? '').replace(/^Uncaught /, '');
  const file = slashed(match[3] ?? '');
  const parse = match[1] === 'Parse error' || /^ParseError: /.test(message);
  const pattern = parse
    ? 'php_parse_error'
    : /Allowed memory size/.test(message)
      ? 'php_memory_exhausted'
      : `php_${slugOf(maskNames(message.replace(/\b[\w\\]{1,200}(?:::\w{1,100})?\(\)/g, 'x').replace(/\d+/g, 'n')))}`;
  return findingWith({
    ...{ tool: 'php', pattern, category: parse ? 'syntax' : categoryOf(message), file, place: `${file}:${match[4] ?? match[5]}`, at },
    ...{ identity: message, messages: [`${match[1]}: ${message}`] },
  });
};

const COMPOSER: readonly (readonly [RegExp, string, Category])[] = [
  [/^Your requirements could not be resolved to an installable set of packages/, 'composer_conflict', 'dependency'],
  [/^(?:\s*\[InvalidArgumentException\]|Could not find a (?:matching version of )?package)/, 'composer_package_not_found', 'dependency'],
  [/^(?:\s*\[Seld\\JsonLint\\ParsingException\]|"\.\/composer\.json" does not contain valid JSON)/, 'composer_json_invalid', 'manifest'],
];

const readComposer = (line: string, at: number, reading: Reading): void => {
  if (
    /^\s*(?:curl error \d{1,3} while downloading|The "https?:\/\/.{1,300}" file could not be downloaded|Could not authenticate against)/.test(
      line,
    )
  ) {
    const kind = /curl error 6 |could not resolve/i.test(line)
      ? 'dns'
      : /curl error 28 /.test(line)
        ? 'net_timeout'
        : /curl error (?:35|60) /.test(line)
          ? 'tls'
          : /authenticate|40[13]/.test(line)
            ? 'auth'
            : (causeOf(line) ?? 'registry');
    reading.infra.push({ kind, tool: 'composer', line: line.trim().slice(0, 400), sure: true, at });
  } else if (
    /^Composer detected issues in your platform|requires php .{1,80} -> your php version|^\s*- .{1,100} requires (?:ext-|php)/.test(line)
  )
    reading.infra.push({ kind: 'toolchain', tool: 'composer', line: line.trim(), sure: false, at });
  const known = COMPOSER.find(([words]) => words.test(line));
  if (known === undefined) return;
  reading.summary = 'failed';
  reading.findings.push(
    findingWith({
      tool: 'composer',
      pattern: known[1],
      category: known[2],
      identity: line,
      messages: [line.trim()],
      at,
      file: 'composer.json',
    }),
  );
};

const read = (lines: readonly string[], words: ReadonlySet<string>): Reading => {
  const reading = emptyReading('phpunit');
  const stan = words.has('phpstan');
  let section: string | null = null;
  for (const [at, printed] of lines.entries()) {
    if (printed === '') continue;
    const line = printed.slice(0, 1_500);
    section = SECTION.exec(line)?.[1] ?? section;
    const test = section === null ? undefined : TEST.exec(line)?.[1];
    if (test !== undefined && section !== 'warning') reading.findings.push(testAt(test, section === 'error', lines, at));
    const fatal = line.includes('error') ? fatalAt(line, at) : null;
    if (fatal !== null) reading.findings.push(fatal);
    const raw = stan ? STAN_RAW.exec(line) : null;
    if (raw?.[3] !== undefined) {
      const file = slashed(raw[1] ?? '');
      const named = / \[identifier=([\w.]{1,80})\]$/.exec(raw[3])?.[1];
      const text = raw[3].replace(/ \[identifier=.*$/, '').trim();
      reading.findings.push(
        findingWith({
          tool: 'phpstan',
          pattern: `phpstan_${named ?? slugOf(maskNames(text))}`,
          category: 'type',
          file,
          place: `${file}:${raw[2]}`,
          identity: text,
          messages: [`${file}:${raw[2]}: ${text}`],
          at,
        }),
      );
    }
    const psalm = PSALM.exec(line);
    if (psalm !== null) {
      const file = slashed(psalm[2] ?? '');
      reading.findings.push(
        findingWith({
          tool: 'psalm',
          pattern: `psalm_${(psalm[1] ?? '').toLowerCase()}`,
          category: 'type',
          file,
          place: `${file}:${psalm[3]}:${psalm[4]}`,
          identity: psalm[5] ?? '',
          messages: [line],
          at,
        }),
      );
    }
    if (/^(?:FAILURES!|ERRORS!)$/.test(line)) reading.summary = 'failed';
    else if (/^OK \(\d{1,7} tests?/.test(line)) reading.summary ??= 'passed';
    readComposer(line, at, reading);
  }
  if (reading.findings.length > 0) reading.summary = 'failed';
  return reading;
};

const TELLTALE =
  /^PHPUnit \d|^(?:PHP )?(?:Fatal|Parse) error: {1,2}\S|^Tests: \d{1,7}, Assertions: |^Your requirements could not be resolved|^Composer detected issues/;

export const php: ToolFamily = {
  ecosystem: 'php',
  owns: (words, lines) =>
    ['php', 'phpunit', 'composer', 'phpstan', 'psalm', 'pest'].some((word) => words.has(word)) ||
    lines.some((line) => line.length < 1_500 && (TELLTALE.test(line) || PSALM.test(line))),
  read,
};
