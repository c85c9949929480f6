import type { PolicyEvent } from '../catalogue/events.js';
import { policyStream } from '../domain/ids.js';
import { evolvePolicy, noPolicyYet, type PolicyState } from '../domain/policy-in-force.js';
import { chained } from './command-events.js';
import { KeyReused } from './errors.js';
import type { Call } from './file-command.js';
import type { Position } from './file-history.js';
import { KeyedQueue } from './keyed-queue.js';
import { type Clock, type EventLog, type Ids, type StoredEvent, StoreUnavailable, WrongRevision } from './ports.js';

const TRIES = 20;
const RESOLVING_TRIES = 3;

/** A repo's policy right after a command, and where that is. */
export interface PolicyHandled {
  state: PolicyState;
  position: Position;
}

/**
 * Commands on a repo's policy stream: read, fold, decide, append at the revision that was read. They are rare and the stream is small, so
 * each reads it whole.
 */
export class PolicyCommands {
  private readonly queue = new KeyedQueue();

  constructor(
    private readonly log: EventLog,
    private readonly clock: Clock,
    private readonly ids: Ids,
  ) {}

  /** Throws what `decide` throws, {@link KeyReused} and {@link StoreUnavailable}. No events: nothing changes. */
  handle(repo: string, call: Call, decide: (state: PolicyState, now: string) => PolicyEvent[]): Promise<PolicyHandled> {
    return this.queue.run(repo, () => this.inTurn(repo, call, decide));
  }

  private async inTurn(repo: string, call: Call, decide: (state: PolicyState, now: string) => PolicyEvent[]): Promise<PolicyHandled> {
    const stream = policyStream(repo);
    const commandId = this.ids.uuid();
    for (let tried = 0; tried < TRIES; tried += 1) {
      const stored: StoredEvent[] = [];
      for await (const event of this.log.read(stream)) stored.push(event);
      const earlier = madeBefore(stored, call, commandId);
      if (earlier !== null) return standing(stream, stored.slice(0, earlier));
      const { state } = standing(stream, stored);
      const events = decide(state, this.clock.now());
      if (events.length === 0) return standing(stream, stored);
      const head = stored.at(-1)?.metadata;
      try {
        const position = await this.append(stream, state.revision, chained(head, events, commandId, null, call));
        const after = events.reduce(evolvePolicy, state);
        return { state: after, position: { stream, revision: after.revision, commit: position } };
      } catch (error) {
        if (!(error instanceof WrongRevision)) throw error;
      }
    }
    throw new StoreUnavailable(`${TRIES} other writers in a row were faster on ${stream}`);
  }

  /** Without an answer made again with the same ids: it counts once, and its outcome is learned. */
  private async append(stream: string, revision: number, events: ReturnType<typeof chained<PolicyEvent>>): Promise<string> {
    for (let tried = 1; ; tried += 1) {
      try {
        return (await this.log.append(stream, revision, events)).position;
      } catch (error) {
        if (!(error instanceof StoreUnavailable) || tried === RESOLVING_TRIES) throw error;
      }
    }
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

function standing(stream: string, stored: StoredEvent[]): PolicyHandled {
  const state = stored.map(({ event }) => event as PolicyEvent).reduce(evolvePolicy, noPolicyYet);
  return { state, position: { stream, revision: state.revision, commit: stored.at(-1)?.position ?? null } };
}
