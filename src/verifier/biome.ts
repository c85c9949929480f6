import type { Category } from './categories.js';
import { found } from './found.js';
import { type Json, jsonReader, listOf, objectOf, at as pick, stringOf } from './machine-json.js';
import type { Grammar, Scan } from './scan.js';

/** biome: `file:2:7 lint/group/rule  FIXABLE ━━━`, then the message after `×`; JSON and GitHub reports of the same. */

const HEAD =
  /^(?:\.\/)?(\S.{0,400}?)(?::(\d{1,8}):(\d{1,8}))? ((?:lint|assist|syntax|suppressions|nursery|migrate|internalError|project)(?:\/[\w/-]{1,120})?|format|parse|organizeImports|deserialize|configuration|args|plugin)(?: {1,4}(?:FIXABLE|DEPRECATED|VERBOSE|INTERNAL|FATAL))* {0,4}━{3,}\s*$/;
const MESSAGE = /^ {2,4}([×✖x!ℹi⚠]) (\S.*)$/;
const GITHUB =
  /^::error title=((?:lint|assist|format|parse|syntax|organizeImports)[\w/-]{0,120}),file=([^,]{1,400}),line=(\d{1,8}),endLine=\d{1,8},col=(\d{1,8}),endColumn=\d{1,8}::(.*)$/;
const COUNT = /^Found (\d{1,7}) errors?\.$/;

const kindOf = (category: string): { pattern: string; category: Category } => {
  const [group, ...rest] = category.split('/');
  const rule = rest.at(-1);
  if (group === 'lint') return { pattern: `biome_${rule ?? 'lint'}`, category: 'lint' };
  if (group === 'assist' || group === 'organizeImports') return { pattern: `biome_${rule ?? 'organizeImports'}`, category: 'format' };
  if (group === 'format') return { pattern: 'biome_format', category: 'format' };
  if (group === 'parse' || group === 'syntax') return { pattern: 'biome_parse', category: 'syntax' };
  if (group === 'suppressions' || group === 'plugin') return { pattern: `biome_${group}`, category: 'lint' };
  return { pattern: `biome_${group ?? 'error'}`, category: 'manifest' };
};

export const addBiome = (
  scan: Scan,
  name: string,
  file: string | null,
  line: string | undefined,
  column: string | undefined,
  message: string,
  at: number,
): void => {
  const { pattern, category } = kindOf(name);
  scan.add(
    found({
      tool: 'biome',
      pattern,
      category,
      message: message.replace(/([^ ])\.$/, '$1'),
      file,
      at,
      ...(line === undefined ? {} : { line }),
      ...(column === undefined ? {} : { column }),
    }),
  );
};

const readJson = (scan: Scan, document: Json, at: number): void => {
  for (const each of listOf(document.diagnostics)) {
    if (each.severity !== 'error' && each.severity !== 'fatal') continue;
    const path = pick(each, 'location', 'path');
    const file = stringOf(path) || stringOf(pick(path, 'file'));
    addBiome(scan, stringOf(each.category), file || null, undefined, undefined, stringOf(each.description) || stringOf(each.message), at);
  }
};

export const biome: Grammar = {
  tool: 'biome',
  words: ['biome', 'rome'],
  telltale: (line) => line.endsWith('━━━') && HEAD.test(line.slice(0, 1_000)),
  activity: 'build',
  start: (scan) => {
    const { lines, words, reading } = scan;
    const json = jsonReader(lines);
    return {
      read: (at) => {
        const line = lines[at] ?? '';
        const head = line.includes('━━━') ? HEAD.exec(line.slice(0, 1_000)) : null;
        if (head?.[4] !== undefined) {
          let end = at + 1;
          let said: RegExpExecArray | null = null;
          while (end < lines.length && end - at < 400 && !(lines[end] ?? '').includes('━━━') && /^$|^ {2}/.test(lines[end] ?? '')) {
            said ??= MESSAGE.exec((lines[end] ?? '').slice(0, 2_000));
            end += 1;
          }
          if (said !== null && /[×✖x]/.test(said[1] ?? '')) addBiome(scan, head[4], head[1] ?? null, head[2], head[3], said[2] ?? '', at);
          return end;
        }
        if (line.includes('━━━') && words.has('biome')) {
          // The closing block has no file: it only says that there were errors.
          let end = at + 1;
          while (end < lines.length && end - at < 20 && /^$|^ {2}/.test(lines[end] ?? '')) end += 1;
          return end;
        }
        const github = line.startsWith('::error') ? GITHUB.exec(line.slice(0, 4_000)) : null;
        if (github?.[1] !== undefined) {
          addBiome(
            scan,
            github[1],
            github[2] ?? null,
            github[3],
            github[4],
            (github[5] ?? '').replaceAll('%0A', '\n').split('\n')[0] ?? '',
            at,
          );
          return at + 1;
        }
        if (words.has('biome') && line.startsWith('{')) {
          const document = json(at);
          const value = objectOf(document?.value);
          if (document === null || value === null || !('diagnostics' in value && 'summary' in value)) return null;
          readJson(scan, value, at);
          return document.end;
        }
        if (words.has('biome') && COUNT.test(line)) {
          reading.summary = 'failed';
          return at + 1;
        }
        return null;
      },
    };
  },
};
