import { streamOfId } from '../domain/ids.js';
import type { AttemptState, DispatchState, FileState } from '../domain/state.js';
import { NotFound } from './errors.js';
import { type FileHistory, readHistory, whereabouts } from './file-history.js';
import type { EventLog } from './ports.js';

/** The file stream that an id belongs to, and where it is. Throws {@link NotFound}. */
export async function historyOfId(
  log: EventLog,
  kind: 'd' | 'a' | 'p',
  id: string,
): Promise<FileHistory & { repo: string; targetFile: string }> {
  const stream = streamOfId(kind, id);
  const history = stream === null ? null : await readHistory(log, stream);
  const where = history && whereabouts(history);
  if (!where) throw new NotFound(`nothing is known of ${id}`);
  return { ...history, ...where };
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
