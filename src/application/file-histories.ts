import { EventEmitter } from 'node:events';
import { LRUCache } from 'lru-cache';
import type { FileEvent } from '../catalogue/events.js';
import { countsAgain } from '../domain/counts.js';
import { prune } from '../domain/prune.js';
import { FOLD_VERSION, packState, unpackState } from '../domain/snapshot.js';
import { emptyHistory, type FileHistory, fold, packKeys, take, unpackKeys, type WholeHistory } from './file-history.js';
import { KeyedQueue } from './keyed-queue.js';
import type { Metrics } from './metrics.js';
import type { EventLog, Snapshots, StoredEvent } from './ports.js';
import { pause } from './timing.js';

/** The cache's bound: what the states in it hold in all, in units of about 0.4 KB; see {@link weigh}. */
const MOST_HELD = 1_000_000;
/** A stream that has grown by this many events since its snapshot gets a new one. */
const SNAPSHOT_EVERY = 500;
/** Closed dispatches are pruned when this many are held, not at every event. */
const PRUNE_FROM = 30;

const CLOSING = Symbol('closing');

interface Cached extends FileHistory {
  /** The revision of the newest snapshot that is known to be stored. */
  snapshotAt: number;
}

/**
 * Files' histories at their heads. A folded state is kept and brought up to date by reading the tail of its stream; one that is not in
 * the cache begins from a stored snapshot. Both only save work: without them the stream folds to the same.
 */
export class FileHistories {
  private readonly cache = new LRUCache<string, Cached>({ maxSize: MOST_HELD, sizeCalculation: weigh });
  private readonly queue = new KeyedQueue();
  private readonly appends = new EventEmitter().setMaxListeners(0);
  /** Nobody is to wait for anything any more. */
  closing = false;

  constructor(
    private readonly log: EventLog,
    private readonly snapshots: Snapshots,
    private readonly metrics: Metrics,
    private readonly report: (message: string) => void,
  ) {}

  /** Work on one stream, one piece at a time: what it is given is its own until it has ended. */
  turn<T>(stream: string, work: () => Promise<T>): Promise<T> {
    return this.queue.run(stream, work);
  }

  /**
   * What `look` makes of a stream at its head, or, where that is enough, of a state that has seen `upTo`: then no turn is waited for. It must
   * take along what it needs: the state goes on changing when it has returned.
   */
  async look<T>(stream: string, look: (history: FileHistory) => T, upTo = Number.POSITIVE_INFINITY): Promise<T> {
    const held = this.cache.peek(stream);
    if (held !== undefined && held.state.revision >= upTo) return look(held);
    return this.turn(stream, async () => look(await this.current(stream)));
  }

  /** The history as far as it is in memory: it may be behind the stream's head. For the holder of the stream's turn. */
  atHand(stream: string): FileHistory | undefined {
    return this.cached(stream);
  }

  /** The history at the stream's head, for the holder of the stream's turn. Nothing is read where the log knows that it is there. */
  async current(stream: string): Promise<FileHistory> {
    const held = this.cached(stream);
    if (held !== undefined && this.log.isHead(stream, held.state.revision)) return held;
    const history = held ?? (await this.fromSnapshot(stream)) ?? this.fromStart(stream);
    for await (const stored of this.log.read(stream, history.state.revision + 1)) {
      if (countsAgain(stored.event)) {
        const { events: _events, ...whole } = await this.whole(stream);
        return this.keep({ ...whole, snapshotAt: -1 });
      }
      takeStored(history, stored);
    }
    return this.keep(history);
  }

  /** The whole stream, every dispatch and attempt in it. */
  async whole(stream: string): Promise<WholeHistory> {
    const events: StoredEvent[] = [];
    for await (const event of this.log.read(stream)) events.push(event);
    return fold(stream, events);
  }

