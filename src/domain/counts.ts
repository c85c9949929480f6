import { patternKey } from '../catalogue/primitives.js';
import { addFailure, noEvidence, overcome } from './evidence.js';
import { type AttemptState, emptyState, type FileState, type TaskState } from './state.js';

const newTask: TaskState = { failedPatterns: new Set(), frontierFailures: new Map(), passedSinceFrontier: null, passedAfter: null };

/** Counts one attempt's verdict into everything that calibration and hints are computed from. */
export function countVerdict(state: FileState, attempt: AttemptState): void {
  if (attempt.verdict === 'blocked') {
    const infraKind = attempt.infraKind ?? 'unknown';
    const before = state.blockedRun?.infraKind === infraKind ? state.blockedRun.length : 0;
    state.blockedRun = { infraKind, length: before + 1, lastAt: attempt.at };
  } else {
    state.counted += 1;
    state.blockedRun = null;
  }
  if (attempt.seat === 'frontier') {
    countFrontier(state, attempt);
    return;
  }
  state.builder[attempt.verdict] += 1;
  if (attempt.verdict !== 'blocked') countForDispatch(state, attempt);
  if (attempt.verdict === 'pass') countPass(state, attempt);
  if (attempt.verdict === 'fail') countFailure(state, attempt);
}

/** Counts all attempts again, in the order in which their verdicts came. */
export function recount(state: FileState): void {
  const { counted, builder, blockedRun, histogram, tasks, evidence } = emptyState();
  Object.assign(state, { counted, builder, blockedRun, histogram, tasks, evidence });
  for (const [id, dispatch] of state.dispatches)
    state.dispatches.set(id, { ...dispatch, counted: 0, failedSignatures: [], failedPatterns: new Set() });
  for (const attempt of state.attempts.values()) countVerdict(state, attempt);
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
  const { attemptId, taskId, patterns, imported, at, configuration, model } = attempt;
  const evidence = state.evidence.get(configuration) ?? noEvidence(model);
  const profile = state.dispatches.get(attempt.dispatchId)?.profile ?? null;
  addFailure(evidence, { attemptId, taskId, imported, profile, at: Date.parse(at), sequence: state.counted }, patterns);
  state.evidence.set(configuration, evidence);
  for (const pattern of patterns) {
    const key = patternKey(pattern);
    const { pattern: label, code, category, attempts } = state.histogram.get(key) ?? { ...pattern, attempts: 0 };
    state.histogram.set(key, { pattern: label, code, category, attempts: attempts + 1 });
  }
  updateTask(state, taskId, (task) => ({ failedPatterns: new Set([...task.failedPatterns, ...patterns.map(patternKey)]) }));
}
