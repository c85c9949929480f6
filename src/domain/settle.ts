import type { EventData, FileEvent } from '../catalogue/events.js';
import { after, closeDead } from './open-dispatch.js';
import { Conflict, type Context, Recorder } from './recorder.js';
import type { DispatchState, FileState } from './state.js';

/** Keeps a dispatch's lease for another while, for a builder that has nothing else to say. */
export function renewLease(state: FileState, dispatch: DispatchState, context: Context): FileEvent[] {
  const { dispatchId, leaseSeconds } = dispatch;
  if (dispatch.status === 'closed') throw new Conflict(`dispatch ${dispatchId} is closed: ${dispatch.outcome}`);
  const recorder = new Recorder(state, context);
  recorder.add('LeaseRenewed', { dispatchId, leaseUntil: after(context.now, leaseSeconds) });
  return recorder.events;
}

/** Gives a dispatch up, at its caller's word. */
export function abandonDispatch(state: FileState, dispatch: DispatchState, note: string | null, context: Context): FileEvent[] {
  if (dispatch.status === 'closed') {
    if (dispatch.cause === 'caller') return [];
    throw new Conflict(`dispatch ${dispatch.dispatchId} is closed: ${dispatch.outcome}`);
  }
  const recorder = new Recorder(state, context);
  const { dispatchId, taskId, targetFiles } = dispatch;
  recorder.add('DispatchClosed', { dispatchId, taskId, outcome: 'abandoned', cause: 'caller', note, otherFiles: targetFiles.slice(1) });
  return recorder.events;
}

/**
 * Settles a pending proposal. The same resolution again is no event; another one is a conflict, as is one that has expired or was
 * superseded meanwhile.
 */
export function resolveProposal(state: FileState, proposalId: string, resolution: 'accepted' | 'rejected', context: Context): FileEvent[] {
  const settled = state.resolved.get(proposalId)?.resolution;
  if (settled === resolution) return [];
  if (settled !== undefined) throw new Conflict(`proposal ${proposalId} is ${settled}`);
  const recorder = new Recorder(state, context);
  recorder.add('ProposalResolved', { dispatchId: state.proposals.get(proposalId)!.dispatchId, proposalId, resolution });
  return recorder.events;
}

/** What time alone brings about on a file: dispatches whose lease ran out are closed, proposals that were too long pending expire. */
export function settleOverdue(state: FileState, context: Context): FileEvent[] {
  const recorder = new Recorder(state, context);
  closeDead(recorder, context.now);
  for (const { dispatchId, proposalId, expiresAt } of [...recorder.draft.proposals.values()])
    if (expiresAt <= context.now) recorder.add('ProposalResolved', { dispatchId, proposalId, resolution: 'expired' });
  return recorder.events;
}

type ClearedBecause = Exclude<EventData<'CalibrationSignalCleared'>['reason'], 'superseded'>;

/** Brings the signals of every builder configuration in line with evidence that came without a decision. */
export function recalibrate(state: FileState, whyCleared: ClearedBecause, context: Context): FileEvent[] {
  const recorder = new Recorder(state, context);
  calibrateAll(recorder, whyCleared);
  return recorder.events;
}

/** A configuration may have a signal and no failure left, or the other way round. */
export function calibrateAll(recorder: Recorder, whyCleared: ClearedBecause): void {
  const { signals, evidence } = recorder.draft;
  const raised = [...signals.values()].map(({ configuration, model }) => [configuration, model] as const);
  const failing = [...evidence].map(([configuration, { model }]) => [configuration, model] as const);
  for (const [configuration, model] of new Map([...raised, ...failing])) recorder.calibrate(configuration, model, whyCleared);
}
