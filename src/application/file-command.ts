import type { FileEvent } from '../catalogue/events.js';
import type { Context } from '../domain/recorder.js';
import type { FileState } from '../domain/state.js';
import type { FileHistory } from './file-history.js';

/** What a call says of itself; `idempotencyKey` is scoped by its method and path. */
export interface Call {
  actor: string;
  bodyHash: string;
  idempotencyKey?: string;
}

export interface FileCommand {
  repo: string;
  targetFile: string;
  call: Call;
  /** The dispatch that the command is about, or null where its events will tell. */
  dispatchId: string | null;
  /** The long texts that its events name: written before them, and not at all where the command is refused. */
  texts?: { write(): Promise<void> };
  /** The events that the command leads to; none: it changes nothing. Called again on the newer state after a conflict. */
  decide(state: FileState, context: Context, history: FileHistory): FileEvent[];
  /** The id of the command, where it must be the same each time that it is made; a random one otherwise. */
  commandId?(history: FileHistory): string;
  /** An earlier command whose answer this one is to get, beside the one with the same idempotency key; by its `$causationId`. */
  sameAs?(history: FileHistory): string | null;
}

/** A command's events between the states before and after them. `commit` is the position of the last one, or of the stream's head. */
export interface Handled {
  before: FileState;
  events: FileEvent[];
  after: FileState;
  context: Context;
  position: { stream: string; revision: number; commit: string | null };
}
