import { randomUUID } from 'node:crypto';
import { type EventStoreDBClient, type EventType, jsonEvent, type ResolvedEvent } from '@eventstore/db-client';

/** Hands out the one client of the test file, once it is there. */
export type Client = () => EventStoreDBClient;

/** Credentials make the client use the unary Append; without them it uses BatchAppend. */
export const APPEND_PATHS = [
  ['batch append', {}],
  ['unary append', { credentials: { username: 'admin', password: 'changeit' } }],
] as const;

export function newStream(name: string): string {
  return `${name}-${randomUUID()}`;
}

export function event(n: number, type = 'counted') {
  return jsonEvent({ type, data: { n } });
}

export function events(count: number, type = 'counted') {
  return Array.from({ length: count }, (_, n) => event(n, type));
}

export async function collect<T>(source: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of source) all.push(item);
  return all;
}

export function numbers(resolved: readonly ResolvedEvent<EventType>[]): unknown[] {
  return resolved.map(({ event: recorded }) => (recorded?.data as { n?: unknown } | undefined)?.n);
}

export function revisions(resolved: readonly ResolvedEvent<EventType>[]): (bigint | undefined)[] {
  return resolved.map(({ event: recorded }) => recorded?.revision);
}

/** The error that a promise is rejected with; a promise that is kept fails the test. */
export async function failure(promise: Promise<unknown>): Promise<Record<string, unknown>> {
  try {
    await promise;
  } catch (error) {
    return error as Record<string, unknown>;
  }
  throw new Error('It was expected to fail.');
}

export async function until(condition: () => boolean | Promise<boolean>, what: string, withinMs = 15_000): Promise<void> {
  const deadline = Date.now() + withinMs;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`Waited in vain for ${what}.`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
