import { EventEmitter } from 'node:events';
import type { AnvilEvent } from '../catalogue/events.js';
import { readWritten } from '../catalogue/versions.js';
import { FOLLOWED_STREAMS } from '../domain/ids.js';
import { InvalidField, NoRoom } from './errors.js';
import { KeyedQueue } from './keyed-queue.js';
import { type EventLog, isUnread, type LogEntry, type StoredEvent } from './ports.js';
import { keepGoing, pause } from './timing.js';

/**
 * How many may listen at a time: each holds a connection of its own. And how many of the newest events are kept for all of them
 * together, with their size in characters: who is further behind reads the log.
 */
const BOUNDS = { listeners: 200, events: 2_000, characters: 8_000_000 };
/** Events of the log that a listener who is behind gets at a time, and how many may be reading at once. */
const PAGE = 100;
const READERS = 4;
const CHANGED = Symbol('changed');

/** An event as it is told; `position` is where who has seen it goes on, `json` what `/v1/audit/events` shows of it. */
export interface ToldEvent {
  stream: string;
  position: string;
  event: AnvilEvent;
  json: string;
}

/** What came since: `position` says up to where all was looked at, also where nothing came. */
export interface News {
  events: ToldEvent[];
  position: string;
}

/**
 * Events as they are committed, for any number of listeners over one subscription: the newest are kept for all of them together, and a
 * listener who is behind these reads the log by the page, at its own pace. So nothing is kept for a listener, and a slow one costs
 * nobody anything.
 */
export class LiveEvents {
  private kept: ToldEvent[] = [];
  private characters = 0;
  /** All events after this position, up to {@link seen}, are in `kept`. */
  private floor = '0';
  private seen = '0';
  private following: Promise<void> | null = null;
  private listeners = 0;
  private readonly changes = new EventEmitter().setMaxListeners(0);
  private readonly readers = new KeyedQueue();
  private read = 0;
  private readonly closing = new AbortController();

  constructor(
    private readonly log: EventLog,
    private readonly report: (message: string) => void,
    private readonly bounds = BOUNDS,
  ) {}

  /**
   * What is committed after a position, from now on without one, until `signal` aborts or the service ends. There is news at the latest
   * after `quietMs`. Throws {@link NoRoom} and, for a position that is beyond the log, {@link InvalidField}.
   */
  async listen(after: string | null, quietMs: number, signal: AbortSignal): Promise<AsyncGenerator<News>> {
    if (this.closing.signal.aborted) throw new NoRoom('the service is about to end');
    if (this.listeners >= this.bounds.listeners) throw new NoRoom(`${this.bounds.listeners} listen already`);
    this.listeners += 1;
    const ends = AbortSignal.any([signal, this.closing.signal]);
    const leave = () => {
      this.listeners -= 1;
    };
    try {
      const head = (await this.log.head()) ?? '0';
      if (after !== null && BigInt(after) > BigInt(head))
        throw new InvalidField('Last-Event-ID', `is beyond the end of the log, which is at ${head}`);
      this.following ??= this.follow(head);
      // Who has gone meanwhile never asks for news, and so would never leave by its end.
      if (ends.aborted) leave();
      else ends.addEventListener('abort', leave, { once: true });
      return this.news(after ?? head, quietMs, ends);
    } catch (error) {
      leave();
      throw error;
    }
  }

  /** Ends all listening. */
  async close(): Promise<void> {
    this.closing.abort();
    await this.following;
  }

  private async *news(after: string, quietMs: number, ends: AbortSignal): AsyncGenerator<News> {
    let position = after;
    yield { events: [], position };
    while (!ends.aborted) {
      let news: News;
      if (this.dropped(position)) news = await this.page(position);
      else {
        if (this.after(position).length === 0) await this.untilChanged(quietMs, ends);
        if (this.dropped(position)) continue;
        const events = this.after(position);
        // What was seen so far may be behind where this listener began.
        news = { events, position: events.at(-1)?.position ?? later(position, this.seen) };
      }
      position = news.position;
      if (!ends.aborted) yield news;
    }
  }

  private dropped(position: string): boolean {
    return BigInt(position) < BigInt(this.floor);
  }

  private after(position: string): ToldEvent[] {
    const at = BigInt(position);
    let first = this.kept.length;
    while (first > 0 && BigInt(this.kept[first - 1]!.position) > at) first -= 1;
    return this.kept.slice(first, first + PAGE);
  }

  private page(position: string): Promise<News> {
    this.read += 1;
    return this.readers.run(String(this.read % READERS), async () => {
      const events: ToldEvent[] = [];
      let seen: string | null = null;
      for await (const entry of this.log.readAll(position, PAGE)) {
        seen = entry.position;
        if (FOLLOWED_STREAMS.some((prefix) => entry.stream.startsWith(prefix))) events.push(...parsed(entry));
      }
      return { events, position: seen ?? later(position, this.floor) };
    });
  }

  private async follow(head: string): Promise<void> {
    this.floor = head;
    this.seen = head;
    await keepGoing('the live events', this.closing.signal, this.report, async () => {
      for await (const batch of this.log.follow(FOLLOWED_STREAMS, this.seen === '0' ? null : this.seen, this.closing.signal)) {
        if (this.listeners > 0) this.keep(batch.flatMap((event) => (isUnread(event) ? [] : [told(event)])));
        else this.drop(this.kept.length, batch.at(-1)!.position);
        this.seen = batch.at(-1)!.position;
        this.changes.emit(CHANGED);
      }
    });
  }

  private keep(events: ToldEvent[]): void {
    for (const one of events) {
      this.kept.push(one);
      this.characters += one.json.length;
    }
    let surplus = Math.max(0, this.kept.length - this.bounds.events);
    for (let held = this.characters; held > this.bounds.characters && surplus < this.kept.length; surplus += 1)
      held -= this.kept[surplus]!.json.length;
    if (surplus > 0) this.drop(surplus, this.kept[surplus - 1]!.position);
  }

  private drop(count: number, floor: string): void {
    for (const { json } of this.kept.splice(0, count)) this.characters -= json.length;
    this.floor = floor;
  }

  private async untilChanged(ms: number, signal: AbortSignal): Promise<void> {
    const enough = new AbortController();
    const wake = () => enough.abort();
    this.changes.once(CHANGED, wake);
    signal.addEventListener('abort', wake, { once: true });
    await pause(ms, enough.signal);
    this.changes.off(CHANGED, wake);
    signal.removeEventListener('abort', wake);
  }
}

function told({ id, stream, revision, position, created, event, metadata }: Omit<StoredEvent, 'written'>): ToldEvent {
  const shown = { type: event.type, stream, revision, commit: position, eventId: id, created, data: event.data, metadata };
  return { stream, position, event, json: JSON.stringify(shown) };
}

/** Nothing where somebody else wrote it, or a newer Anvil: it is not for those who listen here. */
function parsed({ type, data, metadata, ...place }: LogEntry): ToldEvent[] {
  try {
    return [told({ ...place, ...readWritten(type, data, metadata) })];
  } catch {
    return [];
  }
}

function later(a: string, b: string): string {
  return BigInt(a) > BigInt(b) ? a : b;
}
