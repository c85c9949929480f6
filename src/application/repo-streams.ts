import { LRUCache } from 'lru-cache';
import type { AnvilEvent } from '../catalogue/events.js';
import type { EventLog } from './ports.js';

/** A stream that every repo may have one of: how it is called, and what it folds to. */
export interface RepoStream<E extends AnvilEvent, S extends RepoState> {
  streamOf(repo: string): string;
  /** Of a repo that has none. */
  initial: S;
  /** A state that has been handed out stays as it is: each event makes a new one. */
  evolve(state: S, event: E): S;
}

/** `revision` is that of the last event; -1: the repo has no such stream. */
export interface RepoState {
  readonly revision: number;
}

const MOST_REPOS = 10_000;

/** A repo's stream as far as it was folded; `position` is the commit position of its last event. */
export interface RepoHistory<S> {
  state: S;
  position: string | null;
}

interface Reading<S> {
  done: Promise<RepoHistory<S>>;
  next: Promise<RepoHistory<S>> | null;
}

/**
 * What holds for repos, from the heads of their streams. The folded state is kept; each question reads what was appended since
 * (by any instance) where the log does not know that nothing was, so that an answer is never older than its question.
 */
export class RepoStreams<E extends AnvilEvent, S extends RepoState> {
  private readonly cache = new LRUCache<string, RepoHistory<S>>({ max: MOST_REPOS });
  private readonly readings = new Map<string, Reading<S>>();
  private readonly nothing: RepoHistory<S>;

  constructor(
    private readonly log: EventLog,
    private readonly kind: RepoStream<E, S>,
  ) {
    this.nothing = { state: kind.initial, position: null };
  }

  /** At the stream's head. Questions that come while a read is under way share the one after it: that one may have begun too early. */
  current(repo: string): Promise<RepoHistory<S>> {
    const held = this.cache.get(repo) ?? this.nothing;
    if (this.log.isHead(this.kind.streamOf(repo), held.state.revision)) return Promise.resolve(held);
    const reading = this.readings.get(repo);
    if (reading === undefined) return this.read(repo);
    const again = () => this.read(repo);
    reading.next ??= reading.done.then(again, again);
    return reading.next;
  }

  /** As it stood at a revision of its stream; -1: before there was any. */
  async asOf(repo: string, revision: number): Promise<S> {
    return (await this.past(repo)).at(revision) ?? this.kind.initial;
  }

  /** The whole past of a repo's stream. */
  async past(repo: string): Promise<RepoPast<E, S>> {
    const events: E[] = [];
    for await (const { event } of this.log.read(this.kind.streamOf(repo))) events.push(event as E);
    return new RepoPast(this.kind, events);
  }

  private read(repo: string): Promise<RepoHistory<S>> {
    const done = this.tail(repo).finally(() => {
      if (this.readings.get(repo) === reading) this.readings.delete(repo);
    });
    const reading: Reading<S> = { done, next: null };
    this.readings.set(repo, reading);
    return done;
  }

  private async tail(repo: string): Promise<RepoHistory<S>> {
    let history = this.cache.get(repo) ?? this.nothing;
    for await (const { event, position } of this.log.read(this.kind.streamOf(repo), history.state.revision + 1))
      history = { state: this.kind.evolve(history.state, event as E), position };
    if (history !== this.nothing) this.cache.set(repo, history);
    return history;
  }
}

/** The states that a stream went through. An event that cannot be read (null) changes nothing but the revision. */
export class RepoPast<E extends AnvilEvent, S extends RepoState> {
  private readonly states = new Map<number, S>();

  constructor(
    private readonly kind: RepoStream<E, S>,
    private readonly events: readonly (E | null)[],
  ) {}

  /** Undefined where the stream never came so far. */
  at(revision: number): S | undefined {
    if (revision < 0) return this.kind.initial;
    if (revision >= this.events.length) return undefined;
    const known =
      this.states.get(revision) ?? this.events.slice(0, revision + 1).reduce((state, event) => this.step(state, event), this.kind.initial);
    this.states.set(revision, known);
    return known;
  }

  /** By the times that its events say. */
  atTime(time: string): S {
    return this.at(
      this.events.findLastIndex((event) => event !== null && Date.parse((event.data as { at: string }).at) <= Date.parse(time)),
    )!;
  }

  private step(state: S, event: E | null): S {
    return event === null ? { ...state, revision: state.revision + 1 } : this.kind.evolve(state, event);
  }
}