  /** Resolves when this process has appended to the stream, when `ms` have passed, or when the service is about to end. */
  async untilAppended(stream: string, ms: number): Promise<void> {
    const enough = new AbortController();
    const wake = () => enough.abort();
    this.appends.once(stream, wake).once(CLOSING, wake);
    await pause(ms, enough.signal);
    this.appends.off(stream, wake).off(CLOSING, wake);
  }

  /** Lets everybody go who waits. */
  close(): void {
    this.closing = true;
    this.appends.emit(CLOSING);
  }

  /** Takes a history further by what was just appended to it. */
  appended(history: FileHistory, events: { event: FileEvent; metadata: Parameters<typeof take>[2] }[], position: string): void {
    for (const { event, metadata } of events) take(history, event, metadata, position);
    const cached = this.cache.peek(history.stream);
    // The next look folds the whole stream.
    if (events.some(({ event }) => countsAgain(event))) this.cache.delete(history.stream);
    else if (cached === history) this.keep(cached);
    this.appends.emit(history.stream);
  }

  /** For a stream that is not what the cache says, and does not bring it up to date either: it was deleted, or is another one now. */
  async forget(stream: string): Promise<void> {
    this.cache.delete(stream);
    await this.snapshots.remove(stream).catch(() => {});
  }

  private cached(stream: string): Cached | undefined {
    const history = this.cache.get(stream);
    if (history !== undefined) this.metrics.folds.inc({ from: 'memory' });
    return history;
  }

  private fromStart(stream: string): Cached {
    this.metrics.folds.inc({ from: 'start' });
    return { ...emptyHistory(stream), snapshotAt: -1 };
  }

  private keep(history: Cached): Cached {
    const { state, stream } = history;
    const { dispatches, resolved, learned } = state;
    if (Math.max(dispatches.size, resolved.size, learned.size) >= PRUNE_FROM) prune(state);
    // Set anew, so that it is weighed anew.
    this.cache.delete(stream);
    this.cache.set(stream, history);
    this.metrics.cachedStreams.set(this.cache.size);
    if (state.revision - history.snapshotAt >= SNAPSHOT_EVERY) this.takeSnapshot(history);
    return history;
  }

  private takeSnapshot(history: Cached): void {
    const { stream, where, state, head, keys } = history;
    const body = JSON.stringify({ where, head, keys: packKeys(keys), state: packState(state) });
    history.snapshotAt = state.revision;
    this.snapshots
      .save(stream, FOLD_VERSION, state.revision, body)
      .catch((error: unknown) => this.report(`no snapshot of ${stream}: ${error instanceof Error ? error.message : String(error)}`));
  }

  /** A snapshot counts only if the stream still has, at its revision, the very event that it ends with. */
  private async fromSnapshot(stream: string): Promise<Cached | undefined> {
    const stored = await this.snapshots.load(stream, FOLD_VERSION).catch(() => null);
    if (stored === null) return undefined;
    const { where, head, keys, state } = JSON.parse(stored.body);
    let same = false;
    for await (const last of this.log.read(stream, stored.revision, 1)) same = last.metadata.hash === head.hash;
    if (!same) return undefined;
    this.metrics.folds.inc({ from: 'snapshot' });
    const history = { ...emptyHistory(stream), where, head, keys: unpackKeys(keys), state: unpackState(state) };
    return { ...history, snapshotAt: stored.revision };
  }
}

function takeStored(history: FileHistory, { event, metadata, position }: StoredEvent): void {
  take(history, event as FileEvent, metadata, position);
}

/** A dispatch carries its last decision with the evidence, an attempt its patterns. */
function weigh({ state, keys }: Cached): number {
  const others = 2 * state.learned.size + state.foreign.size + 100 * state.inherited.size;
  const failures = [...state.evidence.values()].reduce((sum, evidence) => sum + evidence.failures.size, 0);
  const kept = 2 * state.attempts.size + 8 * state.dispatches.size + state.tasks.size + state.histogram.size + keys.size;
  return 10 + kept + failures + others + Math.ceil(state.trials.size / 4);
}
