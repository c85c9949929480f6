import type { Category } from './categories.js';
import { found, patternOfMessage } from './found.js';
import { jsonReader, numberOf, objectOf, stringOf } from './machine-json.js';
import type { Grammar, Scan } from './scan.js';

/** mypy: `file.py:3:5: error: message  [code]`, the same wrapped by `--pretty`, and one JSON object a line. */

const LINE = /^((?:[A-Za-z]:)?[^\s:][^:]{0,400}):(?:(\d{1,8}):(?:(\d{1,8}):(?:\d{1,8}:\d{1,8}:)?)?)? error: (.+)$/;
const CODE = / ? \[([a-z][a-z0-9-]{1,60})\]$/;
const CLOSING = /^Found \d{1,7} errors? in \d{1,7} files? \((?:checked|errors prevented)/;
const SUCCESS = /^Success: no issues found in \d/;

const CATEGORIES: Readonly<Record<string, Category>> = {
  import: 'import',
  'import-not-found': 'import',
  'import-untyped': 'import',
  'attr-defined': 'resolution',
  'name-defined': 'resolution',
  'used-before-def': 'resolution',
  'possibly-undefined': 'resolution',
  syntax: 'syntax',
  'unused-ignore': 'lint',
  'unused-coroutine': 'lint',
  'redundant-cast': 'lint',
  'redundant-expr': 'lint',
  unreachable: 'lint',
  deprecated: 'lint',
  'ignore-without-code': 'lint',
};

const categoryOf = (code: string, message: string): Category => {
  if (
    (code === 'union-attr' || code === 'index' || code === 'operator' || code === 'arg-type') &&
    /"None"|\bNone\b.{0,40}has no attribute|Item "None" of/.test(message) &&
    code === 'union-attr'
  )
    return 'null_safety';
  if (code === 'attr-defined' && /^Module /.test(message)) return 'import';
  return Object.hasOwn(CATEGORIES, code) ? (CATEGORIES[code] ?? 'type') : 'type';
};

interface Diagnostic {
  file: string;
  line: string | number | undefined;
  column: string | number | undefined;
  message: string;
  code: string | null;
}

const add = (scan: Scan, { file, line, column, message, code }: Diagnostic, at: number): void => {
  if (message.startsWith('INTERNAL ERROR')) {
    scan.add(found({ tool: 'mypy', pattern: 'mypy_internal_error', category: 'tool_crash', message: 'INTERNAL ERROR', file, at }));
    return;
  }
  scan.add(
    found({
      tool: 'mypy',
      pattern: code === null ? patternOfMessage('mypy', message) : `mypy_${code}`,
      category: code === null ? (/^invalid syntax|syntax error/i.test(message) ? 'syntax' : 'type') : categoryOf(code, message),
      message,
      file,
      at,
      ...(line === undefined ? {} : { line }),
      ...(column === undefined ? {} : { column }),
      needs: code?.startsWith('import') ? 'pip:*' : undefined,
    }),
  );
};

/** `--pretty` breaks a message at the width of the terminal, and the code may stand alone on the last of its lines. */
const wrapped = (lines: readonly string[], from: number): { text: string; end: number } | null => {
  let text = '';
  for (let end = from; end < lines.length && end - from < 12; end += 1) {
    const line = (lines[end] ?? '').trim();
    if (line === '' || LINE.test(line.slice(0, 1_000)) || CLOSING.test(line)) return null;
    text += ` ${line}`;
    if (/(?:^| )\[[a-z][a-z0-9-]{1,60}\]$/.test(line)) return { text, end: end + 1 };
  }
  return null;
};

export const mypy: Grammar = {
  tool: 'mypy',
  words: ['mypy', 'dmypy'],
  telltale: (line) =>
    CLOSING.test(line) ||
    /^[^\s:][^:]{0,300}\.pyi?:\d{1,8}:(?:\d{1,8}:)? error: .{1,1000} \[[a-z][a-z0-9-]{1,60}\]$/.test(line.slice(0, 2_000)),
  activity: 'build',
  start: (scan) => {
    const { lines, words, reading } = scan;
    const called = words.has('mypy') || words.has('dmypy');
    const json = jsonReader(lines);
    return {
      read: (at) => {
        const line = lines[at] ?? '';
        if (CLOSING.test(line)) {
          reading.summary = 'failed';
          return at + 1;
        }
        if (SUCCESS.test(line)) {
          reading.summary ??= 'passed';
          return at + 1;
        }
        if (line.startsWith('{"file": ')) {
          const value = objectOf(json(at)?.value);
          if (value === null || !('severity' in value && 'message' in value && 'hint' in value)) return null;
          if (value.severity === 'error')
            add(
              scan,
              {
                file: stringOf(value.file),
                line: numberOf(value.line),
                column: numberOf(value.column),
                message: stringOf(value.message),
                code: stringOf(value.code) || null,
              },
              at,
            );
          return at + 1;
        }
        const match = line.includes(' error: ') ? LINE.exec(line.slice(0, 4_000)) : null;
        if (match?.[1] === undefined || match[4] === undefined) {
          const usage = called ? /^(?:mypy: (?:error: )?(.{1,300})|(?:\S{1,200}: )?error: (.{1,300}))$/.exec(line.slice(0, 700)) : null;
          if (usage === null) return null;
          scan.add(found({ tool: 'mypy', pattern: 'mypy_usage', category: 'manifest', message: usage[1] ?? usage[2] ?? '', at }));
          return at + 1;
        }
        const [, file, row, column, text] = match;
        const code = CODE.exec(text)?.[1] ?? null;
        // Other compilers write the same form: without a code, only Python's files are mypy's.
        if (code === null && !called && (row === undefined || !/\.pyi?$/.test(file))) return null;
        if (code !== null) {
          add(scan, { file, line: row, column, message: text.replace(CODE, ''), code }, at);
          return at + 1;
        }
        const rest = called ? wrapped(lines, at + 1) : null;
        const whole = rest === null ? text : `${text.trim()}${rest.text}`;
        add(
          scan,
          { file, line: row, column, message: whole.replace(/ ? \[[a-z][a-z0-9-]{1,60}\]$/, ''), code: CODE.exec(whole)?.[1] ?? null },
          at,
        );
        return rest?.end ?? at + 1;
      },
    };
  },
};
