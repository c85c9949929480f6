import type { AnvilEvent, FileEvent } from '../catalogue/events.js';
import { checkEvent, currentVersion } from '../catalogue/versions.js';
import { chainHash } from '../domain/chain.js';
import { uuidOf } from '../domain/ids.js';
import { KeyReused } from './errors.js';
import type { Call } from './file-command.js';
import { type FileHistory, shortKey, type WholeHistory } from './file-history.js';
import type { EventLog, NewEvent } from './ports.js';

/** An event on its way into the log: as rules see it, and as the store gets it. */
export type Chained<E extends AnvilEvent = FileEvent> = NewEvent & { event: E };

/** A command's events, ready to be appended: checked against their schemas and linked to the stream's hash chain. */
export function chained<E extends AnvilEvent>(
  head: { hash: string } | undefined,
  events: E[],
  commandId: string,
  dispatchId: string | null,
  call: Call,
): Chained<E>[] {
  let previousHash = head?.hash ?? null;
  return events.map((event, index) => {
    const { type, data } = checkEvent(event);
    const ownDispatch = 'dispatchId' in data ? data.dispatchId : null;
    const unlinked = {
      $correlationId: ownDispatch ?? dispatchId ?? commandId,
      $causationId: commandId,
      actor: call.actor,
      schemaVersion: currentVersion(type),
      // The command's own marks stand on its first event.
      ...(index === 0 && { bodyHash: call.bodyHash, idempotencyKey: call.idempotencyKey, requestId: call.requestId }),
      previousHash,
    };
    const metadata = { ...unlinked, hash: chainHash(type, data, unlinked) };
    previousHash = metadata.hash;
    // Two instances may make one command at two times: what differs has another id, or the store would take the second for the first.
    return { id: uuidOf(commandId, String(index), metadata.hash), type, data, metadata, event };
  });
}

/**
 * The id of the command that a call with an idempotency key repeats, or null. Throws {@link KeyReused} where the key came with another
 * body.
 */
export async function sameKey(log: EventLog, history: FileHistory, { idempotencyKey, bodyHash }: Call): Promise<string | null> {
  const revision = idempotencyKey === undefined ? undefined : history.keys.get(shortKey(idempotencyKey));
  if (revision === undefined) return null;
  let earlier: string | null = null;
  for await (const { metadata } of log.read(history.stream, revision, 1)) {
    if (metadata.idempotencyKey !== idempotencyKey) continue;
    if (metadata.bodyHash !== bodyHash) throw new KeyReused('this Idempotency-Key came before with another body');
    earlier = metadata.$causationId;
  }
  return earlier;
}

/** Where a command's events begin and end in a stream. */
export function extentOf({ events }: WholeHistory, commandId: string): { first: number; end: number } {
  const first = events.findIndex(({ metadata }) => metadata.$causationId === commandId);
  return { first, end: events.findLastIndex(({ metadata }) => metadata.$causationId === commandId) + 1 };
}
