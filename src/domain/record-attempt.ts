import type { LedBy } from '../catalogue/events/shapes.js';
import type { EventData, FileEvent } from '../catalogue/events.js';
import { codeOf, type Outcome, type Seat, type Verdict } from '../catalogue/primitives.js';
import { liveSignals } from './calibrate.js';
import { blockIn } from './carry-forward.js';
import { attemptIdOf, proposalIdOf } from './ids.js';
import { leadingSignal } from './next-step.js';
import { after } from './open-dispatch.js';
import { Conflict, type Context, Recorder } from './recorder.js';
import { calibrateAll } from './settle.js';
import type { DispatchState, FileState } from './state.js';
import { trialOf } from './trials.js';

type Recorded = EventData<'AttemptRecorded'>;
type Reached = EventData<'VerdictReached'>;
type Diff = EventData<'SnapshotDiffCaptured'>;
type Decided = EventData<'NextStepDecided'>;

/** What one generation and its verification brought, texts already stored and verifier output already classified. */
export interface AttemptFacts {
  attempt: Pick<
    Recorded,
    'output' | 'prompt' | 'verifier' | 'toolSteps' | 'usage' | 'sampling' | 'startedAt' | 'finishedAt' | 'filesTouched'
  >;
  /** The prompt as it was sent, for finding in it what was handed out. */
  promptSent: string | null;
  diff: Omit<Diff, 'repo' | 'targetFile' | 'at' | 'dispatchId' | 'attemptId'> | null;
  verdict: Pick<Reached, 'verdict' | 'patterns' | 'signature' | 'infraKind' | 'classifierVersion' | 'confidence' | 'disagreement'>;
}

/** Records a builder's attempt on a dispatch, and decides what comes next. */
export function recordAttempt(state: FileState, dispatch: DispatchState, facts: AttemptFacts, context: Context): FileEvent[] {
  const late = isLate(dispatch);
  if (dispatch.counted >= dispatch.budget) throw new Conflict(`the budget of ${dispatch.budget} attempts is spent`);
  const recorder = new Recorder(state, context);
  const attemptId = recordFacts(recorder, dispatch, facts, 'builder', dispatch.model, late, context.now);
  calibrateAfter(recorder, facts, dispatch, attemptId);
  const { dispatchId, taskId } = dispatch;
  const decision = recorder.decide(dispatchId, taskId, { command: 'record_attempt', dispatchId, attemptId });
  if (facts.verdict.verdict === 'pass') stage(recorder, dispatch, facts, attemptId, 'builder', context);
  if (!late && decision.terminal) close(recorder, dispatch, outcomeAfterAttempt(decision));
  return recorder.events;
}

/** Records what a frontier did with a dispatch's task, asked for or not, and what that says of the builder or of the task. */
export function recordFrontierOutcome(
  state: FileState,
  dispatch: DispatchState,
  facts: AttemptFacts,
  frontier: string,
  context: Context,
): FileEvent[] {
  const late = isLate(dispatch);
  const recorder = new Recorder(state, context);
  const ledBy = whatLedTo(state, dispatch, context);
  const attemptId = recordFacts(recorder, dispatch, facts, 'frontier', frontier, late, context.now);
  const { dispatchId, taskId } = dispatch;
  const { verdict } = facts.verdict;
  const solicited = dispatch.last?.step === 'escalate';
  recorder.add('FrontierOutcomeRecorded', { dispatchId, attemptId, taskId, model: frontier, verdict, solicited, ledBy });
  classify(recorder, dispatch, verdict, attemptId, frontier, ledBy);
  // Where the frontier's output was judged as the builder's equal one was not, that failure no longer counts.
  if (isContradicted(recorder, attemptId)) calibrateAll(recorder, 'discounted');
  const decision = recorder.decide(dispatchId, taskId, { command: 'record_frontier_outcome', dispatchId, attemptId });
  if (verdict === 'pass') stage(recorder, dispatch, facts, attemptId, 'frontier', context);
  if (!late) close(recorder, dispatch, outcomeAfterFrontier(decision));
  return recorder.events;
}

/**
 * The builder's own signals; where its verdict contradicts an equal output's, those of every configuration. A pass overcomes; what else
 * ends a signal is that its evidence stopped counting.
 */
function calibrateAfter(recorder: Recorder, { verdict }: AttemptFacts, dispatch: DispatchState, attemptId: string): void {
  const why = verdict.verdict === 'pass' ? 'overcome' : 'discounted';
  recorder.calibrate(dispatch.configuration, dispatch.model, why);
  if (isContradicted(recorder, attemptId)) calibrateAll(recorder, 'discounted');
}

function isContradicted({ draft }: Recorder, attemptId: string): boolean {
  const trial = draft.attempts.get(attemptId)?.trial ?? null;
  return trial !== null && draft.trials.get(trial) === 'both';
}

/** True for a result whose dispatch was closed because its lease was lost; any other closed dispatch takes no result. */
function isLate(dispatch: DispatchState): boolean {
  if (dispatch.status === 'open') return false;
  if (dispatch.cause === 'lease_lost') return true;
  throw new Conflict(`dispatch ${dispatch.dispatchId} is closed: ${dispatch.outcome}`);
}

