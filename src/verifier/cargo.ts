import { type ErrorReading, machineTrouble, readToolError, type ToolError } from './cargo-errors.js';
import { endOfProcess, programFinding, readProgramLine, type State } from './cargo-process.js';
import { gitCauseOf } from './git.js';
import { causeOf } from './infra.js';
import { readTests, TESTS_START } from './libtest.js';
import { slashed } from './normalise.js';
import { categoryOfCode, currentCode, patternOfCode } from './patterns.js';
import { isClosing } from './rust-messages.js';
import { looksLikeDiagnosticJson, readJsonLine } from './rustc-json.js';
import { blockAt, headerOf, readBlock } from './rustc-text.js';
import { emptyReading, type Reading, type ToolFamily } from './types.js';

/** cargo, rustc, rustup, rustfmt and the tests that cargo runs: one grammar, because one output holds them all. */

const WORDS = ['cargo', 'rustc', 'rustup', 'rustfmt', 'clippy-driver', 'rustdoc', 'cross'];
const TELLTALE =
  /^error\[E\d{4}\]: |^ {1,12}(?:Compiling|Checking) \S+ v\d|^error: could not compile `|^.{0,300}try `rustc --explain E\d{4}`|^test result: (?:ok|FAILED)\. |^[^\s:]{1,300}\.rs:\d+:\d+: (?:error|warning)|^thread '.{0,300}' (?:\(\d+\) )?panicked at |^ {1,12}Blocking waiting for file lock on /;
const STATUS =
  /^ {0,12}(Compiling|Checking|Building|Documenting|Fresh|Dirty|Packaging|Updating|Downloading|Downloaded|Fetching|Locking|Adding|Finished|Blocking|Running|Doc-tests|Executable) (.*)$/;
const NETWORK = new Set(['Updating', 'Downloading', 'Downloaded', 'Fetching']);
const FMT_DIFF = /^Diff in (.+?)(?: at line |:)(\d+):?$/;
const EXPLAINED =
  /^(?:Some errors have detailed explanations: |For more information about (?:this|an) error, try `rustc --explain )(E\d{4}(?:, E\d{4})*)/;

const LONGEST_TAIL = 1_000;

/** Further lines of an error that points at no source: its own, then the `Caused by:` blocks after a blank line. */
const tailAt = (lines: readonly string[], start: number): number => {
  let end = start;
  let inChain = lines[start - 1] === 'Caused by:';
  for (; end < lines.length && end - start < LONGEST_TAIL; end += 1) {
    const line = lines[end] ?? '';
    if (line.trim() !== '') {
      if (
        headerOf(line) !== null ||
        STATUS.test(line) ||
        TESTS_START.test(line) ||
        line.startsWith('{"') ||
        line.startsWith('+ ') ||
        FMT_DIFF.test(line.slice(0, 600))
      )
        break;
      // Causes are indented; another line ends the chain, unless it only came between two of them.
      if (inChain && !line.startsWith('  ') && line !== 'Caused by:' && !(lines[end + 1] ?? '').startsWith('  ')) break;
      inChain ||= line === 'Caused by:';
      continue;
    }
    let next = end + 1;
    while (next < lines.length && (lines[next] ?? '').trim() === '' && next - end < 4) next += 1;
    const following = lines[next] ?? '';
    if (following !== 'Caused by:' && !following.startsWith('  ') && !/^(?:help|note): /.test(following)) break;
    if (STATUS.test(following)) break;
  }
  return end;
};

/** A headless chain tells an infrastructure failure, but no failure of the code: its message is what is missing. */
const takeError = (error: ToolError, state: State, reading: Reading, headless = false): NonNullable<State['last']> => {
  const read = readToolError(error, state.retried);
  if (read !== null && 'infra' in read) reading.infra.push(read.infra);
  else if (read !== null && !headless) reading.findings.push(read.finding);
  return { error, read };
};

