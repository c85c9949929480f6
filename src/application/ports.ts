import type { AnvilEvent } from '../catalogue/events.js';
import type { Metadata } from '../catalogue/metadata.js';
import type { WhatIfBody, WhatIfResult } from '../catalogue/what-if.js';
import type { CohortFilter, Reruns } from '../domain/cohorts.js';
import type { GroupSums, PairCount } from '../domain/measure.js';
import type { PatternSums, PeriodSums } from '../domain/signal-quality.js';

/** An event that is about to be appended. */
export interface NewEvent {
  id: string;
  type: string;
  data: unknown;
  metadata: Metadata;
}

/** An event out of the store: as it was written, and lifted to the newest shape. `position` is its commit position, a decimal number. */
export interface StoredEvent {
  id: string;
  stream: string;
  revision: number;
  position: string;
  created: Date;
  written: { type: string; data: unknown };
  metadata: Metadata;
  event: AnvilEvent;
}

/** An event out of the store that this code cannot read, and why. */
export interface UnreadEvent {
  id: string;
  stream: string;
  revision: number;
  position: string;
  type: string;
  unreadable: string;
}

/** An event as those meet it who go through the log: one that cannot be read is handed out too, for them to deal with. */
export type FollowedEvent = StoredEvent | UnreadEvent;

export function isUnread(event: FollowedEvent): event is UnreadEvent {
  return 'unreadable' in event;
}

/** A stream that was to be read whole holds an event that this code cannot read. */
export class UnreadableStream extends Error {
  override name = 'UnreadableStream';

  constructor(readonly event: UnreadEvent) {
    super(`${event.stream} at revision ${event.revision}: ${event.unreadable}`);
  }
}

/** An event as it lies in the store, whoever wrote it: nothing of what it says is parsed. */
export interface LogEntry {
  id: string;
  stream: string;
  revision: number;
  position: string;
  created: Date;
  type: string;
  data: unknown;
  metadata: unknown;
}

/** The stream was not at the revision that the append expected. */
export class WrongRevision extends Error {
  override name = 'WrongRevision';
}

/** The store cannot be reached, or did not answer in time. Nothing is claimed about an append that ended so. */
export class StoreUnavailable extends Error {
  override name = 'StoreUnavailable';
}

/** More than the store takes in one append; nothing of it was stored. */
export class TooLarge extends Error {
  override name = 'TooLarge';
}

export interface EventLog {
  /**
   * Appends all events or none. `expectedRevision` is that of the stream's last event, -1 when it must not exist. Answers the commit
   * position of the last event. Throws {@link WrongRevision}, {@link TooLarge}, or {@link StoreUnavailable} with the outcome unknown: the same events
   * (by id) may be appended again at the same revision, and count once.
   */
  append(stream: string, expectedRevision: number, events: NewEvent[]): Promise<{ position: string }>;
  /**
   * Whether the stream is known, without asking the store, to be at this revision: true is as good as a read of its tail, false says
   * nothing. Only a node in this process can know.
   */
  isHead(stream: string, revision: number): boolean;
  /**
   * The stream's events from a revision on, in order, read from the leader; none when there is no such stream. Who needs only some says
   * how many at `most`. Throws {@link UnreadableStream} where one of them cannot be read.
   */
  read(stream: string, from?: number, most?: number): AsyncIterable<StoredEvent>;
  /** The same, with those that cannot be read handed out too. */
  readFollowed(stream: string, from: number, most?: number): AsyncIterable<FollowedEvent>;
  /** The stream's events as they lie in the store: what they say is not parsed, so nothing about them is refused. */
  readWritten(stream: string): AsyncIterable<LogEntry>;
  /**
   * Everything in the log after a position (null: from the start), of all producers, in commit order: `most` of it, or one more where
   * the position is of no event.
   */
  readAll(after: string | null, most?: number): AsyncIterable<LogEntry>;
  /** The names of all streams that begin with a prefix and hold events now, each once. */
  streams(prefix: string): AsyncIterable<string>;
  /**
   * All events in streams whose name begins with one of the prefixes, in commit order: those after a position (null: from the start), then live
   * ones, in batches of what is at hand. Resumes by itself after a fault; ends when `signal` aborts. `most` bounds a batch.
   */
  follow(prefixes: readonly string[], after: string | null, signal: AbortSignal, most?: number): AsyncIterable<FollowedEvent[]>;
  /** The commit position of the newest event of the log; null while it is empty. */
  head(): Promise<string | null>;
  /** How many events of streams with the prefix lie after a position, looking at no more than `limit`, and when the oldest was created. */
  behind(prefix: string, after: string | null, limit: number): Promise<{ events: number; oldest: Date | null }>;
  /** Answers when the store has answered a round trip. Throws {@link StoreUnavailable}. */
  ping(): Promise<void>;
}

