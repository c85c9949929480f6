import { type Evidence, evidenceOf, type Failure } from './evidence.js';
import { type DispatchState, emptyState, type FileState, type TaskState } from './state.js';

/** To be raised whenever a fold of the same events, or its packed form, comes out otherwise than before: older snapshots are then no use. */
export const FOLD_VERSION = 8;

type Packed = ReturnType<typeof packState>;

/** A state as plain JSON, small: live failures as columns, their patterns and tasks by number. */
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
    tasks: [...state.tasks].map(([taskId, task]) => [taskId, packTask(task)] as const),
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
    tasks: new Map(packed.tasks.map(([taskId, task]) => [taskId, unpackTask(task)])),
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

function packTask({ failedPatterns, frontierFailures, passedSinceFrontier, passedAfter }: TaskState) {
  return {
    failedPatterns: [...failedPatterns],
    frontierFailures: [...frontierFailures].map(([frontier, descriptions]) => [frontier, [...descriptions]] as const),
    passedSinceFrontier: passedSinceFrontier && [...passedSinceFrontier],
    passedAfter,
  };
}

function unpackTask({ failedPatterns, frontierFailures, passedSinceFrontier, passedAfter }: ReturnType<typeof packTask>): TaskState {
  return {
    failedPatterns: new Set(failedPatterns),
    frontierFailures: new Map(frontierFailures.map(([frontier, descriptions]) => [frontier, new Set(descriptions)])),
    passedSinceFrontier: passedSinceFrontier && new Set(passedSinceFrontier),
    passedAfter,
  };
}

function packEvidence({ model, failures, tallies }: Evidence) {
  const sets = new Map<string, number>();
  const tasks = new Map<string, number>();
  const profiles = new Map<string | null, number>();
  const numberOf = <T>(known: Map<T, number>, name: T) => known.get(name) ?? known.set(name, known.size).size - 1;
  const live = [...failures.values()];
  return {
    model,
    labels: [...tallies].map(([key, { pattern, code }]) => [key, { pattern, code }] as const).sort(([a], [b]) => (a < b ? -1 : 1)),
    attemptIds: live.map(({ attemptId }) => attemptId),
    ofTask: live.map(({ taskId }) => numberOf(tasks, taskId)),
    ofSet: live.map(({ set }) => numberOf(sets, set)),
    ofProfile: live.map(({ profile }) => numberOf(profiles, profile)),
    trials: live.map(({ trial }) => trial),
    sequences: live.map(({ sequence }) => sequence),
    times: live.map(({ at }) => at),
    imported: live.flatMap(({ imported, attemptId }) => (imported ? [attemptId] : [])),
    tasks: [...tasks.keys()],
    profiles: [...profiles.keys()],
    sets: [...sets.keys()],
  };
}

function unpackEvidence(packed: ReturnType<typeof packEvidence>): Evidence {
  const imported = new Set(packed.imported);
  const failures = packed.attemptIds.map(
    (attemptId, i): Failure => ({
      attemptId,
      taskId: packed.tasks[packed.ofTask[i]!]!,
      set: packed.sets[packed.ofSet[i]!]!,
      sequence: packed.sequences[i]!,
      at: packed.times[i]!,
      imported: imported.has(attemptId),
      trial: packed.trials[i]!,
      profile: packed.profiles[packed.ofProfile[i]!]!,
    }),
  );
  return evidenceOf(packed.model, failures, new Map(packed.labels));
}
