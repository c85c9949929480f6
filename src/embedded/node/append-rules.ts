import { DELETED_REVISION } from './log-event.js';

/** What an append expects of its stream besides a revision, numbered as in the protocol's trailers. */
export const EXPECT_NO_STREAM = -1;
export const EXPECT_ANY = -2;
export const EXPECT_STREAM_EXISTS = -4;

export interface StreamView {
  readonly head: number;
  readonly softDeleted: boolean;
  /** A stream that has only metadata exists too. */
  readonly hasMetadata: boolean;
}

/** Where an event id already stands in the stream; empty if nowhere. */
export type Places = (id: string) => readonly Place[];

export interface Place {
  readonly revision: number;
  readonly position: number;
}

export type Decision =
  | { readonly kind: 'write' }
  | { readonly kind: 'repeated'; readonly last: Place }
  | { readonly kind: 'wrong-version'; readonly current: number }
  | { readonly kind: 'deleted' };

/**
 * Whether an append may be written, following EventStoreDB. An append whose very events already stand where it wants them was repeated, and
 * succeeds without writing; one of which only a part stands there is refused.
 */
export function decideAppend(stream: StreamView, expected: number, ids: readonly string[], places: Places): Decision {
  if (stream.head === DELETED_REVISION) return { kind: 'deleted' };
  const wrongVersion: Decision = { kind: 'wrong-version', current: stream.head };
  if (expected === EXPECT_STREAM_EXISTS) {
    if (stream.softDeleted) return { kind: 'deleted' };
    if (stream.head < 0 && !stream.hasMetadata) return wrongVersion;
  }
  if (expected === EXPECT_ANY || expected === EXPECT_STREAM_EXISTS) return repeatedAnywhere(ids, places) ?? { kind: 'write' };
  if (expected > stream.head) return wrongVersion;
  if (expected === stream.head) return { kind: 'write' };
  return repeatedAfter(expected, ids, places, stream) ?? wrongVersion;

  /** With no revision to go by, the first event decides: unknown, the append is new; known, all the others must be known too. */
  function repeatedAnywhere(ids: readonly string[], places: Places): Decision | null {
    let last: Place | undefined;
    for (const [index, id] of ids.entries()) {
      const place = places(id).at(-1);
      if (place === undefined) return index === 0 ? null : wrongVersion;
      last = place;
    }
    return last === undefined ? null : { kind: 'repeated', last };
  }
}

/** An append behind the head of its stream is only right if its events are exactly those that follow the expected revision. */
function repeatedAfter(expected: number, ids: readonly string[], places: Places, stream: StreamView): Decision | null {
  let last: Place | undefined;
  for (const [index, id] of ids.entries()) {
    const place = places(id).find(({ revision }) => revision === expected + 1 + index);
    if (place === undefined) {
      const recreates = index === 0 && expected === EXPECT_NO_STREAM && stream.softDeleted;
      return recreates ? { kind: 'write' } : null;
    }
    last = place;
  }
  return last === undefined ? null : { kind: 'repeated', last };
}
