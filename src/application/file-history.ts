import type { FileEvent } from '../catalogue/events.js';
import type { Metadata } from '../catalogue/metadata.js';
import { evolve } from '../domain/evolve.js';
import { sha256 } from '../domain/ids.js';
import { LateMap } from '../domain/late-map.js';
import { Overlay } from '../domain/overlay.js';
import { emptyState, type FileState } from '../domain/state.js';
import type { StoredEvent } from './ports.js';

/** How many commands back an append whose outcome was unknown is looked for. */
const RECENT_COMMANDS = 64;

/** A place in a stream; -1 and null for an empty one. */
export interface Position {
  stream: string;
  revision: number;
  commit: string | null;
}

/** A file's stream as far as it was folded, with what is known of the commands in it. */
export interface FileHistory {
  stream: string;
  /** Undefined for an empty stream. */
  where: { repo: string; targetFile: string } | undefined;
  state: FileState;
  head: { hash: string; position: string } | undefined;
  /** The revision at which a command with an idempotency key begins, by {@link shortKey}. */
  keys: Map<number, number>;
  /** The newest commands, by id, with the revision at which each begins. */
  recent: Map<string, number>;
}

/** A stream with all its events, and what they fold to. */
export interface WholeHistory extends FileHistory {
  events: StoredEvent[];
}

export function emptyHistory(stream: string): FileHistory {
  return { stream, where: undefined, state: emptyState(), head: undefined, keys: new Map(), recent: new Map() };
}

export function fold(stream: string, events: StoredEvent[]): WholeHistory {
  const history = { ...emptyHistory(stream), events };
  for (const { event, metadata, position } of events) take(history, event as FileEvent, metadata, position);
  return history;
}

/** Takes a history one event further, in place. */
export function take(history: FileHistory, event: FileEvent, metadata: Metadata, position: string): void {
  evolve(history.state, event);
  const { repo, targetFile } = event.data;
  history.where ??= { repo, targetFile };
  history.head = { hash: metadata.hash, position };
  if (metadata.idempotencyKey !== undefined) history.keys.set(shortKey(metadata.idempotencyKey), history.state.revision);
  if (!history.recent.has(metadata.$causationId)) history.recent.set(metadata.$causationId, history.state.revision);
  if (history.recent.size > RECENT_COMMANDS) history.recent.delete(history.recent.keys().next().value!);
}

/** Idempotency keys are only looked up by this: whoever finds one compares the whole key in the event. */
export function shortKey(idempotencyKey: string): number {
  return Number.parseInt(sha256(idempotencyKey).slice(0, 12), 16);
}

/** Keys as plain JSON that is quick to read however many there are: sorted, as the base64 of their doubles, with the revisions beside. */
export function packKeys(keys: ReadonlyMap<number, number>) {
  const entries = [...keys].sort(([a], [b]) => a - b);
  const sorted = Float64Array.from(entries, ([key]) => key);
  return { sorted: Buffer.from(sorted.buffer).toString('base64'), revisions: entries.map(([, revision]) => revision) };
}

export function unpackKeys({ sorted, revisions }: ReturnType<typeof packKeys>): Map<number, number> {
  const { buffer } = Uint8Array.from(Buffer.from(sorted, 'base64'));
  return new Overlay(new LateMap(new Float64Array(buffer), (place) => revisions[place]!));
}

export function positionOf({ stream, state, head }: FileHistory): Position {
  return { stream, revision: state.revision, commit: head?.position ?? null };
}
