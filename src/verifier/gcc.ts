import { nameOfC, plainQuotes, withoutAdvice } from './c-messages.js';
import { causeOf } from './infra.js';
import { baseName, slashed } from './normalise.js';
import { emptyReading, type Finding, type Reading, type ToolFamily } from './types.js';

/** gcc, g++, clang and their assembler: `file:line:col: error: message`, in the words of any locale, and gcc's JSON. */

const WORDS = /^(?:.*-)?(?:gcc|g\+\+|cc|c\+\+|cc1|cc1plus|clang|clang\+\+|clang-cl|ccache|emcc|nvcc|icx|as)(?:-\d[\d.]*)?$/;
const SOURCE = /\.(?:c|cc|cpp|cxx|c\+\+|cppm|ixx|h|hh|hpp|hxx|h\+\+|inl|ipp|tcc|tpp|m|mm|cu|cuh|s|S|C|H|def|inc|i|ii)$|\/include\//;
const HEAD = /^((?:[A-Za-z]:)?[^\s:][^:\n]{0,400}):(\d{1,8})(?::(\d{1,8}))?: ([^:：]{2,40})[:：] ?(.*)$/;
const ERROR_WORDS = new Set([
  ...[
    'error',
    'fatal error',
    'Error',
    'Fatal error',
    'Fehler',
    'schwerwiegender Fehler',
    'Schwerwiegender Fehler',
    'erreur',
    'erreur fatale',
  ],
  ...[
    'error fatal',
    'errore',
    'errore fatale',
    'erro',
    'erro fatal',
    '错误',
    '致命错误',
    '錯誤',
    'エラー',
    '致命的エラー',
    '오류',
    '치명적 오류',
  ],
  ...[
    'ошибка',
    'фатальная ошибка',
    'помилка',
    'błąd',
    'błąd krytyczny',
    'fout',
    'fatale fout',
    'fel',
    'ödesdigert fel',
    'hata',
    'ölümcül hata',
    'chyba',
  ],
]);
const OPTION = / \[-W(?:error[=,])?-?W?([\w+=-]{1,60})(?:,-W[\w-]{1,60})?\]$/;
/** `a.cpp:4:39:   required from here`: whose code it is that a header complains about. */
const REQUIRED_FROM = /^((?:[A-Za-z]:)?[^\s:][^:]{0,400}):\d{1,8}:\d{1,8}:\s+(?:required from|requested here|in instantiation)/;
const NOTE_FROM = /^((?:[A-Za-z]:)?[^\s:][^:]{0,400}):\d{1,8}:\d{1,8}: note: in instantiation of/;
/** The drivers themselves: no place, but their name. */
const DRIVER =
  /^((?:[\w./+-]{0,200}[/-])?(?:gcc|g\+\+|cc|c\+\+|cc1|cc1plus|cc1obj|clang|clang\+\+|as|collect2|lto1|lto-wrapper|f951)(?:-\d[\d.]*)?): (?:fatal |Fatal )?(?:error|Error|Fehler|erreur|错误): (.*)$/;
const SYSTEM = /^(?:\/usr\/|\/opt\/|\/Library\/|\/Applications\/|[A-Za-z]:[\\/]Program Files)/;

const isSource = (file: string): boolean => SOURCE.test(file) && !file.endsWith('.java');

interface Diagnostic {
  file: string | null;
  place: string;
  message: string;
  option: string | null;
  /** The program's own file that a system header was used from. */
  from: string | null;
}

const findingOf = (tool: string, { file, place, message, option, from }: Diagnostic, at: number): Finding => {
  const text = withoutAdvice(plainQuotes(message)).trim();
  const { pattern, category } = nameOfC(tool, text, option);
  const foreign = file !== null && from !== null && SYSTEM.test(file);
  return {
    tool,
    pattern,
    code: null,
    category,
    file: foreign ? from : file,
    place,
    identity: text,
    owner: foreign ? baseName(file) : null,
    messages: [
      `${place === '' ? '' : `${place}: `}error: ${message}${option === null ? '' : ` [-W${option}]`}`,
      ...(foreign ? [`  from ${from}`] : []),
    ],
    at,
  };
};

