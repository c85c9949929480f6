import type { FileEvent } from '../catalogue/events.js';
import type { SignalKind } from '../catalogue/primitives.js';
import { evolve } from './evolve.js';
import { emptyState, type FileState, signalKey } from './state.js';
import { sentenceOf } from './story-sentences.js';

/** An event of a file's stream, as a story needs it. `cause` is the command that it came with. */
export interface ToldEvent {
  id: string;
  revision: number;
  cause: string;
  actor: string;
  event: FileEvent;
}

/** What a decision could see: the file as it stood, and how much of the dispatch's budget was spent. Counts are the builder's attempts. */
export interface Known {
  revision: number;
  passed: number;
  failed: number;
  blocked: number;
  signals: { configuration: string; kind: SignalKind; pattern: string | null }[];
  attemptsSpent: number | null;
  budget: number | null;
}

/** One event of the story. `known` stands beside a decision; `afterClosing`: the dispatch was over by then. */
export interface StoryStep extends ToldEvent {
  says: string;
  known: Known | null;
  afterClosing: boolean;
}

/**
 * What the stream says of one dispatch, in its order: all of its own events, the signals that came with them or that its attempts are
 * evidence of or that it was told of, how these ended, and who was answered with it, or with what it made.
 */
export function storyOf(events: ToldEvent[], stream: string, dispatchId: string): StoryStep[] {
  const own = events.filter(({ event }) => 'dispatchId' in event.data && event.data.dispatchId === dispatchId);
  const causes = new Set(own.map(({ cause }) => cause));
  const itsSignals = new Set<string>();
  const belongs = ({ event, cause }: ToldEvent): boolean => {
    switch (event.type) {
      case 'CalibrationSignalRaised':
        if (!causes.has(cause) && !mentions(event.data.evidence, dispatchId)) return false;
        itsSignals.add(signalKey(event.data));
        return true;
      case 'CalibrationSignalCleared':
        return itsSignals.delete(signalKey(event.data)) || causes.has(cause);
      case 'SignalNoticed': {
        if (event.data.dispatchId !== dispatchId) return false;
        const raised = events.find(({ revision }) => revision === event.data.raisedAtRevision)?.event;
        if (raised?.type === 'CalibrationSignalRaised') itsSignals.add(signalKey(raised.data));
        return true;
      }
      case 'NextStepDecided':
        return mentions([event.data.dispatchId, event.data.runningDispatchId, event.data.proposalId], dispatchId);
      default:
        return mentions(Object.values(event.data), dispatchId);
    }
  };
  const told = events.filter(belongs);
  const known = knownAt(events, told, stream, dispatchId);
  let closed = false;
  return told.map((one) => {
    const afterClosing = closed;
    closed ||= one.event.type === 'DispatchClosed' && one.event.data.dispatchId === dispatchId;
    return { ...one, says: sentenceOf(one.event, dispatchId), known: known.get(one.revision) ?? null, afterClosing };
  });
}

/** Ids of a dispatch's attempts and proposals carry its own. */
function mentions(values: readonly unknown[], dispatchId: string): boolean {
  const unique = dispatchId.slice(1);
  return values.some(
    (value) => typeof value === 'string' && (value === dispatchId || value.startsWith(`a${unique}-`) || value.startsWith(`p${unique}-`)),
  );
}

/** What each decision of the story was made on, by the decision's revision: the stream is folded once, and looked at on the way. */
function knownAt(events: ToldEvent[], told: ToldEvent[], stream: string, dispatchId: string): Map<number, Known> {
  const wanted = new Map<number, number[]>();
  for (const { event, revision } of told) {
    if (event.type !== 'NextStepDecided') continue;
    const on = event.data.basedOn.find((based) => based.stream === stream)?.revision ?? -1;
    wanted.set(on, [...(wanted.get(on) ?? []), revision]);
  }
  const known = new Map<number, Known>();
  const state = emptyState();
  const look = () => {
    for (const decision of wanted.get(state.revision) ?? []) known.set(decision, knownNow(state, dispatchId));
  };
  look();
  for (const { event } of events) {
    evolve(state, event);
    look();
  }
  return known;
}

function knownNow(state: FileState, dispatchId: string): Known {
  const dispatch = state.dispatches.get(dispatchId);
  return {
    revision: state.revision,
    passed: state.builder.pass,
    failed: state.builder.fail,
    blocked: state.builder.blocked,
    signals: [...state.signals.values()].map(({ configuration, kind, pattern }) => ({ configuration, kind, pattern })),
    attemptsSpent: dispatch?.counted ?? null,
    budget: dispatch?.budget ?? null,
  };
}
