import { STATUS_CODES } from 'node:http';
import { type ArgumentsHost, Catch, type ExceptionFilter, HttpException } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { isDatabaseAway } from '../application/database-away.js';
import { InvalidField, KeyReused, NoRoom, NotCaughtUp, NotFound, PreconditionFailed } from '../application/errors.js';
import { BadLine } from '../application/lines.js';
import { BadCursor, StoreUnavailable, TooLarge, UnreadableStream } from '../application/ports.js';
import { Conflict } from '../domain/recorder.js';

interface FieldError {
  path: string;
  message: string;
}

/** Input that its schema refuses: 400, with every field that is wrong. */
export class InvalidInput extends Error {
  constructor(readonly errors: FieldError[]) {
    super(errors.map(({ path, message }) => (path ? `${path}: ${message}` : message)).join('; '));
  }
}

interface Problem {
  status: number;
  code: string;
  detail: string;
  errors?: FieldError[];
  retryAfterSeconds?: number;
}

/** Every error as problem+json (RFC 9457), mapped here and nowhere else. What nobody foresaw is a 500 that tells a caller nothing. */
@Catch()
export class ProblemFilter implements ExceptionFilter {
  catch(error: unknown, host: ArgumentsHost): void {
    answerProblem(error, host.switchToHttp().getRequest<FastifyRequest>(), host.switchToHttp().getResponse<FastifyReply>());
  }
}

export function answerProblem(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const { status, code, detail, errors, retryAfterSeconds } = problemOf(error);
  if (status >= 500) request.log.error({ err: error, status }, 'a request could not be answered');
  if (retryAfterSeconds !== undefined) reply.header('retry-after', String(retryAfterSeconds));
  reply
    .status(status)
    .type('application/problem+json')
    .send({ type: `urn:anvil:problem:${code}`, title: STATUS_CODES[status] ?? 'Error', status, detail, instance: request.url, errors });
}

function problemOf(error: unknown): Problem {
  if (error instanceof InvalidInput) return { status: 400, code: 'invalid-input', detail: error.message, errors: error.errors };
  if (error instanceof BadLine) return badLine(error);
  if (error instanceof InvalidField) return invalidField(error.path, error.message);
  if (error instanceof BadCursor) return invalidField('cursor', error.message);
  if (error instanceof NotFound) return { status: 404, code: 'not-found', detail: error.message };
  if (error instanceof Conflict) return { status: 409, code: 'conflict', detail: error.message };
  if (error instanceof PreconditionFailed) return { status: 412, code: 'precondition-failed', detail: error.message };
  if (error instanceof KeyReused) return { status: 422, code: 'key-reused', detail: error.message };
  if (error instanceof TooLarge) return { status: 413, code: 'too-large', detail: error.message };
  if (error instanceof NotCaughtUp) return { status: 503, code: 'not-caught-up', detail: error.message, retryAfterSeconds: 1 };
  if (error instanceof NoRoom) return { status: 503, code: 'no-room', detail: error.message, retryAfterSeconds: 5 };
  if (error instanceof StoreUnavailable) return { status: 503, code: 'store-unavailable', detail: error.message, retryAfterSeconds: 1 };
  if (error instanceof UnreadableStream) return { status: 500, code: 'unreadable-event', detail: error.message };
  const status = statusOf(error);
  if (status !== undefined && status < 500)
    return { status, code: status === 404 ? 'not-found' : 'bad-request', detail: (error as Error).message };
  if (isDatabaseAway(error) || hasNoRoom(error))
    return { status: 503, code: 'store-unavailable', detail: 'the database did not answer', retryAfterSeconds: 1 };
  return { status: 500, code: 'internal', detail: 'something went wrong here; the log says what' };
}

function invalidField(path: string, message: string): Problem {
  return { status: 400, code: 'invalid-input', detail: `${path}: ${message}`, errors: [{ path, message }] };
}

function badLine({ line, message, conflict, stored }: BadLine): Problem {
  const path = `line ${line}`;
  const code = conflict ? 'conflict' : 'invalid-input';
  return { status: conflict ? 409 : 400, code, detail: `${path}: ${message}. ${stored}`, errors: [{ path, message }] };
}

/** Of errors that Nest or Fastify raised before a controller was reached: malformed JSON, a body too large, an unknown path. */
function statusOf(error: unknown): number | undefined {
  if (error instanceof HttpException) return error.getStatus();
  const status = (error as { statusCode?: unknown } | null)?.statusCode;
  return typeof status === 'number' ? status : undefined;
}

/** PostgreSQL's class for a server that has no room left: it may have some again. */
function hasNoRoom(error: unknown): boolean {
  return String((error as { code?: unknown } | null)?.code).startsWith('53');
}
