/** Sockets' own codes for a server that is not there, or no longer. */
const BROKEN = new Set(['ECONNREFUSED', 'ECONNRESET', 'ENOENT', 'EPIPE', 'ETIMEDOUT']);
/** What `pg` says without a code: of a connection that ended under a statement or before one, and of one that did not come about in time. */
const SAID = /^Connection terminated|is not queryable$|timeout exceeded when trying to connect$/;

/** Whether an error is about a database that is away, or starts or stops, and not about what was asked of it. */
export function isDatabaseAway(error: unknown): boolean {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  if (typeof code === 'string') return /^(08|57P)/.test(code) || BROKEN.has(code);
  return typeof message === 'string' && SAID.test(message);
}
