import type { Category } from './categories.js';
import { found } from './found.js';
import { jsTest } from './js-test.js';
import { headerAt, missingPackage, ownFrame } from './node-errors.js';
import { slashed } from './normalise.js';
import type { Grammar, Scan } from './scan.js';
import { typescriptErrors } from './typescript-inside.js';

/** jest's reporters: `FAIL file`, then one block a failure that begins with `  ● group › test`, its text indented by four. */

const FILE = /^ ?(?:FAIL|PASS) {1,2}(\S.*)$/;
const BULLET = /^ {2}● (\S.*)$/;
const CLOSING =
  /^(?:Test Suites: |Tests: {2,}\d|Snapshots: {2,}|Snapshot Summary| › \d{1,7} snapshot|Summary of all failing tests|Ran all test suites)/;
const NOT_TESTS = /^(?:Console|Cannot log after tests are done|Validation (?:Error|Warning)|Deprecation Warning|Multiple configurations)/;

/** `FAIL unit src/a.test.js (5.2 s)`: the project's name stands before, the time after. */
export const testFileOf = (title: string): string =>
  slashed(
    title
      .replace(/ \(\d[\d.]{0,10} ?m?s\)$/, '')
      .trim()
      .split(/ {1,4}(?=\S{1,400}$)/)
      .at(-1) ?? '',
  ).replace(/^\.\//, '');

export const testName = (title: string): string =>
  title
    .split(' › ')
    .map((part) => part.trim())
    .join(' ');

const isIndented = (line: string): boolean => line === '' || line.startsWith('    ') || line.trim() === '';

/** A suite that did not run: an import, a syntax, a type, the configuration. */
export const suiteFailure = (scan: Scan, text: readonly string[], file: string | null, at: number): void => {
  const types = typescriptErrors(text, 'jest', at);
  if (types.length > 0) {
    for (const finding of types) scan.add(finding);
    return;
  }
  const body = text.filter((line) => line.trim() !== '');
  const first = (body[0] ?? '').trim();
  const unexpected = first.startsWith('Jest encountered an unexpected token');
  const syntax = body.map((line) => line.trim()).find((line) => /^(?:SyntaxError|Support for the experimental syntax)\b/.test(line));
  if (!unexpected && syntax === undefined) {
    const finding = jsTest({ tool: 'jest', name: '', testFile: file, text, at });
    scan.add({
      ...finding,
      pattern: finding.pattern.replace(/:$/, ''),
      messages: finding.messages.map((line) => line.replace(/^(.{0,600}? - )?: /, '$1')),
    });
    return;
  }
  const error = headerAt(syntax ?? '');
  const message = (error?.message ?? first).replace(/^(?:\/|[A-Za-z]:\\).{1,300}?: (?=\S)/, '').replace(/ \(\d{1,8}:\d{1,8}\)$/, '');
  const esm = /Cannot use import statement outside a module|Unexpected token '?export'?|Cannot use 'import\.meta'/.test(message);
  const pattern = esm ? 'jest_unexpected_token_import' : 'jest_syntaxerror';
  const category: Category = esm ? 'manifest' : 'syntax';
  const own = ownFrame(text) ?? placeIn(syntax ?? '');
  scan.add(
    found({
      tool: 'jest',
      pattern,
      category,
      message,
      identity: message,
      owner: `${(file ?? '').split('/').at(-1)}::`,
      file: own?.file ?? file,
      at,
      ...(own === null ? {} : { line: own.line }),
    }),
  );
};
const placeIn = (line: string): { file: string; line: string } | null => {
  const match = /^SyntaxError: ((?:\/|[A-Za-z]:\\).{1,300}?): .{0,1000}\((\d{1,8}):\d{1,8}\)$/.exec(line);
  return match?.[1] === undefined ? null : { file: slashed(match[1]), line: match[2] ?? '' };
};

const TROUBLE: readonly (readonly [RegExp, string, Category])[] = [
  [/^No tests found, exiting with code 1/, 'jest_no_tests', 'manifest'],
  [/^Jest: ".{1,200}" coverage threshold for \w{1,20} \(.{1,20}\) not met|^Jest: .{1,200} coverage threshold/, 'jest_coverage', 'lint'],
  [/^● (?:Validation Error|Multiple configurations found):?/, 'jest_config', 'manifest'],
  [/^● Unrecognized CLI Parameters?:/, 'jest_usage', 'manifest'],
];

export const jest: Grammar = {
  tool: 'jest',
  words: ['jest', 'react-scripts', 'ts-jest', 'craco'],
  telltale: (line) => /^(?:Test Suites: |Tests: {2,}\d).{0,200}\d total$/.test(line.slice(0, 300)) || line === 'Ran all test suites.',
  activity: 'test',
  start: (scan) => {
    const { lines, words, reading } = scan;
    let file: string | null = null;
    return {
      read: (at) => {
        const line = lines[at] ?? '';
        const head = line.length < 700 ? FILE.exec(line) : null;
        if (head?.[1] !== undefined && !head[1].includes(' > ') && !/ \[ .{1,400} \]$/.test(head[1]) && /\.\w{1,5}(?: |$)/.test(head[1])) {
          file = testFileOf(head[1]);
          // Vitest's head is followed by the error itself.
          return /^ {2}|^$/.test(lines[at + 1] ?? '') ? at + 1 : null;
        }
        const bullet = line.startsWith('  ● ') ? BULLET.exec(line.slice(0, 1_000)) : null;
        if (bullet?.[1] !== undefined && !/^\d{1,4}\)/.test(bullet[1])) {
          let end = at + 1;
          while (end < lines.length && isIndented(lines[end] ?? '') && end - at < 2_000) end += 1;
          if (NOT_TESTS.test(bullet[1])) return end;
          const text = lines.slice(at + 1, end).map((each) => each.replace(/^ {4}/, ''));
          if (bullet[1] === 'Test suite failed to run') suiteFailure(scan, text, file, at);
          else scan.add(jsTest({ tool: 'jest', name: testName(bullet[1]), testFile: file, text, at }));
          return end;
        }
        for (const [head, pattern, category] of TROUBLE)
          if (head.test(line.slice(0, 500))) {
            const said = pattern === 'jest_config' ? (lines.slice(at + 1, at + 6).find((each) => each.trim() !== '') ?? line).trim() : line;
            scan.add(
              found({
                tool: 'jest',
                pattern,
                category,
                message: said,
                identity: pattern === 'jest_config' ? said : pattern,
                at,
                needs: missingPackage(said) ?? (/^Preset .{1,100} not found/.test(said) ? 'npm:*' : undefined),
              }),
            );
            return at + 1;
          }
        if (CLOSING.test(line)) {
          const failed = /^Test(?:s| Suites): .{0,100}\d failed/.test(line);
          if (failed) reading.summary = 'failed';
          else if (/^Tests: .{0,200}\d passed/.test(line)) reading.summary ??= 'passed';
          if (line.startsWith('Ran all')) reading.activity = null;
          return at + 1;
        }
        if (words.has('jest') && /^RUNS {1,2}\S/.test(line)) {
          reading.activity = 'test';
          return at + 1;
        }
        return null;
      },
    };
  },
};
