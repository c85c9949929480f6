import type { EventData, FileEvent } from '../catalogue/events.js';
import type { Policy } from '../catalogue/policy.js';
import type { ErrorPattern } from '../catalogue/primitives.js';
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
  recorder.add('AttributionWithdrawn', { ...passed, reason: 'overcome', patterns: [] });
  recorder.calibrate(attempt.configuration, attempt.model, 'overcome');
  return recorder.events;
}

/** A verdict at home was corrected: what this file was told of it (`before`, null for nothing) gives way to what it is told now. */
export function correctAttributed(
  state: FileState,
  attempt: HomeAttempt,
  before: ErrorPattern[] | null,
  now: ErrorPattern[] | null,
  context: Context,
): FileEvent[] {
  const { profile: _profile, ...corrected } = attempt;
  const recorder = new Recorder(state, context);
  if (before !== null) recorder.add('AttributionWithdrawn', { ...corrected, reason: 'corrected', patterns: before });
  if (now !== null) recorder.add('FailureAttributed', { ...attempt, patterns: now });
  recorder.calibrate(attempt.configuration, attempt.model, 'corrected');
  return recorder.events;
}
