import type { EventData, FileEvent } from '../catalogue/events.js';
import { countVerdict, know, nthOf, recount } from './counts.js';
import { countLearned, distinctPatterns } from './learned.js';
import { type AttemptState, type Decision, type DispatchState, type FileState, type LearnedEvent, signalKey } from './state.js';

/** Takes a state one event further, in place. */
export function evolve(state: FileState, event: FileEvent): FileState {
  state.revision += 1;
  switch (event.type) {
    case 'DispatchOpened':
      state.dispatches.set(event.data.dispatchId, opened(event.data, state.revision));
      return state;
    case 'LeaseRenewed':
      return updateDispatch(state, event.data.dispatchId, () => ({ leaseUntil: event.data.leaseUntil }));
    case 'HistoryInjected':
      return updateDispatch(state, event.data.dispatchId, (dispatch) => ({
        leaseUntil: event.data.leaseUntil ?? dispatch.leaseUntil,
        carried: event.data.source === 'carry_forward' ? carriedOf(event.data) : dispatch.carried,
      }));
    case 'AttemptRecorded':
      return updateDispatch(state, event.data.dispatchId, (dispatch) => ({
        recorded: Math.max(dispatch.recorded, event.data.attempt),
        builderAttempts: dispatch.builderAttempts + (event.data.seat === 'builder' ? 1 : 0),
        leaseUntil: event.data.leaseUntil ?? dispatch.leaseUntil,
      }));
    case 'VerdictReached':
      return verdictReached(state, event.data);
    case 'VerdictCorrected':
      return verdictCorrected(state, event.data);
    case 'CalibrationSignalRaised':
      state.signals.set(signalKey(event.data), event.data);
      return state;
    case 'CalibrationSignalCleared':
      state.signals.delete(signalKey(event.data));
      return state;
    case 'NextStepDecided':
      return event.data.dispatchId === null ? state : decided(state, event.data.dispatchId, event.data);
    case 'CapacityClassified': {
      const { attemptId, model, kind, pattern, classification } = event.data;
      const said = { model, kind, pattern, classification };
      know(state, said);
      return updateAttempt(state, attemptId, ({ classified = [] }) => ({ classified: [...classified, said] }));
    }
    case 'FrontierOutcomeRecorded':
      return updateAttempt(state, event.data.attemptId, () => ({ ledBy: event.data.ledBy }));
    case 'ProposalStaged': {
      const { repo: _repo, targetFile: _file, at, ...proposal } = event.data;
      state.proposals.set(proposal.proposalId, { ...proposal, stagedAt: at });
      return state;
    }
    case 'ProposalResolved':
      state.proposals.delete(event.data.proposalId);
      state.resolved.set(event.data.proposalId, { dispatchId: event.data.dispatchId, resolution: event.data.resolution });
      return state;
    case 'DispatchClosed': {
      const { outcome, cause } = event.data;
      return updateDispatch(state, event.data.dispatchId, () => ({ status: 'closed', outcome, cause }));
    }
    case 'FailureAttributed':
    case 'AttributionWithdrawn':
      return learned(state, event, event.data.homeFile, event.data.homeRevision);
    case 'HistoryInherited':
      return learned(state, event, event.data.fromFile, event.data.upToRevision);
    case 'ForeignDispatchOpened': {
      const { dispatchId, homeFile, taskId, model } = event.data;
      state.foreign.set(dispatchId, { homeFile, taskId, model });
      return state;
    }
    case 'ForeignDispatchClosed':
      state.foreign.delete(event.data.dispatchId);
      return state;
    case 'SignalNoticed': {
      const { dispatchId, raisedAtRevision } = event.data;
      return updateDispatch(state, dispatchId, ({ noticed }) => ({ noticed: Math.max(noticed, raisedAtRevision) }));
    }
    // Said for readers of the log: nothing that a decision needs.
    case 'DuplicateDispatchPrevented':
    case 'DispatchSkipped':
    case 'SnapshotDiffCaptured':
    case 'TaskFlaggedForDecomposition':
    case 'CorrectionPairWithdrawn':
      return state;
    default:
      return event satisfies never;
  }
}

function carriedOf({ forAttempt, contentHash, characters }: EventData<'HistoryInjected'>): DispatchState['carried'] {
  return { forAttempt, contentHash, characters };
}

