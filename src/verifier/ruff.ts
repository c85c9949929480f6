import type { Category } from './categories.js';
import { found } from './found.js';
import { type Json, jsonReader, listOf, numberOf, objectOf, at as pick, stringOf } from './machine-json.js';
import type { Grammar, Scan } from './scan.js';

/** ruff's reports (full, concise, grouped, pylint, github, JSON, JSON lines, GitLab), flake8's lines, and `ruff format` and black. */

const CODE = '([A-Z]{1,5}\\d{2,5}|invalid-syntax|SyntaxError|io-error)';
const CONCISE = new RegExp(`^((?:[A-Za-z]:)?[^\\s:][^:]{0,400}):(\\d{1,8})(?::(\\d{1,8}))?: \\[?${CODE}\\]?:? (?:\\[\\*\\] )?(.+)$`);
const FULL = new RegExp(`^${CODE}:? (?:\\[\\*\\] )?(.+)$`);
const ARROW = /^ {1,8}--> ((?:[A-Za-z]:)?[^:]{1,400}):(\d{1,8}):(\d{1,8})$/;
const GROUPED = new RegExp(`^ {2,8}(\\d{1,8}):(\\d{1,8}) {1,8}${CODE}:? (?:\\[\\*\\] )?(.+)$`);
const GITHUB =
  /^::error title=[Rr]uff(?: \(([A-Z0-9a-z-]{1,20})\))?,(?:file|code)=([^,]{1,400}),(?:file=([^,]{1,400}),)?line=(\d{1,8}),(?:col(?:umn)?=(\d{1,8}),)?.{0,100}?::(?:[^:]{1,400}:\d{1,8}:\d{1,8}: )?(?:[A-Z]{1,5}\d{2,5} )?(.+)$/;
const FORMAT = /^(?:Would reformat: |would reformat )(.{1,400})$/;
const PARSE = /^(?:error: Failed to (?:parse|format) |error: cannot format )((?:[A-Za-z]:)?[^:]{1,400}):(?:(\d{1,8}):(\d{1,8}):)? (.+)$/;

const categoryOf = (code: string): Category => (/^(?:invalid-syntax|SyntaxError|E9\d\d)$/.test(code) ? 'syntax' : 'lint');

interface Diagnostic {
  code: string;
  file: string;
  line: string | number | undefined;
  column: string | number | undefined;
  message: string;
}

export const addRuff = (scan: Scan, { code, file, line, column, message }: Diagnostic, at: number): void => {
  const tool = scan.words.has('flake8') && !scan.words.has('ruff') ? 'flake8' : 'ruff';
  const named = code === '' || code === 'SyntaxError' ? 'invalid-syntax' : code.toLowerCase();
  const text = message.replace(/^SyntaxError: /, '').replace(/ \([a-z][a-z0-9-]{3,60}\)$/, '');
  scan.add(
    found({
      tool,
      pattern: `${tool}_${named}`,
      category: categoryOf(code === '' ? 'SyntaxError' : code),
      message: text,
      file,
      at,
      ...(line === undefined ? {} : { line }),
      ...(column === undefined ? {} : { column }),
    }),
  );
};

const formatted = (scan: Scan, tool: string, file: string, at: number): void =>
  scan.add(found({ tool, pattern: `${tool}_format`, category: 'format', message: 'not formatted', file, at }));

const isRuffJson = (each: Json): boolean => 'filename' in each && 'location' in each && 'end_location' in each && 'message' in each;
const isGitLab = (each: Json): boolean => 'check_name' in each && 'fingerprint' in each && 'description' in each;

const readJson = (scan: Scan, value: unknown, at: number): boolean => {
  const list = Array.isArray(value) ? listOf(value) : listOf([value]);
  const first = list[0];
  if (first === undefined || !(isRuffJson(first) || isGitLab(first))) return false;
  for (const each of list) {
    if (isRuffJson(each))
      addRuff(
        scan,
        {
          code: stringOf(each.code),
          file: stringOf(each.filename),
          line: numberOf(pick(each, 'location', 'row')),
          column: numberOf(pick(each, 'location', 'column')),
          message: stringOf(each.message),
        },
        at,
      );
    else if (isGitLab(each)) {
      const code = stringOf(each.check_name);
      addRuff(
        scan,
        {
          code,
          file: stringOf(pick(each, 'location', 'path')),
          line: numberOf(pick(each, 'location', 'positions', 'begin', 'line')),
          column: undefined,
          message: stringOf(each.description).replace(`${code}: `, ''),
        },
        at,
      );
    }
  }
  return true;
};

