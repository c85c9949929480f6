import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { cutWhenStalled } from './stalled.js';

/** A server-sent event. Without data it only moves what the client names as `Last-Event-ID` when it comes back. */
export interface Sent {
  id?: string;
  event?: string;
  data?: string;
  /** For nobody: it keeps the connection alive. */
  comment?: string;
}

/**
 * Answers with server-sent events, as fast as the client takes them: nothing more is asked of `source` before the last is on its way.
 * `signal` aborts when the client has gone, or takes nothing any more; the answer ends with `source`.
 */
export function sendEvents(reply: FastifyReply, source: AsyncIterable<Sent>, stalledMs?: number): void {
  // Its end is also that of the connection, or a service that ends would wait for it.
  reply.headers({ 'content-type': 'text/event-stream', 'cache-control': 'no-cache, no-transform', connection: 'close' });
  cutWhenStalled(reply, stalledMs);
  reply.send(Readable.from(frames(source), { objectMode: false }));
}

/** Aborts when the answer has ended or its client has gone. */
export function untilGone(reply: FastifyReply): AbortSignal {
  const gone = new AbortController();
  reply.raw.once('close', () => gone.abort());
  return gone.signal;
}

async function* frames(source: AsyncIterable<Sent>): AsyncIterable<string> {
  for await (const { id, event, data, comment } of source) {
    const lines = [
      ...(comment === undefined ? [] : [`: ${comment}`]),
      ...(id === undefined ? [] : [`id: ${id}`]),
      ...(event === undefined ? [] : [`event: ${event}`]),
      ...(data === undefined ? [] : [`data: ${data}`]),
    ];
    yield `${lines.join('\n')}\n\n`;
  }
}
