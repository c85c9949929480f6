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
import { type EventLog, type NewEvent, type StoredEvent, StoreUnavailable, TooLarge, WrongRevision } from '../../application/ports.js';
import { pause, withTimeout } from '../../application/timing.js';
import { batchesOf } from './batches.js';
import { type RawEvent, storedEvent } from './stored-event.js';

/** The client's batch append ignores its deadline, so the limit is kept here; what came of the append is then unknown. */
const APPEND_TIMEOUT_MS = 10_000;
const PING_TIMEOUT_MS = 3_000;
const CLOSE_TIMEOUT_MS = 1_000;
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

  async *read(stream: string, from = 0): AsyncIterable<StoredEvent> {
    const events = this.client.readStream(stream, {
      direction: FORWARDS,
      fromRevision: from === 0 ? START : BigInt(from),
      requiresLeader: true,
    });
    try {
      for await (const { event } of events) if (event) yield storedEvent(event as RawEvent);
    } catch (error) {
      if (error instanceof StreamNotFoundError || error instanceof StreamDeletedError) return;
      throw unavailable(error);
    } finally {
      // Leaving the loop early would leave the call open on the server.
      await events.cancel();
    }
  }

  async *follow(prefix: string, after: string | null, signal: AbortSignal): AsyncIterable<StoredEvent[]> {
    let seen = after;
    let backoff = FIRST_BACKOFF_MS;
    while (!signal.aborted) {
      // Resumed from the last event that was handed out, never from a filter's checkpoint: one beyond an event would lose it.
      const subscription = this.client.subscribeToAll(
        {
          fromPosition: seen === null ? START : { commit: BigInt(seen), prepare: BigInt(seen) },
          filter: streamNameFilter({ prefixes: [prefix] }),
        },
        { highWaterMark: FOLLOW_BATCH },
      );
      try {
        for await (const batch of batchesOf<{ event?: unknown }>(subscription as unknown as Readable, FOLLOW_BATCH, signal)) {
          const events = batch.flatMap(({ event }) => (event ? [storedEvent(event as RawEvent)] : []));
          if (events.length === 0) continue;
          yield events;
          seen = events.at(-1)!.position;
          backoff = FIRST_BACKOFF_MS;
        }
        if (!signal.aborted) this.report(`the subscription to ${prefix}* was ended by the server; it resumes after position ${seen}`);
      } catch (error) {
        this.report(`the subscription to ${prefix}* failed and resumes after position ${seen}: ${messageOf(error)}`);
      } finally {
        await subscription.unsubscribe();
      }
      await pause(backoff, signal);
      backoff = Math.min(backoff * 2, LONGEST_BACKOFF_MS);
    }
  }

  async ping(): Promise<void> {
    const read = this.client.readAll({ direction: BACKWARDS, fromPosition: END, maxCount: 1 });
    const roundTrip = async () => {
      for await (const _event of read) return;
    };
    try {
      await withTimeout(roundTrip(), PING_TIMEOUT_MS, 'the store');
    } catch (error) {
      throw unavailable(error);
    } finally {
      await read.cancel();
    }
  }

  async close(): Promise<void> {
    // The client waits for every stream to say that it has ended, which one that was cancelled before may never do.
    await withTimeout(this.client.dispose(), CLOSE_TIMEOUT_MS, 'closing').catch(() => undefined);
  }
}

function unavailable(error: unknown): StoreUnavailable {
  return new StoreUnavailable(`the event store did not answer: ${messageOf(error)}`, { cause: error });
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