/** What the machine did to the compiler, on lines that the compiler, its assembler or the driver wrote. */
const troubleOf = (line: string, tool: string): Reading['infra'][number] | null => {
  const text = line.trim();
  const evidence = (kind: Reading['infra'][number]['kind'], sure: boolean) => ({ kind, tool, line: text.slice(0, 400), sure });
  if (/^(?:[\w./+-]{1,200}: )?(?:fatal error: |internal compiler error: )?Killed (?:signal terminated program |\(program )/.test(text))
    return evidence('killed', false);
  if (
    /^(?:[\w./+-]{1,200}: )?(?:fatal error: )?(?:out of memory allocating \d|virtual memory exhausted|LLVM ERROR: out of memory)/.test(text)
  )
    return evidence('memory', true);
  if (
    /^(?:[\w./+-]{1,200}: )?fatal error: cannot execute ['‘`]|^(?:[\w./+-]{1,200}: )?error: (?:unable to execute command: Executable .{1,200} doesn't exist|invalid linker name)/.test(
      text,
    )
  )
    return evidence('toolchain', true);
  const writing =
    /^(?:.{0,300}: )?(?:Fatal error|fatal error|error|LLVM ERROR): (?:can't (?:create|fill|write|close|open)|error (?:writing to|closing)|cannot (?:open|create|write)|unable to open output file|error opening|IO failure on output|opening dependency file|closing|failed to write|unable to make temporary)/.test(
      text,
    );
  if (!writing) return null;
  const kind = causeOf(text) ?? (/can't fill \d/.test(text) ? 'disk' : null);
  return kind === null ? null : evidence(kind, true);
};

interface JsonDiagnostic {
  kind?: unknown;
  message?: unknown;
  option?: unknown;
  locations?: { caret?: { file?: unknown; line?: unknown; column?: unknown } }[];
}

const readJson = (line: string, tool: string, at: number): Finding[] => {
  let items: unknown;
  try {
    items = JSON.parse(line);
  } catch {
    return [];
  }
  if (!Array.isArray(items)) return [];
  return items.flatMap((item: JsonDiagnostic | null) => {
    if (item === null || typeof item !== 'object' || !/error/.test(String(item.kind)) || typeof item.message !== 'string') return [];
    const caret = item.locations?.[0]?.caret;
    const file = typeof caret?.file === 'string' ? slashed(caret.file) : null;
    const option = typeof item.option === 'string' ? (/^-W(?:error=)?(.+)$/.exec(item.option)?.[1] ?? null) : null;
    const place = file === null ? '' : `${file}:${caret?.line}:${caret?.column}`;
    return [findingOf(tool, { file, place, message: item.message, option, from: null }, at)];
  });
};

const isJson = (line: string): boolean => line.startsWith('[{"') && line.includes('"kind": ') && line.includes('"locations"');

/** Is the line an error of the compiler with a place? */
const headAt = (line: string): Omit<Diagnostic, 'from'> | null => {
  if (line.length > 4_000 || !/:\d+: /.test(line)) return null;
  const match = HEAD.exec(line);
  if (match === null || !ERROR_WORDS.has(match[4] ?? '')) return null;
  const file = slashed(match[1] ?? '');
  if (!isSource(file)) return null;
  const option = OPTION.exec(match[5] ?? '');
  return {
    file,
    place: `${file}:${match[2]}${match[3] === undefined ? '' : `:${match[3]}`}`,
    message: (match[5] ?? '').replace(OPTION, '').replace(/ \[-f[\w-]{1,40}\]$/, ''),
    option: option?.[1] ?? null,
  };
};

const toolOf = (words: ReadonlySet<string>, lines: readonly string[]): string =>
  [...words].some((word) => /clang/.test(word)) ||
  lines.some((line) => /^\d{1,7} (?:warnings? and \d{1,7} )?errors? generated\.$|^clang(?:\+\+)?: /.test(line))
    ? 'clang'
    : 'gcc';

const read = (lines: readonly string[], words: ReadonlySet<string>): Reading => {
  const tool = toolOf(words, lines);
  const reading = emptyReading(tool);
  if ([...words].some((word) => WORDS.test(word))) reading.activity = 'build';
  let from: string | null = null;
  lines.forEach((line, at) => {
    if (line === '') return;
    const required = REQUIRED_FROM.exec(line.slice(0, 600));
    if (required?.[1] !== undefined && !SYSTEM.test(required[1])) from = slashed(required[1]);
    const trouble = troubleOf(line.slice(0, 2_000), tool);
    if (trouble !== null) {
      reading.infra.push({ ...trouble, at });
      reading.summary = 'failed';
      return;
    }
    const head = headAt(line);
    if (head !== null) {
      const after = lines.slice(at + 1, at + 40).map((each) => NOTE_FROM.exec(each.slice(0, 600))?.[1]);
      const user = SYSTEM.test(head.file ?? '') ? (from ?? after.find((file) => file !== undefined && !SYSTEM.test(file)) ?? null) : null;
      reading.findings.push(findingOf(tool, { ...head, from: user }, at));
      from = null;
    } else if (isJson(line)) reading.findings = reading.findings.concat(readJson(line, tool, at));
    else {
      const driver = DRIVER.exec(line.slice(0, 2_000));
      if (driver?.[2] === undefined || /^(?:ld (?:returned|terminated)|linker command failed|unable to execute)/.test(driver[2])) return;
      reading.findings.push(findingOf(tool, { file: null, place: '', message: driver[2], option: null, from: null }, at));
    }
  });
  if (reading.findings.length > 0) reading.summary = 'failed';
  return reading;
};

export const gcc: ToolFamily = {
  ecosystem: 'c',
  owns: (words, lines) =>
    [...words].some((word) => WORDS.test(word)) ||
    lines.some(
      (line) =>
        headAt(line) !== null || isJson(line) || DRIVER.test(line.slice(0, 300)) || (line.length < 500 && troubleOf(line, 'gcc') !== null),
    ),
  read,
};