export interface Clock {
  /** ISO 8601, UTC, milliseconds. */
  now(): string;
}

export interface Ids {
  /** A random UUID. */
  uuid(): string;
  /** 16 random characters of [0-9a-z]: for ids that carry more than chance. */
  short(): string;
}

/** Values of a read model's row, by column. */
export type Row = Record<string, unknown>;

/** A page of a read model: filters are equalities (undefined: any), `after` is the cursor of an earlier page. */
export interface PageRequest {
  projection: string;
  table: string;
  where: Record<string, string | undefined>;
  /** Columns to sort by; they end in ones that make every row's place unique. */
  order: string[];
  descending?: boolean;
  limit: number;
  cursor?: string;
}

export interface ReadModels {
  /** Throws {@link BadCursor} for a cursor that no page of this order gave. */
  page(request: PageRequest): Promise<{ items: Row[]; nextCursor: string | null }>;
  /** The position up to which a projection has seen the log; null: nothing yet. */
  position(projection: string): Promise<string | null>;
  /** Which of these attempts are in a correction pair. */
  paired(attemptIds: string[]): Promise<Set<string>>;
  ping(): Promise<void>;
}

/** Undefined: any. */
export type MeasuredFilter = { [column in 'repo' | 'batch' | 'model' | 'experiment']?: string | undefined };

/** What is measured of dispatches. */
export interface MeasuredRows {
  /** A page of the first dispatch of each task of a cohort, by repo, file, task and model. Throws {@link BadCursor}. */
  cohort(
    has: CohortFilter,
    filter: MeasuredFilter,
    page: { cursor: string | undefined; limit: number },
  ): Promise<{ items: Row[]; nextCursor: string | null }>;
  /** How the tasks of a cohort came out in their first run and in the first one of another batch. */
  reruns(has: CohortFilter, filter: MeasuredFilter, batch: string): Promise<Reruns>;
  /** By arm and by cold or history. */
  sums(filter: MeasuredFilter): Promise<GroupSums[]>;
  /** Of the tasks that ran in several arms, the first dispatch in each, pair by pair with the names in order. */
  pairs(filter: MeasuredFilter): Promise<PairCount[]>;
}

/** Undefined: any. Times are those at which signals were raised, or fired in a dispatch: from `from` on, before `to`. */
export type SignalQualityFilter = Partial<Record<'repo' | 'model' | 'from' | 'to', string | undefined>>;

/** What signals came to, summed up. */
export interface SignalQualityRows {
  patterns(filter: SignalQualityFilter): Promise<PatternSums[]>;
  /** In the order of time; a week begins on Monday, in UTC. */
  periods(filter: SignalQualityFilter, period: 'day' | 'week'): Promise<PeriodSums[]>;
}

export class BadCursor extends Error {
  override name = 'BadCursor';
}

/** Where a process or a projection stands in the log. */
export interface Checkpoints {
  load(name: string): Promise<string | null>;
  save(name: string, position: string): Promise<void>;
}

export interface Leadership {
  /**
   * Runs `lead` whenever this instance leads, until `signal` aborts. What `lead` is given aborts when the lead is lost; it must come to
   * its end then.
   */
  whileLeading(signal: AbortSignal, lead: (leading: AbortSignal) => Promise<void>): Promise<void>;
}

/** Stored folds of long streams. They can be lost at any time: they only save reading a stream from its start. */
export interface Snapshots {
  load(stream: string, foldVersion: number): Promise<{ revision: number; body: string } | null>;
  /** Keeps the newest. */
  save(stream: string, foldVersion: number, revision: number, body: string): Promise<void>;
  remove(stream: string): Promise<void>;
}

/** Whoever goes through the events of files and may have to leave some behind: a projection, or the saga. */
export type FollowerName = string;

/**
 * An event that a follower could not take in, the first such one of its stream. It holds back the later ones of the stream that the
 * follower would have taken, up to the revision `heldUpTo`: what a file's rows say depends on the order of its events.
 */
export interface ParkedEvent {
  follower: FollowerName;
  stream: string;
  revision: number;
  heldUpTo: number;
}

/** Where an event lies, and what its type is. */
export type EventPlace = Pick<UnreadEvent, 'id' | 'stream' | 'revision' | 'position' | 'type'>;

