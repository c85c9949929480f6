import { addEslint, eslintMessages } from './eslint.js';
import { suiteFailure } from './jest.js';
import { jsTest } from './js-test.js';
import { type Json, jsonReader, listOf, objectOf, at as pick, stringOf } from './machine-json.js';
import { slashed } from './normalise.js';
import type { Grammar, Scan } from './scan.js';

/** JSON of JS tools: jest's and vitest's (one form), mocha's, eslint's. */

const linesOf = (text: unknown): string[] => stringOf(text).slice(0, 20_000).split('\n');

const isVitest = (scan: Scan, document: Json): boolean =>
  scan.words.has('vitest') ||
  (!('openHandles' in document) && !('wasInterrupted' in document)) ||
  !('numRuntimeErrorTestSuites' in document);

const readJest = (scan: Scan, document: Json, at: number): void => {
  const tool = isVitest(scan, document) ? 'vitest' : 'jest';
  for (const suite of listOf(document.testResults)) {
    const file = slashed(stringOf(suite.name));
    const tests = listOf(suite.assertionResults);
    for (const test of tests) {
      if (test.status !== 'failed') continue;
      const titles = [...(Array.isArray(test.ancestorTitles) ? test.ancestorTitles.map(stringOf) : []), stringOf(test.title)];
      const messages = Array.isArray(test.failureMessages) ? test.failureMessages : [];
      scan.add(
        jsTest({
          tool,
          name: titles.filter((each) => each !== '').join(' '),
          testFile: file,
          text: linesOf(messages[0]).map(withoutError),
          at,
        }),
      );
    }
    if (suite.status === 'failed' && tests.every((test) => test.status !== 'failed')) {
      const text = linesOf(suite.message);
      if (tool === 'jest')
        suiteFailure(
          scan,
          text.filter((line) => !/^\s*● Test suite failed to run/.test(line)).map((line) => line.replace(/^ {4}/, '')),
          file,
          at,
        );
      else scan.add(dropName(jsTest({ tool, name: '', testFile: file, text, at })));
    }
  }
  scan.reading.summary = document.success === true ? (scan.reading.summary ?? 'passed') : 'failed';
};
/** Text reporters show a plain error by its message alone. */
const withoutError = (line: string, index: number): string =>
  index === 0 ? line.replace(/^(?:Jest)?Error: /, '').replace(/^JestAssertionError: /, '') : line;
const dropName = <T extends { pattern: string }>(finding: T): T => ({ ...finding, pattern: finding.pattern.replace(/:$/, '') });

const readMocha = (scan: Scan, document: Json, at: number): void => {
  for (const test of listOf(document.failures)) {
    const error = objectOf(test.err) ?? {};
    const stack = stringOf(error.stack);
    const message = stringOf(error.message);
    scan.add(jsTest({ tool: 'mocha', name: stringOf(test.fullTitle), testFile: null, text: linesOf(stack === '' ? message : stack), at }));
  }
  scan.reading.summary = Number(pick(document, 'stats', 'failures')) > 0 ? 'failed' : (scan.reading.summary ?? 'passed');
};

export const jsReports: Grammar = {
  tool: 'jest',
  words: [],
  telltale: (line) => /^\{"numFailedTest|^\{"numTotalTestSuites":|^\[\{"filePath":/.test(line.slice(0, 60)),
  start: (scan) => {
    const json = jsonReader(scan.lines);
    return {
      read: (at) => {
        const line = scan.lines[at] ?? '';
        if (line[0] !== '{' && line[0] !== '[') return null;
        if (line.length < 20 && !/^[[{]\s*$|^\[\]$/.test(line)) return null;
        const document = json(at);
        if (document === null) return null;
        const object = objectOf(document.value);
        if (object === null) {
          const files = eslintMessages(document.value);
          if (files === null) return null;
          addEslint(scan, files, at);
          return document.end;
        }
        if ('testResults' in object && 'numFailedTests' in object) readJest(scan, object, at);
        else if ('stats' in object && 'failures' in object && 'passes' in object) readMocha(scan, object, at);
        else return null;
        return document.end;
      },
    };
  },
};
