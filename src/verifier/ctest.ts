import { slashed } from './normalise.js';
import { patternOfTest } from './patterns.js';
import { emptyReading, type Finding, type Reading, type ToolFamily } from './types.js';

/** googletest, and ctest around it or around plain programs. What a test printed between its lines is its own. */

const RUN = /^\[ RUN {6}\] (\S{1,300})$/;
const END = /^\[ {2}(?:FAILED | {5}OK) \] (\S{1,300}?)(?:,? |$)/;
const FAILED = /^\[ {2}FAILED {2}\] ([\w/]{1,200}\.[\w/]{1,200})(?:, where .{0,300})?(?: \(\d{1,9} ms\))?$/;
const FAILURE = /^((?:[A-Za-z]:)?[^\s:()]{1,400})(?::(\d{1,8}): |\((\d{1,8})\): error: )(?:Failure|error: )?(.*)$/;
const CTEST =
  /^ *\d{1,6}\/\d{1,6} Test +#\d{1,6}: (\S{1,200}) \.{0,80}(?:\*\*\*| +)(Failed|Timeout|Exception: (?:SegFault|Child aborted|Numerical|Illegal|\w+)|Not Run)/;
const CTEST_START = /^ *Start +\d{1,6}: (\S{1,200})$/;
const CTEST_SUMMARY = /^\d{1,3}% tests passed, (\d{1,6}) tests? failed out of \d{1,6}$/;
const VOLATILE_LINE = /^\[ {2}FAILED {2}\] \d{1,6} tests?, listed below:$/;

const test = (
  kind: string,
  category: Finding['category'],
  name: string,
  details: string[],
  file: string | null,
  place: string,
  at: number,
): Finding => ({
  tool: 'ctest',
  pattern: patternOfTest(kind, name),
  code: null,
  category,
  file,
  place,
  identity: details.join('\n'),
  owner: name,
  messages: [`test ${name} failed`, ...(place === '' ? [] : [`  ${place}`]), ...details],
  at,
});

const read = (lines: readonly string[]): Reading => {
  const reading = emptyReading('ctest');
  const failed = new Map<string, Finding>();
  let running: { name: string; at: number } | null = null;
  lines.forEach((printed, at) => {
    // ctest -V puts the number of the test before each of its lines.
    const line = printed.slice(0, 1_000).replace(/^\d{1,5}: /, '');
    const start = RUN.exec(line)?.[1];
    if (start !== undefined) running = { name: start, at };
    const end = FAILED.exec(line)?.[1];
    if (end !== undefined && !failed.has(end)) {
      const body = running?.name === end ? lines.slice(running.at + 1, at).map((each) => each.replace(/^\d{1,5}: /, '')) : [];
      const head = body.map((each) => FAILURE.exec(each.slice(0, 600))).find((match) => match !== null && /Failure|error/.test(match[0]));
      const from = head == null ? -1 : body.findIndex((each) => each.startsWith(head[0].slice(0, 200)));
      const details =
        from < 0
          ? []
          : body
              .slice(from + 1, from + 9)
              .filter((each) => each.trim() !== '')
              .map((each) => each.trim());
      const file = head?.[1] === undefined ? null : slashed(head[1]);
      failed.set(
        end,
        test(
          'gtest_failed',
          'test_assertion',
          end,
          details,
          file,
          file === null ? '' : `${file}:${head?.[2] ?? head?.[3]}`,
          running?.at ?? at,
        ),
      );
    }
    if (END.test(line)) {
      if (running !== null) reading.quoted.push([running.at, at]);
      running = null;
    }
    const began = CTEST_START.exec(line)?.[1];
    if (began !== undefined) {
      reading.activity = 'test';
      reading.runningTest = began;
    }
    const ctest = CTEST.exec(line);
    if (ctest?.[1] !== undefined) {
      const crash = /SegFault|aborted|Numerical|Illegal/.test(ctest[2] ?? '');
      const late = ctest[2] === 'Timeout';
      const kind = late ? 'test_timeout' : crash ? 'ctest_crashed' : 'ctest_failed';
      failed.set(
        ctest[1],
        test(kind, late ? 'timeout' : crash ? 'runtime_crash' : 'test_assertion', ctest[1], [ctest[2] ?? ''], null, '', at),
      );
    }
    const summary = CTEST_SUMMARY.exec(line);
    if (summary !== null) {
      reading.summary = summary[1] === '0' ? 'passed' : 'failed';
      reading.runningTest = null;
    }
    if (VOLATILE_LINE.test(line)) reading.summary = 'failed';
  });
  if (running !== null) {
    reading.activity = 'test';
    reading.runningTest = (running as { name: string }).name;
  }
  reading.findings = reading.findings.concat([...failed.values()]);
  if (failed.size > 0) reading.summary = 'failed';
  return reading;
};

export const ctest: ToolFamily = {
  ecosystem: 'c',
  owns: (words, lines) =>
    words.has('ctest') ||
    lines.some((line) => /^(?:\d{1,5}: )?\[ RUN {6}\] \S|^(?:\d{1,5}: )?\[ {2}FAILED {2}\] |^\d{1,3}% tests passed, /.test(line)),
  read,
};
