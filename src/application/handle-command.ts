import { defaultPolicy } from '../catalogue/policy.js';
import { canonicalJson } from '../domain/chain.js';
import { evolve } from '../domain/evolve.js';
import { fileIdOf, fileStream, sha256 } from '../domain/ids.js';
import type { Context } from '../domain/recorder.js';
import { fork } from '../domain/state.js';
import { chained, earlierCommand, replayed } from './command-events.js';
import type { FileCommand, Handled } from './file-command.js';
import { positionOf, readHistory } from './file-history.js';
import { KeyedQueue } from './keyed-queue.js';
import { type Clock, type EventLog, type Ids, type NewEvent, StoreUnavailable, WrongRevision } from './ports.js';

/** Conflicts with other instances in a row before the caller is told to come back: commands of this one take turns. */
const TRIES = 20;
/** How often an append whose outcome is unknown is made again, with the same event ids, to learn it. */
const RESOLVING_TRIES = 3;
const DEFAULT_POLICY_HASH = sha256(canonicalJson(defaultPolicy));

/** Read, fold, decide, append at the revision that was read; bounded retry. */
export class CommandHandling {
  private readonly queue = new KeyedQueue();

  constructor(
    private readonly log: EventLog,
    private readonly clock: Clock,
    private readonly ids: Ids,
  ) {}

  /** Throws what `decide` throws, {@link KeyReused}, and {@link StoreUnavailable}. */
  async handle(command: FileCommand): Promise<Handled> {
    const stream = fileStream(fileIdOf(command.repo, command.targetFile));
    return this.queue.run(stream, () => this.inTurn(stream, command));
  }

  /** Where and when a decision or a query on a file is made: now, under the policy in force. */
  contextOf(repo: string, targetFile: string): Context {
    const stream = fileStream(fileIdOf(repo, targetFile));
    return { repo, targetFile, stream, now: this.clock.now(), policy: defaultPolicy, policyHash: DEFAULT_POLICY_HASH };
  }

  private async inTurn(stream: string, command: FileCommand): Promise<Handled> {
    const randomId = this.ids.uuid();
    for (let tried = 0; tried < TRIES; tried += 1) {
      const history = await readHistory(this.log, stream);
      const context = this.contextOf(command.repo, command.targetFile);
      const commandId = command.commandId?.(history) ?? randomId;
      const earlier = earlierCommand(history, command.call, commandId) ?? command.sameAs?.(history) ?? null;
      if (earlier !== null) return replayed(history, earlier, context);
      const before = history.state;
      const events = command.decide(before, context, history);
      if (events.length === 0) return { before, events, after: before, context, position: positionOf(history) };
      await command.texts?.write();
      try {
        const { position } = await this.append(stream, before.revision, chained(history, events, commandId, command));
        const after = events.reduce(evolve, fork(before));
        return { before, events, after, context, position: { stream, revision: after.revision, commit: position } };
      } catch (error) {
        if (!(error instanceof WrongRevision)) throw error;
      }
    }
    throw new StoreUnavailable(`${TRIES} other writers in a row were faster on ${stream}`);
  }

  /** An append without an answer is made again with the same ids at the same revision: it counts once, and its outcome is learned. */
  private async append(stream: string, expectedRevision: number, events: NewEvent[]): Promise<{ position: string }> {
    for (let tried = 1; ; tried += 1) {
      try {
        return await this.log.append(stream, expectedRevision, events);
      } catch (error) {
        if (!(error instanceof StoreUnavailable) || tried === RESOLVING_TRIES) throw error;
      }
    }
  }
}
