import type { Category } from './categories.js';
import { causeOf } from './infra.js';
import { slashed } from './normalise.js';
import { patternOfTest, slugOf } from './patterns.js';
import { emptyReading, type Finding, findingWith, type Reading, type ToolFamily } from './types.js';

/** RSpec, minitest, RuboCop, Bundler, and Ruby itself. */

const EXAMPLE = /^ {2,6}\d{1,6}\) (\S.{0,400})$/;
const PLACE = /^\s+# (\.?[^\s:]{1,300}\.rb):(\d{1,7})(?::in .*)?$/;
const LISTED = /^rspec (\.?[^\s:[]{1,300})(?::(\d{1,7})|\[[\d:]{1,40}\]) # (.{1,400})$/;
const MINITEST = /^ {2,4}\d{1,6}\) (Failure|Error):$/;
const MINITEST_NAME = /^([\w:]{1,200}#test\S{0,300}?)(?: \[([^\s:\]]{1,300}):(\d{1,7})\])?:$/;
const UNCAUGHT = /^([^\s:]{1,300}\.rb):(\d{1,7}):in [`'](.{1,200}?)': (.{0,600}) \(([A-Z][\w:]{1,100})\)$/;
const SYNTAX = /^(?:ruby: )?([^\s:]{1,300}\.rb):(\d{1,7}): (?:syntax errors? found|syntax error, ?)(.*?)(?: \(SyntaxError\))?$/;
const RUBOCOP =
  /^([^\s:]{1,300}\.(?:rb|rake|gemspec|ru)|Gemfile|Rakefile):(\d{1,7}):(\d{1,7}): [CWEFRI]: (?:\[\w{1,20}\] )?([A-Z]\w{1,60}(?:\/\w{1,60}){1,3}): (.*)$/;
const SUMMARY =
  /^(\d{1,7}) (?:examples?|runs?|tests?), (?:\d{1,7} assertions?, )?(\d{1,7}) failures?(?:, (\d{1,7}) errors?(?: occurred outside of examples)?)?/;

const categoryOf = (error: string): Category =>
  error === 'LoadError'
    ? 'import'
    : error === 'NameError' || error === 'NoMethodError'
      ? 'resolution'
      : error === 'SyntaxError'
        ? 'syntax'
        : 'runtime';

/** The words of an example: after `Failure/Error: <source>`, which is the model's own line and is left out. */
const exampleAt = (title: string, lines: readonly string[], at: number): Finding => {
  const body: string[] = [];
  for (const line of lines.slice(at + 1, at + 60)) {
    if (EXAMPLE.test(line) || /^\S/.test(line)) break;
    body.push(line);
  }
  const name = title.replace(/ \(FAILED - \d{1,6}\)$/, '');
  const place = body.map((line) => PLACE.exec(line.slice(0, 600))).find((match) => match !== null);
  const source = body.findIndex((line) => /^\s+Failure\/Error: /.test(line));
  const blank = body.findIndex((line, index) => index > source && line.trim() === '');
  const said = body
    .slice(blank < 0 ? source + 1 : blank)
    .filter((line) => !PLACE.test(line.slice(0, 600)) && line.trim() !== '')
    .map((line) => line.trim());
  const error = /^([A-Z][\w:]{1,100}(?:Error|Exception|NotFound|Invalid|Timeout)):$/.exec(said[0] ?? '')?.[1];
  const assertion = error === undefined || /ExpectationNotMet/.test(error);
  return findingWith({
    ...{ tool: 'rspec', pattern: patternOfTest(assertion ? 'rspec_expectation' : `rspec_${slugOf(error)}`, name), owner: name, at },
    ...{
      category: assertion ? 'test_assertion' : categoryOf(error),
      identity: said.join('\n'),
      messages: [name, ...said.slice(0, 8).map((line) => `  ${line}`)],
    },
    ...{
      file: place?.[1] === undefined ? null : slashed(place[1]).replace(/^\.\//, ''),
      place: place == null ? '' : `${place[1]}:${place[2]}`,
    },
  });
};

const minitestAt = (kind: string, lines: readonly string[], at: number): Finding | null => {
  const match = MINITEST_NAME.exec((lines[at + 1] ?? '').slice(0, 900));
  if (match?.[1] === undefined) return null;
  const end = lines.slice(at + 2, at + 30).findIndex((line) => line.trim() === '' || /^ {4}\S{1,300}:\d{1,7}:in /.test(line));
  const said = lines.slice(at + 2, at + 2 + (end < 0 ? 8 : end)).map((line) => line.trim());
  const error = kind === 'Error' ? /^([A-Z][\w:]{1,100}):/.exec(said[0] ?? '')?.[1] : undefined;
  return findingWith({
    ...{
      tool: 'minitest',
      pattern: patternOfTest(error === undefined ? 'minitest_assertion' : `minitest_${slugOf(error)}`, match[1]),
      owner: match[1],
    },
    ...{
      category: error === undefined ? 'test_assertion' : categoryOf(error),
      identity: said.join('\n'),
      messages: [match[1], ...said],
      at,
    },
    ...{ file: match[2] === undefined ? null : slashed(match[2]), place: match[2] === undefined ? '' : `${match[2]}:${match[3]}` },
  });
};

const BUNDLER: readonly (readonly [RegExp, string])[] = [
  [/^Could not find gem '/, 'bundler_gem_not_found'],
  [/^Could not find compatible versions|^Bundler could not find compatible versions/, 'bundler_version_conflict'],
  [/^The gemspec for |^There was an error (?:parsing|while loading) `/, 'bundler_gemfile_invalid'],
  [
    /^(?:Your bundle is locked to|The dependencies in your gemfile changed|Some gems in the lock ?file|You are trying to install in deployment mode after changing)/,
    'bundler_lock_out_of_date',
  ],
];

