import { uuidOf } from '../domain/ids.js';
import { recalibrate } from '../domain/settle.js';
import { NotCaughtUp } from './errors.js';
import type { CommandHandling } from './handle-command.js';
import {
  type Checkpoints,
  type EventLog,
  type EventPlace,
  type FollowedEvent,
  isUnread,
  type ParkedEvent,
  type ParkedEvents,
  type StoredEvent,
  StoreUnavailable,
} from './ports.js';
import type { Follower } from './run-followers.js';
import { type Reaction, SAGA_CALL } from './saga/reaction.js';

/** Its checkpoint, and the name that parked events have it by. */
export const SAGA = 'calibration_saga';
/** Events of a stream that are looked at in one go when they are tried again. */
const RETRIED_AT_ONCE = 500;

interface Parts {
  handling: CommandHandling;
  checkpoints: Checkpoints;
  parked: ParkedEvents;
  /** What else the saga does at single events. */
  reactions: Reaction[];
}

/** Evidence that no decision has taken in yet. */
interface Undecided {
  stream: string;
  eventId: string;
  whyCleared: 'overcome' | 'corrected';
}

/**
 * The part of the calibration saga that follows the log (domain.md): recalibrates files whose evidence came without a decision, such as
 * imports and corrections, each time from the live state. What it appends carries ids that follow from what caused it, at the revision
 * that it was decided on, so doing it again after a crash has no effect. A file that it cannot read or decide on is parked, from the
 * event on at which that showed, and the others go on.
 */
export class SagaFollower implements Follower {
  private seen: string | null = null;

  constructor(private readonly parts: Parts) {}

  async position(): Promise<string | null> {
    this.seen = await this.parts.checkpoints.load(SAGA);
    return this.seen;
  }

  async take(events: FollowedEvent[]): Promise<void> {
    const { seen } = this;
    const fresh = events.filter(({ position }) => seen === null || BigInt(position) > BigInt(seen));
    if (fresh.length === 0) return;
    // What is held back is noted before the others are decided on: a retry that ends meanwhile either sees it or has ended before.
    await this.decide(fresh, await this.parts.parked.hold(SAGA, lastRevisions(fresh)));
    this.seen = fresh.at(-1)!.position;
    await this.parts.checkpoints.save(SAGA, this.seen);
  }

  /** Tries each parked event again, and what it held back. */
  async retry(log: Pick<EventLog, 'readFollowed'>): Promise<void> {
    const { parked } = this.parts;
    // More may have been held back while it was tried: then once more.
    for (const { stream } of await parked.of(SAGA))
      for (;;) {
        const [event] = await parked.of(SAGA, stream);
        if (event === undefined || !(await this.tryAgain(log, event)) || (await parked.release(event))) break;
      }
  }

  /** False where an event of them could still not be taken in. */
  private async tryAgain(log: Pick<EventLog, 'readFollowed'>, { stream, revision, heldUpTo }: ParkedEvent): Promise<boolean> {
    for (let from = revision; from <= heldUpTo; from += RETRIED_AT_ONCE) {
      const events: FollowedEvent[] = [];
      for await (const event of log.readFollowed(stream, from, Math.min(RETRIED_AT_ONCE, heldUpTo - from + 1))) events.push(event);
      const held = new Map<string, number>();
      await this.decide(events, held);
      if (held.size > 0) return false;
    }
    return true;
  }

  /** Decides on evidence that has no decision, and reacts to what other files learn of; `held` says from which revision on a stream is held back, and tells afterwards. */
  private async decide(events: FollowedEvent[], held: Map<string, number>): Promise<void> {
    const { handling, parked, reactions } = this.parts;
    const found = new Map<string, { event: EventPlace; reason: string }>();
    const holds = ({ stream, revision }: EventPlace | StoredEvent) => revision >= (held.get(stream) ?? Number.POSITIVE_INFINITY);
    const park = (event: EventPlace, reason: string) => {
      if (holds(event)) return;
      held.set(event.stream, event.revision);
      found.set(event.stream, { event, reason });
    };
    for (const event of events) if (isUnread(event)) park(event, event.unreadable);
    const readable = events.filter((event): event is StoredEvent => !isUnread(event) && !holds(event));
    for (const { stream, eventId, whyCleared } of undecidedEvidence(readable))
      try {
        await handling.handle({
          ...{ stream, call: SAGA_CALL, dispatchId: null },
          commandId: () => uuidOf(SAGA, eventId),
          decide: (state, context) => recalibrate(state, whyCleared, context),
        });
      } catch (error) {
        if (passes(error)) throw error;
        const event = readable.find(({ id }) => id === eventId)!;
        park({ ...event, type: event.event.type }, messageOf(error));
      }
    for (const event of readable)
      try {
        if (!holds(event)) for (const react of reactions) await react(event);
      } catch (error) {
        if (passes(error)) throw error;
        park({ ...event, type: event.event.type }, messageOf(error));
      }
    const last = lastRevisions(events);
    for (const { event, reason } of found.values()) await parked.park(SAGA, event, reason, last.get(event.stream)!);
  }
}

function lastRevisions(events: FollowedEvent[]): Map<string, number> {
  return new Map(events.map(({ stream, revision }) => [stream, revision]));
}

/** Trouble of the stores (those of the database carry a code, a read model may be late), not of the file that was being worked on. */
export function passes(error: unknown): boolean {
  return (
    error instanceof StoreUnavailable || error instanceof NotCaughtUp || typeof (error as { code?: unknown } | null)?.code === 'string'
  );
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/**
 * A command appends its evidence and its decision together: evidence that no decision of the same cause came with has none. Another
 * command's decision behind it is none: it takes in its own builder's evidence only, and opening a dispatch takes in nothing.
 */
export function undecidedEvidence(batch: StoredEvent[]): Undecided[] {
  const undecided = new Map<string, Undecided>();
  for (const { event, stream, id, metadata } of batch) {
    const cause = `${stream} ${metadata.$causationId}`;
    if (event.type === 'VerdictReached' || event.type === 'VerdictCorrected') {
      const whyCleared = event.type === 'VerdictCorrected' ? 'corrected' : 'overcome';
      undecided.set(cause, { stream, eventId: id, whyCleared });
    }
    if (event.type === 'NextStepDecided') undecided.delete(cause);
  }
  // A file is looked at once, whatever it was that came.
  return [...new Map([...undecided.values()].map((evidence) => [evidence.stream, evidence])).values()];
}
