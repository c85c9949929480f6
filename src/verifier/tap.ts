import { failedTest } from './found.js';
import { jsTest } from './js-test.js';
import { addUncaught, uncaughtAt } from './node.js';
import { headerAt, ownFrame } from './node-errors.js';
import { nodeTest } from './node-test.js';
import { slashed } from './normalise.js';
import type { Grammar, Scan } from './scan.js';
import { splitName } from './vitest.js';

/** The Test Anything Protocol, version 12 to 14: points, nested by indentation, with diagnostics in YAML or as comments. */

const POINT = /^( *)(not ok|ok)\b(?: (\d{1,9}))?(?: -)? ?(.*)$/;
const PLAN = /^ *(?:1\.\.\d{1,9}(?: #.{0,200})?|TAP version 1[234])$/;
const MOST_DIAGNOSTIC = 2_000;

/** One level of a YAML block as TAP producers write it: scalars, quoted or in block form. Deeper maps are read flat. */
const yamlOf = (lines: readonly string[]): Map<string, string> => {
  const values = new Map<string, string>();
  for (let at = 0; at < lines.length; at += 1) {
    const match = /^( *)([\w-]{1,60}): ?(.*)$/.exec((lines[at] ?? '').slice(0, 8_000));
    if (match?.[2] === undefined) continue;
    const [, indent = '', key, value = ''] = match;
    if (/^[|>][-+]?$/.test(value)) {
      const block: string[] = [];
      while (at + 1 < lines.length && ((lines[at + 1] ?? '').startsWith(`${indent} `) || (lines[at + 1] ?? '').trim() === '')) {
        at += 1;
        block.push((lines[at] ?? '').slice(indent.length + 2));
      }
      if (!values.has(key)) values.set(key, block.join('\n').trim());
    } else {
      let text = value.trim();
      // A quoted text may go on over lines.
      if (text.startsWith('"'))
        while (at + 1 < lines.length && text.length < 8_000 && (text === '"' || !/(?:^|[^\\])"$/.test(text))) {
          at += 1;
          text += `\n${lines[at] ?? ''}`;
        }
      if (!values.has(key)) values.set(key, unquoted(text));
    }
  }
  return values;
};
const unquoted = (value: string): string => {
  if (value.length > 1 && value.startsWith("'") && value.endsWith("'"))
    return value.slice(1, -1).replaceAll("''", "'").replaceAll('\\n', '\n');
  if (value.length > 1 && value.startsWith('"') && value.endsWith('"'))
    return value.slice(1, -1).replaceAll('\\n', '\n').replaceAll('\\"', '"').replaceAll('\\\\', '\\');
  return value;
};

const placeOf = (location: string | undefined): { file: string; line: string } | null => {
  const match = /^(?:file:\/\/(?=\/))?(.{1,500}?):(\d{1,8})(?::\d{1,8})?$/.exec(location ?? '');
  return match?.[1] === undefined ? null : { file: slashed(match[1]), line: match[2] ?? '' };
};

const readNode = (scan: Scan, name: string, yaml: Map<string, string>, comments: readonly string[], at: number): void => {
  const place = placeOf(yaml.get('location'));
  const stack = (yaml.get('stack') ?? '').split('\n').map((line) => `    at ${line.trim()}`);
  const own = ownFrame(stack);
  const [message, errorName, code] = [yaml.get('error') ?? '', yaml.get('name') ?? 'Error', yaml.get('code') ?? null];
  const file = own?.file ?? place?.file ?? null;
  if (message === 'test failed') {
    // The file itself died; what it printed stands before the point, as comments.
    const text = comments.map((line) => line.replace(/^ *# ?/, ''));
    const uncaught = text.map((_line, index) => uncaughtAt(text, index)).find((each) => each !== null);
    if (uncaught != null) {
      addUncaught(scan, uncaught, at);
      return;
    }
  }
  const testName = /^(?:\/|[A-Za-z]:\\|file:)/.test(name) ? (slashed(name).split('/').at(-1) ?? name) : name;
  const finding = nodeTest({
    name: testName,
    failureType: yaml.get('failureType') ?? '',
    errorName,
    code,
    message,
    testFile: place?.file ?? null,
    file,
    line: own?.line ?? place?.line,
    at,
  });
  if (finding !== null) scan.add(finding);
};

export const tap: Grammar = {
  tool: 'tap',
  words: ['tap', 'tape', 'prove', 'bats'],
  telltale: (line) => /^TAP version 1[234]$/.test(line),
  activity: 'test',
  start: (scan) => {
    const { lines, words, reading } = scan;
    const called = ['tap', 'tape', 'prove', 'bats'].some((word) => words.has(word));
    let seen = called;
    let comments: string[] = [];
    let children: { indent: number; failed: boolean } | null = null;
    return {
      read: (at) => {
        const line = lines[at] ?? '';
        if (PLAN.test(line.slice(0, 300))) {
          seen = true;
          return at + 1;
        }
        if (/^ *#/.test(line) && seen) {
          if (comments.length < 500) comments.push(line);
          if (/^# (?:fail|cancelled) [1-9]/.test(line)) reading.summary = 'failed';
          if (/^# duration_ms /.test(line)) reading.activity = null;
          return at + 1;
        }
        const point = /^ *(?:not )?ok\b/.test(line) ? POINT.exec(line.slice(0, 2_000)) : null;
        if (point === null || !(seen || point[3] !== undefined)) return null;
        if (!seen && !/^ *(?:not ok|ok) \d/.test(line)) return null;
        const [, indent = '', state, , rest = ''] = point;
        const bare = rest.replace(/ \{$/, '');
        const directive = /^(.*?)(?: # ?(SKIP|TODO|time=|skip|todo)\b.{0,500})?$/.exec(bare);
        const name = (directive?.[1] ?? bare).replaceAll('\\#', '#').trim();
        let end = at + 1;
        const block: string[] = [];
        if (new RegExp(`^ {${indent.length},${indent.length + 4}}---$`).test(lines[end] ?? '')) {
          end += 1;
          while (end < lines.length && end - at < MOST_DIAGNOSTIC && !/^ *\.\.\.$/.test(lines[end] ?? '')) {
            block.push(lines[end] ?? '');
            end += 1;
          }
          end += 1;
        } else if (state === 'not ok') {
          // mocha writes message and stack under the point, indented by two.
          while (
            end < lines.length &&
            end - at < 200 &&
            /^ {2,}\S|^\s*$/.test(lines[end] ?? '') &&
            !/^ *(?:(?:not )?ok\b|# |1\.\.\d)/.test(lines[end] ?? '')
          ) {
            block.push((lines[end] ?? '').replace(/^ {2}/, ''));
            end += 1;
          }
        }
        const before = comments;
        comments = [];
        if (state !== 'not ok' || /^(?:SKIP|TODO)$/i.test(directive?.[2] ?? '')) return end;
        const isGroup = children?.failed && children.indent > indent.length;
        children = { indent: indent.length, failed: true };
        const yaml = yamlOf(block);
        if (yaml.has('failureType')) readNode(scan, name, yaml, before, at);
        else if (words.has('vitest')) {
          if (isGroup && !yaml.has('message') && !yaml.has('error')) return end;
          const { file, name: test } = / > /.test(name) ? splitName(name) : { file: null, name };
          scan.add(
            jsTest({
              tool: 'vitest',
              name: test,
              testFile: file,
              text: `${yaml.get('name') ?? 'Error'}: ${yaml.get('message') ?? ''}`.split('\n'),
              at,
            }),
          );
        } else if (words.has('mocha') || (block.some((each) => /^\s+at /.test(each)) && !called))
          scan.add(jsTest({ tool: 'mocha', name, testFile: null, text: mochaText(block), at }));
        else if (!isGroup || block.length > 0) {
          const said = yaml.get('message') ?? yaml.get('error') ?? block[0]?.trim() ?? 'not ok';
          const operands = ['operator', 'expected', 'wanted', 'actual', 'found', 'got'].flatMap((key) =>
            yaml.has(key) ? [`${key}: ${yaml.get(key)}`] : [],
          );
          const place = placeOf(yaml.get('at')?.replace(/^.*\(|\)$/g, ''));
          scan.add(
            failedTest({
              tool: 'tap',
              kind: 'tap_not_ok',
              category: 'test_assertion',
              test: name || `point ${point[3]}`,
              file: place?.file ?? null,
              line: place?.line,
              message: said,
              details: operands,
              at,
            }),
          );
        }
        return end;
      },
    };
  },
};

/** The message stands alone first, then the stack repeats it with its class. */
const mochaText = (block: readonly string[]): string[] => {
  const header = block.findIndex((line) => headerAt(line.trim()) !== null);
  return block.slice(Math.max(header, 0)).map((line, index) => (index === 0 ? line.trim() : line));
};