const readBundler = (line: string, at: number, reading: Reading): void => {
  if (
    /^(?:Could not reach host|Could not fetch specs from|Network error while fetching|Retrying download|Gem::RemoteFetcher::FetchError|Bundler::HTTPError|ERROR: {2}Could not find a valid gem .{1,100} here is why)/.test(
      line,
    )
  ) {
    reading.infra.push({
      kind: causeOf(line) ?? (line.startsWith('Could not reach') ? 'dns' : 'registry'),
      tool: 'bundler',
      line: line.slice(0, 400),
      sure: !line.startsWith('Retrying'),
      at,
    });
    return;
  }
  if (
    /^(?:Your Ruby version is|bundler: command not found|Could not find '?bundler'?|Could not find \S{1,80}-\d\S{0,40} in (?:locally installed gems|any of the sources)|Bundler \S+ requires)/.test(
      line,
    )
  ) {
    reading.infra.push({
      kind: 'toolchain',
      tool: 'bundler',
      line: line.slice(0, 400),
      sure: /^(?:Your Ruby|bundler: command)/.test(line),
      at,
    });
    return;
  }
  const known = BUNDLER.find(([words]) => words.test(line));
  if (known === undefined) return;
  reading.summary = 'failed';
  reading.findings.push(
    findingWith({ tool: 'bundler', pattern: known[1], category: 'dependency', identity: line, messages: [line], at, file: 'Gemfile' }),
  );
};

