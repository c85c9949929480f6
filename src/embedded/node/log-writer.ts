import type { Place } from './append-rules.js';
import { EXPECT_ANY, EXPECT_NO_STREAM, EXPECT_STREAM_EXISTS } from './append-rules.js';
import type { LiveTail } from './live-tail.js';
import { LogBatch, streamsNeeded, type WriteOutcome, type WriteRequest } from './log-batch.js';
import { appendSize } from './log-event.js';
import type { LogSession } from './log-session.js';
import { LogStatements } from './log-statements.js';
import { NEVER_WRITTEN, type StreamState, type StreamStates } from './stream-states.js';

const MAX_BATCH_EVENTS = 4_000;
const MAX_BATCH_BYTES = 8 * 1024 * 1024;
const MAX_QUEUED_BYTES = 64 * 1024 * 1024;
/** Counted for each request, so that a queue of tiny ones is bounded too. */
const REQUEST_OVERHEAD_BYTES = 500;
const OUTAGE_PATIENCE_MS = 3_000;

/** The write was not confirmed: it may or may not be in the log. */
export class WriteUnconfirmedError extends Error {}

interface Queued {
  readonly request: WriteRequest;
  readonly bytes: number;
  /** Whether whoever asked has given up, which makes a write that has not begun pointless. */
  readonly abandoned: () => boolean;
  readonly resolve: (outcome: WriteOutcome) => void;
  readonly reject: (error: Error) => void;
}

interface Connected {
  readonly session: LogSession;
  nextPosition: number;
  nextStreamId: number;
}

/**
 * The only writer of the log. Everything that is queued when a commit ends goes into the next one: under load, one fsync serves many appends.
 * After a failure it writes nothing until `connect` gives it a new session, from which it reads again where the log stands.
 */
export class LogWriter {
  private readonly statements: LogStatements;
  private queue: Queued[] = [];
  private queuedBytes = 0;
  private connected: Connected | null = null;
  private working: Promise<void> | null = null;
  private outage: { timer: NodeJS.Timeout; patient: boolean } | null = null;
  private closed = false;
  private reliefs: (() => void)[] = [];

  constructor(
    schema: string,
    private readonly states: StreamStates,
    private readonly tail: LiveTail,
    private readonly onFailure: (session: LogSession, error: Error) => void,
  ) {
    this.statements = new LogStatements(schema);
  }

  /** Begins, or after a failure goes on, writing through a session. */
  async connect(session: LogSession): Promise<void> {
    this.states.clear();
    const { position, streamId } = await this.statements.readHead(session.client);
    this.tail.reset(position);
    this.connected = { session, nextPosition: position + 1, nextStreamId: streamId + 1 };
    if (this.outage !== null) clearTimeout(this.outage.timer);
    this.outage = null;
    this.work();
  }

  /** The session is gone. What is queued waits a little for the next one; what was being written fails by itself. */
  disconnect(): void {
    this.connected = null;
    if (this.outage !== null || this.closed) return;
    const timer = setTimeout(() => {
      if (this.outage !== null) this.outage.patient = false;
      this.failQueue('The event log has lost its database, and is trying to get it back.');
    }, OUTAGE_PATIENCE_MS);
    this.outage = { timer, patient: true };
  }

  /** Resolves once the write is on disk, or was refused. Rejects when neither can be said. */
  submit(request: WriteRequest, abandoned: () => boolean): Promise<WriteOutcome> {
    if (this.closed) return Promise.reject(new WriteUnconfirmedError('The node is stopping.'));
    if (this.outage?.patient === false) return Promise.reject(new WriteUnconfirmedError('The event log has no database at the moment.'));
    if (this.isFull) return Promise.reject(new WriteUnconfirmedError('Too many appends are waiting for the log.'));
    let bytes = REQUEST_OVERHEAD_BYTES;
    for (const event of request.events) bytes += appendSize(event);
    this.queuedBytes += bytes;
    return new Promise((resolve, reject) => {
      this.queue.push({ request, bytes, abandoned, resolve, reject });
      this.work();
    });
  }

  get isFull(): boolean {
    return this.queuedBytes > MAX_QUEUED_BYTES;
  }

  /** Resolves when the queue has room again. */
  relief(): Promise<void> {
    return this.isFull ? new Promise((resolve) => this.reliefs.push(resolve)) : Promise.resolve();
  }

  /** Takes no more, writes what is queued, and answers it. */
  async close(): Promise<void> {
    this.closed = true;
    if (this.outage !== null) clearTimeout(this.outage.timer);
    while (this.working !== null) await this.working;
    this.failQueue('The node is stopping.');
  }

  private work(): void {
    if (this.working !== null || this.connected === null || this.queue.length === 0) return;
    // The turn that ends here lets appends that arrived together be committed together.
    this.working = new Promise<void>((resolve) => setImmediate(resolve))
      .then(() => this.writeNext())
      .finally(() => {
        this.working = null;
        this.work();
      });
  }

