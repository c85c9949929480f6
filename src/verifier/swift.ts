import type { Category } from './categories.js';
import { slashed } from './normalise.js';
import { maskNames, patternOfTest, slugOf } from './patterns.js';
import { emptyReading, type Finding, findingWith, type Reading, type ToolFamily } from './types.js';

/** swiftc, SwiftPM, xcodebuild; XCTest and Swift Testing. */

const HEAD = /^((?:[A-Za-z]:)?[^\s:][^:]{0,400}\.swift):(\d{1,7}):(\d{1,7}): (?:fatal )?error: (.*)$/;
const XCTEST = /^((?:[A-Za-z]:)?[^\s:][^:]{0,400}\.swift):(\d{1,7}): error: (?:-\[)?([\w.]{1,200}[. ]\w{1,200})\]? : (.*)$/;
const TESTING = /^[✘􀢄] Test "?(.{1,200}?)"? recorded an issue(?: with .{1,200}?)? at ([^\s:]{1,300}):(\d{1,7}):\d{1,7}: (.*)$/u;
const TRAP = /^([^\s:]{1,400}\.swift):(\d{1,7}): (?:Fatal error|Precondition failed|Assertion failed)(?:: (.*))?$/;

const NAMES: readonly (readonly [RegExp, string, Category])[] = [
  [/^cannot find (?:type )?'[^']*' in scope|^use of (?:unresolved|undeclared)/, 'cannot_find', 'resolution'],
  [/^value of type .{1,300} has no member|^type .{1,300} has no member/, 'no_member', 'resolution'],
  [/^no such module/, 'no_such_module', 'import'],
  [
    /^cannot convert|^cannot assign value of type|^conflicting arguments|^binary operator|^incorrect argument label|^(?:missing|extra) arguments?|^cannot invoke|^no exact matches|^ambiguous use/,
    'type_mismatch',
    'type',
  ],
  [/does not conform to protocol|requires that|protocol .{1,200} requires/, 'conformance', 'trait_bound'],
  [/must be unwrapped|optional type|unexpectedly found nil/, 'optional', 'null_safety'],
  [/inaccessible due to|is (?:private|fileprivate|internal) and cannot/, 'access', 'visibility'],
  [/^expected |^consecutive |^unexpected |^extraneous |^unterminated/, 'syntax', 'syntax'],
  [/^missing return/, 'missing_return', 'type'],
  [/^cannot (?:assign|use mutating)|is a 'let' constant/, 'immutable', 'type'],
  [/actor-isolated|Sendable|data race|non-isolated|concurren/, 'concurrency', 'safety'],
  [/can throw|is not marked with 'try'|errors thrown from here/, 'throws', 'type'],
  [/^invalid redeclaration/, 'redeclaration', 'resolution'],
];

const compileError = (match: RegExpExecArray, at: number): Finding => {
  const [, path = '', row, column, message = ''] = match;
  const file = slashed(path);
  const known = NAMES.find(([words]) => words.test(message));
  return findingWith({
    ...{
      tool: 'swift',
      pattern: `swift_${known?.[1] ?? slugOf(maskNames(message))}`,
      category: known?.[2] ?? 'unknown',
      file,
      place: `${file}:${row}:${column}`,
    },
    ...{ identity: message, messages: [`${file}:${row}:${column}: error: ${message}`], at },
  });
};

const readPackage = (text: string, line: string, at: number, reading: Reading): void => {
  const known: readonly [RegExp, string, Category][] = [
    [
      /^Dependencies could not be resolved|^no versions of|could not find a (?:version|branch)/,
      'swiftpm_dependency_not_resolved',
      'dependency',
    ],
    [
      /: invalid manifest|^(?:root manifest not found|Could not find Package\.swift)|^manifest parse error|^unknown (?:package|dependency)|product '.{1,200}' .{0,80}not found/,
      'swiftpm_manifest_invalid',
      'manifest',
    ],
    [/^no tests found|^unknown (?:option|argument)|^no such (?:file|command)/, 'swiftpm_bad_option', 'manifest'],
  ];
  if (
    /using Swift tools version \S+ (?:but|which)|is not supported by the installed|no such SDK|unable to find (?:utility|sdk)|toolchain .{1,100} not found/i.test(
      text,
    )
  ) {
    reading.infra.push({ kind: 'toolchain', tool: 'swift', line, sure: false, at });
    return;
  }
  const name = known.find(([words]) => words.test(text));
  if (name !== undefined)
    reading.findings.push(
      findingWith({ tool: 'swift', pattern: name[1], category: name[2], identity: text, messages: [line], at, file: 'Package.swift' }),
    );
};

