import { slashed } from './normalise.js';
import { categoryOfCode, currentCode, patternOfCode } from './patterns.js';
import { nameOfLint, nameOfMessage } from './rust-messages.js';
import type { Finding } from './types.js';

/** rustc's diagnostics as text: a header, a place, snippets between `|`, notes. Also the one-line form of `--message-format=short`. */
const HEADER = /^(error|warning)(?:\[([A-Za-z]\w{0,80}(?:::\w{1,80})?)\])?: (.*)$/;
const SHORT = /^((?:[A-Za-z]:)?[^:\s][^:]{0,400}):(\d{1,8}):(\d{1,8}): (error|warning)(?:\[(E\d{4})\])?: (.*)$/;
const PLACE = /^ *--> (.+?):(\d{1,8}):(\d{1,8})$/;
const SNIPPET = /^ *(?:\d{1,8} *)?\||^\.\.\.$|^ *= |^ *(?:-->|:::) |^\d{1,8} [-+~] /;
const CODE = /^E\d{4}$/;

export interface Header {
  level: 'error' | 'warning';
  code: string | null;
  message: string;
  file: string | null;
  place: string;
}

export const headerOf = (line: string): Header | null => {
  if (line.startsWith('error') || line.startsWith('warning')) {
    const match = HEADER.exec(line);
    if (match !== null)
      return { level: match[1] as Header['level'], code: match[2] ?? null, message: match[3] ?? '', file: null, place: '' };
  }
  const short = line.includes(': error') || line.includes(': warning') ? SHORT.exec(line) : null;
  if (short === null || (short[5] === undefined && !short[1]?.endsWith('.rs'))) return null;
  const file = slashed(short[1] ?? '');
  return {
    level: short[4] as Header['level'],
    code: short[5] ?? null,
    message: (short[6] ?? '').split(/[:,] help: /, 1)[0] ?? '',
    file,
    place: `${file}:${short[2]}:${short[3]}`,
  };
};

export interface Block {
  header: Header;
  lines: readonly string[];
  /** Index of the first line after the block. */
  end: number;
  /** Did rustc's own drawing (place, gutter, note) follow the header? Then no other tool wrote it. */
  drawn: boolean;
}

const LONGEST_BLOCK = 400;

/** The block that a header opens: up to a blank line, the next header, or text that is not rustc's drawing. */
export const blockAt = (lines: readonly string[], start: number, header: Header): Block => {
  if (header.place !== '') return { header, lines: [], end: start + 1, drawn: true };
  let end = start + 1;
  let drawn = false;
  for (; end < lines.length && end - start < LONGEST_BLOCK; end += 1) {
    const line = lines[end] ?? '';
    if (line.trim() === '' || headerOf(line) !== null) break;
    if (SNIPPET.test(line)) drawn = true;
    else if (drawn && !/^(?:note|help|\s)/.test(line)) break;
    else if (!drawn && end - start > 20) break;
  }
  // Without a drawing the lines that follow are not known to be its own.
  return drawn ? { header, lines: lines.slice(start + 1, end), end, drawn } : { header, lines: [], end: start + 1, drawn };
};

interface Underline {
  column: number;
  rest: string;
}

const underlineOf = (line: string): Underline | null => {
  const gutter = line.indexOf('|');
  if (gutter < 0 || !/^ *$/.test(line.slice(0, gutter))) return null;
  const column = line.indexOf('^', gutter);
  // Between gutter and caret stand only other underlines and connectors: else the caret is a character of a label.
  if (column < 0 || !/^[ |_-]*$/.test(line.slice(gutter + 1, column))) return null;
  let end = column;
  while (line[end] === '^') end += 1;
  return { column, rest: line.slice(end) };
};

/** Labels that did not fit beside their caret hang below it, at the caret's column. */
const hangingLabels = (lines: readonly string[], from: number, column: number): string[] => {
  const labels: string[] = [];
  for (let index = from; index < lines.length && index < from + 12; index += 1) {
    const line = lines[index] ?? '';
    if (!/^ *\|/.test(line)) break;
    const at = line.slice(column);
    if (at !== '' && !at.startsWith('|') && !at.startsWith(' ') && (line[column - 1] ?? ' ') === ' ') labels.push(at.trim());
    else if (!at.startsWith('|')) break;
  }
  return labels;
};

/** The labels of the primary spans (under `^`), before any note: what `short` prints after the message, and JSON marks `is_primary`. */
const primaryLabels = (lines: readonly string[]): string[] => {
  const labels: string[] = [];
  for (let index = 0; index < lines.length; index += 1) {
    const line = lines[index] ?? '';
    if (/^(?:note|help)\b/.test(line) || /^ *= /.test(line)) break;
    const underline = underlineOf(line);
    if (underline === null) continue;
    const beside = underline.rest.trim();
    if (beside !== '' && !/^[-^|_]/.test(beside)) labels.push(beside);
    else labels.push(...hangingLabels(lines, index + 1, underline.column));
  }
  return labels;
};

