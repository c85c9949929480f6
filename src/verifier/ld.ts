import { plainQuotes } from './c-messages.js';
import type { Category } from './categories.js';
import { causeOf } from './infra.js';
import { baseName, slashed } from './normalise.js';
import { emptyReading, type Finding, type Reading, type ToolFamily } from './types.js';

/** Linkers: GNU ld, gold, lld, mold, Apple's, and collect2, which speaks for them. The lines of the linker start at the margin. */

const LD = /^(?:[\w./+-]{0,200}[/-])?(?:ld(?:\.\w+|64(?:\.lld)?)?|collect2|mold|lld(?:-link)?|wasm-ld): /;
/** `a.c:(.text+0x12): undefined…`, `a.c:3: undefined…`, `(.text+0x5): …`: where an object's code asks for it. */
const PLACE =
  /^((?:[A-Za-z]:)?[^\s:()]{1,400})?:?\(\.[\w.+$-]{1,200}\): |^((?:[A-Za-z]:)?[^\s:()]{1,400}):\d{1,8}: (?=undefined reference|multiple definition)/;

const KNOWN: readonly (readonly [RegExp, string, Category])[] = [
  [/undefined reference to '([^']{1,400})'/, 'ld_undefined_reference', 'link'],
  [/undefined symbol: (.{1,400})$/, 'ld_undefined_reference', 'link'],
  [/unresolved external symbol ("[^"]{1,400}"|\S{1,400})/, 'ld_undefined_reference', 'link'],
  [/cannot find (-l\S{1,200}?)(?:: |$)/, 'ld_cannot_find_library', 'link'],
  [/(?:unable to find library|library not found for|library not found:?) (-l\S{1,200}|\S{1,200})/, 'ld_cannot_find_library', 'link'],
  [/library '([^']{1,200})' not found/, 'ld_cannot_find_library', 'link'],
  [/(?:multiple definition of|duplicate symbol:?) '?([^';]{1,400})/, 'ld_multiple_definition', 'link'],
  [/cannot (?:find|open) ([^\s:]{1,300})(?:: No such file.*)?$/, 'ld_cannot_find_file', 'link'],
  [/relocation (\S{1,80}) .{0,400}(?:can not|cannot) be used/, 'ld_relocation', 'link'],
  [
    /(?:file (?:in wrong format|not recognized|format not recognized)|unknown file type|incompatible with \S{1,80}(?: output)?$)/,
    'ld_file_format',
    'link',
  ],
  [/(?:hidden symbol|undefined version|version node not found|DSO missing from command line)/, 'ld_symbol_version', 'link'],
];

/** Apple's linker lists the names between its head and its closing line. */
const APPLE_HEAD = /^Undefined symbols(?: for architecture \w{1,40})?:$/;
const APPLE_NAME = /^ {2}"([^"]{1,400})", referenced from:$/;

const CLOSING = /(?:ld returned \d|linker command failed|final link failed: (?:bad value|nonrepresentable|symbol needs debug))/;

const ended = (line: string): 'killed' | 'disk' | 'crash' | null => {
  const match = /(?:ld terminated with signal (\d{1,3})|unable to execute command: (Killed|Bus error|Segmentation fault))/.exec(line);
  if (match === null) return null;
  if (match[1] === '9' || match[2] === 'Killed') return 'killed';
  return match[1] === '7' || match[2] === 'Bus error' ? 'disk' : 'crash';
};

const findingOf = (pattern: string, category: Category, identity: string, file: string | null, line: string, at: number): Finding => ({
  tool: 'ld',
  pattern,
  code: null,
  category,
  file,
  place: '',
  identity,
  owner: file === null ? '' : baseName(file),
  messages: [line.trim()],
  at,
});

/** Objects of temporary names say nothing: only a source counts as the file. */
const sourceOf = (file: string | undefined): string | null =>
  file === undefined || /\.(?:o|obj|a|so|dylib|lib)$/.test(file) || /(?:^|\/)cc\w{6}\./.test(file) ? null : slashed(file);

const read = (lines: readonly string[]): Reading => {
  const reading = emptyReading('ld');
  lines.forEach((printed, at) => {
    if (printed.length > 4_000 || printed.startsWith(' ')) return;
    const isLd = LD.test(printed);
    const place = PLACE.exec(printed.replace(LD, ''));
    if (APPLE_HEAD.test(printed)) {
      for (const [index, line] of lines.slice(at + 1, at + 400).entries()) {
        const name = APPLE_NAME.exec(line)?.[1];
        if (name !== undefined)
          reading.findings.push(findingOf('ld_undefined_reference', 'link', `undefined: ${name}`, null, line, at + 1 + index));
        else if (!/^ /.test(line)) break;
      }
      reading.summary = 'failed';
      return;
    }
    if (!isLd && place === null && !/^clang(?:\+\+)?(?:-\d+)?: error: (?:unable to execute command|linker command failed)/.test(printed))
      return;
    const line = plainQuotes(printed);
    const end = ended(line);
    if (end === 'killed' || end === 'disk')
      reading.infra.push({ kind: end, tool: 'ld', line: printed.slice(0, 400), sure: end === 'disk', at });
    else if (end === 'crash') reading.findings.push(findingOf('ld_crash', 'tool_crash', 'the linker crashed', null, printed, at));
    else if (/^(?:.{0,200}: )?(?:fatal error: )?cannot find 'ld(?:\.\w+)?'/.test(line))
      reading.infra.push({ kind: 'toolchain', tool: 'ld', line: printed, sure: true, at });
    else if (
      /(?:final link failed|cannot open output file|failed to (?:write|open)|error writing|could not open|can't open output)/.test(line) &&
      causeOf(line) !== null
    )
      reading.infra.push({ kind: causeOf(line)!, tool: 'ld', line: printed.slice(0, 400), sure: true, at });
    else if (!CLOSING.test(line) && !/: (?:warning|note): |in function '|: more undefined references/.test(line)) {
      const text = line.replace(LD, '');
      for (const [words, pattern, category] of KNOWN) {
        const match = words.exec(text);
        if (match === null) continue;
        const file = sourceOf(place?.[1] ?? place?.[2]);
        reading.findings.push(findingOf(pattern, category, `${pattern}: ${match[1] ?? ''}`, file, printed.replace(LD, ''), at));
        break;
      }
    } else if (!CLOSING.test(line)) return;
    reading.summary = 'failed';
  });
  if (
    reading.summary === 'failed' &&
    reading.findings.length === 0 &&
    reading.infra.length === 0 &&
    !lines.some((line) => CLOSING.test(line))
  )
    reading.summary = null;
  return reading;
};

export const ld: ToolFamily = {
  ecosystem: 'c',
  owns: (words, lines) =>
    words.has('ld') ||
    lines.some(
      (line) => line.length < 4_000 && (LD.test(line) || PLACE.test(line) || APPLE_HEAD.test(line) || CLOSING.test(line.slice(0, 300))),
    ),
  read,
};
