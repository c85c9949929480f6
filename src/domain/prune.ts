import type { FileState } from './state.js';

/** Closed dispatches, and resolved proposals, that a state keeps: late results and questions mostly concern the newest. */
export const KEPT_CLOSED = 10;

/**
 * Drops what decisions do not look at: closed dispatches but the newest, with their attempts, settled proposals but the newest, and what
 * only counting everything again would need. In place. What a command needs of a dropped dispatch is found by folding the whole stream.
 */
export function prune(state: FileState): void {
  const closed = [...state.dispatches.values()].filter(({ status }) => status === 'closed');
  const dropped = new Set(closed.slice(0, Math.max(0, closed.length - KEPT_CLOSED)).map(({ dispatchId }) => dispatchId));
  for (const dispatchId of dropped) state.dispatches.delete(dispatchId);
  for (const { attemptId, dispatchId } of [...state.attempts.values()])
    if (!state.dispatches.has(dispatchId)) state.attempts.delete(attemptId);
  const settled = [...state.resolved.keys()];
  for (const proposalId of settled.slice(0, Math.max(0, settled.length - KEPT_CLOSED))) state.resolved.delete(proposalId);
  state.learned.clear();
}
