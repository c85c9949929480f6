import type { FastifyInstance } from 'fastify';

/** A caller's own name for a request; it comes back in the answer, stands in every log line and on the command's first event. */
export const REQUEST_ID_HEADER = 'x-request-id';

/** One line a request, with its id: refusals at `info`, the rest at `debug`. What failed has said so itself. */
export function logRequests(fastify: FastifyInstance): void {
  fastify.addHook('onRequest', async (request, reply) => {
    reply.header(REQUEST_ID_HEADER, request.id);
  });
  fastify.addHook('onResponse', async (request, reply) => {
    const { method, url } = request;
    const line = {
      method,
      url,
      status: reply.statusCode,
      ms: Math.round(reply.elapsedTime * 10) / 10,
      location: reply.getHeader('location'),
    };
    if (reply.statusCode >= 400) request.log.info(line, 'refused');
    else request.log.debug(line, 'answered');
  });
}
