import type { Category } from './categories.js';
import { hasDeadline, isOpaque, masksStatus } from './command.js';
import { patternOfTest } from './patterns.js';
import type { Finding, InfraEvidence, InfraKind, Reading, VerifierRun } from './types.js';

/** One step judged, by the rules of the taxonomy's section 5 in their order. */
export interface Judgement {
  verdict: 'pass' | 'fail' | 'blocked';
  confidence: 'high' | 'low';
  kind: InfraKind | null;
  findings: Finding[];
  infra: InfraEvidence[];
}

/** What shells add to 128 for a signal: the ones that say how a process came to its end. */
const SIGNAL_OF_EXIT: Readonly<Record<number, string>> = {
  132: 'SIGILL',
  134: 'SIGABRT',
  135: 'SIGBUS',
  136: 'SIGFPE',
  137: 'SIGKILL',
  139: 'SIGSEGV',
  143: 'SIGTERM',
};
const STOPPED_FROM_OUTSIDE = new Set(['SIGKILL', 'SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT']);

const pass = (confidence: Judgement['confidence']): Judgement => ({ verdict: 'pass', confidence, kind: null, findings: [], infra: [] });
const fail = (findings: Finding[], infra: InfraEvidence[], confidence: Judgement['confidence']): Judgement => ({
  verdict: 'fail',
  confidence,
  kind: null,
  findings,
  infra,
});
const blocked = (evidence: InfraEvidence, infra: InfraEvidence[], sure = evidence.sure): Judgement => ({
  verdict: 'blocked',
  confidence: sure ? 'high' : 'low',
  kind: evidence.kind,
  findings: [],
  infra: infra.length > 0 ? infra : [evidence],
});

const timeoutFinding = (pattern: string, tool: string, test: string | null): Finding => ({
  tool,
  pattern: test === null ? pattern : patternOfTest(pattern, test),
  code: null,
  category: 'timeout' satisfies Category,
  file: null,
  place: '',
  identity: 'deadline',
  owner: test,
  messages: [test === null ? 'the deadline passed' : `the deadline passed while ${test} was running`],
  at: 0,
});

const crashFinding = (signal: string, tool: string): Finding => ({
  tool,
  pattern: `signal_${signal.toLowerCase()}`,
  code: null,
  category: 'runtime_crash' satisfies Category,
  file: null,
  place: '',
  identity: `ended by ${signal}`,
  owner: null,
  messages: [`ended by ${signal}`],
  at: 0,
});

/** A deadline is judged by what the tool was doing when it came. */
const atDeadline = (reading: Reading, known: boolean): Judgement => {
  const tool = reading.tool ?? '';
  const confidence = known ? 'high' : 'low';
  switch (reading.activity) {
    case 'lock':
      return blocked({ kind: 'lock', tool, line: 'waiting for a file lock at the deadline', sure: known }, []);
    case 'network':
      return blocked({ kind: 'net_timeout', tool, line: 'waiting for the network at the deadline', sure: known }, []);
    case 'test':
    case 'program':
      return fail([timeoutFinding('test_timeout', tool, reading.runningTest)], [], confidence);
    case 'build':
      return fail([timeoutFinding('build_timeout', tool, null)], [], 'low');
    default:
      return fail([], [], 'low');
  }
};

/** `bash: line 1: cargo: command not found`, in the forms of sh, dash, zsh and fish. */
const NOT_FOUND =
  /^(?:[\w./-]{1,80}: ){0,2}(?:line \d{1,6}: |\d{1,6}: |-c: )?\S{1,200}: (?:command )?not found$|^zsh:\d*:? ?command not found: |^fish: Unknown command/;

export const judge = (run: VerifierRun, reading: Reading, words: ReadonlySet<string>, lines: readonly string[]): Judgement => {
  const exit = run.exitCode ?? null;
  const signal = run.signal || (exit === null ? undefined : SIGNAL_OF_EXIT[exit]) || null;
  const timedOut = run.timedOut === true;
  const { findings } = reading;
  if (signal === null && !timedOut && exit === 0) {
    const saysFailed = reading.summary === 'failed' && (findings.length > 0 || reading.infra.length > 0);
    if (!saysFailed) return pass('high');
    if (!masksStatus(run.command)) return pass(run.command === undefined || isOpaque(run.command) ? 'low' : 'high');
  }
  if (signal === null && !timedOut && exit === null && reading.summary !== 'failed')
    return reading.summary === 'passed' ? pass('low') : fail(findings, [], 'low');

  if (findings.some((finding) => finding.recovered !== true))
    return fail(findings, reading.infra, exit === null && signal === null && !timedOut ? 'low' : 'high');
  const deadline = timedOut || exit === 124;
  // Tests were running when the deadline came: what had failed before them had been got over.
  if (deadline && findings.length === 0 && (reading.activity === 'test' || reading.activity === 'program'))
    return atDeadline(reading, true);
  const terminal = reading.infra[0];
  if (terminal !== undefined) return blocked(terminal, reading.infra);
  if (findings.length > 0) return fail(findings, [], 'low');
  if (exit === 127) {
    const line = lines.find((each) => NOT_FOUND.test(each.slice(0, 500)));
    return blocked({ kind: 'toolchain', tool: 'shell', line: line ?? 'exit code 127: command not found', sure: line !== undefined }, []);
  }
  if (deadline || (signal !== null && STOPPED_FROM_OUTSIDE.has(signal) && hasDeadline(words))) return atDeadline(reading, deadline);
  // A kill without a word, and nobody says that it was the deadline: the memory, a person, the machine. To be run once more.
  if (signal !== null && STOPPED_FROM_OUTSIDE.has(signal))
    return blocked({ kind: 'killed', tool: reading.tool ?? '', line: `ended by ${signal}`, sure: false }, []);
  // It died of itself, without a word; who did is not told: the program, or the tool that ran it.
  return fail(signal === null ? [] : [crashFinding(signal, reading.tool ?? '')], [], 'low');
};
