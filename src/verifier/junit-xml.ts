import { addBiome } from './biome.js';
import type { Category } from './categories.js';
import { addProblem } from './eslint.js';
import { failedTest } from './found.js';
import { addGoTest } from './go-test.js';
import { testName } from './jest.js';
import { jsTest } from './js-test.js';
import { junitCases, type TestCase } from './junit-cases.js';
import { nodeTest } from './node-test.js';
import { addPytestCase } from './pytest-report.js';
import { addRuff } from './ruff.js';
import type { Grammar, Scan } from './scan.js';

/** JUnit XML. The form is one, the contents are each tool's own: a report is read by whose it is, else by its own words. */

const ROOT = /<\?xml\b|<testsuites?[ >]/;

const generic = (scan: Scan, each: TestCase, at: number): void => {
  for (const failure of each.failures) {
    const type = failure.type.split(/[.:\\]/).at(-1) ?? '';
    const slug = /^\w{2,60}$/.test(type) ? type.toLowerCase() : failure.element;
    const assertion = failure.element === 'failure' || /assert/i.test(type);
    const category: Category = assertion ? 'test_assertion' : 'runtime';
    const lines = (failure.message || failure.text).trim().split('\n');
    scan.add(
      failedTest({
        tool: 'junit',
        kind: `junit_${slug}`,
        category,
        test: [each.classname, each.name].filter((part) => part !== '').join('.'),
        testFile: each.file || null,
        message: lines[0] ?? '',
        details: lines.slice(1, 8),
        at,
      }),
    );
  }
};

const isNode = (each: TestCase): boolean =>
  each.classname === 'test' &&
  each.failures.some((failure) => /^(?:test|hook|subtests|cancelled|uncaught|unhandled|multipleCallback)/.test(failure.type));

