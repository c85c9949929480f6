import { FOLLOWED_STREAMS } from '../domain/ids.js';
import type { EventLog, FollowedEvent, ProjectionRows } from './ports.js';
import { keepGoing, pause } from './timing.js';

/**
 * Rest after a small batch, in milliseconds. An event that comes after a quiet moment is taken at once; of those that come in a row,
 * several share a batch, and with it the twenty or so statements that a batch costs whatever its size.
 */
const REST_MS = 50;
const SMALL_BATCH = 250;

/** Something that goes through the events of files and policies in order, each at least once, and knows what it has seen. */
export interface Follower {
  /** The position after which it still has to see events; null: from the start. */
  position(): Promise<string | null>;
  /** Takes a batch. What it has seen before, it passes over; what it cannot take in, it parks. */
  take(events: FollowedEvent[]): Promise<void>;
}

/**
 * Keeps followers up with the log until `signal` aborts. They share one subscription, from the place of the one that is furthest behind:
 * every event is fetched and read once.
 */
export async function runFollowers(
  log: EventLog,
  followers: Follower[],
  signal: AbortSignal,
  report: (message: string) => void,
): Promise<void> {
  await keepGoing('the projections and the saga', signal, report, async () => {
    const positions = await Promise.all(followers.map((follower) => follower.position()));
    const from = positions.reduce(earlier);
    for await (const batch of log.follow(FOLLOWED_STREAMS, from, signal)) {
      await Promise.all(followers.map((follower) => follower.take(batch)));
      if (batch.length < SMALL_BATCH) await pause(REST_MS, signal);
    }
  });
}

export function projectionFollower(rows: ProjectionRows): Follower {
  return { position: () => rows.oldestPosition(), take: (events) => rows.apply(events) };
}

function earlier(a: string | null, b: string | null): string | null {
  return a === null || b === null ? null : BigInt(a) < BigInt(b) ? a : b;
}