  private async writeNext(): Promise<void> {
    const { connected } = this;
    if (connected === null) return;
    const taken = this.take();
    if (taken.length === 0) return;
    try {
      const outcomes = await this.commit(connected, taken);
      for (const [index, { resolve }] of taken.entries()) resolve(outcomes[index]!);
    } catch (error) {
      // Even an error that PostgreSQL itself reports may come after the commit took effect: nobody may conclude that nothing was written.
      this.states.clear();
      if (this.connected === connected) this.disconnect();
      const reason = error instanceof Error ? error.message : String(error);
      for (const { reject } of taken) reject(new WriteUnconfirmedError(`The event log could not confirm this write: ${reason}`));
      this.onFailure(connected.session, error instanceof Error ? error : new Error(reason));
    }
  }

  private take(): Queued[] {
    const taken: Queued[] = [];
    let events = 0;
    let bytes = 0;
    let used = 0;
    for (const item of this.queue) {
      if (used > 0 && (events + item.request.events.length > MAX_BATCH_EVENTS || bytes + item.bytes > MAX_BATCH_BYTES)) break;
      used += 1;
      events += item.request.events.length;
      bytes += item.bytes;
      if (item.abandoned()) item.reject(new WriteUnconfirmedError('Given up before it was written.'));
      else taken.push(item);
    }
    this.queue = this.queue.slice(used);
    this.queuedBytes -= bytes;
    this.notifyRelief();
    return taken;
  }

  /** Texts come to streams that nobody has heard of: that they are new is left to the insert to prove, and looked up only where it was not so. */
  private async commit(connected: Connected, taken: readonly Queued[]): Promise<WriteOutcome[]> {
    return (await this.tryToCommit(connected, taken, newIfExpected(taken))) ?? (await this.tryToCommit(connected, taken, new Set()))!;
  }

  /** Null, with nothing done, where one of the streams that were assumed to be new is not. */
  private async tryToCommit(
    connected: Connected,
    taken: readonly Queued[],
    mayAssume: ReadonlySet<string>,
  ): Promise<WriteOutcome[] | null> {
    const { client } = connected.session;
    const { states, assumed } = await this.loadStates(connected, taken, mayAssume);
    const places = await this.loadPlaces(connected, taken, states);
    const batch = new LogBatch(
      {
        state: (stream) => states.get(stream) ?? NEVER_WRITTEN,
        places: (stream, id) => places(states.get(stream)?.id ?? 0, id),
      },
      connected.nextPosition,
      connected.nextStreamId,
      Date.now() * 1000,
    );
    const outcomes = taken.map(({ request }) => batch.add(request));
    if (batch.events.length > 0) {
      if (!(await this.statements.insert(client, batch, assumed))) return null;
      connected.nextPosition += batch.events.length;
      connected.nextStreamId += batch.newStreams.length;
    } else if (assumed.length > 0) return null;
    for (const [stream, state] of states) this.states.put(stream, batch.changed.get(stream) ?? state);
    for (const [stream, state] of batch.changed) if (!states.has(stream)) this.states.put(stream, state);
    if (batch.events.length > 0) this.tail.push(batch.events);
    return outcomes;
  }

  private async loadStates(
    connected: Connected,
    taken: readonly Queued[],
    mayAssume: ReadonlySet<string>,
  ): Promise<{ states: Map<string, StreamState>; assumed: string[] }> {
    const states = new Map<string, StreamState>();
    const missing = new Set<string>();
    const assumed = new Set<string>();
    for (const { request } of taken) {
      for (const stream of streamsNeeded(request)) {
        const state = this.states.get(stream);
        if (state !== undefined) states.set(stream, state);
        else if (mayAssume.has(stream)) assumed.add(stream);
        else missing.add(stream);
      }
    }
    for (const stream of assumed) states.set(stream, NEVER_WRITTEN);
    if (missing.size > 0)
      for (const [stream, state] of await this.states.fetch(connected.session.client, [...missing])) states.set(stream, state);
    return { states, assumed: [...assumed] };
  }

  /** Looks up event ids, but only for appends that may be repetitions: one at the head of its stream, or on a new stream, cannot be. */
  private async loadPlaces(
    connected: Connected,
    taken: readonly Queued[],
    states: ReadonlyMap<string, StreamState>,
  ): Promise<(streamId: number, id: string) => readonly Place[]> {
    const wanted: { streamId: number; id: string }[] = [];
    for (const { request } of taken) {
      const { id: streamId, head } = states.get(request.stream) ?? NEVER_WRITTEN;
      const { expected } = request;
      const mayRepeat = expected === EXPECT_ANY || expected === EXPECT_STREAM_EXISTS || expected < head;
      if (streamId === 0 || !mayRepeat) continue;
      for (const { id } of request.events) wanted.push({ streamId, id });
    }
    if (wanted.length === 0) return () => [];
    return this.statements.findPlaces(connected.session.client, wanted);
  }

  private failQueue(reason: string): void {
    const failed = this.queue;
    this.queue = [];
    this.queuedBytes = 0;
    for (const { reject } of failed) reject(new WriteUnconfirmedError(reason));
    this.notifyRelief();
  }

  private notifyRelief(): void {
    if (this.isFull) return;
    const waiting = this.reliefs;
    this.reliefs = [];
    for (const relieve of waiting) relieve();
  }
}

/** The streams, and the metadata of those, that an append expects not to be there. */
function newIfExpected(taken: readonly Queued[]): Set<string> {
  const expectedNew = taken.filter(({ request }) => request.kind === 'append' && request.expected === EXPECT_NO_STREAM);
  return new Set(expectedNew.flatMap(({ request }) => streamsNeeded(request)));
}
