import type { LogEvent } from './log-event.js';
import type { NodeContext } from './node-context.js';
import type { ReadRequest } from './read-request.js';
import type { Responder } from './responder.js';
import { CAUGHT_UP, encodeCheckpoint, encodeConfirmation, encodeEvent, FELL_BEHIND } from './wire.js';

const LIVE_BATCH = 256;

/**
 * A subscription to $all is a position that moves: through the log in pages while it is behind, through the shared tail when it is not. It keeps
 * no events of its own, so a slow client costs nothing but its place.
 */
export async function subscribeToAll(node: NodeContext, request: ReadRequest, responder: Responder): Promise<void> {
  const { start, filter } = request;
  let position = start.kind === 'start' ? 0 : start.kind === 'end' ? node.tail.head : start.at;
  const progress = filter === null ? null : new Progress(responder, position, request.checkpointInterval);
  let live = false;
  const unlisten = node.tail.listen(() => responder.wake());
  try {
    await responder.send(encodeConfirmation());
    while (!responder.closed) {
      const events = node.tail.after(position, LIVE_BATCH);
      if (events === null) {
        if (live) await responder.send(FELL_BEHIND);
        live = false;
        const page = await node.reader.readAll({
          after: position,
          to: node.tail.head,
          direction: 'forwards',
          limit: LIVE_BATCH * 2,
          filter,
        });
        await deliver(page.events);
        position = page.scannedTo;
        await progress?.reached(position);
      } else if (events.length > 0) {
        await deliver(filter === null ? events : events.filter(filter.matches));
        position = events.at(-1)!.position;
        await progress?.reached(position);
      } else if (!live) {
        live = true;
        await progress?.caughtUp(position);
        await responder.send(CAUGHT_UP);
      } else {
        await responder.wait();
      }
    }
  } finally {
    unlisten();
  }

  async function deliver(events: readonly LogEvent[]): Promise<void> {
    for (const event of events) {
      if (progress?.isDue(event.position - 1)) await progress.reached(event.position - 1);
      const full = responder.send(encodeEvent(event, request.structuredIds));
      if (full !== undefined) await full;
      if (responder.closed) return;
    }
  }
}

/** Tells a filtered subscription how far it has come, counting the events that it does not get. */
class Progress {
  constructor(
    private readonly responder: Responder,
    private told: number,
    private readonly interval: number,
  ) {}

  isDue(position: number): boolean {
    return position - this.told >= this.interval;
  }

  /** All events up to a position have been scanned, and those that match were sent. */
  async reached(position: number): Promise<void> {
    while (this.isDue(position) && !this.responder.closed) {
      this.told += this.interval;
      await this.responder.send(encodeCheckpoint(this.told));
    }
  }

  /** Going live is told in any case: an idle store would otherwise never bring the next checkpoint. */
  async caughtUp(position: number): Promise<void> {
    if (position <= this.told) return;
    this.told = position;
    await this.responder.send(encodeCheckpoint(position));
  }
}
