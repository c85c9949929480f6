import { streamDeleted, toCallError } from './errors.js';
import { DELETED_REVISION, type LogEvent } from './log-event.js';
import type { NodeContext } from './node-context.js';
import { parseReadRequest, type ReadRequest } from './read-request.js';
import { type ReadCall, Responder } from './responder.js';
import { firstShown } from './stream-metadata.js';
import { subscribeToAll } from './subscribe-to-all.js';
import { subscribeToStream } from './subscribe-to-stream.js';
import { encodeEvent, encodeStreamNotFound } from './wire.js';

/** Read: of a stream or of $all, once or as a subscription. */
export function createReadCall(node: NodeContext) {
  return async (call: ReadCall): Promise<void> => {
    const responder = new Responder(call);
    const release = node.openCalls.add((error) => responder.fail(error));
    try {
      const request = parseReadRequest(call.request);
      if (request.count === null) {
        await (request.stream === null
          ? subscribeToAll(node, request, responder)
          : subscribeToStream(node, request, request.stream, responder));
      } else {
        await (request.stream === null
          ? readAll(node, request, request.count, responder)
          : readStream(node, request, request.stream, request.count, responder));
      }
      responder.end();
    } catch (error) {
      responder.fail(toCallError(error));
    } finally {
      release();
    }
  };
}

async function readStream(node: NodeContext, request: ReadRequest, stream: string, count: number, responder: Responder): Promise<void> {
  const info = await node.reader.streamInfo(stream);
  if (info.tombstoned) throw streamDeleted(stream);
  if (info.head < 0 || info.softDeleted) {
    await responder.send(encodeStreamNotFound(stream));
    return;
  }
  const { direction, start } = request;
  const first = firstShown(info.head, info.metadata);
  const forwards = direction === 'forwards';
  const to = forwards ? info.head : first;
  let from = start.kind === 'start' ? (forwards ? first : 0) : start.kind === 'end' ? (forwards ? DELETED_REVISION : info.head) : start.at;
  from = forwards ? Math.max(from, first) : Math.min(from, info.head);
  let left = count;
  await sendPages(responder, request.structuredIds, async (last) => {
    if (last !== null) {
      from = last.revision + (forwards ? 1 : -1);
    }
    const page = await node.reader.readStream(stream, info, { from, to, direction, limit: left });
    left -= page.events.length;
    return { events: page.events, last: page.complete || left <= 0 };
  });
}

async function readAll(node: NodeContext, request: ReadRequest, count: number, responder: Responder): Promise<void> {
  const { direction, start, filter } = request;
  const { head } = node.tail;
  const forwards = direction === 'forwards';
  const to = forwards ? head : 1;
  // A position names the place before its event: reading forwards begins with that event, reading backwards with the one before.
  let after =
    start.kind === 'at'
      ? forwards
        ? start.at - 1
        : Math.min(start.at, head + 1)
      : start.kind === 'start'
        ? 0
        : forwards
          ? head
          : head + 1;
  let left = count;
  await sendPages(responder, request.structuredIds, async () => {
    const page = await node.reader.readAll({ after, to, direction, limit: left, filter });
    after = page.scannedTo;
    const events = page.events.length > left ? page.events.slice(0, left) : page.events;
    left -= events.length;
    return { events, last: left <= 0 || (forwards ? after >= to : after <= to) };
  });
}

interface Page {
  readonly events: readonly LogEvent[];
  readonly last: boolean;
}

/** Sends page after page, with the next one being read while one is sent. */
async function sendPages(responder: Responder, structuredIds: boolean, nextPage: (last: LogEvent | null) => Promise<Page>): Promise<void> {
  let page: Page | null = await nextPage(null);
  while (page !== null && !responder.closed) {
    const following: Promise<Page> | null = page.last ? null : nextPage(page.events.at(-1) ?? null);
    // If sending fails first, this one is nobody's error.
    following?.catch(() => undefined);
    for (const event of page.events) {
      const full = responder.send(encodeEvent(event, structuredIds));
      if (full !== undefined) await full;
      if (responder.closed) return;
    }
    page = following === null ? null : await following;
  }
}
