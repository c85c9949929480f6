import { streamDeleted } from './errors.js';
import { DELETED_REVISION, type LogEvent } from './log-event.js';
import type { NodeContext } from './node-context.js';
import type { ReadRequest } from './read-request.js';
import type { Responder } from './responder.js';
import { firstShown } from './stream-metadata.js';
import { CAUGHT_UP, encodeConfirmation, encodeEvent, FELL_BEHIND } from './wire.js';

const BATCH = 256;

/**
 * A subscription to one stream: by revision through the log while it is behind, then through the shared tail. The tail is entered at the head it
 * had before the last page was read, so nothing can fall between the two; what both hold is told apart by its revision.
 */
export async function subscribeToStream(node: NodeContext, request: ReadRequest, stream: string, responder: Responder): Promise<void> {
  const { start } = request;
  let next = start.kind === 'at' ? start.at + 1 : 0;
  /** The position up to which the tail was looked through; null while reading from the log. */
  let seen: number | null = null;
  let live = false;
  const unlisten = node.tail.listen(() => responder.wake());
  try {
    if (start.kind === 'end') {
      seen = node.tail.head;
      const info = await node.reader.streamInfo(stream);
      if (info.tombstoned) throw streamDeleted(stream);
      next = info.head + 1;
    }
    await responder.send(encodeConfirmation());
    while (!responder.closed) {
      if (seen === null) {
        seen = await catchUp();
        continue;
      }
      const events = node.tail.after(seen, BATCH);
      if (events === null) {
        if (live) await responder.send(FELL_BEHIND);
        live = false;
        seen = null;
      } else if (events.length > 0) {
        await deliver(events.filter((event) => event.stream === stream));
        seen = events.at(-1)!.position;
      } else if (!live) {
        live = true;
        await responder.send(CAUGHT_UP);
      } else {
        await responder.wait();
      }
    }
  } finally {
    unlisten();
  }

  /** Reads a page from the log. Returns where to enter the tail, once there are no more. */
  async function catchUp(): Promise<number | null> {
    const { head } = node.tail;
    const info = await node.reader.streamInfo(stream);
    if (info.tombstoned) throw streamDeleted(stream);
    if (info.head < 0 || info.softDeleted) return head;
    const from = Math.max(next, firstShown(info.head, info.metadata));
    const page = await node.reader.readStream(stream, info, { from, to: info.head, direction: 'forwards', limit: BATCH * 2 });
    await deliver(page.events);
    return page.complete ? head : null;
  }

  async function deliver(events: readonly LogEvent[]): Promise<void> {
    for (const event of events) {
      if (event.revision === DELETED_REVISION) throw streamDeleted(stream);
      if (event.revision < next) continue;
      next = event.revision + 1;
      const full = responder.send(encodeEvent(event, request.structuredIds));
      if (full !== undefined) await full;
      if (responder.closed) return;
    }
  }
}
