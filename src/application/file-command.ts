import type { Warning } from '../catalogue/answers.js';
import type { FileEvent } from '../catalogue/events.js';
import type { Context } from '../domain/recorder.js';
import type { DispatchState, FileState, PendingProposal } from '../domain/state.js';
import type { Position, WholeHistory } from './file-history.js';

/** What a call says of itself; `idempotencyKey` is scoped by its method and path. */
export interface Call {
  actor: string;
  bodyHash: string;
  idempotencyKey?: string;
  /** Under which the log speaks of the call. */
  requestId?: string;
}

/**
 * One command on one file's stream. Its steps see the state at the stream's head, which changes under them as soon as they return: they
 * take what they need with them.
 */
export interface FileCommand<Seen = undefined> {
  stream: string;
  /** Where the file is; absent: the stream must exist and says so itself. */
  where?: { repo: string; targetFile: string };
  call: Call;
  /** The dispatch that the command is about, or null where its events will tell. */
  dispatchId: string | null;
  /** False where the state says nothing of what the command is about: it may have been pruned, so the whole stream is folded instead. */
  knows?(state: FileState): boolean;
  /** The long texts that its events name: written before them, and not at all where the command is refused. */
  texts?: { readonly pending: boolean; write(): Promise<void> };
  /** What else the decision is based on: read to its head in parallel with the file, and again after a conflict. */
  beside?(): Promise<Partial<Context>>;
  /** The events that the command leads to; none: it changes nothing. Called again on the newer state after a conflict. */
  decide(state: FileState, context: Context): FileEvent[];
  /** What the answer needs of the state before the command's events. */
  see?(before: FileState, context: Context): Seen;
  /** The id of the command, where it must be the same each time that it is made; a random one otherwise. */
  commandId?(stream: string, state: FileState): string;
  /** How the command finds that it was made before, beside its idempotency key: by a suspicion first, then by the whole stream. */
  repeats?: { suspects(state: FileState): boolean; find(whole: WholeHistory): string | null };
}

/** A command's events, and what the state held right after them; `commit` is the position of the last one, or of the stream's head. */
export interface Handled<Seen> {
  events: FileEvent[];
  seen: Seen;
  /** The dispatch that the command was about or opened. */
  dispatch: DispatchState | undefined;
  /** The proposal that the command's decision names. */
  proposal: PendingProposal | undefined;
  warnings: Warning[];
  context: Context;
  position: Position;
}