/** Takes back what was read of an error before more of it was seen: one of the last readings, so that the search is short. */
const withdraw = (read: NonNullable<ErrorReading>, reading: Reading): void => {
  const at = 'finding' in read ? reading.findings.lastIndexOf(read.finding) : reading.infra.lastIndexOf(read.infra);
  if (at >= 0) ('finding' in read ? reading.findings : reading.infra).splice(at, 1);
};

/** An error or warning of the tools. Answers the index after it. */
const readDiagnostic = (lines: readonly string[], at: number, state: State, reading: Reading): number | null => {
  const header = headerOf(lines[at] ?? '');
  if (header === null) return null;
  if (state.owner === 'program' && !isClosing(header.message) && !header.message.startsWith("process didn't exit successfully"))
    return null;
  if (header.level === 'warning') {
    // A retry that is announced is not the end of the matter; it only tells what the tool is busy with.
    if (header.message.startsWith('spurious network error')) {
      reading.activity = 'network';
      const kind = causeOf(header.message);
      if (kind !== null) state.retried = { kind, tool: 'cargo', line: header.message, sure: false };
    }
    return blockAt(lines, at, header).end;
  }
  reading.summary = 'failed';
  if (isClosing(header.message) || header.message.startsWith("process didn't exit successfully")) {
    state.owner = 'tools';
    const end = tailAt(lines, at + 1);
    endOfProcess(header.message, lines.slice(at + 1, end), at, state, reading);
    return end;
  }
  const block = blockAt(lines, at, header);
  if (!block.drawn && header.code === null) {
    const end = tailAt(lines, at + 1);
    state.last = takeError({ message: header.message, tail: lines.slice(at + 1, end), at }, state, reading);
    return Math.max(end, at + 1);
  }
  const finding = readBlock(block, at);
  const trouble = machineTrouble(finding, block.lines);
  if (trouble === null) reading.findings.push(finding);
  else if ('kind' in trouble) reading.infra.push(trouble);
  else reading.findings.push({ ...finding, pattern: trouble.pattern, category: 'link', identity: linkIdentity(block.lines) });
  return block.end;
};

/** What the linker could not find; the command line that rustc prints before it changes with every run. */
const linkIdentity = (lines: readonly string[]): string => {
  const symbols = lines.flatMap(
    (line) =>
      /(?:undefined reference to|undefined symbol:?|cannot find|unable to find library) ([`'"]?[^\s'"`]{1,200})/.exec(line)?.[1] ?? [],
  );
  return `link: ${[...new Set(symbols)].sort().join(', ')}`;
};

const readStatus = (line: string, state: State, reading: Reading): boolean => {
  const match = line.startsWith(' ') ? STATUS.exec(line) : null;
  if (match === null) return false;
  const [, verb = '', rest = ''] = match;
  state.owner = 'tools';
  if (verb === 'Blocking') reading.activity = 'lock';
  else if (NETWORK.has(verb)) reading.activity = 'network';
  else if (verb === 'Running' || verb === 'Doc-tests') {
    if (/^`.{0,400}(?:\brustc|build-script-build|rustdoc)\b/.test(rest)) {
      reading.activity = 'build';
      return true;
    }
    state.owner = 'program';
    state.binary = verb === 'Doc-tests' ? 'doc-tests' : (/^(?:unittests )?([^\s(`]{1,300})/.exec(rest)?.[1] ?? null);
    reading.activity = rest.startsWith('`') ? 'program' : 'test';
  } else {
    reading.activity = 'build';
    if (verb === 'Finished' && reading.summary === null) reading.summary = 'passed';
  }
  return true;
};

/** A coded diagnostic of which only the closing words are left (a tail of the output): its code is known, its number and place are not. */
const recoverExplained = (state: State, reading: Reading): void => {
  if (reading.summary !== 'failed' || reading.findings.length > 0 || reading.infra.length > 0) return;
  for (const printed of state.explained) {
    const code = currentCode(printed);
    reading.findings.push({
      ...programFinding(patternOfCode(code), categoryOfCode(code), `error[${code}]`, 0, null, null, ''),
      tool: 'rustc',
      code,
      recovered: true,
    });
  }
};

