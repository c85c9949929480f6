import { JDK, nameOfJava, nameOfJavaKey, withoutPackages } from './java-messages.js';
import { slashed } from './normalise.js';
import { maskNames, slugOf } from './patterns.js';
import { emptyReading, type Finding, type Reading, type ToolFamily } from './types.js';

/** javac by itself, under Maven or under Gradle, in text and as raw diagnostics; kotlinc, which speaks in the same builds. */

const HEAD = /^((?:[A-Za-z]:)?[^\s:][^:]{0,400}\.java):(\d{1,7}): ([^:：]{1,20})[:：] ?(.*)$/;
const RAW = /^(-|(?:[A-Za-z]:)?[^\s:][^:]{0,400}\.java):(?:(\d{1,7}):(\d{1,7}): |(?<=-:) ?)compiler\.err\.([\w.-]{1,100})(?:: (.*))?$/;
/** The compiler plugin of Maven: `[ERROR] /w/A.java:[3,20] cannot find symbol`. */
const MAVEN =
  /^(?:\[ERROR\] )?((?:[A-Za-z]:)?[^\s:[][^:]{0,400}\.java):\[(\d{1,7}),(\d{1,7})\] (?:error: )?(?!\((?:\w{1,40})\) \w{1,60}:)(.*)$/;
const KOTLIN =
  /^(?:\[ERROR\] |e: )(?:file:\/\/)?((?:[A-Za-z]:)?[^\s:][^:]{0,400}\.kts?):(?: \((\d{1,7}), ?(\d{1,7})\):?|(\d{1,7}):(\d{1,7}):?) (.*)$/;
const GLOBAL = /^(?:error|错误|エラー|Fehler): (.*)$/;
const ERROR_WORDS = new Set(['error', '错误', '錯誤', 'エラー', 'Fehler', 'erreur', 'errore', 'ошибка', '오류', 'erro']);
const DETAIL = /^(?:\[ERROR\] )? {2,12}((?:symbol|location|required|found|reason|符号|位置|シンボル|場所|Symbol|Ort): .*)$/;

interface Diagnostic {
  file: string | null;
  place: string;
  message: string;
  details: string[];
}

/** `class Strng` of a symbol line, and of raw arguments: what could not be found, without its place in the sentence. */
const symbolOf = (details: readonly string[]): string | null => {
  const symbol = details.find((line) => /^(?:symbol|Symbol|符号|シンボル): /.test(line));
  const match = symbol === undefined ? null : /: +(\S{1,40}) ([^\s(]{1,200})/.exec(symbol);
  return match === null ? null : `${match[1]} ${match[2]}`;
};

const identityOf = (pattern: string, message: string, details: readonly string[]): string => {
  const plain = withoutPackages(message);
  const symbol = pattern === 'javac_cant_resolve' ? symbolOf(details) : null;
  if (symbol !== null) return `${pattern} ${symbol}`;
  const conversion = /(\S{1,300}) cannot be converted to (\S{1,300})$/.exec(plain);
  if (conversion !== null) return `${pattern} ${conversion[1]} -> ${conversion[2]}`;
  return [plain, ...details.filter((line) => !/^(?:location|位置|場所|Ort): /.test(line)).map(withoutPackages)].join('\n');
};

const findingOf = ({ file, place, message, details }: Diagnostic, at: number): Finding => {
  const { pattern, category } = nameOfJava(message);
  return {
    ...{ tool: 'javac', pattern, code: null, category, file, place, owner: null, at },
    identity: identityOf(pattern, message, details),
    messages: [`${place === '' ? '' : `${place}: `}error: ${message}`, ...details.map((line) => `  ${line}`)],
  };
};

const rawFinding = (match: RegExpExecArray, at: number): Finding => {
  const [, path = '', line, column, key = '', rest = ''] = match;
  const { pattern, category } = nameOfJavaKey(key);
  const file = path === '-' ? null : slashed(path);
  const named = /^kindname\.(\w{1,40}), ([^,\s]{1,200})/.exec(rest);
  const converted = /^\(compiler\.misc\.inconvertible\.types: (.{1,300}), ([^,]{1,300})\)$/.exec(rest);
  const place = file === null ? '' : `${file}:${line}:${column}`;
  const identity =
    pattern === 'javac_cant_resolve' && named !== null
      ? `${pattern} ${named[1]} ${named[2]}`
      : converted !== null
        ? `${pattern} ${withoutPackages(converted[1] ?? '')} -> ${withoutPackages(converted[2] ?? '')}`
        : key.startsWith('missing.ret')
          ? 'missing return statement'
          : key === 'expected'
            ? `${rest} expected`
            : `${key}: ${withoutPackages(rest)}`;
  return {
    ...{ tool: 'javac', pattern, code: null, category, file, place, owner: null, at },
    ...{ identity, messages: [`${place === '' ? '' : `${place}: `}compiler.err.${key}${rest === '' ? '' : `: ${rest}`}`] },
  };
};

/** After the head: a source line, a caret, then details under it. Maven prints the details alone. */
const bodyOf = (lines: readonly string[], at: number): { column: number; details: string[] } => {
  let column = 0;
  const details: string[] = [];
  for (const line of lines.slice(at + 1, at + 12)) {
    if (column === 0 && /^ *\^$/.test(line)) column = line.length;
    const detail = DETAIL.exec(line.slice(0, 600))?.[1];
    if (detail !== undefined) details.push(detail.replace(/: +/, ': ').trim());
    else if (details.length > 0 || HEAD.test(line.slice(0, 600)) || MAVEN.test(line.slice(0, 600)) || /^\d{1,7} /.test(line)) break;
  }
  return { column, details };
};

const headAt = (line: string): { file: string; row: string; column: string | null; message: string } | null => {
  if (!line.includes('.java:')) return null;
  const maven = MAVEN.exec(line.slice(0, 2_000));
  if (maven !== null)
    return { file: slashed(maven[1] ?? ''), row: maven[2] ?? '', column: maven[3] ?? null, message: (maven[4] ?? '').trim() };
  const match = HEAD.exec(line.slice(0, 2_000));
  if (match === null || !ERROR_WORDS.has(match[3] ?? '')) return null;
  return { file: slashed(match[1] ?? ''), row: match[2] ?? '', column: null, message: (match[4] ?? '').trim() };
};

const kotlinAt = (line: string, at: number): Finding | null => {
  const match = /\.kts?:/.test(line) ? KOTLIN.exec(line.slice(0, 2_000)) : null;
  if (match === null) return null;
  const file = slashed(match[1] ?? '');
  const message = match[6] ?? '';
  const known: [RegExp, string, Finding['category']][] = [
    [/^unresolved reference/i, 'kotlin_unresolved_reference', 'resolution'],
    [
      /^(?:type mismatch|argument type mismatch|return type mismatch|initializer type mismatch|assignment type mismatch)/i,
      'kotlin_type_mismatch',
      'type',
    ],
    [/only safe \(\?\.\)|null can not be a value|smart cast/i, 'kotlin_null_safety', 'null_safety'],
    [/^(?:expecting|unexpected|syntax error)/i, 'kotlin_syntax', 'syntax'],
    [/^cannot access/i, 'kotlin_access', 'visibility'],
  ];
  const name = known.find(([words]) => words.test(message));
  return {
    ...{
      tool: 'kotlinc',
      pattern: name?.[1] ?? `kotlin_${slugOf(maskNames(message))}`,
      code: null,
      category: name?.[2] ?? 'unknown',
      file,
    },
    ...{
      place: `${file}:${match[2] ?? match[4]}:${match[3] ?? match[5]}`,
      identity: message,
      owner: null,
      messages: [`${file}: ${message}`],
      at,
    },
  };
};

const read = (lines: readonly string[], words: ReadonlySet<string>): Reading => {
  const reading = emptyReading('javac');
  if (words.has('javac')) reading.activity = 'build';
  for (const [at, line] of lines.entries()) {
    if (line === '') continue;
    const head = headAt(line);
    if (head !== null) {
      const { column, details } = bodyOf(lines, at);
      const place = `${head.file}:${head.row}:${head.column ?? column}`;
      reading.findings.push(findingOf({ file: head.file, place, message: head.message, details }, at));
      continue;
    }
    const raw = line.includes('compiler.err.') ? RAW.exec(line.slice(0, 2_000)) : null;
    if (raw !== null) reading.findings.push(rawFinding(raw, at));
    const kotlin = kotlinAt(line, at);
    if (kotlin !== null) reading.findings.push(kotlin);
    const global =
      words.has('javac') || /^error: (?:warnings found and -Werror|release version|invalid source release)/.test(line)
        ? GLOBAL.exec(line.slice(0, 2_000))?.[1]
        : undefined;
    if (global === undefined) continue;
    if (JDK.test(global)) reading.infra.push({ kind: 'toolchain', tool: 'javac', line, sure: false, at });
    else if (!/^(?:compilation failed|\d)/.test(global))
      reading.findings.push(findingOf({ file: null, place: '', message: global, details: [] }, at));
  }
  if (reading.findings.length > 0) reading.summary = 'failed';
  return reading;
};

export const javac: ToolFamily = {
  ecosystem: 'jvm',
  owns: (words, lines) =>
    words.has('javac') ||
    words.has('kotlinc') ||
    lines.some(
      (line) =>
        headAt(line) !== null ||
        (line.includes('compiler.err.') && RAW.test(line.slice(0, 2_000))) ||
        kotlinAt(line, 0) !== null ||
        /^error: warnings found and -Werror specified$/.test(line),
    ),
  read,
};
