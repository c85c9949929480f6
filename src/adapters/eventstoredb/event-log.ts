import type { Readable } from 'node:stream';
import {
  BACKWARDS,
  END,
  EventStoreDBClient,
  FORWARDS,
  jsonEvent,
  MaxAppendSizeExceededError,
  NO_STREAM,
  START,
  StreamDeletedError,
  StreamNotFoundError,
  streamNameFilter,
  WrongExpectedVersionError,
} from '@eventstore/db-client';
import {
  type EventLog,
  type FollowedEvent,
  type LogEntry,
  type NewEvent,
  type StoredEvent,
  StoreUnavailable,
  TooLarge,
  WrongRevision,
} from '../../application/ports.js';
import { pause, withTimeout } from '../../application/timing.js';
import { readEvent } from '../../catalogue/versions.js';
import { batchesOf } from './batches.js';
import { letGoOfLateAnswers } from './late-answers.js';
import { sendBytes } from './send-bytes.js';
import { followedEvent, logEntry, type RawEvent, storedEvent } from './stored-event.js';

sendBytes();
letGoOfLateAnswers();

/** The client's batch append ignores its deadline, so the limit is kept here; what came of the append is then unknown. */
const APPEND_TIMEOUT_MS = 10_000;
const PING_TIMEOUT_MS = 3_000;
const CLOSE_TIMEOUT_MS = 2_000;
const FOLLOW_BATCH = 500;
const FIRST_BACKOFF_MS = 100;
const LONGEST_BACKOFF_MS = 5_000;

/**
 * The log over EventStoreDB's own client. One a process: the client keeps the promises of batch appends in a map that all clients of a
 * process share. Reads that decide ask for the leader.
 */
export class EventStoreDbLog implements EventLog {
  private readonly client: EventStoreDBClient;

  constructor(
    connectionString: string,
    private readonly report: (message: string) => void,
    private readonly headOf: (stream: string) => number | undefined = () => undefined,
    /** How what lies in the store becomes an event. */
    private readonly reader = readEvent,
  ) {
    this.client = EventStoreDBClient.connectionString(connectionString);
  }

  async append(stream: string, expectedRevision: number, events: NewEvent[]): Promise<{ position: string }> {
    const proposed = events.map(({ id, type, data, metadata }) =>
      jsonEvent({ id, type, data: data as Record<string, unknown>, metadata: metadata as Record<string, unknown> }),
    );
    const options = { expectedRevision: expectedRevision < 0 ? NO_STREAM : BigInt(expectedRevision) } as const;
    try {
      const appended = await withTimeout(this.client.appendToStream(stream, proposed, options), APPEND_TIMEOUT_MS, 'the append');
      return { position: String(appended.position?.commit ?? '') };
    } catch (error) {
      if (error instanceof WrongExpectedVersionError) throw new WrongRevision(`${stream} is not at revision ${expectedRevision}`);
      if (error instanceof MaxAppendSizeExceededError) throw new TooLarge('more than the event store takes in one append');
      throw unavailable(error);
    }
  }

  isHead(stream: string, revision: number): boolean {
    return this.headOf(stream) === revision;
  }

  async *read(stream: string, from = 0, most?: number): AsyncIterable<StoredEvent> {
    for await (const event of this.readRaw(stream, from, most)) yield storedEvent(event, this.reader);
  }

  async *readFollowed(stream: string, from: number, most?: number): AsyncIterable<FollowedEvent> {
    for await (const event of this.readRaw(stream, from, most)) yield followedEvent(event, this.reader);
  }

  async *readWritten(stream: string): AsyncIterable<LogEntry> {
    for await (const event of this.readRaw(stream, 0)) yield logEntry(event);
  }

  async *readAll(after: string | null, most?: number): AsyncIterable<LogEntry> {
    const read = this.client.readAll({
      direction: FORWARDS,
      fromPosition: after === null ? START : { commit: BigInt(after), prepare: BigInt(after) },
      // A read begins with the event at its position, which is the last that was seen.
      ...(most !== undefined && { maxCount: after === null ? most : most + 1 }),
      requiresLeader: true,
    });
    for await (const event of whole(read as unknown as Reading)) {
      const entry = logEntry(event);
      if (entry.position !== after) yield entry;
    }
  }

  private readRaw(stream: string, from: number, most?: number): AsyncIterable<RawEvent> {
    const events = this.client.readStream(stream, {
      direction: FORWARDS,
      fromRevision: from === 0 ? START : BigInt(from),
      ...(most !== undefined && { maxCount: most }),
      requiresLeader: true,
    });
    return whole(events as unknown as Reading);
  }

