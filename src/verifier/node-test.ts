import type { Category } from './categories.js';
import { failedTest, found } from './found.js';
import { categoryOfError, errorAt, headerAt, kindOfError, missingPackage, ownFrame } from './node-errors.js';
import { slashed } from './normalise.js';
import type { Grammar, Scan } from './scan.js';
import type { Finding } from './types.js';

/** node's own test runner. Its `spec` reporter is read here, TAP in tap.ts, JUnit in junit.ts; all make their findings by `nodeTest`. */

export interface NodeTest {
  name: string;
  /** `testCodeFailure`, `testTimeoutFailure`, `cancelledByParent`, …; empty where the reporter does not tell. */
  failureType: string;
  errorName: string;
  code: string | null;
  message: string;
  testFile: string | null;
  file: string | null;
  line?: string | undefined;
  at: number;
}

/** A group that only failed because of its members, or null. */
const isNeutral = (failureType: string, message: string): boolean =>
  failureType === 'subtestsFailed' || /^\d{1,7} subtests? failed$/.test(message);

const kindOf = ({ failureType, errorName, code, message }: NodeTest): { kind: string; category: Category } => {
  if (failureType === 'testTimeoutFailure' || /^test timed out after \d/.test(message)) return { kind: 'timeout', category: 'timeout' };
  if (failureType === 'cancelledByParent' || /^test did not finish before its parent|^Promise resolution is still pending/.test(message))
    return { kind: 'cancelled', category: 'test_assertion' };
  if (failureType === 'testAborted' || message === 'This operation was aborted') return { kind: 'aborted', category: 'test_assertion' };
  if (message === 'test failed' && (code === 'ERR_TEST_FAILURE' || code === null)) return { kind: 'file_failed', category: 'runtime' };
  const category = categoryOfError(errorName, code, message);
  if (category === 'test_assertion') return { kind: 'assertion', category };
  const kind = kindOfError(errorName, code, message);
  return { kind: kind === 'error' ? 'error' : kind, category };
};

export const nodeTest = (test: NodeTest): Finding | null => {
  if (isNeutral(test.failureType, test.message)) return null;
  const { kind, category } = kindOf(test);
  const [first = '', ...details] = test.message.split('\n');
  return failedTest({
    tool: 'node:test',
    kind: `node_test_${kind}`,
    category,
    test: test.name,
    testFile: null,
    file: test.file ?? test.testFile,
    line: test.line,
    message: first,
    details,
    // An assertion's diff has a legend that newer versions leave out.
    identity: kind === 'timeout' ? 'timeout' : test.message.replace(/^\+ actual - expected$/m, '').replace(/\s+/g, ' '),
    at: test.at,
    needs: missingPackage(test.message),
  });
};

const RESULT = /^( *)(?:✖|✗|not ok) (.{1,600}?) \(\d[\d.]{0,20}ms\)(?: # ?(\S.{0,200}))?$/;
const LOCATION = /^test at (.{1,400}?):(\d{1,8}):(\d{1,8})$/;
const SECTION = /^(?:✖ failing tests:|Failed tests:)$/;
const COUNTER = /^(?:ℹ|#) (tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) (\d[\d.]{0,20})$/;

/** The error under a result, indented by two: a quoted text, or an error as node inspects it. */
const readBlock = (scan: Scan, name: string, location: RegExpExecArray | null, at: number, from: number, end: number): void => {
  const text = scan.lines.slice(from, end).map((line) => line.replace(/^ {2}/, ''));
  const start = text.findIndex((line) => line.trim() !== '');
  const first = (text[start] ?? '').trim();
  const quoted = /^\[?['"`](.{0,2000})['"`]\]?$/.exec(first)?.[1];
  const header = headerAt(first.replace(/^\[/, '').replace(/\](?: \{)?$/, ''));
  let message = quoted ?? first;
  let [errorName, code]: [string, string | null] = ['Error', null];
  if (quoted === undefined && header !== null) {
    const error = first.startsWith('[') ? null : errorAt(text, start);
    // An assertion's message goes on over empty lines until the stack.
    const body: string[] = [];
    for (const line of text.slice(start + 1)) {
      if (/^\s{2,}at /.test(line)) break;
      if (line.trim() !== '') body.push(line.trim());
    }
    [errorName, code] = [header.name, header.code ?? error?.code ?? null];
    message = [header.message.replace(/ \{$/, ''), ...(first.endsWith(' {') || first.startsWith('[') ? [] : body.slice(0, 60))].join('\n');
  }
  const own = ownFrame(text);
  const testFile = location?.[1] === undefined ? null : slashed(location[1].replace(/^file:\/\/(?=\/)/, ''));
  // The file itself died, which node has already told.
  if (message === 'test failed' && scan.reading.findings.some((each) => each.tool === 'node')) return;
  const finding = nodeTest({ name, failureType: '', errorName, code, message, testFile, file: own?.file ?? testFile, line: own?.line, at });
  if (finding !== null) scan.add(finding);
};

export const nodeTests: Grammar = {
  tool: 'node:test',
  words: [],
  telltale: (line) => line === '✖ failing tests:' || /^ℹ duration_ms \d/.test(line),
  start: (scan) => {
    const { lines, words, reading } = scan;
    let inSection = false;
    return {
      read: (at) => {
        const line = lines[at] ?? '';
        const counter = COUNTER.exec(line.slice(0, 80));
        if (counter !== null && line.startsWith('ℹ')) {
          if (counter[1] === 'fail' || counter[1] === 'cancelled')
            reading.summary = counter[2] === '0' ? (reading.summary ?? 'passed') : 'failed';
          if (counter[1] === 'duration_ms') reading.activity = null;
          return at + 1;
        }
        if (SECTION.test(line)) {
          inSection = true;
          return at + 1;
        }
        if (words.has('node') && /^Could not find '.{1,400}'$/.test(line)) {
          scan.add(found({ tool: 'node:test', pattern: 'node_test_no_files', category: 'manifest', message: line, at }));
          return at + 1;
        }
        if (!inSection) {
          // Until the section comes, results are told again there; only a text that ends before it is read from them.
          return null;
        }
        const location = line.startsWith('test at ') ? LOCATION.exec(line.slice(0, 600)) : null;
        const head = location === null ? at : at + 1;
        const result = RESULT.exec((lines[head] ?? '').slice(0, 900));
        if (result?.[2] === undefined) return location === null ? null : at + 1;
        let end = head + 1;
        while (end < lines.length && end - head < 2_000 && !/^test at /.test(lines[end] ?? '') && /^$|^ {2}/.test(lines[end] ?? ''))
          end += 1;
        if (!/^(?:TODO|SKIP)/i.test(result[3] ?? '')) readBlock(scan, result[2], location, at, head + 1, end);
        return end;
      },
      end: () => {
        if (inSection || !lines.some((line) => COUNTER.test(line.slice(0, 80)) || /^▶ /.test(line))) return;
        lines.forEach((line, at) => {
          const result = /^ *✖ /.test(line) ? RESULT.exec(line.slice(0, 900)) : null;
          if (result?.[2] === undefined) return;
          const indent = `${result[1] ?? ''}  `;
          let end = at + 1;
          while (
            end < lines.length &&
            end - at < 400 &&
            ((lines[end] ?? '') === '' || ((lines[end] ?? '').startsWith(indent) && !/^ *[✖✔▶] /.test(lines[end] ?? '')))
          )
            end += 1;
          if (end > at + 1 && result[3] === undefined) readBlock(scan, result[2], null, at, at + 1, end);
        });
      },
    };
  },
};
