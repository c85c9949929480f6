import type { EventData, FileEvent } from '../catalogue/events.js';
import type { Policy } from '../catalogue/policy.js';
import type { ErrorPattern } from '../catalogue/primitives.js';
import { canonicalJson } from './chain.js';
import { taskAtHome } from './learned.js';
import { type Context, Recorder } from './recorder.js';
import type { FileState } from './state.js';

type Attributed = EventData<'FailureAttributed'>;
/** An attempt of a task with several files, as the other files are told of it. */
export type HomeAttempt = Omit<Attributed, 'repo' | 'targetFile' | 'at' | 'patterns'>;

/**
 * What one of a task's other files learns of a builder's failed attempt, or null where it learns nothing. Only files that the task names
 * learn: a diagnostic may point into a dependency, and a diff may touch what nobody asked about. `span`: the patterns whose diagnostic
 * points at the file. `touched`: where the diff changed the file, all patterns of the attempt, since any of them may be its doing.
 */
export function attributionOf(
  file: string,
  targetFiles: readonly string[],
  attempt: { patterns: ErrorPattern[]; filesTouched: readonly string[] },
  attribution: Policy['attribution'],
): ErrorPattern[] | null {
  const named = (path: string | null) => path !== null && fileNamed(path, targetFiles) === file;
  switch (attribution) {
    case 'target':
      return null;
    case 'span': {
      const own = attempt.patterns.filter((pattern) => named(pattern.file));
      return own.length === 0 ? null : own;
    }
    case 'touched':
      return attempt.filesTouched.some(named) ? attempt.patterns : null;
    default:
      return attribution satisfies never;
  }
}

/**
 * The one of a task's files that a tool means by a path: the same, or the only one where one of the two ends with the other, since tools
 * print paths from where they run (a crate, a workspace, the root of the disk). Null where it is none, or could be several.
 */
export function fileNamed(path: string, targetFiles: readonly string[]): string | null {
  const posix = path.replaceAll('\\', '/').replace(/^(?:\.\/)+/, '');
  if (targetFiles.includes(posix)) return posix;
  const alike = targetFiles.filter((file) => file.endsWith(`/${posix}`) || posix.endsWith(`/${file}`));
  return alike.length === 1 ? alike[0]! : null;
}

/** Counts a failure of another home's dispatch on this file, and raises what it completes. A pattern counts once, wherever it stood. */
export function attributeFailure(state: FileState, attempt: HomeAttempt, patterns: ErrorPattern[], context: Context): FileEvent[] {
  const recorder = new Recorder(state, context);
  recorder.add('FailureAttributed', { ...attempt, patterns });
  recorder.calibrate(attempt.configuration, attempt.model, 'overcome');
  return recorder.events;
}

/** The configuration passed the task at its home: what it had failed of it there is overcome on this file too. */
export function overcomeAttributed(state: FileState, attempt: HomeAttempt, context: Context): FileEvent[] {
  const { profile: _profile, ...passed } = attempt;
  const failed = state.evidence.get(attempt.configuration)?.ofTask.has(taskAtHome(attempt.homeFile, attempt.taskId));
  if (failed !== true) return [];
  const recorder = new Recorder(state, context);
  recorder.add('AttributionWithdrawn', { ...passed, reason: 'overcome', patterns: [], attempts: null });
  recorder.calibrate(attempt.configuration, attempt.model, 'overcome');
  return recorder.events;
}

/** A task at its home, by one configuration: where each of its attempts stands, and those that passed, in order. */
export interface TaskAtHome {
  places: ReadonlyMap<string, number>;
  passes: { dispatchId: string; attemptId: string; place: number }[];
}

/** What a home's whole state says of a task. */
export function taskOf({ attempts }: FileState, { taskId, configuration }: Pick<HomeAttempt, 'taskId' | 'configuration'>): TaskAtHome {
  const own = [...attempts.values()].filter(
    (attempt) => attempt.seat === 'builder' && attempt.taskId === taskId && attempt.configuration === configuration,
  );
  const passes = own.filter(({ verdict }) => verdict === 'pass');
  return {
    places: new Map(own.map(({ attemptId, revision }) => [attemptId, revision])),
    passes: passes.map(({ dispatchId, attemptId, revision }) => ({ dispatchId, attemptId, place: revision })),
  };
}

/**
 * A verdict at home was corrected: what this file was told of it (`before`, null for nothing) gives way to what it is told `now`. What a
 * pass that was none had overcome here counts again, and a pass overcomes what was failed before it, as at home. `state` must be whole.
 */
export function correctAttributed(
  state: FileState,
  attempt: HomeAttempt,
  { before, now }: { before: ErrorPattern[] | null; now: ErrorPattern[] | null },
  task: TaskAtHome,
  context: Context,
): FileEvent[] {
  const { profile: _profile, ...corrected } = attempt;
  const recorder = new Recorder(state, context);
  const changed = canonicalJson(before) !== canonicalJson(now);
  const none = { patterns: [], attempts: null };
  if (changed && before !== null) recorder.add('AttributionWithdrawn', { ...corrected, ...none, reason: 'corrected', patterns: before });
  if (!task.passes.some(({ attemptId }) => attemptId === attempt.attemptId) && overcameSomething(state, attempt))
    recorder.add('AttributionWithdrawn', { ...corrected, ...none, reason: 'not_overcome' });
  if (changed && now !== null) recorder.add('FailureAttributed', { ...attempt, patterns: now });
  for (const { dispatchId, attemptId, place } of task.passes) {
    const failed = liveOf(recorder.draft, attempt).filter((id) => (task.places.get(id) ?? place) < place);
    if (failed.length > 0)
      recorder.add('AttributionWithdrawn', { ...corrected, ...none, dispatchId, attemptId, reason: 'overcome', attempts: failed });
  }
  if (recorder.events.length > 0) recorder.calibrate(attempt.configuration, attempt.model, 'corrected');
  return recorder.events;
}

function overcameSomething({ learned }: FileState, { attemptId }: HomeAttempt): boolean {
  return [...learned.values()].some(
    ({ type, data }) => type === 'AttributionWithdrawn' && data.reason === 'overcome' && data.attemptId === attemptId,
  );
}

/** The attempts of a task at its home whose failures are live on this file. */
function liveOf({ evidence }: FileState, { configuration, homeFile, taskId }: HomeAttempt): string[] {
  const failures = [...(evidence.get(configuration)?.failures.values() ?? [])];
  return failures.filter((failure) => failure.taskId === taskAtHome(homeFile, taskId)).map(({ attemptId }) => attemptId);
}
