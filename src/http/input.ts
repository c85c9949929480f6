import { createParamDecorator, type ExecutionContext, StandardSchemaValidationPipe } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { Call } from '../application/file-command.js';
import { canonicalJson } from '../domain/chain.js';
import { sha256 } from '../domain/ids.js';
import { InvalidInput } from './problem.js';

const LONGEST_KEY = 255;

type Issue = { message: string; path?: readonly (PropertyKey | { key: PropertyKey })[]; keys?: string[] };

/** Validates what a route's schema says, and names every field that is wrong; an unknown field by its own name. */
export const validation = new StandardSchemaValidationPipe({
  exceptionFactory: (issues) =>
    new InvalidInput(
      (issues as readonly Issue[]).flatMap(({ message, path = [], keys }) => {
        const at = path.map((part) => String(typeof part === 'object' ? part.key : part)).join('.');
        if (keys === undefined) return [{ path: at, message }];
        return keys.map((key) => ({ path: at ? `${at}.${key}` : key, message: 'is not a known field' }));
      }),
    ),
});

/** What a command's call says of itself. An idempotency key counts for its method and path. */
export const CallOf = createParamDecorator((_: unknown, context: ExecutionContext): Call => {
  const request = context.switchToHttp().getRequest<FastifyRequest>();
  const key = request.headers['idempotency-key'];
  if (key !== undefined && (typeof key !== 'string' || key === '' || key.length > LONGEST_KEY))
    throw new InvalidInput([{ path: 'Idempotency-Key', message: `must have 1 to ${LONGEST_KEY} characters` }]);
  const path = request.url.split('?')[0];
  return {
    actor: 'http',
    requestId: String(request.id).slice(0, LONGEST_KEY),
    bodyHash: hashOf(request.body ?? {}),
    ...(key !== undefined && { idempotencyKey: `${request.method} ${path} ${key}` }),
  };
});

/** A body so deep that it cannot be walked is none that any schema allows; its hash is asked for beside the validation that says so. */
function hashOf(body: unknown): string {
  try {
    return sha256(canonicalJson(body));
  } catch (error) {
    if (error instanceof RangeError) throw new InvalidInput([{ path: '', message: 'is nested too deeply' }]);
    throw error;
  }
}
