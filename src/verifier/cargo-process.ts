import { type ErrorReading, signalIn, type ToolError } from './cargo-errors.js';
import { causeOf } from './infra.js';
import type { TestRun } from './libtest.js';
import { abortAt, kindOfPanic, panicAt } from './panics.js';
import { patternOfTest } from './patterns.js';
import type { Finding, InfraEvidence, Reading } from './types.js';

/** The processes that cargo starts: compilers, tests, the program itself. How they ended, and what their runtime said of it. */

/** Where the reading of a segment stands. */
export interface State {
  /** Is the text the tools' own, or that of a program that cargo runs? */
  owner: 'tools' | 'program';
  binary: string | null;
  /** What an earlier try of the same fetch ran into. */
  retried: InfraEvidence | null;
  /** The last error without a place, and what it was read as: its chain may go on after lines of another process. */
  last: { error: ToolError; read: ErrorReading } | null;
  abort: TestRun['abort'];
  memory: string | null;
  explained: Set<string>;
}

export const programFinding = (
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
export const endOfProcess = (message: string, tail: readonly string[], at: number, state: State, reading: Reading): void => {
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

/** A line of a running program: only panics and the runtime's last words count. Answers the index after it. */
export const readProgramLine = (lines: readonly string[], at: number, state: State, reading: Reading): number => {
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
