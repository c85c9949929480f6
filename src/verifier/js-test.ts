import type { Category } from './categories.js';
import { failedTest } from './found.js';
import { categoryOfError, headerAt, kindOfError, missingPackage, ownFrame } from './node-errors.js';
import { stripEscapes } from './normalise.js';
import type { Finding } from './types.js';

/** A failing test of jest, vitest or mocha, from whatever text or report it comes: one test, one finding, one identity. */

export interface JsTest {
  tool: 'jest' | 'vitest' | 'mocha';
  /** Titles from the outermost group inwards, joined by a space: formats join them differently. */
  name: string;
  testFile: string | null;
  /** Message and stack, without the runner's indentation. */
  text: readonly string[];
  at: number;
}

const MATCHER = /^expect\(.{0,400}?\)\.(?:(?:not|resolves|rejects)\.){0,3}(\w{1,60})\(/;
const TIMEOUT =
  /Exceeded timeout of \d|^(?:Error: )?(?:Test|Hook) timed out in \d|^(?:Error: )?Timeout of \d{1,9}ms exceeded|^Async callback was not invoked within|^(?:Error: )?STACK_TRACE_ERROR$/;

interface Kind {
  kind: string;
  category: Category;
}

const kindOf = (tool: JsTest['tool'], name: string, code: string | null, message: string): Kind => {
  const matcher = MATCHER.exec(message)?.[1];
  if (/Snapshot\(?/.test(matcher ?? '') || /^Snapshot `.{1,400}` mismatched|^New snapshot was not written/.test(message))
    return { kind: /not written/.test(message) ? 'snapshot_not_written' : 'snapshot_mismatch', category: 'test_assertion' };
  if (TIMEOUT.test(message)) return { kind: 'timeout', category: 'timeout' };
  if (matcher !== undefined) return { kind: `expect_${matcher.toLowerCase()}`, category: 'test_assertion' };
  if (/^A jest worker process .{0,80} was terminated|^Call retries were exceeded/.test(message))
    return { kind: 'worker_crashed', category: 'runtime_crash' };
  if (/^Your test suite must contain at least one test|^No test suite found in file/.test(message))
    return { kind: 'no_tests', category: 'manifest' };
  if (tool === 'jest' && /^Cannot find module /.test(message)) return { kind: 'cannot_find_module', category: 'import' };
  const category = categoryOfError(name, code, message);
  if (tool === 'vitest' && category === 'import') return { kind: 'import_failed', category };
  if (
    /^(?:Transform failed with \d|Parse failure: |.{0,300}: Unexpected token|Expected .{1,80} but found )/.test(message) ||
    name === 'RollupError'
  )
    return { kind: 'syntaxerror', category: 'syntax' };
  if (category === 'test_assertion' || /^assert(?:\.\w{1,40})?\(/.test(message))
    return { kind: tool === 'mocha' ? 'assertion' : 'assertionerror', category: 'test_assertion' };
  const kind = kindOfError(name, code, message);
  return { kind: kind === 'error' ? 'test_error' : kind, category };
};

/** Frames of source and what stands after the stack are no part of a message. */
const isFrame = (line: string): boolean =>
  /^\s{0,8}>?\s{0,8}\d{0,7} {0,3}\|(?: |$)|^\s{1,40}\| {1,2000}\^|^\s{0,40}(?:at|❯) \S.{0,600}:\d{1,8}(?::\d{1,8})?\)?$|^\s{2,40}at .{0,300}$/.test(
    line,
  );
const MOST_MESSAGE = 60;

const messageOf = (text: readonly string[]): string[] => {
  const message: string[] = [];
  for (const line of text.slice(0, 400)) {
    if (isFrame(line)) break;
    if (/^(?:Serialized Error: |Caused by: |⎯)/.test(line)) break;
    if (message.length < MOST_MESSAGE) message.push(line.trimEnd());
  }
  return message;
};

/** Headers of diffs: what they count is told by the lines. */
const HEADER =
  /^\s{0,8}(?:[-+] (?:Expected|Received|Snapshot)\b.{0,20}|\+ expected - actual|\+ actual - expected|Difference:|Comparison:|Snapshot name: .{0,400})$/;
const isOperand = (line: string): boolean => /^\s{0,8}(?:Expected|Received|[-+])|\S [!=]==? /.test(line);

/**
 * What was expected and found. jest tells it in its message, in all formats alike. The others have a diff below the message that not
 * every reporter prints: it is taken where the message was shortened, and else its operands stand in the message.
 */
const operandsOf = (tool: JsTest['tool'], message: string, details: readonly string[]): string[] => {
  const end =
    tool === 'jest' || /…|\.\.\./.test(message) ? -1 : details.findIndex((line) => HEADER.test(line) && !/actual - expected/.test(line));
  return (end < 0 ? details : details.slice(0, end))
    .filter((line) => !HEADER.test(line) && (tool === 'jest' || isOperand(line)))
    .slice(0, 40)
    .map((line) => line.trim().replace(/^([-+])\s+/, '$1 '));
};

export const jsTest = (test: JsTest): Finding => {
  const text = test.text.map((line) => stripEscapes(line));
  while (text.length > 0 && (text[0] ?? '').trim() === '') text.shift();
  const lines = messageOf(text);
  const first = (lines[0] ?? '').trim();
  const header = headerAt(first);
  const thrown = /^thrown: "?(.{0,1000})/.exec(first)?.[1];
  const name = header?.name ?? 'Error';
  const message = thrown ?? header?.message ?? first;
  const { kind, category } = kindOf(test.tool, name, header?.code ?? null, message);
  const own = ownFrame(text);
  const details = lines.slice(1).filter((line) => line.trim() !== '');
  const operands = operandsOf(test.tool, message, details);
  return failedTest({
    tool: test.tool,
    kind: `${test.tool}_${kind}`,
    category,
    test: test.name,
    testFile: test.testFile,
    file: own?.file ?? test.testFile,
    line: own?.line,
    message,
    details: details.slice(0, 12),
    identity: kind === 'timeout' ? 'timeout' : [message, ...operands].join('\n'),
    at: test.at,
    needs: missingPackage(message),
  });
};
