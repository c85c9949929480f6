import { numbered, packEvidence, unpackEvidence } from './packed-evidence.js';
import { type DispatchState, emptyState, type FileState, type TaskState } from './state.js';

/** To be raised whenever a fold of the same events, or its packed form, comes out otherwise than before: older snapshots are then no use. */
export const FOLD_VERSION = 9;

type Packed = ReturnType<typeof packState>;

/** A state as plain JSON, small: tasks that stand alike share what is said of them, and failures are packed by {@link packEvidence}. */
export function packState(state: FileState) {
  return {
    ...{
      revision: state.revision,
      counted: state.counted,
      builder: state.builder,
      attributed: state.attributed,
      blockedRun: state.blockedRun,
    },
    histogram: [...state.histogram],
    dispatches: [...state.dispatches.values()].map((dispatch) => ({ ...dispatch, failedPatterns: [...dispatch.failedPatterns] })),
    attempts: [...state.attempts.values()],
    tasks: packTasks(state.tasks),
    evidence: [...state.evidence].map(([configuration, evidence]) => [configuration, packEvidence(evidence)] as const),
    trials: [...state.trials],
    signals: [...state.signals],
    frontier: [...state.frontier],
    proposals: [...state.proposals],
    resolved: [...state.resolved],
    foreign: [...state.foreign],
    learnedFrom: [...state.learnedFrom],
    inherited: [...state.inherited].map(([file, results]) => [file, { ...results, histogram: [...results.histogram] }] as const),
    learned: [...state.learned],
  };
}

export function unpackState(packed: Packed): FileState {
  return {
    ...emptyState(),
    ...{
      revision: packed.revision,
      counted: packed.counted,
      builder: packed.builder,
      attributed: packed.attributed,
      blockedRun: packed.blockedRun,
    },
    histogram: new Map(packed.histogram),
    dispatches: new Map(
      packed.dispatches.map((dispatch) => [
        dispatch.dispatchId,
        { ...dispatch, failedPatterns: new Set(dispatch.failedPatterns) } as DispatchState,
      ]),
    ),
    attempts: new Map(packed.attempts.map((attempt) => [attempt.attemptId, attempt])),
    tasks: unpackTasks(packed.tasks),
    evidence: new Map(packed.evidence.map(([configuration, evidence]) => [configuration, unpackEvidence(evidence)])),
    trials: new Map(packed.trials),
    signals: new Map(packed.signals),
    frontier: new Map(packed.frontier),
    proposals: new Map(packed.proposals),
    resolved: new Map(packed.resolved),
    foreign: new Map(packed.foreign),
    learnedFrom: new Map(packed.learnedFrom),
    inherited: new Map(packed.inherited.map(([file, results]) => [file, { ...results, histogram: new Map(results.histogram) }])),
    learned: new Map(packed.learned),
  };
}

function packTasks(tasks: ReadonlyMap<string, TaskState>) {
  const kinds = numbered([...tasks.values()].map((task) => JSON.stringify(packTask(task))));
  return { ids: [...tasks.keys()], ofKind: kinds.places, kinds: kinds.names.map((kind): PackedTask => JSON.parse(kind)) };
}

function unpackTasks({ ids, ofKind, kinds }: ReturnType<typeof packTasks>): Map<string, TaskState> {
  const tasks = kinds.map(unpackTask);
  return new Map(ids.map((taskId, place) => [taskId, tasks[ofKind[place]!]!]));
}

type PackedTask = ReturnType<typeof packTask>;

function packTask({ failedPatterns, frontierFailures, passedSinceFrontier, passedAfter }: TaskState) {
  return {
    failedPatterns: [...failedPatterns],
    frontierFailures: [...frontierFailures].map(([frontier, descriptions]) => [frontier, [...descriptions]] as const),
    passedSinceFrontier: passedSinceFrontier && [...passedSinceFrontier],
    passedAfter,
  };
}

function unpackTask({ failedPatterns, frontierFailures, passedSinceFrontier, passedAfter }: PackedTask): TaskState {
  return {
    failedPatterns: new Set(failedPatterns),
    frontierFailures: new Map(frontierFailures.map(([frontier, descriptions]) => [frontier, new Set(descriptions)])),
    passedSinceFrontier: passedSinceFrontier && new Set(passedSinceFrontier),
    passedAfter,
  };
}
