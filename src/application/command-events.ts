import type { FileEvent } from '../catalogue/events.js';
import { checkEvent, currentVersion } from '../catalogue/versions.js';
import { chainHash } from '../domain/chain.js';
import { uuidOf } from '../domain/ids.js';
import type { Context } from '../domain/recorder.js';
import { KeyReused } from './errors.js';
import type { Call, FileCommand, Handled } from './file-command.js';
import { type FileHistory, fold, positionOf } from './file-history.js';
import type { NewEvent } from './ports.js';

/** A command's events, ready to be appended: checked against their schemas and linked to the stream's hash chain. */
export function chained(history: FileHistory, events: FileEvent[], commandId: string, command: FileCommand): NewEvent[] {
  let previousHash = history.events.at(-1)?.metadata.hash ?? null;
  return events.map((event, index) => {
    const { type, data } = checkEvent(event);
    const ownDispatch = 'dispatchId' in data ? data.dispatchId : null;
    const metadata = {
      $correlationId: ownDispatch ?? command.dispatchId ?? commandId,
      $causationId: commandId,
      actor: command.call.actor,
      schemaVersion: currentVersion(type),
      // The command's own marks stand on its first event.
      ...(index === 0 && { bodyHash: command.call.bodyHash, idempotencyKey: command.call.idempotencyKey }),
      previousHash,
    };
    const hash = chainHash(type, data, metadata);
    previousHash = hash;
    return { id: uuidOf(commandId, String(index)), type, data, metadata: { ...metadata, hash } };
  });
}

/**
 * The id of the command in this stream that a call repeats: one under the same idempotency key or, after an append whose outcome was
 * unknown, the very command. Throws {@link KeyReused} where the key came with another body.
 */
export function earlierCommand(history: FileHistory, call: Call, commandId: string): string | null {
  const first = history.events.find(
    ({ metadata }) =>
      metadata.$causationId === commandId || (call.idempotencyKey !== undefined && metadata.idempotencyKey === call.idempotencyKey),
  );
  if (first === undefined) return null;
  if (first.metadata.bodyHash !== call.bodyHash) throw new KeyReused('this Idempotency-Key came before with another body');
  return first.metadata.$causationId;
}

/** What a command of the past was answered from: the stream up to it, its events, and its own time. */
export function replayed(history: FileHistory, commandId: string, context: Context): Handled {
  const first = history.events.findIndex(({ metadata }) => metadata.$causationId === commandId);
  const last = history.events.findLastIndex(({ metadata }) => metadata.$causationId === commandId);
  const upTo = history.events.slice(0, last + 1);
  const events = upTo.slice(first).map(({ event }) => event as FileEvent);
  return {
    before: fold(upTo.slice(0, first)),
    events,
    after: fold(upTo),
    context: { ...context, now: events[0]!.data.at },
    position: positionOf({ ...history, events: upTo }),
  };
}
