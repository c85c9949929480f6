import type { AnvilEvent } from '../catalogue/events.js';
import { patternKey } from '../catalogue/primitives.js';
import { addFailure, dropFailures, noEvidence, overcome } from './evidence.js';
import { addToHistogram, countLearned, frontierKey, seenIn } from './learned.js';
import { type AttemptState, emptyState, type FileState, type LearnedEvent, type TaskState } from './state.js';
import { tryOnce } from './trials.js';

const newTask: TaskState = { failedPatterns: new Set(), frontierFailures: new Map(), passedSinceFrontier: null, passedAfter: null };

/** Counts one attempt's verdict into everything that calibration and hints are computed from. */
export function countVerdict(state: FileState, attempt: AttemptState): void {
  if (attempt.verdict === 'blocked') {
    // When an imported one was blocked is not known: it is no reason to wait now.
    if (!attempt.imported) countBlocked(state, attempt);
  } else {
    state.counted += 1;
    state.blockedRun = null;
  }
  countTrial(state, attempt);
  if (attempt.seat === 'frontier') {
    countFrontier(state, attempt);
    return;
  }
  state.builder[attempt.verdict] += 1;
  if (attempt.verdict !== 'blocked') countForDispatch(state, attempt);
  if (attempt.verdict === 'pass') countPass(state, attempt);
  if (attempt.verdict === 'fail') countFailure(state, attempt);
}

function countBlocked(state: FileState, { infraKind: kind, at }: AttemptState): void {
  const infraKind = kind ?? 'unknown';
  const before = state.blockedRun?.infraKind === infraKind ? state.blockedRun.length : 0;
  state.blockedRun = { infraKind, length: before + 1, lastAt: at };
}

/** Whether an event has everything counted again, which needs every attempt, also those that were pruned. */
export function countsAgain({ type, data }: AnvilEvent): boolean {
  return type === 'VerdictCorrected' || (type === 'AttributionWithdrawn' && data.reason === 'not_overcome');
}

/** Counts all attempts again, and what came from other files, in the order in which it came. */
export function recount(state: FileState): void {
  const { counted, builder, attributed, blockedRun, histogram, tasks, evidence, trials, frontier, inherited } = emptyState();
  Object.assign(state, { counted, builder, attributed, blockedRun, histogram, tasks, evidence, trials, frontier, inherited });
  for (const [id, dispatch] of state.dispatches)
    state.dispatches.set(id, { ...dispatch, counted: 0, failedSignatures: [], failedPatterns: new Set() });
  const learned = [...state.learned];
  for (const [id, before] of state.attempts) {
    while (learned[0] !== undefined && learned[0][0] < before.revision) countNext(state, learned);
    const attempt = { ...before, nth: nthOf(state, before) };
    state.attempts.set(id, attempt);
    countVerdict(state, attempt);
    for (const classified of attempt.classified ?? []) know(state, classified);
  }
  while (learned.length > 0) countNext(state, learned);
}

function countNext(state: FileState, learned: [number, LearnedEvent][]): void {
  const [revision, event] = learned.shift()!;
  countLearned(state, event, revision);
}

/** How many attempts of its seat in its dispatch had passed or failed by then, itself included. */
export function nthOf(state: FileState, attempt: Pick<AttemptState, 'seat' | 'verdict' | 'dispatchId' | 'attempt'>): number {
  const spends = attempt.seat === 'builder' && attempt.verdict !== 'blocked';
  const dispatch = state.dispatches.get(attempt.dispatchId);
  return spends && dispatch !== undefined ? dispatch.counted + 1 : attempt.attempt;
}

/** What a frontier's outcome says of a signal; a later one of the same kind takes its place. */
export function know(state: FileState, { model: _builder, ...said }: NonNullable<AttemptState['classified']>[number]): void {
  state.frontier.set(frontierKey(said), { ...said, verdict: said.classification === 'capacity' ? 'pass' : 'fail' });
}

/** A failure of what the same verifier also passed says nothing of the builder: a contradiction takes such failures out of the evidence. */
function countTrial(state: FileState, { trial, verdict }: AttemptState): void {
  if (trial === null || verdict === 'blocked' || !tryOnce(state.trials, trial, verdict)) return;
  for (const evidence of state.evidence.values()) dropFailures(evidence, (failure) => failure.trial === trial);
}

/** What passed or failed spends the budget of its dispatch; what failed makes the dispatch part of its patterns' signals. */
function countForDispatch(state: FileState, { dispatchId, verdict, patterns, signature }: AttemptState): void {
  const dispatch = state.dispatches.get(dispatchId);
  if (dispatch === undefined) return;
  const counted = dispatch.counted + 1;
  if (verdict !== 'fail') {
    state.dispatches.set(dispatchId, { ...dispatch, counted });
    return;
  }
  const failedSignatures = signature === null ? dispatch.failedSignatures : [...dispatch.failedSignatures, signature];
  const failedPatterns = new Set([...dispatch.failedPatterns, ...patterns.map(patternKey)]);
  state.dispatches.set(dispatchId, { ...dispatch, counted, failedSignatures, failedPatterns });
}

function updateTask(state: FileState, taskId: string, change: (task: TaskState) => Partial<TaskState>): void {
  const task = state.tasks.get(taskId) ?? newTask;
  state.tasks.set(taskId, { ...task, ...change(task) });
}

/** Blocked says nothing about the task. */
function countFrontier(state: FileState, attempt: AttemptState): void {
  if (attempt.verdict === 'pass')
    updateTask(state, attempt.taskId, () => ({ passedSinceFrontier: new Set(), frontierFailures: new Map() }));
  if (attempt.verdict === 'fail') {
    const description = state.dispatches.get(attempt.dispatchId)?.descriptionHash ?? null;
    updateTask(state, attempt.taskId, ({ frontierFailures }) => ({
      frontierFailures: new Map(frontierFailures).set(
        attempt.model,
        new Set([...(frontierFailures.get(attempt.model) ?? []), description]),
      ),
    }));
  }
}

/** A pass overcomes the failures that the same configuration had with the same task. */
function countPass(state: FileState, attempt: AttemptState): void {
  const evidence = state.evidence.get(attempt.configuration);
  if (evidence !== undefined) overcome(evidence, attempt.taskId);
  updateTask(state, attempt.taskId, (task) => ({
    frontierFailures: new Map(),
    passedAfter: attempt.nth,
    passedSinceFrontier: task.passedSinceFrontier && new Set([...task.passedSinceFrontier, attempt.configuration]),
  }));
}

function countFailure(state: FileState, attempt: AttemptState): void {
  const { taskId, patterns, trial } = attempt;
  if (trial === null || state.trials.get(trial) !== 'both') addEvidence(state, attempt);
  for (const pattern of patterns) addToHistogram(state.histogram, seenIn(attempt, pattern));
  updateTask(state, taskId, (task) => ({ failedPatterns: new Set([...task.failedPatterns, ...patterns.map(patternKey)]) }));
}

/** A verdict that the text left open names no pattern that a signal could be raised from. */
function addEvidence(state: FileState, { configuration, model, patterns, confidence, at, ...attempt }: AttemptState): void {
  const { attemptId, dispatchId, taskId, imported, trial, revision } = attempt;
  const evidence = state.evidence.get(configuration) ?? noEvidence(model);
  const profile = state.dispatches.get(dispatchId)?.profile ?? null;
  addFailure(
    evidence,
    { attemptId, taskId, imported, profile, trial, at: Date.parse(at), sequence: revision },
    confidence === 'low' ? [] : patterns,
  );
  state.evidence.set(configuration, evidence);
}
