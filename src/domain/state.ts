import type { DecidingInputs, LedBy } from '../catalogue/events/shapes.js';
import type { EventData, FileEvent } from '../catalogue/events.js';
import type {
  CarryMode,
  Classification,
  ErrorPattern,
  Outcome,
  Seat,
  SignalKind,
  Step,
  StoredText,
  Verdict,
} from '../catalogue/primitives.js';
import { type Evidence, forkEvidence } from './evidence.js';
import { Overlay } from './overlay.js';
import type { Tried } from './trials.js';

/** A decision as its event tells it, without the file's name. */
export interface Decision {
  step: Step;
  rule: string;
  terminal: boolean;
  detail: string;
  pattern: string | null;
  occurrences: number | null;
  threshold: number | null;
  evidence: string[];
  retryAfterSeconds: number | null;
  propensity: number | null;
  proposalId: string | null;
  runningDispatchId: string | null;
  basedOn: { stream: string; revision: number }[];
  policy: string;
  inputs: DecidingInputs;
}

interface DispatchFacts {
  dispatchId: string;
  taskId: string;
  descriptionHash: string | null;
  targetFiles: string[];
  model: string;
  configuration: string;
  frontier: string | null;
  budget: number;
  profile: string | null;
  carry: CarryMode;
  baseHash: string | null;
  cold: boolean;
  leaseSeconds: number;
  leaseUntil: string;
  /** Attempts recorded so far, of both seats: the next one's number is one more. */
  recorded: number;
  /** The builder's attempts, and those among them that passed or failed: only these spend budget. */
  builderAttempts: number;
  counted: number;
  /** Signatures and pattern keys of the builder's failures in this dispatch. */
  failedSignatures: readonly string[];
  failedPatterns: ReadonlySet<string>;
  replanned: boolean;
  last: Decision | null;
  /** The revision of the event that opened it: nothing of it lies before. */
  openedAt: number;
  /** Where the newest signal was raised that it was told of; -1: it was told of none. */
  noticed: number;
  /** The block of earlier attempts that was handed out last, and for which attempt. */
  carried: { forAttempt: number; contentHash: string; characters: number } | null;
}

/** Open, or closed for good: a closed one has its outcome, and says whether its lease was lost or a caller gave it up. */
export type DispatchState =
  | (DispatchFacts & { status: 'open' })
  | (DispatchFacts & { status: 'closed'; outcome: Outcome; cause: 'lease_lost' | 'caller' | null });

export interface AttemptState {
  attemptId: string;
  dispatchId: string;
  attempt: number;
  /** How many attempts of its seat in its dispatch had passed or failed by then, itself included. */
  nth: number;
  seat: Seat;
  model: string;
  configuration: string;
  taskId: string;
  verdict: Verdict;
  patterns: ErrorPattern[];
  signature: string | null;
  infraKind: string | null;
  /** Low: the text left it open. Such a verdict is no evidence for a signal; where it is blocked, the verifier is asked once more. */
  confidence: 'high' | 'low';
  late: boolean;
  imported: boolean;
  at: string;
  /** Where its verdict stands in the stream. */
  revision: number;
  /** Names what was judged; null where nothing says. */
  trial: string | null;
  /** A frontier's only: what led to it, and what it was classified as. */
  ledBy?: LedBy | null;
  classified?: Pick<EventData<'CapacityClassified'>, 'model' | 'kind' | 'pattern' | 'classification'>[];
  /** Its verdict was corrected, once at least. */
  corrected?: true;
}

/** What is known of one task on this file, over all configurations. */
export interface TaskState {
  /** Pattern keys that the builder failed this task with. */
  failedPatterns: ReadonlySet<string>;
  /** Frontiers that failed it since anything last passed it, with the descriptions (their hashes) that they failed. */
  frontierFailures: ReadonlyMap<string, ReadonlySet<string | null>>;
  /** Configurations that passed it since a frontier last did; null: no frontier ever did. */
  passedSinceFrontier: ReadonlySet<string> | null;
  /** How many counted attempts the builder's newest pass took; null: it never passed. */
  passedAfter: number | null;
}

export interface HistogramEntry extends Omit<ErrorPattern, 'file'> {
  attempts: number;
  /** The newest attempts that failed with it, oldest first; none of what a rename brought along. */
  newest: readonly string[];
  /** When it was seen last; null where only a rename told of it. */
  lastAt: string | null;
}

export interface RaisedSignal {
  configuration: string;
  model: string;
  kind: SignalKind;
  pattern: string | null;
  code: string | null;
}

