import type { FastifyReply } from 'fastify';

/** A client that has taken nothing for this long is let go: what it has not seen it can ask for again. */
const STALLED_MS = 60_000;

export function cutWhenStalled(reply: FastifyReply, ms = STALLED_MS): void {
  reply.raw.setTimeout(ms, () => reply.raw.destroy());
}
