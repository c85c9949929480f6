import { jsTest } from './js-test.js';
import type { Grammar } from './scan.js';

/** mocha's epilogue, the same under nearly every reporter: `2 failing`, then `1) group`, further titles, the last with a colon. */

const FAILING = /^ {2}(\d{1,7}) failing$/;
const PASSING = /^ {2}\d{1,9} passing(?: \(.{1,30}\))?$/;
const NUMBER = /^ {2}(\d{1,6})\) (\S.*)$/;
const MOST_TITLES = 12;

export const mocha: Grammar = {
  tool: 'mocha',
  words: ['mocha', '_mocha', 'nyc'],
  telltale: (line) => FAILING.test(line) || PASSING.test(line),
  activity: 'test',
  start: (scan) => {
    const { lines, reading } = scan;
    let inEpilogue = false;
    return {
      read: (at) => {
        const line = lines[at] ?? '';
        if (PASSING.test(line)) {
          reading.summary ??= 'passed';
          reading.activity = null;
          return at + 1;
        }
        if (FAILING.test(line)) {
          inEpilogue = true;
          reading.summary = 'failed';
          return at + 1;
        }
        const number = inEpilogue ? NUMBER.exec(line.slice(0, 900)) : null;
        if (number?.[2] === undefined) return null;
        const titles = [number[2]];
        let next = at + 1;
        while (!(titles.at(-1) ?? '').endsWith(':') && titles.length < MOST_TITLES && /^ {5,}\S/.test(lines[next] ?? '')) {
          titles.push((lines[next] ?? '').trim());
          next += 1;
        }
        // A message of several lines is not indented: the block ends after its stack, at the next number, or where nothing follows.
        let end = next;
        let stack = false;
        for (; end < lines.length && end - next < 1_000; end += 1) {
          const here = lines[end] ?? '';
          if (
            NUMBER.test(here.slice(0, 900)) ||
            (here === '' && (stack || ((lines[end + 1] ?? '') === '' && (lines[end + 2] ?? '') === '')))
          )
            break;
          stack ||= /^ {4,}at /.test(here);
        }
        const text = lines.slice(next, end).map((each) => each.replace(/^ {4}/, ''));
        const name = titles.join(' ').replace(/:$/, '');
        // The path in brackets at the end of a timeout is the file of the test.
        const file =
          /^\s*Error: Timeout of .{1,200}\((\S{1,400})\)\s*$/.exec(text.find((each) => each.includes('Timeout of ')) ?? '')?.[1] ?? null;
        scan.add(
          jsTest({
            tool: 'mocha',
            name,
            testFile: null,
            text: file === null ? text : text.map((each) => each.replace(` (${file})`, '')),
            at,
          }),
        );
        return end;
      },
    };
  },
};
