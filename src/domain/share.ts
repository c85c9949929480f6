import type { EventData, FileEvent } from '../catalogue/events.js';
import { openDispatches } from './next-step.js';
import { type Context, Recorder } from './recorder.js';
import type { FileState } from './state.js';

type Foreign = Pick<EventData<'ForeignDispatchOpened'>, 'dispatchId' | 'homeFile' | 'taskId' | 'model'>;

/** Of the dispatches that work beside a new one, so many are named. */
const MOST_NAMED = 20;

/** Notes on a file that a dispatch with another home names it, and which dispatches this file knows as running beside it. */
export function openForeign(state: FileState, foreign: Foreign, context: Context): FileEvent[] {
  if (state.foreign.has(foreign.dispatchId)) return [];
  const recorder = new Recorder(state, context);
  const own = openDispatches(state).filter(({ leaseUntil }) => leaseUntil > context.now);
  const beside = [...own.map(({ dispatchId }) => dispatchId), ...runningElsewhere(state, foreign.homeFile)];
  recorder.add('ForeignDispatchOpened', { ...foreign, beside: beside.slice(-MOST_NAMED) });
  return recorder.events;
}

export function closeForeign(state: FileState, dispatchId: string, context: Context): FileEvent[] {
  const foreign = state.foreign.get(dispatchId);
  if (foreign === undefined) return [];
  const recorder = new Recorder(state, context);
  recorder.add('ForeignDispatchClosed', { dispatchId, homeFile: foreign.homeFile });
  return recorder.events;
}

/** The dispatches that name this file and are not known to have ended, with a home that is neither this file nor `except`. */
export function runningElsewhere(state: FileState, except?: string): string[] {
  return [...state.foreign].flatMap(([dispatchId, { homeFile }]) => (homeFile === except ? [] : [dispatchId])).slice(-MOST_NAMED);
}
