import { findingsOfTest } from './libtest.js';
import { patternOfTest } from './patterns.js';
import { emptyReading, type Finding, findingWith, type Reading, type ToolFamily } from './types.js';

/** cargo nextest: each test is a process; what it printed follows its status, under a rule or indented. */

const STATUS =
  /^ {1,12}(?:TRY \d{1,3} )?(PASS|FAIL|FLAKY \d{1,3}\/\d{1,3}|LEAK|LEAK-FAIL|TIMEOUT|TERMINATING|SLOW|ABORT|SIG[A-Z]{2,6}|SETUP|START|Summary|Starting|Canceling|Cancelling|Nextest run ID|RETRY|DELAY)(?: \[[ >]{0,12}\d{1,9}\.\d{1,6}s\])?(?: \([ \d/]{1,20}\))?(?: (.*))?$/;
const RULE = /^(?:--- (?:TRY \d{1,3} )?(STDOUT|STDERR): +(.{1,400}?) ---|─{2,8} (?:TRY \d{1,3} )?(STDOUT|STDERR): +(.{1,400}?) ─{2,8})$/;
const INDENTED = /^ {2,4}(?:stdout|stderr) ─{2,8}$/;
const CLOSING = /^ {0,12}(?:Summary|error: )/;

/** `crate tests::adds`, `crate::binary tests::adds`: the test's name is the last word. */
const testName = (text: string): string => text.trim().split(/\s+/).at(-1) ?? text;

interface Output {
  at: number;
  lines: string[];
}

const read = (lines: readonly string[]): Reading => {
  const reading = emptyReading('cargo');
  const outputs = new Map<string, Output>();
  const failed = new Map<string, { status: string; at: number }>();
  let last: string | null = null;
  let open: { output: Output; indented: boolean; from: number } | null = null;
  const close = (at: number) => {
    if (open !== null) reading.quoted.push([open.from, at]);
    open = null;
  };
  const start = (name: string, at: number, indented: boolean) => {
    close(at);
    const output = outputs.get(name) ?? { at, lines: [] };
    outputs.set(name, output);
    open = { output, indented, from: at + 1 };
  };
  for (const [at, printed] of lines.entries()) {
    const line = printed.slice(0, 2_000);
    const rule = RULE.exec(line);
    const status = rule === null ? STATUS.exec(line) : null;
    if (rule !== null) start(testName(rule[2] ?? rule[4] ?? ''), at, false);
    else if (INDENTED.test(line) && last !== null) start(last, at, true);
    else if (status !== null || (open !== null && CLOSING.test(line))) {
      close(at);
      const [, word = '', rest = ''] = status ?? [];
      if (/^(?:FAIL|LEAK-FAIL|TIMEOUT|ABORT|SIG)/.test(word)) {
        last = testName(rest);
        reading.activity = 'test';
        if (!failed.has(last)) failed.set(last, { status: word, at });
      } else if (/^(?:PASS|FLAKY|LEAK$)/.test(word)) failed.delete(testName(rest));
      else if (/^(?:SLOW|TERMINATING)/.test(word)) {
        reading.activity = 'test';
        reading.runningTest = testName(rest);
      } else if (word === 'Starting') reading.activity = 'test';
      if (word === 'Summary')
        reading.summary = /\b(?:[1-9]\d* (?:failed|timed out|exec failed))/.test(rest) ? 'failed' : (reading.summary ?? 'passed');
    } else if (open !== null) (open as { output: Output }).output.lines.push(printed.replace(/^ {4}/, ''));
  }
  close(lines.length);
  reading.findings = reading.findings.concat([...failed].flatMap(([test, how]) => findingsOf(test, how, outputs.get(test))));
  if (reading.findings.length > 0) reading.summary = 'failed';
  return reading;
};

const findingsOf = (test: string, { status, at }: { status: string; at: number }, output: Output | undefined): Finding[] => {
  if (status === 'TIMEOUT')
    return [
      findingWith({
        tool: 'cargo',
        pattern: patternOfTest('test_timeout', test),
        category: 'timeout',
        identity: 'deadline',
        owner: test,
        messages: [`test ${test} timed out`],
        at,
      }),
    ];
  const signal = /^SIG[A-Z]+$/.exec(status)?.[0];
  if (signal !== undefined)
    return [
      findingWith({
        tool: 'cargo',
        pattern: patternOfTest(`signal_${signal.toLowerCase()}`, test),
        category: 'runtime_crash',
        identity: signal,
        owner: test,
        messages: [`test ${test} ended by ${signal}`],
        at,
      }),
    ];
  return findingsOfTest(test, output?.lines ?? [], null, at, null);
};

const TELLTALE = /^ {1,12}(?:TRY \d{1,3} )?(?:PASS|FAIL|SIG[A-Z]{2,6}|TIMEOUT) \[[ >]{0,12}\d{1,9}\.\d{1,6}s\] |^ {4,12}Nextest run ID /;

export const nextest: ToolFamily = {
  ecosystem: 'rust',
  owns: (words, lines) => words.has('nextest') || words.has('cargo-nextest') || lines.some((line) => TELLTALE.test(line)),
  read,
};
