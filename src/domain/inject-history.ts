import type { FileEvent } from '../catalogue/events.js';
import type { CarryMode } from '../catalogue/primitives.js';
import type { CarryBlock } from './carry-forward.js';
import { after } from './open-dispatch.js';
import { Conflict, type Context, Recorder } from './recorder.js';
import type { DispatchState, FileState } from './state.js';

/** Hands a block out for the dispatch's next attempt. An empty one is no injection: nothing happens then. */
export function injectHistory(
  state: FileState,
  dispatch: DispatchState,
  { mode, block }: { mode: CarryMode; block: CarryBlock },
  context: Context,
): FileEvent[] {
  const { dispatchId, status, recorded, leaseSeconds } = dispatch;
  if (status === 'closed') throw new Conflict(`dispatch ${dispatchId} is closed: ${dispatch.outcome}`);
  if (mode === 'none' || block.hash === null) return [];
  const recorder = new Recorder(state, context);
  recorder.add('HistoryInjected', {
    ...{ dispatchId, forAttempt: recorded + 1, mode, source: 'carry_forward', records: block.records.length, leftOut: block.leftOut },
    ...{ characters: block.text.length, tokens: block.tokens, contentHash: block.hash, leaseUntil: after(context.now, leaseSeconds) },
  });
  return recorder.events;
}