function recordFacts(
  recorder: Recorder,
  dispatch: DispatchState,
  facts: AttemptFacts,
  seat: Seat,
  model: string,
  late: boolean,
  now: string,
): string {
  const { dispatchId, configuration, taskId } = dispatch;
  const attempt = dispatch.recorded + 1;
  const attemptId = attemptIdOf(dispatchId, attempt);
  const common = { dispatchId, attemptId, attempt, seat, model, configuration, taskId, late, imported: false };
  const history = historyIn(facts.promptSent, dispatch, attempt);
  recorder.add('AttemptRecorded', { ...common, ...facts.attempt, history, leaseUntil: late ? null : after(now, dispatch.leaseSeconds) });
  if (facts.diff !== null) recorder.add('SnapshotDiffCaptured', { dispatchId, attemptId, ...facts.diff });
  recorder.add('VerdictReached', { ...common, ...facts.verdict, trial: trialOf(dispatch, facts.attempt) });
  return attemptId;
}

/** Whether the block of earlier attempts that was handed out for an attempt came into its prompt: something on the way may drop it. */
function historyIn(prompt: string | null, { carried }: DispatchState, attempt: number): Recorded['history'] {
  if (prompt === null || carried === null || carried.forAttempt !== attempt) return null;
  return { contentHash: carried.contentHash, inPrompt: blockIn(prompt, carried) };
}

/** A newer passing output of a task takes the place of one that nobody has resolved. */
function stage(recorder: Recorder, dispatch: DispatchState, facts: AttemptFacts, attemptId: string, seat: Seat, context: Context): void {
  const { dispatchId, taskId, targetFiles, baseHash } = dispatch;
  for (const pending of [...recorder.draft.proposals.values()].filter((proposal) => proposal.taskId === taskId))
    recorder.add('ProposalResolved', { dispatchId: pending.dispatchId, proposalId: pending.proposalId, resolution: 'superseded' });
  recorder.add('ProposalStaged', {
    dispatchId,
    proposalId: proposalIdOf(attemptId),
    attemptId,
    taskId,
    files: targetFiles,
    seat,
    output: facts.attempt.output,
    diff: facts.diff?.diff ?? null,
    baseHash,
    expiresAt: after(context.now, context.policy.proposalTtlSeconds),
  });
}

function close(recorder: Recorder, dispatch: DispatchState, outcome: Outcome): void {
  const { dispatchId, taskId, targetFiles } = dispatch;
  recorder.add('DispatchClosed', { dispatchId, taskId, outcome, cause: null, note: null, otherFiles: targetFiles.slice(1) });
}

function outcomeAfterAttempt(decision: Decided): Outcome {
  switch (decision.rule) {
    case 'passed':
      return 'passed';
    case 'infra_blocked':
      return 'blocked';
    case 'budget_exhausted':
      return 'exhausted';
    default:
      return 'futile';
  }
}

function outcomeAfterFrontier(decision: Decided): Outcome {
  if (decision.rule === 'infra_blocked') return 'blocked';
  return decision.rule === 'frontier_passed' ? 'escalated_passed' : 'escalated_failed';
}

/**
 * What a frontier outcome followed from: where it was asked for, what that decision named; else a live signal that the task is part of,
 * by this dispatch or an earlier one; else nothing.
 */
export function whatLedTo(state: FileState, dispatch: DispatchState, context: Context): LedBy | null {
  const { last } = dispatch;
  if (last?.step === 'escalate') {
    if (last.rule !== 'repeated_signature') return ledBySignal(last.pattern);
    const repeated = [...state.attempts.values()].findLast((attempt) => attempt.dispatchId === dispatch.dispatchId);
    return { kind: 'repeated_signature', patterns: repeated?.patterns.map(({ pattern }) => pattern) ?? [] };
  }
  const failedPatterns = state.tasks.get(dispatch.taskId)?.failedPatterns ?? new Set();
  const signal = leadingSignal(liveSignals(state, dispatch.configuration, context.policy, context.now), { failedPatterns }, null);
  return signal ? ledBySignal(signal.pattern) : null;
}

function ledBySignal(pattern: string | null): LedBy {
  return pattern === null ? { kind: 'per_file', patterns: [] } : { kind: 'per_pattern', patterns: [pattern] };
}

/**
 * A pass confirms capacity for what led to it, and only for patterns that this task failed with; a fail says that the task is hard. A
 * pass that nothing led to, and a blocked outcome, say neither.
 */
export function classify(
  recorder: Recorder,
  dispatch: DispatchState,
  verdict: Verdict,
  attemptId: string,
  frontier: string,
  ledBy: LedBy | null,
): void {
  const { dispatchId, taskId, descriptionHash, model, configuration } = dispatch;
  const common = { dispatchId, attemptId, taskId, model, configuration, frontier, kind: ledBy?.kind ?? null };
  if (verdict === 'fail') {
    recorder.add('CapacityClassified', { ...common, classification: 'task_hardness', pattern: ledBy?.patterns[0] ?? null });
    recorder.add('TaskFlaggedForDecomposition', { dispatchId, taskId, descriptionHash, frontier, reason: `${frontier} failed this task` });
  }
  if (verdict !== 'pass' || ledBy === null) return;
  const failed = recorder.draft.tasks.get(taskId)?.failedPatterns;
  const confirmed = ledBy.patterns.filter((pattern) => failed?.has(codeOf(pattern) ?? pattern));
  for (const pattern of ledBy.patterns.length === 0 ? [null] : confirmed)
    recorder.add('CapacityClassified', { ...common, classification: 'capacity', pattern });
}