export interface ParkedEvents {
  /** How many streams each follower has an event of parked; those with none are left out. */
  counts(): Promise<Record<FollowerName, number>>;
  /** All of a follower's, or that of one stream. */
  of(follower: FollowerName, stream?: string): Promise<ParkedEvent[]>;
  /**
   * Notes that events of streams up to these revisions are held back, where an event of the stream is parked; answers with the revision of
   * that for each such stream.
   */
  hold(follower: FollowerName, upTo: Map<string, number>): Promise<Map<string, number>>;
  /** Parks an event in the place of another one of its stream; parked already, it is one more try. Holds back others up to a revision. */
  park(follower: FollowerName, event: EventPlace, reason: string, heldUpTo: number): Promise<void>;
  /** Takes note that it was taken in, with all that it held back; false where more was held back since. */
  release(parked: ParkedEvent): Promise<boolean>;
}

/** Where projections keep their rows. */
export interface ProjectionRows {
  /** The position after which at least one projection still has to see events; null: from the start. */
  oldestPosition(): Promise<string | null>;
  /** Takes every projection over a batch of events; events that one has seen before do not count again. */
  apply(events: FollowedEvent[]): Promise<void>;
  /** Tries each parked event of the projections again, and after it, in order, what it held back. */
  retry(log: Pick<EventLog, 'readFollowed'>): Promise<void>;
}

/** What a rebuilt table has that the live one has not, or the other way round. */
export interface Difference {
  projection: string;
  table: string;
  onlyLive: { rows: number; samples: unknown[] };
  onlyBuilt: { rows: number; samples: unknown[] };
}

/** A rebuild of projections from the start of the log. `fraction` of the log's positions is done; `differences` once it was compared. */
export interface Rebuild {
  id: string;
  projections: string[];
  compare: boolean;
  status: 'running' | 'done' | 'failed' | 'cancelled';
  events: number;
  fraction: number;
  error: string | null;
  differences: Difference[] | null;
  startedAt: Date;
  finishedAt: Date | null;
}

export interface RebuildStore {
  create(id: string, projections: string[], compare: boolean, startedAt: string): Promise<Rebuild>;
  get(id: string): Promise<Rebuild | null>;
  /** Those that are to be worked on, the oldest first. */
  running(): Promise<Rebuild[]>;
  progress(id: string, events: number, fraction: number): Promise<void>;
  /** Ends a running one that does not succeed, and drops what it had made; false where it was no longer running. */
  finish(id: string, status: 'failed' | 'cancelled', error: string | null, at: string): Promise<boolean>;
  shadow(rebuild: Rebuild): Promise<ProjectionRows>;
  /** Makes what the built rows are found by, once they have seen as much of the log as the live ones; false before that. */
  index(rebuild: Rebuild): Promise<boolean>;
  /**
   * Puts the built rows in the place of the live ones in one transaction and ends the rebuild, noting before what differs where that was
   * asked for; false where the live ones have seen more of the log (`exactly`: or less), or it was no longer running.
   */
  switchOver(rebuild: Rebuild, at: string, exactly?: boolean): Promise<boolean>;
}

/** A replay of the log under other rules. */
export interface WhatIf {
  id: string;
  asked: WhatIfBody;
  status: 'running' | 'done' | 'failed' | 'cancelled';
  progress: { fraction: number; files: number; attempts: number };
  error: string | null;
  result: WhatIfResult | null;
  startedAt: Date;
  finishedAt: Date | null;
}

export interface WhatIfStore {
  /** Null where too many are running. Forgets ended ones but the newest. */
  create(id: string, asked: WhatIfBody, startedAt: string): Promise<WhatIf | null>;
  get(id: string): Promise<WhatIf | null>;
  /** Those that are to be worked on, the oldest first. */
  running(): Promise<WhatIf[]>;
  /** False where it is no longer running. */
  progress(id: string, progress: WhatIf['progress']): Promise<boolean>;
  /** Ends a running one. */
  finish(id: string, end: Pick<WhatIf, 'status' | 'result' | 'error'>, at: string): Promise<void>;
}

export interface FilePlace {
  repo: string;
  targetFile: string;
}

/** Streams of files that time alone has something to do on: a lease or a proposal that ran out by `now`. */
export interface OverdueFiles {
  /** In the order of repo and file, those behind `after`. */
  overdue(now: string, limit: number, after: FilePlace | null): Promise<FilePlace[]>;
}

/** The names under which the ports are injected: interfaces leave nothing behind to be named by. */
export const EVENT_LOG = Symbol('EventLog');
export const CLOCK = Symbol('Clock');
export const PROJECTION_NAMES = Symbol('ProjectionNames');
export const IDS = Symbol('Ids');
export const REBUILDS = Symbol('RebuildStore');
export const SIGNAL_QUALITY_ROWS = Symbol('SignalQualityRows');
export const WHAT_IFS = Symbol('WhatIfStore');
export const PARKED_EVENTS = Symbol('ParkedEvents');
export const PROJECTION_ROWS = Symbol('ProjectionRows');
export const MEASURED_ROWS = Symbol('MeasuredRows');
export const READ_MODELS = Symbol('ReadModels');
