import type { Category } from './categories.js';
import { found } from './found.js';
import { type Json, listOf, numberOf, stringOf } from './machine-json.js';
import { errorAt, headerAt } from './node-errors.js';
import { slashed } from './normalise.js';
import type { Grammar, Scan } from './scan.js';

/** eslint's formatters: stylish (a file's path, its problems indented), compact, unix, JSON; also other linters that print like stylish. */

const PROBLEM = /^ {2,8}(\d{1,8}):(\d{1,8}) {1,20}(error|warning|✖|⚠) {1,4}(\S.*)$/;
const COMPACT = /^((?:[A-Za-z]:)?[^:]{1,500}): line (\d{1,8}), col (\d{1,8}), (Error|Warning) - (.+)$/;
const UNIX = /^((?:[A-Za-z]:)?[^:\s][^:]{0,500}):(\d{1,8}):(\d{1,8}): (.+) \[(Error|Warning)(?:\/([^\]]{1,120}))?\]$/;
const CLOSING = /^✖ \d{1,7} problems? \((\d{1,7}) errors?, \d{1,7} warnings?\)/;
const PATH = /^(?:\/|[A-Za-z]:[\\/]|\.{0,2}\/?[\w@])[^:*?"<>|]{0,400}\.\w{1,8}$/;

interface Problem {
  file: string;
  line: number | string | undefined;
  column: number | string | undefined;
  message: string;
  rule: string | null;
  warning: boolean;
}

const toolOf = (scan: Scan): string => (scan.words.has('stylelint') ? 'stylelint' : scan.words.has('xo') ? 'xo' : 'eslint');

export const addProblem = (scan: Scan, { file, line, column, message, rule }: Problem, at: number): void => {
  const tool = toolOf(scan);
  const text = message.replace(/([^ ])\.$/, '$1').trim();
  const parsing = rule === null && /^Parsing error: /.test(text);
  const category: Category = parsing ? 'syntax' : rule === null ? 'manifest' : 'lint';
  scan.add(
    found({
      tool,
      pattern: rule === null ? `${tool}_${parsing ? 'parsing_error' : 'error'}` : `${tool}_${rule}`,
      category,
      message: text,
      file,
      at,
      ...(line === undefined ? {} : { line }),
      ...(column === undefined ? {} : { column }),
    }),
  );
};

/** The documents of `-f json`, or null where it is another tool's. */
export const eslintMessages = (value: unknown): readonly Json[] | null => {
  const files = listOf(value);
  return files.length > 0 && files.every((each) => 'filePath' in each && Array.isArray(each.messages)) ? files : null;
};

export const addEslint = (scan: Scan, files: readonly Json[], at: number): void => {
  for (const file of files)
    for (const message of listOf(file.messages)) {
      if (message.severity !== 2 && message.fatal !== true) continue;
      const rule = stringOf(message.ruleId) || null;
      addProblem(
        scan,
        {
          file: stringOf(file.filePath),
          line: numberOf(message.line),
          column: numberOf(message.column),
          message: stringOf(message.message),
          rule,
          warning: false,
        },
        at,
      );
    }
};

const TROUBLE: readonly (readonly [RegExp, string, Category, string?])[] = [
  [
    /^ESLint couldn't find (?:an eslint\.config|a configuration file)|^Error: Could not find config file|^No ESLint configuration found/,
    'eslint_config',
    'manifest',
  ],
  [/^ESLint couldn't find the (?:plugin|config) "/, 'eslint_plugin_not_found', 'import', 'npm:*'],
  [/^(?:Error: )?No files matching (?:the pattern |')/, 'eslint_no_files', 'manifest'],
  [/^(?:Error: )?All files matched by '.{1,300}' are ignored/, 'eslint_no_files', 'manifest'],
  [/^Invalid option '|^Option '.{1,60}' not found/, 'eslint_usage', 'manifest'],
];

export const eslint: Grammar = {
  tool: 'eslint',
  words: ['eslint', 'stylelint', 'xo'],
  telltale: (line) => CLOSING.test(line) || line.startsWith('Oops! Something went wrong! :('),
  activity: 'build',
  start: (scan) => {
    const { lines, words, reading } = scan;
    const called = words.has('eslint') || words.has('stylelint') || words.has('xo');
    let file: string | null = null;
    let oops = false;
    const warnings: { problem: Problem; at: number }[] = [];
    return {
      read: (at) => {
        const line = lines[at] ?? '';
        const text = line.slice(0, 4_000);
        const row = PROBLEM.exec(text);
        if (row !== null && file !== null) {
          const [, problemLine, column, level, rest = ''] = row;
          const rule = /^(.*\S) {2,}([@\w][\w@/.-]{0,120})$/.exec(rest);
          const problem = {
            file,
            line: problemLine,
            column,
            message: rule?.[1] ?? rest,
            rule: rule?.[2] ?? null,
            warning: level === 'warning' || level === '⚠',
          };
          if (problem.warning) warnings.push({ problem, at });
          else addProblem(scan, problem, at);
          return at + 1;
        }
        if (PATH.test(text) && text.length < 500) {
          file = slashed(text);
          return PROBLEM.test((lines[at + 1] ?? '').slice(0, 4_000)) ? at + 1 : null;
        }
        if (CLOSING.test(text)) {
          if (CLOSING.exec(text)?.[1] !== '0') reading.summary = 'failed';
          return at + 1;
        }
        const compact = called ? COMPACT.exec(text) : null;
        const unix = called && compact === null ? UNIX.exec(text) : null;
        if (compact?.[1] !== undefined || unix?.[1] !== undefined) {
          const rule = / \(([@\w][\w@/.-]{0,120})\)$/.exec(compact?.[5] ?? '');
          const problem: Problem = {
            file: compact?.[1] ?? unix?.[1] ?? '',
            line: compact?.[2] ?? unix?.[2],
            column: compact?.[3] ?? unix?.[3],
            message: compact === null ? (unix?.[4] ?? '') : (compact[5] ?? '').replace(/ \([@\w][\w@/.-]{0,120}\)$/, ''),
            rule: rule?.[1] ?? unix?.[6] ?? null,
            warning: (compact?.[4] ?? unix?.[5]) === 'Warning',
          };
          if (problem.warning) warnings.push({ problem, at });
          else addProblem(scan, problem, at);
          return at + 1;
        }
        if (/^ESLint found too many warnings \(maximum: \d{1,7}\)/.test(text)) {
          scan.add(
            found({ tool: 'eslint', pattern: 'eslint_max_warnings', category: 'lint', message: text, identity: 'max warnings', at }),
          );
          for (const { problem, at: where } of warnings.splice(0)) addProblem(scan, problem, where);
          return at + 1;
        }
        oops ||= text.startsWith('Oops! Something went wrong! :(');
        if (oops || called)
          for (const [head, pattern, category, needs] of TROUBLE)
            if (head.test(text)) {
              scan.add(found({ tool: 'eslint', pattern, category, message: text, at, needs }));
              return at + 1;
            }
        if (oops && headerAt(text) !== null) {
          const error = errorAt(lines, at);
          if (error === null || reading.findings.some((each) => each.tool === 'eslint')) return error?.end ?? null;
          const imports = error.code?.includes('MODULE_NOT_FOUND') === true || /^Cannot find (?:module|package)/.test(error.message);
          const pattern = imports
            ? 'eslint_plugin_not_found'
            : /Key "|config|plugin/i.test(error.message)
              ? 'eslint_config'
              : 'eslint_crash';
          scan.add(
            found({
              tool: 'eslint',
              pattern,
              category: imports ? 'import' : pattern === 'eslint_config' ? 'manifest' : 'tool_crash',
              message: `${error.name}: ${error.message}`,
              at,
              needs: imports && !/'(?:\.|\/)/.test(error.message) ? 'npm:*' : undefined,
            }),
          );
          return error.end;
        }
        return null;
      },
    };
  },
};
