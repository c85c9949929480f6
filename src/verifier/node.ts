import { found } from './found.js';
import { categoryOfError, errorAt, headerAt, isForeign, type JsError, kindOfError, missingPackage } from './node-errors.js';
import { baseName, slashed } from './normalise.js';
import type { Grammar, Scan } from './scan.js';
import { typescriptErrors } from './typescript-inside.js';

/** What node says of a program that died: the place, the source line with its caret, the error, `Node.js v20.1.0`. */

const PLACE = /^((?:node:|file:\/\/|[A-Za-z]:\\|\/|\[eval|\[stdin|\.{0,2}\/?\w)[^\s()]{0,500}?):(\d{1,8})$/;
const CARET = /^[\s~]{0,2000}\^[\^~\s]{0,2000}$/;
const TRAILER = /^Node\.js v\d{1,3}\.\d/;
const HEAP = /^FATAL ERROR: .{0,200}JavaScript heap out of memory/;
/** Programs that read other people's code: that they ran out of memory says nothing of it. */
const COMPILERS = [
  'tsc',
  'eslint',
  'webpack',
  'vite',
  'next',
  'rollup',
  'parcel',
  'nest',
  'ng',
  'babel',
  'vue-tsc',
  'turbo',
  'svelte-check',
];

export interface Uncaught {
  error: JsError;
  /** The file of the head, where the stack has none of the project. */
  file: string | null;
  line: string | undefined;
  end: number;
}

/** An uncaught error that begins at `at`; `sure` is false for an error that was only printed, which any program may do. */
export const uncaughtAt = (lines: readonly string[], at: number): Uncaught | null => {
  const text = lines[at] ?? '';
  const place = text.length < 700 ? PLACE.exec(text) : null;
  if (place?.[1] === undefined) return null;
  let caret = at + 1;
  while (caret < lines.length && caret - at < 8 && !CARET.test((lines[caret] ?? 'x') || 'x')) caret += 1;
  if (!CARET.test((lines[caret] ?? 'x') || 'x')) return null;
  let head = caret + 1;
  while (head < lines.length && head - caret < 4 && (lines[head] ?? '').trim() === '') head += 1;
  const untraced = (lines[head + 1] ?? '').startsWith('(Use `node --trace-uncaught');
  const thrown = untraced
    ? [lines[head]]
    : /^Uncaught:?$|^(?:Uncaught )?(?:'.{0,300}'|".{0,300}"|-?\d{1,20}|null|undefined|\{.{0,300}|\[object .{1,80})$/.exec(
        lines[head] ?? '',
      );
  const error: JsError | null =
    errorAt(lines, head) ??
    (thrown === null ? null : { name: 'Thrown', code: null, message: lines[head] ?? '', file: null, line: undefined, end: head + 1 });
  if (error === null) return null;
  const here = isForeign(place[1]) ? null : slashed(place[1].replace(/^file:\/\/(?=\/)/, ''));
  let { end } = error;
  while (end < lines.length && end - error.end < 4 && !TRAILER.test(lines[end] ?? '')) end += 1;
  return {
    error,
    file: error.file ?? here,
    line: error.file === null ? place[2] : error.line,
    end: TRAILER.test(lines[end] ?? '') ? end + 1 : error.end,
  };
};

export const addUncaught = (scan: Scan, { error, file, line }: Omit<Uncaught, 'end'>, at: number): void => {
  const importer = / imported from (\S{1,500})$/.exec(error.message)?.[1];
  const { name, code, message } = error;
  scan.add(
    found({
      tool: 'node',
      pattern: `node_${kindOfError(name, code, message)}`,
      category: categoryOfError(name, code, message),
      message: message === '' ? name : `${name}: ${message}`,
      identity: `${name} ${message}`,
      owner: `${baseName(file ?? importer ?? '')}::`,
      file: file ?? importer ?? null,
      at,
      ...(line === undefined ? {} : { line }),
      needs: missingPackage(message),
    }),
    true,
  );
};

export const node: Grammar = {
  tool: 'node',
  words: ['node', 'nodejs', 'tsx', 'ts-node', 'bun', 'deno'],
  telltale: (line) => TRAILER.test(line) || HEAP.test(line),
  activity: 'program',
  start: (scan) => {
    const { lines, words, reading } = scan;
    return {
      read: (at) => {
        const line = lines[at] ?? '';
        const uncaught = uncaughtAt(lines, at);
        if (uncaught !== null) {
          // ts-node throws what the type checker said.
          const types = typescriptErrors(lines.slice(at, uncaught.end), 'ts-node', at);
          for (const finding of types) scan.add(finding);
          if (types.length > 0) return uncaught.end;
          addUncaught(scan, uncaught, at);
          return uncaught.end;
        }
        if (TRAILER.test(line)) return at + 1;
        if (HEAP.test(line)) {
          if (words.has('tsc')) return null;
          const compiler = COMPILERS.find((each) => words.has(each));
          if (compiler !== undefined) scan.infra({ kind: 'memory', tool: compiler, line, sure: false });
          else
            scan.add(
              found({ tool: 'node', pattern: 'node_heap_oom', category: 'runtime_crash', message: 'JavaScript heap out of memory', at }),
            );
          return at + 1;
        }
        if (/^#? ?(?:Fatal error in |FATAL ERROR: )/.test(line)) {
          scan.add(found({ tool: 'node', pattern: 'node_fatal_error', category: 'runtime_crash', message: line, at }));
          return at + 1;
        }
        if (/^(?:\S{0,300}\/)?node: bad option: /.test(line)) {
          scan.add(
            found({
              tool: 'node',
              pattern: 'node_bad_option',
              category: 'manifest',
              message: line,
              identity: line.replace(/^\S*node:/, 'node:'),
              at,
            }),
          );
          return at + 1;
        }
        // Loaders of runners print an error with its stack, and no frame around it.
        const header = /^[A-Z]/.test(line) && called(words) ? headerAt(line) : null;
        if (header === null || !/^\s+at |^Require stack:/.test(lines[at + 1] ?? '')) return null;
        const error = errorAt(lines, at);
        if (error === null || reading.findings.some((each) => each.tool !== 'node')) return error?.end ?? null;
        addUncaught(scan, { error, file: error.file, line: error.line }, at);
        return error.end;
      },
    };
  },
};

const called = (words: ReadonlySet<string>): boolean =>
  ['mocha', 'node', 'tsx', 'ts-node', 'nodemon', 'ava', 'tap'].some((word) => words.has(word));