  async *streams(prefix: string): AsyncIterable<string> {
    const seen = new Set<string>();
    const stopped = new AbortController();
    const subscription = this.client.subscribeToAll({ filter: streamNameFilter({ prefixes: [prefix] }) }, { highWaterMark: FOLLOW_BATCH });
    let caughtUp = false;
    subscription.on('caughtUp', () => {
      caughtUp = true;
      // What came before is read first: a stream that has nothing at hand, and is caught up, has given all that there is.
      if (subscription.readableLength === 0) stopped.abort();
    });
    try {
      for await (const batch of batchesOf<{ event?: { streamId: string } }>(
        subscription as unknown as Readable,
        FOLLOW_BATCH,
        stopped.signal,
      )) {
        for (const { event } of batch)
          if (event && !seen.has(event.streamId)) {
            seen.add(event.streamId);
            yield event.streamId;
          }
        if (caughtUp && subscription.readableLength === 0) return;
      }
    } catch (error) {
      throw unavailable(error);
    } finally {
      await subscription.unsubscribe();
    }
  }

  async *follow(
    prefixes: readonly string[],
    after: string | null,
    signal: AbortSignal,
    most = FOLLOW_BATCH,
  ): AsyncIterable<FollowedEvent[]> {
    const names = prefixes.map((prefix) => `${prefix}*`).join(', ');
    let seen = after;
    let backoff = FIRST_BACKOFF_MS;
    while (!signal.aborted) {
      // Resumed from the last event that was handed out, never from a filter's checkpoint: one beyond an event would lose it.
      const subscription = this.client.subscribeToAll(
        {
          fromPosition: seen === null ? START : { commit: BigInt(seen), prepare: BigInt(seen) },
          filter: streamNameFilter({ prefixes: [...prefixes] }),
        },
        { highWaterMark: most },
      );
      try {
        for await (const batch of batchesOf<{ event?: unknown }>(subscription as unknown as Readable, most, signal)) {
          const events = batch.flatMap(({ event }) => (event ? [followedEvent(event as RawEvent, this.reader)] : []));
          if (events.length === 0) continue;
          yield events;
          seen = events.at(-1)!.position;
          backoff = FIRST_BACKOFF_MS;
        }
        if (!signal.aborted) this.report(`the subscription to ${names} was ended by the server; it resumes after position ${seen}`);
      } catch (error) {
        this.report(`the subscription to ${names} failed and resumes after position ${seen}: ${messageOf(error)}`);
      } finally {
        await subscription.unsubscribe();
      }
      await pause(backoff, signal);
      backoff = Math.min(backoff * 2, LONGEST_BACKOFF_MS);
    }
  }

  async behind(prefix: string, after: string | null, limit: number): Promise<{ events: number; oldest: Date | null }> {
    const fromPosition = after === null ? START : { commit: BigInt(after), prepare: BigInt(after) };
    const read = this.client.readAll({ direction: FORWARDS, fromPosition, maxCount: limit + 1 });
    let oldest: Date | null = null;
    let events = 0;
    try {
      for await (const { event } of read) {
        if (!event?.streamId.startsWith(prefix) || String(event.position.commit) === after) continue;
        oldest ??= event.created;
        events += 1;
      }
      return { events, oldest };
    } catch (error) {
      throw unavailable(error);
    }
  }

  async ping(): Promise<void> {
    await this.head();
  }

  async head(): Promise<string | null> {
    const read = this.client.readAll({ direction: BACKWARDS, fromPosition: END, maxCount: 1 });
    const roundTrip = async () => {
      let head: string | null = null;
      for await (const { event } of read) head = String(event?.position.commit);
      return head;
    };
    try {
      return await withTimeout(roundTrip(), PING_TIMEOUT_MS, 'the store');
    } catch (error) {
      await read.cancel();
      throw unavailable(error);
    }
  }

  /** The client waits for the end of every stream that it ever opened, which one that was left early may never bring. */
  async close(): Promise<void> {
    await withTimeout(this.client.dispose(), CLOSE_TIMEOUT_MS, 'closing the client').catch(() => {});
  }
}

type Reading = Readable & { cancel(): Promise<void> };

/**
 * The events of a read to its end, or to where its reader leaves off: leaving early would leave the call open on the server. A call that
 * has ended is not cancelled: each cancel is a reset, and a connection that resets too often is closed with all that runs on it.
 */
async function* whole(read: Reading): AsyncIterable<RawEvent> {
  let ended = false;
  try {
    for await (const { event } of read.iterator({ destroyOnReturn: false }) as AsyncIterable<{ event?: RawEvent }>) if (event) yield event;
    ended = true;
  } catch (error) {
    ended = true;
    if (error instanceof StreamNotFoundError || error instanceof StreamDeletedError) return;
    throw unavailable(error);
  } finally {
    if (!ended) await leave(read);
  }
}

/**
 * The client (6.2.1) holds on to a call until all that came of it was taken. One that had brought everything before it was left cannot be
 * cancelled any more, so what is left of it is let through.
 */
async function leave(read: Reading): Promise<void> {
  read.on('error', () => {});
  await read.cancel();
  read.resume();
}

function unavailable(error: unknown): StoreUnavailable {
  return new StoreUnavailable(`the event store did not answer: ${messageOf(error)}`, { cause: error });
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