/** What a frontier's outcomes said of a signal on this file: `pattern` is null for a `per_file` one. */
export interface FrontierKnowledge {
  pattern: string | null;
  kind: string | null;
  verdict: 'pass' | 'fail';
  classification: Classification;
}

/** How attempts on one file went, as it was counted there: its own, and the failures that other homes attributed to it. */
export interface Results {
  /** Attempts of either seat that passed or failed. */
  counted: number;
  /** The builder seat's attempts by verdict, of all models. */
  builder: Record<Verdict, number>;
  /** Failures of other files' dispatches that were attributed to this one. */
  attributed: number;
  /** Failing patterns of the builder seat, by key: of the attempts and of what was attributed. */
  histogram: Map<string, HistogramEntry>;
}

/** A proposal that nobody has resolved. */
export interface PendingProposal {
  proposalId: string;
  dispatchId: string;
  attemptId: string;
  taskId: string;
  files: string[];
  seat: Seat;
  output: StoredText;
  diff: StoredText | null;
  baseHash: string | null;
  stagedAt: string;
  expiresAt: string;
}

/** What a file is told of others by the saga. */
export type LearnedEvent = Extract<FileEvent, { type: 'FailureAttributed' | 'AttributionWithdrawn' | 'HistoryInherited' }>;

/**
 * Everything that decisions on one file need, folded from its stream. {@link evolve} changes the state that it is given; values inside
 * the maps are never changed in place, so that {@link fork} can share them.
 */
export interface FileState extends Results {
  /** Of the last event folded in; -1: the stream is empty. */
  revision: number;
  /** The newest attempts where they were blocked by one kind of infrastructure failure. */
  blockedRun: { infraKind: string; length: number; lastAt: string } | null;
  dispatches: Map<string, DispatchState>;
  attempts: Map<string, AttemptState>;
  tasks: Map<string, TaskState>;
  /** Live failures by builder configuration. */
  evidence: Map<string, Evidence>;
  /** How the newest outputs were judged, by trial, oldest first. */
  trials: Map<string, Tried>;
  /** Signals raised and not cleared, by {@link signalKey}. */
  signals: Map<string, RaisedSignal>;
  /** By pattern key (or kind) and classification. */
  frontier: Map<string, FrontierKnowledge>;
  proposals: Map<string, PendingProposal>;
  /** Proposals that were resolved, and how. */
  resolved: Map<string, { dispatchId: string; resolution: string }>;
  /** Dispatches with another home that name this file and are not known to have ended. */
  foreign: Map<string, { homeFile: string; taskId: string; model: string }>;
  /** Up to which revision of other files' streams this one has learned, by file. */
  learnedFrom: Map<string, number>;
  /** What files that were renamed to this one had as their own, by file. */
  inherited: Map<string, Results & { upToRevision: number }>;
  /** What came from other files, by its revision: counting everything again needs it. */
  learned: Map<number, LearnedEvent>;
}

export function emptyState(): FileState {
  return {
    revision: -1,
    ...noResults(),
    blockedRun: null,
    dispatches: new Map(),
    attempts: new Map(),
    tasks: new Map(),
    evidence: new Map(),
    trials: new Map(),
    signals: new Map(),
    frontier: new Map(),
    proposals: new Map(),
    resolved: new Map(),
    foreign: new Map(),
    learnedFrom: new Map(),
    inherited: new Map(),
    learned: new Map(),
  };
}

function noResults(): Results {
  return { counted: 0, builder: { pass: 0, fail: 0, blocked: 0 }, attributed: 0, histogram: new Map() };
}

/**
 * A state that can be taken further without changing the one it came from, which must stay as it is meanwhile: for looking at what a
 * command's own facts lead to.
 */
export function fork(state: FileState): FileState {
  return {
    ...state,
    builder: { ...state.builder },
    histogram: new Overlay(state.histogram),
    dispatches: new Overlay(state.dispatches),
    attempts: new Overlay(state.attempts),
    tasks: new Overlay(state.tasks),
    evidence: new Map([...state.evidence].map(([configuration, evidence]) => [configuration, forkEvidence(evidence)])),
    trials: new Overlay(state.trials),
    signals: new Overlay(state.signals),
    frontier: new Overlay(state.frontier),
    proposals: new Overlay(state.proposals),
    resolved: new Overlay(state.resolved),
    foreign: new Overlay(state.foreign),
    learnedFrom: new Overlay(state.learnedFrom),
    inherited: new Overlay(state.inherited),
    learned: new Overlay(state.learned),
  };
}

export function signalKey(signal: { configuration: string; kind: SignalKind; pattern: string | null; code: string | null }): string {
  return `${signal.configuration}\0${signal.kind}\0${signal.code ?? signal.pattern ?? ''}`;
}
