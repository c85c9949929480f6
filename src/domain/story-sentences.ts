import type { EventData, FileEvent, FileEventType } from '../catalogue/events.js';
import type { ErrorPattern } from '../catalogue/primitives.js';

/** Of what a caller wrote, as much as a sentence takes. */
const LONGEST_QUOTE = 200;

type Sentences = { [T in FileEventType]?: (data: EventData<T>, dispatchId: string) => string };

const sentences: Sentences = {
  DispatchOpened: ({ taskId, model, frontier, budget, cold, force, arm }) =>
    `Task ${taskId} was given to ${model}, with a budget of ${budget}${frontier === null ? ' and no frontier' : ` and ${frontier} as the frontier`}${arm === null ? '' : `, in arm ${arm}`}: ${cold ? 'nothing had passed or failed on this file yet' : 'the file had results before'}${force ? '; the caller insisted' : ''}.`,
  LeaseRenewed: ({ leaseUntil }) => `The builder said that it goes on; the lease runs until ${leaseUntil}.`,
  HistoryInjected: ({ source, mode, records, forAttempt, leftOut }) =>
    `${source === 'hint' ? 'A hint' : `A carry-forward block (${mode})`} of ${counted(records, 'record')} was handed out for attempt ${forAttempt}${leftOut.length > 0 ? `, ${leftOut.length} left out` : ''}.`,
  AttemptRecorded: ({ attempt, seat, model, late, imported }) =>
    `Attempt ${attempt} came from the ${seat} ${model}${late ? ', late: the dispatch was closed' : ''}${imported ? ', imported' : ''}.`,
  SnapshotDiffCaptured: ({ files, added, removed }) =>
    `Before the revert its diff was taken: ${counted(files, 'file')}, ${added} added and ${removed} removed lines.`,
  VerdictReached: ({ attempt, verdict, patterns, infraKind, disagreement }) =>
    `Attempt ${attempt} ${judged(verdict, patterns, infraKind)}${disagreement === null ? '' : `; the verifier text said ${disagreement.verdict}`}.`,
  VerdictCorrected: ({ attemptId, verdict, patterns, reason, source }) =>
    `The verdict of ${attemptId} was corrected by ${quoted(source)}: it ${judged(verdict, patterns, null)}. Reason: ${quoted(reason)}.`,
  CalibrationSignalRaised: (signal) =>
    `A signal was raised: this file is beyond ${signal.model}, ${signalName(signal)} in ${counted(signal.occurrences, 'failure')} (threshold ${signal.threshold}).`,
  CalibrationSignalCleared: (signal) => `The signal of ${signalName(signal)} for ${signal.model} was cleared: ${signal.reason}.`,
  SignalNoticed: ({ kind, pattern, raisedAtRevision }) =>
    `The running dispatch was told of a signal, ${signalName({ kind, pattern })}, that was raised beside it at revision ${raisedAtRevision}.`,
  NextStepDecided: ({ step, rule, detail, evidence, propensity, dispatchId }, told) =>
    `${dispatchId === told ? 'Decided' : 'Another request was answered'}: ${step}, by the rule ${rule} (${detail})${evidence.length > 0 ? `, on ${counted(evidence.length, 'attempt')} as evidence` : ''}${propensity === null ? '' : `, with a chance of ${propensity}`}.`,
  FrontierOutcomeRecorded: ({ model, verdict, solicited, ledBy }) =>
    `The frontier ${model} was ${solicited ? 'asked' : 'not asked'}, and its result is ${verdict}${ledBy === null ? '; nothing had led to it' : `; what led to it: ${ledBy.kind} ${ledBy.patterns.join(', ')}`.trimEnd()}.`,
  CapacityClassified: ({ classification, model, pattern, kind }) =>
    classification === 'capacity'
      ? `That confirms capacity: the task can be done, but not by ${model} (${pattern ?? kind ?? 'no pattern'}).`
      : `That says that the task is hard, not that ${model} is weak.`,
  TaskFlaggedForDecomposition: ({ taskId, reason }) => `Task ${taskId} should be cut into smaller ones: ${reason}.`,
  ProposalStaged: ({ proposalId, seat }) => `The ${seat}'s output was staged for the caller as ${proposalId}.`,
  ProposalResolved: ({ proposalId, resolution }) => `Proposal ${proposalId} was ${resolution}.`,
  DispatchClosed: ({ outcome, cause, note }) =>
    `The dispatch was closed: ${outcome}${cause === null ? '' : cause === 'lease_lost' ? ', its lease was lost' : ', at the caller’s word'}${note === null ? '' : ` (${quoted(note)})`}.`,
  DuplicateDispatchPrevented: ({ taskId, rule }) =>
    `Task ${taskId} was asked for again and not built twice: ${rule === 'already_running' ? 'this dispatch was running' : 'its proposal was pending'}.`,
  CorrectionPairWithdrawn: ({ chosenAttemptId, reason }) => `The training pair of ${chosenAttemptId} was withdrawn: ${quoted(reason)}.`,
};

/** One event as a sentence for a person. A type that has none of its own is named. `dispatchId` is the dispatch whose story it is told in. */
export function sentenceOf(event: FileEvent, dispatchId: string): string {
  const say = sentences[event.type] as ((data: unknown, dispatchId: string) => string) | undefined;
  if (say !== undefined) return say(event.data, dispatchId);
  const words = event.type.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`).trim();
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}.`;
}

function judged(verdict: 'pass' | 'fail' | 'blocked', patterns: ErrorPattern[], infraKind: string | null): string {
  const named = patterns.map(({ pattern }) => pattern).join(', ');
  switch (verdict) {
    case 'pass':
      return 'passed';
    case 'fail':
      return `failed${named === '' ? ', with no known pattern' : ` with ${named}`}`;
    case 'blocked':
      return `was blocked by infrastructure${infraKind === null ? '' : ` (${infraKind})`}: it says nothing of the model`;
    default:
      return verdict satisfies never;
  }
}

function signalName({ kind, pattern }: { kind: string; pattern: string | null }): string {
  return pattern === null ? `many patterns at once (${kind})` : `${pattern} (${kind})`;
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}

/** Callers' words, on one line. */
function quoted(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return `“${line.length <= LONGEST_QUOTE ? line : `${line.slice(0, LONGEST_QUOTE)}…`}”`;
}