const readRuby = (line: string, lines: readonly string[], at: number, reading: Reading): void => {
  const uncaught = line.includes(':in ') ? UNCAUGHT.exec(line) : null;
  const syntax = uncaught === null && line.includes('syntax error') ? SYNTAX.exec(line) : null;
  const cop = RUBOCOP.exec(line);
  const loading = /^An error occurred while loading (\S{1,300}?)\.?$/.exec(line);
  if (uncaught !== null) {
    const [, path = '', row, method, message = '', error = ''] = uncaught;
    const file = slashed(path);
    reading.findings.push(
      findingWith({
        tool: 'ruby',
        pattern: `ruby_${slugOf(error)}`,
        category: categoryOf(error),
        file,
        place: `${file}:${row}`,
        identity: `${error}: ${message}`,
        owner: method ?? null,
        messages: [`${error}: ${message}`],
        at,
      }),
    );
  } else if (syntax !== null) {
    const file = slashed(syntax[1] ?? '');
    reading.findings.push(
      findingWith({
        tool: 'ruby',
        pattern: 'ruby_syntaxerror',
        category: 'syntax',
        file,
        place: `${file}:${syntax[2]}`,
        identity: syntax[3] ?? '',
        messages: [`syntax error, ${syntax[3]}`],
        at,
      }),
    );
  } else if (cop !== null) {
    const file = slashed(cop[1] ?? '');
    reading.findings.push(
      findingWith({
        tool: 'rubocop',
        pattern: `rubocop_${(cop[4] ?? '').toLowerCase()}`,
        category: 'lint',
        file,
        place: `${file}:${cop[2]}:${cop[3]}`,
        identity: cop[5] ?? '',
        messages: [`${file}:${cop[2]}: ${cop[4]}: ${cop[5]}`],
        at,
      }),
    );
  } else if (loading?.[1] !== undefined) {
    const error =
      lines
        .slice(at + 1, at + 12)
        .find((each) => /^[A-Z][\w:]{1,100}:$/.test(each))
        ?.slice(0, -1) ?? 'LoadError';
    const said = lines[lines.indexOf(`${error}:`, at + 1) + 1]?.trim() ?? '';
    const file = slashed(loading[1]).replace(/^\.\//, '');
    reading.findings.push(
      findingWith({
        tool: 'rspec',
        pattern: `rspec_${slugOf(error)}`,
        category: categoryOf(error),
        file,
        identity: `${error}: ${said}`,
        messages: [`${file}: ${error}: ${said}`],
        at,
      }),
    );
  } else return;
  reading.summary = 'failed';
};

const read = (lines: readonly string[]): Reading => {
  const reading = emptyReading('rspec');
  let inFailures = false;
  const listed: Finding[] = [];
  for (const [at, printed] of lines.entries()) {
    if (printed === '') continue;
    const line = printed.slice(0, 1_000);
    if (/^(?:Failures|Pending):/.test(line)) inFailures = line.startsWith('F');
    else if (/^Finished in |^Top \d+ slowest/.test(line)) inFailures = false;
    const title = inFailures ? EXAMPLE.exec(line)?.[1] : undefined;
    if (title !== undefined) reading.findings.push(exampleAt(title, lines, at));
    const kind = MINITEST.exec(line)?.[1];
    const mini = kind === undefined ? null : minitestAt(kind, lines, at);
    if (mini !== null) reading.findings.push(mini);
    const again = LISTED.exec(line);
    if (again?.[3] !== undefined)
      listed.push(
        findingWith({
          tool: 'rspec',
          pattern: patternOfTest('rspec_expectation', again[3]),
          category: 'test_assertion',
          identity: '',
          owner: again[3],
          messages: [again[3]],
          at,
          file: slashed(again[1] ?? '').replace(/^\.\//, ''),
        }),
      );
    const summary = SUMMARY.exec(line);
    if (summary !== null) reading.summary = summary[2] === '0' && (summary[3] ?? '0') === '0' ? (reading.summary ?? 'passed') : 'failed';
    readBundler(line, at, reading);
    readRuby(line, lines, at, reading);
  }
  if (reading.findings.length === 0) reading.findings = reading.findings.concat(listed);
  if (reading.findings.length > 0) reading.summary = 'failed';
  return reading;
};

const TELLTALE =
  /^\d{1,7} examples?, \d|^\d{1,7} runs, \d{1,7} assertions|^rspec \.\/|^bundler: |^An error occurred while loading \S+\.rb|^Could not find gem '|^Your Ruby version is /;

export const ruby: ToolFamily = {
  ecosystem: 'ruby',
  owns: (words, lines) =>
    ['rspec', 'ruby', 'rake', 'bundle', 'rubocop', 'minitest', 'rails'].some((word) => words.has(word)) ||
    lines.some((line) => line.length < 1_000 && (TELLTALE.test(line) || UNCAUGHT.test(line) || RUBOCOP.test(line))),
  read,
};
