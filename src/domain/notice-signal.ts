import type { EventData, FileEvent } from '../catalogue/events.js';
import { openDispatches } from './next-step.js';
import { type Context, Recorder } from './recorder.js';
import { type DispatchState, type FileState, signalKey } from './state.js';

/** A signal as it was raised, and where in the file's stream. */
export type Raised = Pick<EventData<'CalibrationSignalRaised'>, 'configuration' | 'kind' | 'pattern' | 'code'> & {
  raisedAtRevision: number;
};

/**
 * The running dispatches of a file that a raised signal may be news to: nobody's once it is cleared. What was raised before a dispatch was
 * opened stood in its hint. Signals are told of in the order of the stream, so who was told of a later one has had its turn.
 */
export function untold(state: FileState, raised: Raised): DispatchState[] {
  if (!state.signals.has(signalKey(raised))) return [];
  const at = raised.raisedAtRevision;
  return openDispatches(state).filter(({ openedAt, noticed }) => openedAt < at && noticed < at);
}

/**
 * Tells the other running dispatches of a file that a signal was raised (domain.md, the saga). `raisedBy` is the dispatch whose attempt
 * raised it, which was answered with it; null where that was no attempt's doing.
 */
export function noticeSignal(state: FileState, raised: Raised, raisedBy: string | null, context: Context): FileEvent[] {
  const { kind, pattern, raisedAtRevision } = raised;
  const recorder = new Recorder(state, context);
  for (const { dispatchId } of untold(state, raised))
    if (dispatchId !== raisedBy) recorder.add('SignalNoticed', { dispatchId, kind, pattern, raisedAtRevision });
  return recorder.events;
}
