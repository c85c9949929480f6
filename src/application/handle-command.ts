import type { EventData, FileEvent } from '../catalogue/events.js';
import { defaultPolicy, type Policy } from '../catalogue/policy.js';
import { canonicalJson } from '../domain/chain.js';
import { sha256 } from '../domain/ids.js';
import type { Context } from '../domain/recorder.js';
import type { FileState } from '../domain/state.js';
import { type Chained, chained, extentOf, sameKey } from './command-events.js';
import { NotFound } from './errors.js';
import type { FileCommand, Handled } from './file-command.js';
import type { FileHistories } from './file-histories.js';
import { type FileHistory, fold, type Position, positionOf } from './file-history.js';
import type { Metrics } from './metrics.js';
import { type Clock, type EventLog, type Ids, StoreUnavailable, WrongRevision } from './ports.js';

/** Conflicts with other instances in a row before the caller is told to come back: commands of this one take turns. */
const TRIES = 20;
/** How often an append whose outcome is unknown is made again, with the same event ids, to learn it. */
const RESOLVING_TRIES = 3;
const DEFAULT_POLICY_HASH = sha256(canonicalJson(defaultPolicy));

type Plan<S> = { earlier: string } | { earlier: null; commandId: string; state: FileState; context: Context; seen: S; events: FileEvent[] };

/** Read, fold, decide, append at the revision that was read; bounded retry. */
export class CommandHandling {
  constructor(
    private readonly log: EventLog,
    private readonly histories: FileHistories,
    private readonly clock: Clock,
    private readonly ids: Ids,
    private readonly metrics: Metrics,
  ) {}

  /** Throws what the command's steps throw, {@link NotFound}, {@link KeyReused} and {@link StoreUnavailable}. */
  handle<S>(command: FileCommand<S>): Promise<Handled<S>> {
    return this.histories.turn(command.stream, () => this.inTurn(command));
  }

  /** Where and when a decision or a query on a file is made: now, under the policy in force. */
  contextOf(stream: string, { repo, targetFile }: { repo: string; targetFile: string }): Context {
    return { repo, targetFile, stream, now: this.clock.now(), policy: defaultPolicy, policyHash: DEFAULT_POLICY_HASH };
  }

  /** The policy that a decision names, if it is known. */
  policyOf(hash: string): Policy | undefined {
    return hash === DEFAULT_POLICY_HASH ? defaultPolicy : undefined;
  }

  /**
   * A state in memory may be behind the stream. The append at its revision proves that it was not; where it leads to no append, or to a
   * refusal, the stream is read first. So it is where long texts would be stored before the append could prove anything.
   */
  private async inTurn<S>(command: FileCommand<S>): Promise<Handled<S>> {
    const { stream } = command;
    const randomId = this.ids.uuid();
    for (let tried = 0; tried < TRIES; tried += 1) {
      const atHand = tried === 0 && command.texts?.pending !== true ? this.histories.atHand(stream) : undefined;
      const history = atHand ?? (await this.histories.current(stream));
      let plan: Plan<S>;
      try {
        plan = await this.plan(command, history, randomId);
      } catch (error) {
        if (atHand !== undefined) continue;
        throw error;
      }
      if (plan.earlier !== null) return this.replayed(command, plan.earlier);
      const { commandId, state, events, seen, context } = plan;
      if (events.length === 0) {
        if (atHand !== undefined) continue;
        return { ...outcome(command, state, events), seen, context, position: positionOf(history) };
      }
      await command.texts?.write();
      const before = history.state.revision;
      try {
        const position = await this.append(history, chained(history, events, commandId, command.dispatchId, command.call));
        for (const { type, data } of events)
          if (type === 'NextStepDecided') this.metrics.decisions.inc({ step: data.step, rule: data.rule });
        const after = state === history.state ? state : (await this.histories.whole(stream)).state;
        return { ...outcome(command, after, events), seen, context, position };
      } catch (error) {
        if (!(error instanceof WrongRevision)) throw error;
        this.metrics.conflicts.inc();
        const current = await this.histories.current(stream);
        if (current.state.revision <= before) await this.histories.forget(stream);
      }
    }
    throw new StoreUnavailable(`${TRIES} other writers in a row were faster on ${stream}`);
  }

  /** What a command leads to on a history, or the command of the past that it repeats. Nothing is stored. */
  private async plan<S>(command: FileCommand<S>, history: FileHistory, randomId: string): Promise<Plan<S>> {
    const { stream } = command;
    const commandId = command.commandId?.(stream, history.state) ?? randomId;
    const earlier = (await this.madeBefore(command, history)) ?? (history.recent.has(commandId) ? commandId : null);
    if (earlier !== null) return { earlier };
    const where = command.where ?? history.where;
    if (where === undefined) throw new NotFound('nothing is known of this id');
    const state = command.knows?.(history.state) === false ? (await this.histories.whole(stream)).state : history.state;
    const context = this.contextOf(stream, where);
    const seen = command.see?.(state, context) as S;
    return { earlier, commandId, state, context, seen, events: command.decide(state, context) };
  }

  /** An append without an answer is made again with the same ids at the same revision: it counts once, and its outcome is learned. */
  private async append(history: FileHistory, events: Chained[]): Promise<Position> {
    const stop = this.metrics.appends.startTimer();
    for (let tried = 1; ; tried += 1) {
      try {
        const { position } = await this.log.append(history.stream, history.state.revision, events);
        stop();
        this.histories.appended(history, events, position);
        return positionOf(history);
      } catch (error) {
        if (!(error instanceof StoreUnavailable) || tried === RESOLVING_TRIES) throw error;
      }
    }
  }

  private async madeBefore<S>({ call, repeats, stream }: FileCommand<S>, history: FileHistory): Promise<string | null> {
    const byKey = await sameKey(this.log, history, call);
    if (byKey !== null || repeats?.suspects(history.state) !== true) return byKey;
    return repeats.find(await this.histories.whole(stream));
  }

  /** Answers a command of the past from what it was answered from then: the stream up to it, its events, and its own time. */
  private async replayed<S>(command: FileCommand<S>, commandId: string): Promise<Handled<S>> {
    const whole = await this.histories.whole(command.stream);
    const { first, end } = extentOf(whole, commandId);
    const events = whole.events.slice(first, end).map(({ event }) => event as FileEvent);
    const context = { ...this.contextOf(command.stream, whole.where!), now: events[0]!.data.at };
    const seen = command.see?.(fold(command.stream, whole.events.slice(0, first)).state, context) as S;
    const after = fold(command.stream, whole.events.slice(0, end));
    return { ...outcome(command, after.state, events), seen, context, position: positionOf(after) };
  }
}

/** What is taken along of the state right after a command. */
function outcome({ dispatchId }: { dispatchId: string | null }, after: FileState, events: FileEvent[]) {
  const decision = events.find((event) => event.type === 'NextStepDecided')?.data as EventData<'NextStepDecided'> | undefined;
  return {
    events,
    dispatch: after.dispatches.get(dispatchId ?? decision?.dispatchId ?? ''),
    proposal: after.proposals.get(decision?.proposalId ?? ''),
  };
}
