import { streamOfId } from '../domain/ids.js';
import type { AttemptState, DispatchState, FileState } from '../domain/state.js';
import { NotFound } from './errors.js';

/** The file stream that an id belongs to. Throws {@link NotFound}. */
export function streamOf(kind: 'd' | 'a' | 'p', id: string): string {
  const stream = streamOfId(kind, id);
  if (stream === null) throw new NotFound(`nothing is known of ${id}`);
  return stream;
}

export function knownDispatch(state: FileState, dispatchId: string): DispatchState {
  const dispatch = state.dispatches.get(dispatchId);
  if (dispatch === undefined) throw new NotFound(`there is no dispatch ${dispatchId}`);
  return dispatch;
}

export function knownAttempt(state: FileState, attemptId: string): AttemptState {
  const attempt = state.attempts.get(attemptId);
  if (attempt === undefined) throw new NotFound(`there is no attempt ${attemptId}`);
  return attempt;
}