const testOf = (name: string, path: string, row: string, said: string, at: number): Finding => {
  const file = slashed(path);
  const stable = name.replace(' ', '.').replace(/\(\)$/, '');
  const kind = /^XCTAssert(\w{1,60})/.exec(said)?.[1];
  return findingWith({
    ...{
      tool: 'swift',
      pattern: patternOfTest(kind === undefined ? 'swift_test_failed' : `xctest_${kind.toLowerCase()}`, stable),
      category: 'test_assertion',
    },
    ...{ file, place: `${file}:${row}`, identity: said, owner: stable, messages: [`test ${stable}: ${said}`], at },
  });
};

const read = (lines: readonly string[]): Reading => {
  const reading = emptyReading('swift');
  for (const [at, printed] of lines.entries()) {
    if (printed === '') continue;
    const line = printed.slice(0, 2_000);
    const test = line.includes('.swift:') ? XCTEST.exec(line) : null;
    const head = test === null && line.includes('.swift:') ? HEAD.exec(line) : null;
    const issue = line.includes('recorded an issue') ? TESTING.exec(line) : null;
    const trap = line.includes('.swift:') ? TRAP.exec(line) : null;
    if (test !== null) reading.findings.push(testOf(test[3] ?? '', test[1] ?? '', test[2] ?? '', test[4] ?? '', at));
    else if (issue !== null) reading.findings.push(testOf(issue[1] ?? '', issue[2] ?? '', issue[3] ?? '', issue[4] ?? '', at));
    else if (head !== null) reading.findings.push(compileError(head, at));
    else if (trap !== null) {
      const file = slashed(trap[1] ?? '');
      reading.findings.push(
        findingWith({
          tool: 'swift',
          pattern: 'swift_fatal_error',
          category: 'runtime_crash',
          file,
          place: `${file}:${trap[2]}`,
          identity: trap[3] ?? '',
          messages: [line],
          at,
        }),
      );
    } else if (line.startsWith('error: ')) readPackage(line.slice(7), line, at, reading);
    const started = /^Test Case '(?:-\[)?([\w. ]{1,300}?)\]?' started/.exec(line)?.[1];
    if (started !== undefined) {
      reading.activity = 'test';
      reading.runningTest = started;
    } else if (/^Test Case .{1,300} (?:passed|failed) \(/.test(line)) reading.runningTest = null;
    else if (/^(?:Fetching|Updating|Computing version|Cloning) /.test(line)) reading.activity = 'network';
    else if (/^\[\d{1,6}\/\d{1,6}\] /.test(line)) reading.activity = 'build';
    else if (/^Another instance of SwiftPM .{0,100}is already running/.test(line)) reading.activity = 'lock';
    const summary = /Executed \d{1,7} tests?, with (?:\d{1,7} tests? skipped and )?(\d{1,7}) failures?/.exec(line)?.[1];
    if (summary !== undefined) reading.summary = summary === '0' ? (reading.summary ?? 'passed') : 'failed';
  }
  if (reading.findings.length > 0) reading.summary = 'failed';
  return reading;
};

export const swift: ToolFamily = {
  ecosystem: 'swift',
  owns: (words, lines) =>
    ['swift', 'swiftc', 'xcodebuild'].some((word) => words.has(word)) ||
    lines.some((line) => line.length < 2_000 && line.includes('.swift:') && (HEAD.test(line) || XCTEST.test(line) || TESTING.test(line))),
  read,
};
