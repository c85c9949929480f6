import { SaxesParser } from 'saxes';

/** Failed test cases of a JUnit report, whatever tool wrote it. saxes expands no entities of its own and reads in one pass. */

export interface TestCase {
  suites: string[];
  name: string;
  classname: string;
  file: string;
  /** Also set for what is only to be done: its failure is not counted. */
  skipped: boolean;
  failures: { element: 'failure' | 'error'; message: string; type: string; text: string }[];
}

const MOST_CASES = 200_000;
const MOST_TEXT = 40_000;

/** Cases with a failure, out of a text that holds a report and may end in the middle of it. */
export const junitCases = (xml: string): TestCase[] => {
  const cases: TestCase[] = [];
  const suites: string[] = [];
  let current: TestCase | null = null;
  let failure: TestCase['failures'][number] | null = null;
  let broken = false;
  const parser = new SaxesParser({ xmlns: false, position: false });
  parser.on('error', () => {
    broken = true;
  });
  parser.on('opentag', ({ name, attributes }) => {
    if (name === 'testsuites' || name === 'testsuite') suites.push(attributes.name ?? attributes.package ?? '');
    else if (name === 'testcase')
      current = {
        suites: [...suites],
        name: attributes.name ?? '',
        classname: attributes.classname ?? '',
        file: attributes.file ?? '',
        skipped: false,
        failures: [],
      };
    else if ((name === 'failure' || name === 'error') && current !== null)
      failure = { element: name, message: attributes.message ?? '', type: attributes.type ?? '', text: '' };
  });
  const text = (more: string): void => {
    if (failure !== null && failure.text.length < MOST_TEXT) failure.text += more;
  };
  parser.on('text', text);
  parser.on('cdata', text);
  const close = (): void => {
    if (failure !== null) current?.failures.push(failure);
    failure = null;
  };
  parser.on('closetag', ({ name }) => {
    if (name === 'testsuites' || name === 'testsuite') suites.pop();
    else if (name === 'failure' || name === 'error') close();
    else if (name === 'skipped' && current !== null) current.skipped = true;
    else if (name === 'testcase' && current !== null) {
      if (!current.skipped && current.failures.length > 0 && cases.length < MOST_CASES) cases.push(current);
      current = null;
    }
  });
  // What a report is made of before it breaks off is still told.
  for (let from = 0; from < xml.length && !broken; from += 65_536) parser.write(xml.slice(from, from + 65_536));
  return cases;
};
