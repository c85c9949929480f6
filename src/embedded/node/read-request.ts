import streams from '@eventstore/db-client/generated/streams_pb.js';
import { invalidArgument, unimplemented } from './errors.js';
import { createFilter, type EventFilter } from './filters.js';
import { DELETED_REVISION } from './log-event.js';
import type { Direction } from './log-reader.js';
import { streamNameOf, toNumber } from './requests.js';

const DEFAULT_SEARCH_WINDOW = 32;

export type Start = { readonly kind: 'start' } | { readonly kind: 'end' } | { readonly kind: 'at'; readonly at: number };

/** A read or subscription as it was asked for, checked. */
export interface ReadRequest {
  /** Null for $all. */
  readonly stream: string | null;
  readonly start: Start;
  readonly direction: Direction;
  /** Null for a subscription. */
  readonly count: number | null;
  readonly filter: EventFilter | null;
  /** After how many scanned events a filtered subscription is told how far it has come. */
  readonly checkpointInterval: number;
  readonly structuredIds: boolean;
}

export function parseReadRequest(request: streams.ReadReq): ReadRequest {
  const options = request.getOptions();
  if (options === undefined) throw invalidArgument('The options are missing.');
  if (options.getResolveLinks()) throw unimplemented('resolving links');
  if ((options.getControlOption()?.getCompatibility() ?? 0) > 0) throw unimplemented('the first and last positions of a stream in reads');
  const ofStream = options.getStream();
  const ofAll = options.getAll();
  if (ofStream === undefined && ofAll === undefined) throw invalidArgument('A read is of a stream or of $all.');
  const filterOptions = options.getFilter();
  if (filterOptions !== undefined && ofStream !== undefined) throw invalidArgument('Only reads of $all can be filtered.');
  const direction = options.getReadDirection() === streams.ReadReq.Options.ReadDirection.BACKWARDS ? 'backwards' : 'forwards';
  const isSubscription = options.hasSubscription();
  if (!isSubscription && !options.hasCount()) throw invalidArgument('A read has a count or is a subscription.');
  if (isSubscription && direction === 'backwards') throw invalidArgument('A subscription only goes forwards.');
  const window = filterOptions?.hasMax() ? filterOptions.getMax() : DEFAULT_SEARCH_WINDOW;
  const multiplier = filterOptions?.getCheckpointintervalmultiplier() ?? 1;
  if (filterOptions !== undefined && (window < 1 || (isSubscription && multiplier < 1))) {
    throw invalidArgument('The search window and the checkpoint interval of a filter begin at 1.');
  }
  return {
    stream: ofStream === undefined ? null : streamNameOf(ofStream.getStreamIdentifier()),
    start: ofStream === undefined ? startOfAll(ofAll!) : startOfStream(ofStream),
    direction,
    count: isSubscription ? null : toNumber(options.getCount()),
    filter: filterOptions === undefined ? null : parseFilter(filterOptions),
    checkpointInterval: window * Math.max(1, multiplier),
    structuredIds: !options.getUuidOption()?.hasString(),
  };
}

function startOfStream(options: streams.ReadReq.Options.StreamOptions): Start {
  if (options.hasStart()) return { kind: 'start' };
  if (options.hasEnd()) return { kind: 'end' };
  if (!options.hasRevision()) throw invalidArgument('A read needs a place to begin at.');
  return at(options.getRevision());
}

function startOfAll(options: streams.ReadReq.Options.AllOptions): Start {
  if (options.hasStart()) return { kind: 'start' };
  if (options.hasEnd()) return { kind: 'end' };
  const position = options.getPosition();
  if (position === undefined) throw invalidArgument('A read needs a place to begin at.');
  // Commit and prepare positions are the same here, and the commit position alone says where to go on.
  return at(position.getCommitPosition());
}

function at(uint64: string): Start {
  const value = toNumber(uint64);
  return value === DELETED_REVISION ? { kind: 'end' } : { kind: 'at', at: value };
}

function parseFilter(options: streams.ReadReq.Options.FilterOptions): EventFilter {
  const byStream = options.getStreamIdentifier();
  const expression = byStream ?? options.getEventType();
  if (expression === undefined) throw invalidArgument('A filter is on stream names or on event types.');
  return createFilter(byStream === undefined ? 'type' : 'stream', expression.getPrefixList(), expression.getRegex());
}
