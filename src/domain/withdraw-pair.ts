import type { FileEvent } from '../catalogue/events.js';
import { type Context, Recorder } from './recorder.js';
import type { AttemptState, FileState } from './state.js';

/**
 * Takes a correction pair, known by its chosen attempt, out of what is trained on. No events where no pair can be: the attempt did not
 * pass, a correction changed it, or no failure of the same task came before it. `state` must hold every attempt of the stream.
 */
export function withdrawPair(state: FileState, chosen: AttemptState, reason: string, context: Context): FileEvent[] {
  if (chosen.verdict !== 'pass' || chosen.corrected) return [];
  const attempts = [...state.attempts.values()];
  const rejected = attempts
    .slice(0, attempts.indexOf(chosen))
    .some(
      (one) =>
        one.seat === 'builder' &&
        one.verdict === 'fail' &&
        !one.corrected &&
        one.taskId === chosen.taskId &&
        (chosen.seat === 'frontier' || one.dispatchId === chosen.dispatchId),
    );
  if (!rejected) return [];
  const recorder = new Recorder(state, context);
  recorder.add('CorrectionPairWithdrawn', { chosenAttemptId: chosen.attemptId, reason });
  return recorder.events;
}
