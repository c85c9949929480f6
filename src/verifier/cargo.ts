import { type ErrorReading, machineTrouble, readToolError, signalIn } from './cargo-errors.js';
import { gitCauseOf } from './git.js';
import { causeOf } from './infra.js';
import { readTests, TESTS_START, type TestRun } from './libtest.js';
import { slashed } from './normalise.js';
import { abortAt, kindOfPanic, panicAt } from './panics.js';
import { categoryOfCode, currentCode, patternOfCode, patternOfTest } from './patterns.js';
import { isClosing } from './rust-messages.js';
import { looksLikeDiagnosticJson, readJsonLine } from './rustc-json.js';
import { blockAt, headerOf, readBlock } from './rustc-text.js';
import { emptyReading, type Finding, type InfraEvidence, type Reading, type ToolFamily } from './types.js';

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

interface State {
  /** Is the text the tools' own, or that of a program that cargo runs? */
  owner: 'tools' | 'program';
  binary: string | null;
  git: InfraEvidence | null;
  abort: TestRun['abort'];
  memory: string | null;
  explained: Set<string>;
}

/** Further lines of an error that points at no source: its own, then the `Caused by:` blocks after a blank line. */
const tailAt = (lines: readonly string[], start: number): number => {
  let end = start;
  for (; end < lines.length && end - start < 2_000; end += 1) {
    const line = lines[end] ?? '';
    if (line.trim() !== '') {
      if (headerOf(line) !== null || STATUS.test(line) || TESTS_START.test(line) || line.startsWith('{"') || line.startsWith('+ ')) break;
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

const programFinding = (
  pattern: string,
  category: Finding['category'],
  identity: string,
  at: number,
  owner: string | null,
  file: string | null,
  place: string,
): Finding => ({
  tool: 'cargo',
  pattern,
  code: null,
  category,
  file,
  place,
  identity,
  owner,
  messages: [identity.split('\n', 1)[0] ?? identity, ...(place === '' ? [] : [` --> ${place}`])],
  at,
});

/** A process that cargo ran ended badly. What was read of it before (a panic, a failed test, an abort) says more than its exit. */
const endOfProcess = (message: string, tail: readonly string[], at: number, state: State, reading: Reading): void => {
  const signal = signalIn([message, ...tail]);
  if (/^could not (?:compile|document)/.test(message)) {
    if (signal === 'SIGKILL') reading.infra.push({ kind: 'killed', tool: 'rustc', line: `${message}: ${signal}`, sure: false });
    else if (signal === 'SIGBUS') reading.infra.push({ kind: 'disk', tool: 'rustc', line: `${message}: ${signal}`, sure: false });
    else if (signal !== null && state.memory === null)
      reading.findings.push(programFinding('rust_compiler_crash', 'tool_crash', `the compiler ended by ${signal}`, at, null, null, ''));
    else if (tail.length > 0 && signal === null) {
      const cause = tail.map((line) => causeOf(line)).find((kind) => kind !== null);
      if (cause !== undefined && /could not execute process/.test(tail.join('\n')))
        reading.infra.push({ kind: cause ?? 'memory', tool: 'cargo', line: tail.at(-1) ?? message, sure: true });
    }
    return;
  }
  if (state.abort !== null) {
    const { kind, thread } = state.abort;
    const named = thread !== null && thread !== 'main' && !thread.startsWith('<');
    reading.findings.push(programFinding(named ? patternOfTest(kind, thread) : kind, 'runtime_crash', kind, at, thread, null, ''));
    state.abort = null;
    return;
  }
  const ended = tail.some((line) => line.includes("process didn't exit successfully")) || message.startsWith("process didn't exit");
  const explained = reading.findings.some((each) => each.category === 'test_assertion' || each.category === 'panic');
  if (signal !== null && !(signal === 'SIGABRT' && explained)) {
    const read = programFinding(
      `signal_${signal.toLowerCase()}`,
      'runtime_crash',
      `the program ended by ${signal}`,
      at,
      state.binary,
      null,
      '',
    );
    reading.findings.push(signal === 'SIGKILL' ? { ...read, recovered: true } : read);
  } else if (ended && !explained && reading.findings.length === 0) {
    reading.findings.push(
      programFinding('rust_program_failed', 'runtime', 'the program ended with a failure status', at, state.binary, null, ''),
    );
  }
};

const take = (read: ErrorReading, reading: Reading): void => {
  if (read === null) return;
  if ('infra' in read) reading.infra.push(read.infra);
  else reading.findings.push(read.finding);
};

/** An error or warning of the tools. Answers the index after it. */
const readDiagnostic = (lines: readonly string[], at: number, state: State, reading: Reading): number | null => {
  const header = headerOf(lines[at] ?? '');
  if (header === null) return null;
  if (state.owner === 'program' && !isClosing(header.message) && !header.message.startsWith("process didn't exit successfully"))
    return null;
  if (header.level === 'warning') {
    // A retry that is announced is not the end of the matter; it only tells what the tool is busy with.
    if (header.message.startsWith('spurious network error')) reading.activity = 'network';
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
    take(readToolError({ message: header.message, tail: lines.slice(at + 1, end), at }, state.git), reading);
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

const readProgramLine = (lines: readonly string[], at: number, state: State, reading: Reading): number => {
  const line = lines[at] ?? '';
  const abort = abortAt(line);
  if (abort !== null) {
    if (state.owner === 'program' || abort.thread !== null) state.abort ??= abort;
    else if (state.memory === null) {
      state.memory = line;
      reading.infra.push({ kind: 'memory', tool: 'rustc', line, sure: true });
    }
    return at + 1;
  }
  const panic = panicAt(lines, at);
  if (panic === null) return at + 1;
  const [message = '', ...details] = panic.message;
  if (panic.thread === 'rustc' || /^(?:\/rustc\/[0-9a-f]+\/)?compiler\//.test(panic.file)) {
    reading.findings.push(programFinding('rust_ice', 'tool_crash', `the compiler panicked: ${message}`, at, null, null, ''));
  } else if (state.owner === 'program' || reading.activity === null || reading.activity === 'program') {
    const named = kindOfPanic(message);
    const kind = named?.category === 'panic' ? named.kind : (named?.kind.replace('test_', '') ?? 'panic_explicit');
    reading.findings.push(
      programFinding(`rust_${kind}`, 'panic', [`panicked: ${message}`, ...details].join('\n'), at, null, panic.file, panic.place),
    );
    reading.summary = 'failed';
  }
  return panic.end;
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
  const state: State = { owner: 'tools', binary: null, git: null, abort: null, memory: null, explained: new Set() };
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
      state.git = gitCauseOf(line) ?? state.git;
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
        // The head of this chain was cut off: the chain alone still tells an infrastructure failure.
        const end = tailAt(lines, at + 1);
        const orphan = readToolError({ message: '', tail: lines.slice(at, end), at }, state.git);
        if (orphan !== null && 'infra' in orphan) reading.infra.push(orphan.infra);
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
  owns: (words, lines) =>
    WORDS.some((word) => words.has(word)) ||
    lines.some((line) => TELLTALE.test(line) || (looksLikeDiagnosticJson(line) && readJsonLine(line, 0) !== null)),
  read,
};
