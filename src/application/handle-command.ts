import type { EventData, FileEvent } from '../catalogue/events.js';
import { inForce, type PolicyState, policyRevisionOf } from '../domain/policy-in-force.js';
import type { Context } from '../domain/recorder.js';
import type { FileState } from '../domain/state.js';
import { appendResolved } from './append-resolved.js';
import { type Chained, chained, extentOf, sameKey } from './command-events.js';
import { NotFound } from './errors.js';
import type { FileCommand, Handled } from './file-command.js';
import type { FileHistories } from './file-histories.js';
import { type FileHistory, fold, type Position, positionOf } from './file-history.js';
import type { Imports } from './imports.js';
import type { Metrics } from './metrics.js';
import type { Policies } from './policies.js';
import { type Clock, type EventLog, type Ids, StoreUnavailable, WrongRevision } from './ports.js';
import type { RepoHistory } from './repo-streams.js';
import { warningsOf } from './warnings.js';

/** Conflicts with other instances in a row before the caller is told to come back: commands of this one take turns. */
const TRIES = 20;

type Plan<S> = { earlier: string } | { earlier: null; commandId: string; state: FileState; context: Context; seen: S; events: FileEvent[] };

/** Read, fold, decide, append at the revision that was read; bounded retry. */
export class CommandHandling {
  constructor(
    private readonly log: EventLog,
    private readonly histories: FileHistories,
    private readonly policies: Policies,
    private readonly clock: Clock,
    private readonly ids: Ids,
    private readonly metrics: Metrics,
    private readonly imports: Imports,
  ) {}

  /** Throws what the command's steps throw, {@link NoRoom} during an import, {@link NotFound}, {@link KeyReused} and {@link StoreUnavailable}. */
  async handle<S>(command: FileCommand<S>): Promise<Handled<S>> {
    this.imports.refuse();
    return this.histories.turn(command.stream, () => this.inTurn(command));
  }

  /** Where and when a decision or a query on a file is made: now, under the policy in force at the head of the repo's policy stream. */
  async contextOf(stream: string, where: { repo: string; targetFile: string }): Promise<Context> {
    return this.contextUnder((await this.policies.current(where.repo)).state, stream, where);
  }

  /** The same under another policy, such as that of the past. */
  contextUnder(policy: PolicyState, stream: string, { repo, targetFile }: { repo: string; targetFile: string }): Context {
    return { repo, targetFile, stream, now: this.clock.now(), ...inForce(policy, repo, targetFile) };
  }

  /**
   * A state in memory may be behind the stream. The append at its revision proves that it was not; where it leads to no append, or to a
   * refusal, the stream is read first. So it is where long texts would be stored before the append could prove anything. Nothing is read
   * where the log knows that the state is the stream's head.
   */
  private async inTurn<S>(command: FileCommand<S>): Promise<Handled<S>> {
    const { stream } = command;
    const randomId = this.ids.uuid();
    for (let tried = 0; tried < TRIES; tried += 1) {
      const held = tried === 0 ? this.histories.atHand(stream) : undefined;
      const isHead = held !== undefined && this.log.isHead(stream, held.state.revision);
      const atHand = isHead || command.texts?.pending !== true ? held : undefined;
      const proven = isHead || atHand === undefined;
      const policy = this.readPolicy(command.where ?? atHand?.where);
      const beside = command.beside?.();
      beside?.catch(() => {});
      const history = atHand ?? (await this.histories.current(stream));
      let plan: Plan<S>;
      try {
        plan = await this.plan(command, history, randomId, policy, beside);
      } catch (error) {
        if (!proven) continue;
        throw error;
      }
      if (plan.earlier !== null) return this.replayed(command, plan.earlier);
      const { commandId, state, events, seen, context } = plan;
      if (events.length === 0) {
        if (!proven) continue;
        return { ...outcome(command, state, events), seen, context, position: positionOf(history) };
      }
      await command.texts?.write();
      const before = history.state.revision;
      try {
        const position = await this.append(history, chained(history.head, events, commandId, command.dispatchId, command.call));
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

  /** Begun beside the read of the file, where it is known whose policy it is. Who does not come to ask for it does not miss its failure. */
  private readPolicy(where: { repo: string } | undefined): Promise<RepoHistory<PolicyState>> | undefined {
    const policy = where && this.policies.current(where.repo);
    policy?.catch(() => {});
    return policy;
  }

  /** What a command leads to on a history, or the command of the past that it repeats. Nothing is stored. */
  private async plan<S>(
    command: FileCommand<S>,
    history: FileHistory,
    randomId: string,
    policy: Promise<RepoHistory<PolicyState>> | undefined,
    beside: Promise<Partial<Context>> | undefined,
  ): Promise<Plan<S>> {
    const { stream } = command;
    const commandId = command.commandId?.(stream, history.state) ?? randomId;
    const earlier = (await this.madeBefore(command, history)) ?? (history.recent.has(commandId) ? commandId : null);
    if (earlier !== null) return { earlier };
    const where = command.where ?? history.where;
    if (where === undefined) throw new NotFound('nothing is known of this id');
    const state = command.knows?.(history.state) === false ? (await this.histories.whole(stream)).state : history.state;
    const { state: underWhat } = await (policy ?? this.policies.current(where.repo));
    const context = { ...this.contextUnder(underWhat, stream, where), ...(await beside) };
    const seen = command.see?.(state, context) as S;
    return { earlier, commandId, state, context, seen, events: command.decide(state, context) };
  }

  private async append(history: FileHistory, events: Chained[]): Promise<Position> {
    const stop = this.metrics.appends.startTimer();
    const { position } = await appendResolved(this.log, history.stream, history.state.revision, events);
    stop();
    this.histories.appended(history, events, position);
    return positionOf(history);
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
    const context = { ...(await this.contextThen(command.stream, whole.where!, events)), now: events[0]!.data.at };
    const seen = command.see?.(fold(command.stream, whole.events.slice(0, first)).state, context) as S;
    const after = fold(command.stream, whole.events.slice(0, end));
    return { ...outcome(command, after.state, events), seen, context, position: positionOf(after) };
  }

  /** What a command of the past was decided under, as its decision says; where it decided nothing, what is in force now. */
  private async contextThen(stream: string, where: { repo: string; targetFile: string }, events: FileEvent[]): Promise<Context> {
    const decision = events.find((event) => event.type === 'NextStepDecided')?.data as EventData<'NextStepDecided'> | undefined;
    if (decision === undefined) return this.contextOf(stream, where);
    return this.contextUnder(await this.policies.asOf(where.repo, policyRevisionOf(decision.basedOn, where.repo)), stream, where);
  }
}

/** What is taken along of the state right after a command. */
function outcome({ dispatchId }: { dispatchId: string | null }, after: FileState, events: FileEvent[]) {
  const decision = events.find((event) => event.type === 'NextStepDecided')?.data as EventData<'NextStepDecided'> | undefined;
  return {
    events,
    dispatch: after.dispatches.get(dispatchId ?? decision?.dispatchId ?? ''),
    proposal: after.proposals.get(decision?.proposalId ?? ''),
    warnings: warningsOf(after, events),
  };
}