const read = (scan: Scan, each: TestCase, suiteFile: string | null, at: number): void => {
  const { words } = scan;
  const [root = '', suite = ''] = each.suites;
  const names = each.suites.join(' ');
  const first = each.failures[0];
  if (first === undefined) return;
  const text = (first.text.trim() === '' ? first.message : first.text).replace(/^\n+/, '');
  if (root.startsWith('pytest') || suite === 'pytest' || words.has('pytest')) addPytestCase(scan, each, at);
  else if (root === 'ruff' || each.name.startsWith('org.ruff.')) readRuff(scan, each, at);
  else if (each.name.startsWith('org.biome.')) readBiome(scan, each, at);
  else if (each.name.startsWith('org.eslint.')) readEslint(scan, each, at);
  else if (root === 'vitest tests' || words.has('vitest'))
    scan.add(
      jsTest({ tool: 'vitest', name: each.name.replaceAll(' > ', ' '), testFile: each.classname || each.file, text: text.split('\n'), at }),
    );
  else if (isNode(each)) {
    const cause = /cause: (?:\[)?([\w$]{1,60})(?: \[(?:([A-Z_0-9]{2,60})|\w{1,60})\])?/.exec(first.text);
    const inner = first.text.slice(Math.max(first.text.indexOf('cause: '), 0));
    // The attribute has lost its line ends; the text under it has not.
    const said = /^\[?Error \[ERR_TEST_FAILURE\]: ([\s\S]*?)(?:\] \{|\n {4}at )/.exec(first.text.trim().slice(0, 8_000))?.[1];
    const finding = nodeTest({
      name: each.name,
      failureType: first.type,
      errorName: cause?.[1] ?? 'Error',
      code: cause?.[2] ?? /\n {2,6}code: '([A-Z_0-9]{2,60})'/.exec(cause === null ? '' : inner)?.[1] ?? null,
      message: said?.trim() ?? first.message,
      testFile: each.file || null,
      file: each.file || null,
      at,
    });
    if (finding !== null) scan.add(finding);
  } else if (root === 'jest tests' || words.has('jest')) {
    const title = each.name === each.classname || each.name.startsWith(`${each.classname} `) ? each.name : `${each.classname} ${each.name}`;
    scan.add(
      jsTest({
        tool: 'jest',
        name: testName(title).trim(),
        testFile: each.file || suiteFile,
        text: text
          .split('\n')
          .map((line, index) => (index === 0 ? line.replace(/^(?:Jest)?(?:AssertionError|Error): (?=expect\()|^Error: /, '') : line)),
        at,
      }),
    );
  } else if (names.includes('Mocha Tests') || words.has('mocha')) {
    const title = each.name.endsWith(each.classname) || each.classname === '' ? each.name : `${each.classname} ${each.name}`;
    const lines = text.split('\n');
    const header = lines.findIndex((line) => /^\w{0,60}Error\b/.test(line));
    scan.add(jsTest({ tool: 'mocha', name: title, testFile: null, text: header < 0 ? lines : lines.slice(header), at }));
  } else if (
    /^(?:Test|Benchmark|Fuzz|Example)[A-Z_0-9]?\w{0,200}(?:\/.{0,300})?$/.test(each.name) &&
    /--- FAIL|_test\.go|^(?:Failed|No test result found|)$/.test(`${first.text}${first.message}`)
  )
    addGoTest(scan, each.name, each.classname || suite, first.text.split('\n'), at);
  else generic(scan, each, at);
};

const readBiome = (scan: Scan, each: TestCase, at: number): void => {
  for (const { message, text } of each.failures) {
    const place = /^line (\d{1,8}), col (\d{1,8}),/.exec(text.trim());
    addBiome(
      scan,
      each.name.replace('org.biome.', '').replaceAll('.', '/'),
      each.suites.at(-1) || null,
      place?.[1],
      place?.[2],
      message,
      at,
    );
  }
};
const readEslint = (scan: Scan, each: TestCase, at: number): void => {
  for (const { message, text } of each.failures) {
    const place = /^line (\d{1,8}), col (\d{1,8}), (Error|Warning)/.exec(text.trim());
    if (place?.[3] === 'Warning') continue;
    const rule = each.name.replace('org.eslint.', '');
    addProblem(
      scan,
      {
        file: each.suites.at(-1) ?? '',
        line: place?.[1],
        column: place?.[2],
        message,
        rule: rule === 'unknown' ? null : rule,
        warning: false,
      },
      at,
    );
  }
};

const readRuff = (scan: Scan, each: TestCase, at: number): void => {
  const file = each.suites.at(-1) ?? '';
  for (const { message, text } of each.failures)
    addRuff(
      scan,
      {
        code: each.name.replace('org.ruff.', ''),
        file,
        line: /^line (\d{1,8})/.exec(text.trim())?.[1],
        column: /col (\d{1,8})/.exec(text.slice(0, 60))?.[1],
        message,
      },
      at,
    );
};

export const junit: Grammar = {
  tool: 'junit',
  words: [],
  telltale: (line) => /<testsuites?[ >]/.test(line.slice(0, 400)),
  start: (scan) => {
    let unended = false;
    return {
      read: (at) => {
        if (unended) return null;
        const { lines } = scan;
        const line = lines[at] ?? '';
        const begin = line.includes('<') ? line.slice(0, 400).search(ROOT) : -1;
        if (begin < 0) return null;
        const document: string[] = [line.slice(begin)];
        if (!/<testsuites?[ >]/.test(line) && !/<testsuites?[ >]/.test(lines[at + 1] ?? '')) return null;
        const closing = `${line}\n${lines[at + 1] ?? ''}`.includes('<testsuites') ? '</testsuites>' : '</testsuite>';
        let end = at;
        while (end < lines.length && !(lines[end] ?? '').includes(closing)) end += 1;
        for (const each of lines.slice(at + 1, end + 1)) document.push(each);
        const cases = junitCases(document.join('\n'));
        const files = new Map<string, string>();
        for (const { suites, failures } of cases) {
          const file = failures.flatMap(
            ({ text }) =>
              /[(\s]((?:[A-Za-z]:)?[^\s()]{1,400}(?:\.|_|\/)(?:test|spec)\.[cm]?[jt]sx?):\d/.exec(text.slice(0, 8_000))?.[1] ?? [],
          )[0];
          if (file !== undefined && !files.has(suites.join(' '))) files.set(suites.join(' '), file);
        }
        for (const each of cases) read(scan, each, files.get(each.suites.join(' ')) ?? null, at);
        if (/\bfailures="[1-9]|\berrors="[1-9]/.test(document.slice(0, 3).join(' ').slice(0, 4_000))) scan.reading.summary = 'failed';
        // Where it does not end, other text may stand within it.
        unended = end >= lines.length;
        return unended ? at + 1 : end + 1;
      },
    };
  },
};
