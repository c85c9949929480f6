import { LRUCache } from 'lru-cache';
import type { PolicyEvent } from '../catalogue/events.js';
import { policyStream } from '../domain/ids.js';
import { evolvePolicy, noPolicyYet, type PolicyState } from '../domain/policy-in-force.js';
import type { EventLog } from './ports.js';

const MOST_REPOS = 10_000;

/** A repo's policy stream as far as it was folded; `position` is the commit position of its last event. */
export interface PolicyHistory {
  state: PolicyState;
  position: string | null;
}

interface Reading {
  done: Promise<PolicyHistory>;
  next: Promise<PolicyHistory> | null;
}

const NOTHING: PolicyHistory = { state: noPolicyYet, position: null };

/**
 * What repos decide under, from the heads of their policy streams. The folded state is kept; each question reads what was appended since
 * (by any instance) where the log does not know that nothing was, so that an answer is never older than its question.
 */
export class Policies {
  private readonly cache = new LRUCache<string, PolicyHistory>({ max: MOST_REPOS });
  private readonly readings = new Map<string, Reading>();

  constructor(private readonly log: EventLog) {}

  /** At the stream's head. Questions that come while a read is under way share the one after it: that one may have begun too early. */
  current(repo: string): Promise<PolicyHistory> {
    const held = this.cache.get(repo) ?? NOTHING;
    if (this.log.isHead(policyStream(repo), held.state.revision)) return Promise.resolve(held);
    const reading = this.readings.get(repo);
    if (reading === undefined) return this.read(repo);
    const again = () => this.read(repo);
    reading.next ??= reading.done.then(again, again);
    return reading.next;
  }

  /** As it stood at a revision of its stream; -1: before there was any. */
  async asOf(repo: string, revision: number): Promise<PolicyState> {
    return (await this.past(repo)).at(revision) ?? noPolicyYet;
  }

  /** The whole past of a repo's policy stream. */
  async past(repo: string): Promise<PolicyPast> {
    const events: PolicyEvent[] = [];
    for await (const { event } of this.log.read(policyStream(repo))) events.push(event as PolicyEvent);
    return new PolicyPast(events);
  }

  private read(repo: string): Promise<PolicyHistory> {
    const done = this.tail(repo).finally(() => {
      if (this.readings.get(repo) === reading) this.readings.delete(repo);
    });
    const reading: Reading = { done, next: null };
    this.readings.set(repo, reading);
    return done;
  }

  private async tail(repo: string): Promise<PolicyHistory> {
    let history = this.cache.get(repo) ?? NOTHING;
    for await (const { event, position } of this.log.read(policyStream(repo), history.state.revision + 1))
      history = { state: evolvePolicy(history.state, event as PolicyEvent), position };
    if (history !== NOTHING) this.cache.set(repo, history);
    return history;
  }
}

/** The states that a policy stream went through. An event that cannot be read (null) changes nothing but the revision. */
export class PolicyPast {
  private readonly states = new Map<number, PolicyState>();

  constructor(private readonly events: readonly (PolicyEvent | null)[]) {}

  /** Undefined where the stream never came so far. */
  at(revision: number): PolicyState | undefined {
    if (revision < 0) return noPolicyYet;
    if (revision >= this.events.length) return undefined;
    const known = this.states.get(revision) ?? this.events.slice(0, revision + 1).reduce(step, noPolicyYet);
    this.states.set(revision, known);
    return known;
  }

  /** By the times that its events say. */
  atTime(time: string): PolicyState {
    return this.at(this.events.findLastIndex((event) => event !== null && Date.parse(event.data.at) <= Date.parse(time)))!;
  }
}

function step(state: PolicyState, event: PolicyEvent | null): PolicyState {
  return event === null ? { ...state, revision: state.revision + 1 } : evolvePolicy(state, event);
}