const LINT_WORDS: readonly RegExp[] = [
  /^ *= note: `(?:-[DF] |#\[(?:deny|forbid)\()([\w:-]{1,120})\)?\]?`/,
  /^ *= note: requested on the command line with `-[DF] ([\w:-]{1,120})`/,
  /rust-clippy\/[^#]{0,80}#()(\w{1,100})/,
];

/** The lint behind an error that carries no code: named by a note, by clippy's link, or by the `deny` that the level note points at. */
const lintOf = (lines: readonly string[]): string | null => {
  for (let index = 0; index < lines.length; index += 1) {
    const line = lines[index] ?? '';
    for (const words of LINT_WORDS) {
      const match = words.exec(line);
      if (match !== null) return match[2] === undefined ? (match[1] ?? null) : `clippy::${match[2]}`;
    }
    if (!/(?:deny|forbid)\(/.test(line) || !/^ *\d+ *\|/.test(line)) continue;
    const underline = underlineOf(lines[index + 1] ?? '');
    if (underline === null) continue;
    const width = (lines[index + 1] ?? '').lastIndexOf('^') - underline.column + 1;
    const name = line.slice(underline.column, underline.column + width);
    if (
      /^[a-z_]+(?:::[a-z_]+)?$/.test(name) &&
      name !== 'warnings' &&
      lines.slice(0, index).some((l) => l.startsWith('note: the lint level'))
    )
      return name;
  }
  return null;
};

const isCompileErrorMacro = (lines: readonly string[]): boolean => {
  const source = lines.findIndex((line) => /^ *\d+ *\|/.test(line));
  return source >= 0 && /\|\s*(?:::)?(?:\w+::)?compile_error!/.test(lines[source] ?? '');
};

const LONGEST_NOTES = 6;
/** The lines of a diagnostic that are no source: header, place, notes, and the label that says which types were expected and found. */
const messagesOf = (head: string, place: string, labels: readonly string[], notes: readonly string[]): string[] => [
  head,
  ...(place === '' ? [] : [` --> ${place}`]),
  ...labels.filter((label) => /^expected .+, found /.test(label)).map((label) => `  = ${label}`),
  ...notes.slice(0, LONGEST_NOTES),
];

export interface Diagnostic {
  code: string | null;
  lint: string | null;
  message: string;
  file: string | null;
  place: string;
  labels: readonly string[];
  notes: readonly string[];
  compileError: boolean;
}

/**
 * Message and labels as a set of clauses: `short` prints the labels behind the message, in an order of its own, and a label may only repeat
 * the message. Suggestions (`help: …`) belong to neither.
 */
const canonical = (text: string): string => {
  const help = text.search(/[:,] help: /);
  const clauses = (help < 0 ? text : text.slice(0, help)).split(/: |, /);
  return [...new Set(clauses)].sort().join(' | ');
};

/** cargo draws errors of the manifest as rustc draws those of the code. */
const MANIFEST = /(?:^|\/)(?:Cargo|\.cargo\/config)\.toml$/;

/** From either form (text, JSON) to a finding: so both give one pattern and one signature. */
export const findingOf = (diagnostic: Diagnostic, at: number): Finding => {
  const { message, labels } = diagnostic;
  const code = diagnostic.code === null ? null : currentCode(diagnostic.code);
  const named =
    code !== null
      ? { pattern: patternOfCode(code), category: categoryOfCode(code) }
      : diagnostic.lint !== null
        ? nameOfLint(diagnostic.lint)
        : diagnostic.compileError
          ? ({ pattern: 'rust_compile_error_macro', category: 'build_config' } as const)
          : diagnostic.file !== null && MANIFEST.test(diagnostic.file)
            ? ({ pattern: 'cargo_manifest_invalid', category: 'manifest' } as const)
            : nameOfMessage(message);
  const first = message.split('\n', 1)[0] ?? '';
  const kept = [...new Set(labels.filter((label) => !label.startsWith('help: ')))].sort();
  return {
    tool: 'rustc',
    ...named,
    code,
    file: diagnostic.file,
    place: diagnostic.place,
    identity: canonical([first, ...kept].join(': ')),
    owner: null,
    messages: messagesOf(
      `error${diagnostic.code === null ? '' : `[${diagnostic.code}]`}: ${first}`,
      diagnostic.place,
      kept,
      diagnostic.notes,
    ),
    at,
  };
};

export const readBlock = (block: Block, at: number): Finding => {
  const { header, lines } = block;
  const place = lines.map((line) => PLACE.exec(line)).find((match) => match !== null);
  const file = header.file ?? (place?.[1] === undefined ? null : slashed(place[1]));
  const isCode = header.code !== null && CODE.test(header.code);
  return findingOf(
    {
      code: isCode ? header.code : null,
      lint: isCode ? null : (header.code ?? lintOf(lines)),
      message: header.message,
      file,
      place: header.place !== '' ? header.place : place === undefined || place === null ? '' : `${file}:${place[2]}:${place[3]}`,
      labels: primaryLabels(lines),
      notes: lines.filter((line) => /^(?:note|help): |^ *= (?:note|help): /.test(line)).map((line) => line.trimEnd()),
      compileError: isCompileErrorMacro(lines),
    },
    at,
  );
};