const read = (lines: readonly string[], words: ReadonlySet<string>): Reading => {
  const reading = emptyReading(words.has('rustc') && !words.has('cargo') ? 'rustc' : 'cargo');
  const state: State = { owner: 'tools', binary: null, retried: null, last: null, abort: null, memory: null, explained: new Set() };
  for (let at = 0; at < lines.length; ) {
    const line = lines[at] ?? '';
    if (line === '') {
      at += 1;
      continue;
    }
    if (TESTS_START.test(line)) {
      const run = readTests(lines, at, state.binary);
      for (const finding of run.findings) reading.findings.push(finding);
      reading.activity = 'test';
      reading.runningTest = run.running;
      if (run.findings.length > 0) reading.summary = 'failed';
      else if (run.finished && reading.summary === null) reading.summary = 'passed';
      state.abort = run.abort;
      reading.quoted.push([at, run.end]);
      state.owner = run.finished ? 'tools' : 'program';
      at = run.end;
      continue;
    }
    if (state.owner === 'tools' && looksLikeDiagnosticJson(line)) {
      const json = readJsonLine(line, at);
      if (json?.kind === 'error' && !isClosing(json.message)) {
        const trouble = machineTrouble(json.finding, (json.rendered ?? '').split('\n'));
        if (trouble === null) reading.findings.push(json.finding);
        else if ('kind' in trouble) reading.infra.push(trouble);
        else
          reading.findings.push({
            ...json.finding,
            pattern: trouble.pattern,
            category: 'link',
            identity: linkIdentity((json.rendered ?? '').split('\n')),
          });
        reading.summary = 'failed';
      } else if (json?.kind === 'finished') reading.summary = json.success ? (reading.summary ?? 'passed') : 'failed';
      at += 1;
      continue;
    }
    if (readStatus(line, state, reading)) {
      at += 1;
      continue;
    }
    const next = readDiagnostic(lines, at, state, reading);
    if (next !== null) {
      at = Math.max(next, at + 1);
      continue;
    }
    if (state.owner === 'tools') {
      state.retried = gitCauseOf(line) ?? state.retried;
      const explained = EXPLAINED.exec(line);
      for (const code of explained?.[1]?.split(', ') ?? []) state.explained.add(code);
      const diff = FMT_DIFF.exec(line.slice(0, 600));
      if (diff?.[1] !== undefined) {
        const file = slashed(diff[1]);
        reading.findings.push({
          ...programFinding('rustfmt_diff', 'format', 'not formatted', at, null, file, `${file}:${diff[2]}`),
          tool: 'rustfmt',
        });
        reading.summary = 'failed';
      }
      if (line === 'Caused by:') {
        // A chain that goes on after lines of another process, or one whose head was cut off.
        const end = tailAt(lines, at + 1);
        const known = state.last;
        if (known !== null && known.read !== null) withdraw(known.read, reading);
        const error = known?.error ?? { message: '', tail: [], at };
        state.last = takeError(
          { ...error, tail: [...error.tail, ...lines.slice(at, end)].slice(0, LONGEST_TAIL) },
          state,
          reading,
          known === null,
        );
        at = Math.max(end, at + 1);
        continue;
      }
    }
    at = readProgramLine(lines, at, state, reading);
  }
  recoverExplained(state, reading);
  return reading;
};

export const cargo: ToolFamily = {
  ecosystem: 'rust',
  owns: (words, lines) =>
    WORDS.some((word) => words.has(word)) ||
    lines.some((line) => TELLTALE.test(line) || (looksLikeDiagnosticJson(line) && readJsonLine(line, 0) !== null)),
  read,
};
