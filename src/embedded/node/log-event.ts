/**
 * The revision of a tombstone. On the wire and in the log it is the largest int64, as in EventStoreDB; in memory it is the largest integer
 * that a number holds exactly, so that revisions can stay plain numbers.
 */
export const DELETED_REVISION = Number.MAX_SAFE_INTEGER;
export const DELETED_REVISION_TEXT = '9223372036854775807';

/** A stream without events. */
export const NO_REVISION = -1;

/** An event as the log has it. Positions count from 1 without gaps, which filtered subscriptions rely on when they count what they scanned. */
export interface LogEvent {
  readonly position: number;
  readonly stream: string;
  readonly revision: number;
  /** A UUID as lower-case text. */
  readonly id: string;
  readonly type: string;
  readonly isJson: boolean;
  /** Microseconds since 1970. */
  readonly createdUs: number;
  readonly data: Uint8Array;
  readonly metadata: Uint8Array;
  /** The encoded answer, kept so that many live subscriptions share one encoding. */
  wire?: Buffer;
}

/** An event that a client wants to append. */
export interface ProposedEvent {
  readonly id: string;
  readonly type: string;
  readonly isJson: boolean;
  readonly data: Uint8Array;
  readonly metadata: Uint8Array;
}

/** Reads an int8 column, which `pg` hands over as text. */
export function toRevision(text: string): number {
  const value = Number(text);
  return value > Number.MAX_SAFE_INTEGER ? DELETED_REVISION : value;
}

/** What an append counts towards the append limit. */
export function appendSize(event: ProposedEvent): number {
  return event.data.length + event.metadata.length + 2 * event.type.length;
}
