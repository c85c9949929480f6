import type { EventData, FileEvent } from '../catalogue/events.js';
import type { Failure } from './evidence.js';
import { type Context, Recorder } from './recorder.js';
import type { FileState, Results } from './state.js';

type Inherited = EventData<'HistoryInherited'>;
/** What a file hands on when it is renamed. */
export type Legacy = Pick<Inherited, 'results' | 'failures' | 'tasks' | 'frontier' | 'leftOut'>;

/** Of each list, so many entries and so many characters of JSON at most: the event stays well below what one append takes. */
const MOST = { files: 20, patterns: 100, failures: 200, tasks: 100, frontier: 100 };
const MOST_CHARACTERS = 32 * 1024;

/**
 * What is known of a file, small enough for one event: the most frequent patterns, the newest live failures and tasks. `upToRevision` is
 * how far its stream was folded.
 */
export function legacyOf(state: FileState, file: string, upToRevision: number): Legacy {
  const own: [string, Results & { upToRevision: number }] = [file, { ...state, upToRevision }];
  const origins = [...[...state.inherited].slice(1 - MOST.files), own];
  const results = origins.map(([name, { counted, builder, attributed, histogram, upToRevision: upTo }]) => {
    const frequent = [...histogram.values()]
      .sort((a, b) => a.attempts - b.attempts)
      .map(({ newest: _newest, lastAt: _lastAt, ...entry }) => entry);
    return { file: name, upToRevision: upTo, counted, builder, attributed, histogram: lastOf(frequent, MOST.patterns / origins.length) };
  });
  const allFailures = [...state.evidence].flatMap(([configuration, { model, failures, tallies }]) =>
    [...failures.values()].map((failure) => ({ failure, told: toldFailure(failure, configuration, model, tallies) })),
  );
  allFailures.sort((a, b) => a.failure.sequence - b.failure.sequence);
  const failures = lastOf(
    allFailures.map(({ told }) => told),
    MOST.failures,
  );
  const allTasks = [...state.tasks].map(([taskId, task]) => ({
    taskId,
    failedPatterns: [...task.failedPatterns],
    frontierFailures: [...task.frontierFailures].map(([frontier, descriptions]) => ({ frontier, descriptions: [...descriptions] })),
    passedSinceFrontier: task.passedSinceFrontier && [...task.passedSinceFrontier],
    passedAfter: task.passedAfter,
  }));
  const tasks = lastOf(allTasks, MOST.tasks);
  const frontier = lastOf([...state.frontier.values()], MOST.frontier);
  const patterns = origins.reduce((sum, [, { histogram }]) => sum + histogram.size, 0);
  return {
    ...{ results, failures, tasks, frontier },
    leftOut: {
      patterns: patterns - results.reduce((sum, { histogram }) => sum + histogram.length, 0),
      failures: allFailures.length - failures.length,
      tasks: allTasks.length - tasks.length,
      frontier: state.frontier.size - frontier.length,
    },
  };
}

/** Takes over what a file had that was renamed to this one, and raises the signals that its live failures amount to here. */
export function inheritHistory(
  state: FileState,
  inheritance: Omit<Inherited, 'repo' | 'targetFile' | 'at'>,
  context: Context,
): FileEvent[] {
  const recorder = new Recorder(state, context);
  recorder.add('HistoryInherited', inheritance);
  const configurations = new Map(inheritance.failures.map(({ configuration, model }) => [configuration, model]));
  for (const [configuration, model] of configurations) recorder.calibrate(configuration, model, 'overcome');
  return recorder.events;
}

function toldFailure(
  { attemptId, taskId, set, imported, profile, at }: Failure,
  configuration: string,
  model: string,
  labels: ReadonlyMap<string, { pattern: string; code: string | null }>,
): Inherited['failures'][number] {
  const [home, task] = taskId.split('\0') as [string, string | undefined];
  const patterns = (JSON.parse(set) as string[]).map((key) => {
    const { pattern, code } = labels.get(key)!;
    return { pattern, code };
  });
  const whose = task === undefined ? { taskId: home, homeFile: null } : { taskId: task, homeFile: home };
  return { attemptId, ...whose, model, configuration, at: new Date(at).toISOString(), imported, profile, patterns };
}

/** The end of a list, as far as it keeps to both limits. */
function lastOf<T>(items: T[], most: number): T[] {
  let characters = 0;
  let first = items.length;
  while (first > 0 && items.length - first < Math.floor(most)) {
    characters += JSON.stringify(items[first - 1]).length;
    if (characters > MOST_CHARACTERS) break;
    first -= 1;
  }
  return items.slice(first);
}