export const ruff: Grammar = {
  tool: 'ruff',
  words: ['ruff', 'flake8', 'black'],
  telltale: (line) => GITHUB.test(line.slice(0, 1_500)) || (/\.pyi?:\d/.test(line.slice(0, 500)) && CONCISE.test(line.slice(0, 1_500))),
  activity: 'build',
  start: (scan) => {
    const { lines, words, reading } = scan;
    const called = words.has('ruff') || words.has('flake8') || words.has('black');
    const json = jsonReader(lines);
    let group: string | null = null;
    return {
      read: (at) => {
        const line = lines[at] ?? '';
        const text = line.slice(0, 2_000);
        if (called || line.includes('"filename"')) {
          const document = json(at);
          if (
            document !== null &&
            objectOf(document.value) === null &&
            Array.isArray(document.value) &&
            document.value.length === 0 &&
            words.has('ruff')
          )
            return document.end;
          if (document !== null) return readJson(scan, document.value, at) ? document.end : null;
        }
        const concise = CONCISE.exec(text);
        if (concise?.[1] !== undefined && (called || /\.(?:pyi?|ipynb)$/.test(concise[1]))) {
          addRuff(scan, { code: concise[4] ?? '', file: concise[1], line: concise[2], column: concise[3], message: concise[5] ?? '' }, at);
          return at + 1;
        }
        const github = text.startsWith('::error') ? GITHUB.exec(text) : null;
        if (github !== null) {
          addRuff(
            scan,
            { code: github[1] ?? '', file: github[3] ?? github[2] ?? '', line: github[4], column: github[5], message: github[6] ?? '' },
            at,
          );
          return at + 1;
        }
        const arrow = ARROW.exec((lines[at + 1] ?? '').slice(0, 600));
        if (arrow?.[1] !== undefined) {
          const full = FULL.exec(text);
          if (full?.[1] !== undefined) {
            addRuff(scan, { code: full[1], file: arrow[1], line: arrow[2], column: arrow[3], message: full[2] ?? '' }, at);
            return at + 2;
          }
          if (/^unformatted: /.test(text)) {
            formatted(scan, 'ruff', arrow[1], at);
            return at + 2;
          }
        }
        const would = FORMAT.exec(text);
        if (would?.[1] !== undefined) {
          formatted(scan, text.startsWith('W') ? 'ruff' : 'black', would[1].replace(/ \(.{1,40}\)$/, ''), at);
          return at + 1;
        }
        const parse = PARSE.exec(text);
        if (parse?.[1] !== undefined) {
          const tool = text.startsWith('error: cannot format') ? 'black' : 'ruff';
          scan.add(
            found({
              tool,
              pattern: `${tool}_invalid-syntax`,
              category: 'syntax',
              message: parse[4] ?? '',
              file: parse[1],
              at,
              ...(parse[2] === undefined ? {} : { line: parse[2] }),
            }),
          );
          return at + 1;
        }
        if (!called) return null;
        const item = GROUPED.exec(text);
        if (item !== null && group !== null) {
          addRuff(scan, { code: item[3] ?? '', file: group, line: item[1], column: item[2], message: item[4] ?? '' }, at);
          return at + 1;
        }
        group = /^\S.{0,300}:$/.test(text) ? text.slice(0, -1) : line.startsWith(' ') ? group : null;
        if (/^All checks passed!$|^\d{1,7} files? already formatted$/.test(text)) reading.summary ??= 'passed';
        if (/^Found \d{1,7} errors?/.test(text) || /^\d{1,7} files? would be reformatted/.test(text)) reading.summary = 'failed';
        const config = /^(?:ruff failed|error: (?:unexpected argument|unrecognized subcommand|invalid value|the argument) .{1,300})$/.exec(
          text,
        );
        if (config !== null) {
          const causes = lines.slice(at + 1, at + 6).filter((each) => /^ {2}Cause: /.test(each));
          const trouble = [text, ...causes].join(' ');
          if (/No such file or directory|unexpected|unrecognized|invalid|parse|argument|unknown|Unknown/i.test(trouble))
            scan.add(
              found({
                tool: 'ruff',
                pattern: text.startsWith('ruff failed') ? 'ruff_config' : 'ruff_usage',
                category: 'manifest',
                message: trouble,
                at,
              }),
            );
          return at + 1 + causes.length;
        }
        return null;
      },
    };
  },
};
