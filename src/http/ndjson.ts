import type { FastifyInstance } from 'fastify';

export const NDJSON = 'application/x-ndjson';

/** Lines are read as they come, so no limit of a body holds for them. One route takes them; elsewhere they are refused as before. */
export function takeLines(fastify: FastifyInstance, url: string): void {
  fastify.addContentTypeParser(NDJSON, (request, payload, done) => {
    if (request.routeOptions.url === url) done(null, payload);
    else done(Object.assign(new Error(`${NDJSON} is taken by ${url} only`), { statusCode: 415 }));
  });
}