function opened(data: EventData<'DispatchOpened'>, openedAt: number): DispatchState {
  return {
    status: 'open',
    dispatchId: data.dispatchId,
    taskId: data.taskId,
    descriptionHash: data.descriptionHash,
    targetFiles: data.targetFiles,
    model: data.model,
    configuration: data.configuration,
    frontier: data.frontier,
    budget: data.budget,
    profile: data.profile,
    carry: data.carry,
    baseHash: data.baseHash,
    cold: data.cold,
    leaseSeconds: data.leaseSeconds,
    leaseUntil: data.leaseUntil,
    recorded: 0,
    builderAttempts: 0,
    counted: 0,
    failedSignatures: [],
    failedPatterns: new Set(),
    replanned: false,
    last: null,
    openedAt,
    noticed: -1,
    carried: null,
  };
}

type Change = Partial<DispatchState> | { status: 'closed' };

/** Events of a dispatch that this stream never opened (foreign or imported ones) change no dispatch. */
function updateDispatch(state: FileState, dispatchId: string, change: (dispatch: DispatchState) => Change): FileState {
  const dispatch = state.dispatches.get(dispatchId);
  if (dispatch !== undefined) state.dispatches.set(dispatchId, { ...dispatch, ...change(dispatch) } as DispatchState);
  return state;
}

/** An attempt that the state no longer holds, or never held, is not brought back. */
function updateAttempt(state: FileState, attemptId: string, change: (attempt: AttemptState) => Partial<AttemptState>): FileState {
  const attempt = state.attempts.get(attemptId);
  if (attempt !== undefined) state.attempts.set(attemptId, { ...attempt, ...change(attempt) });
  return state;
}

function verdictReached(state: FileState, data: EventData<'VerdictReached'>): FileState {
  // What stays in the event only is left out: a state is kept, and stored.
  const { repo: _repo, targetFile: _file, classifierVersion: _version, disagreement: _other, ...kept } = data;
  const attempt: AttemptState = { ...kept, patterns: distinctPatterns(data.patterns), nth: nthOf(state, data), revision: state.revision };
  state.attempts.set(data.attemptId, attempt);
  countVerdict(state, attempt);
  return state;
}

/** `upTo` is where in the other file's stream it comes from. */
function learned(state: FileState, event: LearnedEvent, file: string, upTo: number): FileState {
  if (event.type === 'AttributionWithdrawn' && event.data.reason === 'not_overcome') notOvercome(state, event.data.attemptId);
  else {
    state.learned.set(state.revision, event);
    countLearned(state, event, state.revision);
  }
  state.learnedFrom.set(file, Math.max(upTo, state.learnedFrom.get(file) ?? -1));
  return state;
}

/** What an attempt had overcome here is live again where it was: everything is counted again without that. */
function notOvercome(state: FileState, attemptId: string): void {
  for (const [revision, { type, data }] of [...state.learned])
    if (type === 'AttributionWithdrawn' && data.reason === 'overcome' && data.attemptId === attemptId) state.learned.delete(revision);
  recount(state);
}

/** A corrected verdict changes what was counted, and what later passes overcame: everything is counted again, in order. */
function verdictCorrected(state: FileState, data: EventData<'VerdictCorrected'>): FileState {
  const { attemptId, verdict } = data;
  const attempt = state.attempts.get(attemptId);
  if (attempt === undefined) return state;
  // What a frontier's verdict was classified as falls with it; a new classification comes as an event of its own.
  const classified = attempt.seat === 'frontier' && verdict !== attempt.verdict ? { classified: [] } : {};
  state.attempts.set(attemptId, {
    ...attempt,
    ...classified,
    verdict,
    patterns: distinctPatterns(data.patterns),
    confidence: 'high',
    corrected: true,
  });
  recount(state);
  return state;
}

function decided(state: FileState, dispatchId: string, data: EventData<'NextStepDecided'>): FileState {
  const { repo: _repo, targetFile: _file, at: _at, dispatchId: _id, taskId: _task, decidedAt: _decidedAt, ...decision } = data;
  const last: Decision = decision;
  return updateDispatch(state, dispatchId, (dispatch) => ({ last, replanned: dispatch.replanned || data.step === 'replan' }));
}
