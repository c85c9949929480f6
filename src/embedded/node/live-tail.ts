import type { LogEvent } from './log-event.js';

const MAX_EVENTS = 10_000;
const MAX_BYTES = 16 * 1024 * 1024;
const EVENT_OVERHEAD_BYTES = 300;

/**
 * The newest events, in memory, shared by all subscriptions: the writer puts in what it has committed, and each subscription reads on from the
 * position it has come to. Bounded, so a subscription that falls behind it finds nothing here and goes back to the log.
 */
export class LiveTail {
  /** Slots before `start` are emptied. */
  private events: (LogEvent | undefined)[] = [];
  private start = 0;
  private bytes = 0;
  private readonly listeners = new Set<() => void>();

  /** `head`: the position of the last committed event, 0 for an empty log. */
  constructor(
    public head: number,
    private readonly maxEvents = MAX_EVENTS,
    private readonly maxBytes = MAX_BYTES,
  ) {}

  /** Takes events that were committed; they follow the head without a gap. */
  push(events: readonly LogEvent[]): void {
    for (const event of events) {
      this.events.push(event);
      this.bytes += sizeOf(event);
    }
    this.head = events.at(-1)?.position ?? this.head;
    this.trim();
    this.notify();
  }

  /** Starts over after events may have been committed that did not pass through here. */
  reset(head: number): void {
    if (head === this.head) return;
    this.events = [];
    this.start = 0;
    this.bytes = 0;
    this.head = head;
    this.notify();
  }

  /** Up to `limit` events after a position; none if it is the head or beyond; null if the tail does not reach back that far. */
  after(position: number, limit: number): LogEvent[] | null {
    if (position >= this.head) return [];
    const first = this.events[this.start];
    if (first === undefined || position + 1 < first.position) return null;
    const from = this.start + (position + 1 - first.position);
    return this.events.slice(from, from + limit) as LogEvent[];
  }

  /** Calls back whenever there is more to read. Returns what ends that. */
  listen(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  private trim(): void {
    while (this.events.length - this.start > this.maxEvents || (this.bytes > this.maxBytes && this.events.length - this.start > 1)) {
      const event = this.events[this.start]!;
      this.bytes -= sizeOf(event);
      this.events[this.start] = undefined;
      this.start += 1;
    }
    // Giving the room back in large steps keeps a push from copying the whole tail.
    if (this.start > this.maxEvents) {
      this.events = this.events.slice(this.start);
      this.start = 0;
    }
  }

  private notify(): void {
    for (const listener of this.listeners) listener();
  }
}

/** Counts the body twice, for the encoded form that the first subscriber leaves with the event. */
function sizeOf(event: LogEvent): number {
  return EVENT_OVERHEAD_BYTES + 2 * (event.data.length + event.metadata.length);
}
