import type { Category } from './categories.js';
import { found } from './found.js';
import { jsTest } from './js-test.js';
import { headerAt } from './node-errors.js';
import { slashed } from './normalise.js';
import type { Grammar } from './scan.js';

/** vitest's reporters: ` FAIL  file > group > test`, the error at the margin, closed by a rule of `⎯`. */

const FAIL = /^ ?FAIL {1,2}(?:\|?[\w.:@/ -]{1,60}\| )?(\S.*)$/;
const RULE = /^⎯{3,}/;
const CLOSING = /^ {0,8}(Test Files|Tests|Snapshots|Errors|Type Errors) {1,4}(\S.*)$/;
const SUITE = /^(\S.{0,400}?) \[ .{1,400} \]$/;

export const splitName = (title: string): { file: string; name: string } => {
  const [file = '', ...names] = title.split(' > ');
  return { file: slashed(file.trim()), name: names.map((each) => each.trim()).join(' ') };
};

const TROUBLE: readonly (readonly [RegExp, string, Category])[] = [
  [/^No test files found, exiting with code 1/, 'vitest_no_tests', 'manifest'],
  [/^ERROR: Coverage for \w{1,20} \(.{1,20}\) does not meet/, 'vitest_coverage', 'lint'],
  [/^(?:CACError: |Unknown option )/, 'vitest_usage', 'manifest'],
  [/^(?:failed to load config from|⎯+ Startup Error ⎯+)/, 'vitest_config', 'manifest'],
];

export const vitest: Grammar = {
  tool: 'vitest',
  words: ['vitest'],
  telltale: (line) =>
    /^ {0,4}RUN {1,2}v\d{1,3}\.\d|^ {1,4}Test Files {1,4}\d/.test(line) || /^⎯{3,} (?:Failed (?:Tests|Suites) \d|Unhandled )/.test(line),
  activity: 'test',
  start: (scan) => {
    const { lines, words, reading } = scan;
    let seen = words.has('vitest');
    return {
      read: (at) => {
        const line = lines[at] ?? '';
        seen ||= /^ {0,4}(?:RUN|DEV) {1,2}v\d|^⎯{3,} /.test(line);
        if (!seen) return null;
        const fail = line.length < 900 ? FAIL.exec(line) : null;
        if (fail?.[1] !== undefined && !(lines[at + 1] ?? '').startsWith('  ')) {
          // One error under several heads is that of each of them.
          const heads: string[] = [];
          let next = at;
          for (
            let head = FAIL.exec((lines[next] ?? '').slice(0, 900));
            head?.[1] !== undefined;
            head = FAIL.exec((lines[next] ?? '').slice(0, 900))
          ) {
            heads.push(head[1]);
            next += 1;
          }
          let end = next;
          while (end < lines.length && end - next < 2_000 && !RULE.test(lines[end] ?? '') && !FAIL.test((lines[end] ?? '').slice(0, 900)))
            end += 1;
          const text = lines.slice(next, end);
          for (const title of heads) {
            const suite = SUITE.exec(title)?.[1];
            const { file, name } = suite === undefined ? splitName(title) : { file: slashed(suite), name: '' };
            const finding = jsTest({ tool: 'vitest', name, testFile: file, text, at });
            scan.add(name === '' ? { ...finding, pattern: finding.pattern.replace(/:$/, '') } : finding);
          }
          return end;
        }
        if (/^⎯{3,} (?:Unhandled (?:Error|Rejection)|Uncaught Exception) ⎯{3,}/.test(line)) {
          let head = at + 1;
          while (head < lines.length && head - at < 4 && headerAt(lines[head] ?? '') === null) head += 1;
          let end = head;
          while (end < lines.length && end - head < 400 && !RULE.test(lines[end] ?? '')) end += 1;
          const finding = jsTest({ tool: 'vitest', name: 'unhandled', testFile: null, text: lines.slice(head, end), at });
          scan.add({ ...finding, pattern: 'vitest_unhandled_error', category: 'runtime' });
          return end;
        }
        const closing = CLOSING.exec(line.slice(0, 300));
        if (closing !== null) {
          if (/\d failed|^\d{1,7} errors?/.test(closing[2] ?? '')) reading.summary = 'failed';
          else if (closing[1] === 'Tests' && /\d passed/.test(closing[2] ?? '')) reading.summary ??= 'passed';
          reading.activity = null;
          return at + 1;
        }
        for (const [head, pattern, category] of TROUBLE)
          if (head.test(line.slice(0, 500))) {
            const said = pattern === 'vitest_config' ? (lines.slice(at + 1, at + 5).find((each) => headerAt(each) !== null) ?? line) : line;
            scan.add(
              found({ tool: 'vitest', pattern, category, message: said, identity: pattern === 'vitest_config' ? said : pattern, at }),
            );
            return at + 1;
          }
        return null;
      },
    };
  },
};
