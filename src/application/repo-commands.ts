import type { AnvilEvent } from '../catalogue/events.js';
import { appendResolved } from './append-resolved.js';
import { chained } from './command-events.js';
import { KeyReused } from './errors.js';
import type { Call } from './file-command.js';
import type { Position } from './file-history.js';
import type { Imports } from './imports.js';
import { KeyedQueue } from './keyed-queue.js';
import { type Clock, type EventLog, type Ids, type StoredEvent, StoreUnavailable, WrongRevision } from './ports.js';
import type { RepoState, RepoStream } from './repo-streams.js';

const TRIES = 20;

/** What a repo's stream folds to right after a command, and where that is. */
export interface RepoHandled<S> {
  state: S;
  position: Position;
}

/**
 * Commands on a repo's stream: read, fold, decide, append at the revision that was read. They are rare and the stream is small, so
 * each reads it whole.
 */
export class RepoCommands<E extends AnvilEvent, S extends RepoState> {
  private readonly queue = new KeyedQueue();

  constructor(
    private readonly log: EventLog,
    private readonly kind: RepoStream<E, S>,
    private readonly clock: Clock,
    private readonly ids: Ids,
    private readonly imports: Imports,
  ) {}

  /**
   * Throws what `decide` throws, {@link NoRoom} during an import, {@link KeyReused} and {@link StoreUnavailable}. No events: nothing changes. `commandId` is given where it
   * must be the same each time that the command is made: then it counts once.
   */
  async handle(repo: string, call: Call, decide: (state: S, now: string) => E[], commandId = this.ids.uuid()): Promise<RepoHandled<S>> {
    this.imports.refuse();
    return this.queue.run(repo, () => this.inTurn(repo, call, decide, commandId));
  }

  private async inTurn(repo: string, call: Call, decide: (state: S, now: string) => E[], commandId: string): Promise<RepoHandled<S>> {
    const stream = this.kind.streamOf(repo);
    for (let tried = 0; tried < TRIES; tried += 1) {
      const stored: StoredEvent[] = [];
      for await (const event of this.log.read(stream)) stored.push(event);
      const earlier = madeBefore(stored, call, commandId);
      if (earlier !== null) return this.standing(stream, stored.slice(0, earlier));
      const { state } = this.standing(stream, stored);
      const events = decide(state, this.clock.now());
      if (events.length === 0) return this.standing(stream, stored);
      const head = stored.at(-1)?.metadata;
      try {
        const linked = chained(head, events, commandId, null, call);
        const { position } = await appendResolved(this.log, stream, state.revision, linked);
        const after = events.reduce(this.kind.evolve, state);
        return { state: after, position: { stream, revision: after.revision, commit: position } };
      } catch (error) {
        if (!(error instanceof WrongRevision)) throw error;
      }
    }
    throw new StoreUnavailable(`${TRIES} other writers in a row were faster on ${stream}`);
  }

  private standing(stream: string, stored: StoredEvent[]): RepoHandled<S> {
    const state = stored.map(({ event }) => event as E).reduce(this.kind.evolve, this.kind.initial);
    return { state, position: { stream, revision: state.revision, commit: stored.at(-1)?.position ?? null } };
  }
}

/** Where the command ends that a call repeats, by its idempotency key or as itself; null where there is none. */
function madeBefore(stored: StoredEvent[], { idempotencyKey, bodyHash }: Call, commandId: string): number | null {
  const first = stored.find(
    ({ metadata }) => metadata.$causationId === commandId || (idempotencyKey !== undefined && metadata.idempotencyKey === idempotencyKey),
  )?.metadata;
  if (first === undefined) return null;
  if (first.$causationId !== commandId && first.bodyHash !== bodyHash)
    throw new KeyReused('this Idempotency-Key came before with another body');
  return stored.findLastIndex(({ metadata }) => metadata.$causationId === first.$causationId) + 1;
}
