import { randomUUID } from 'node:crypto';
import { type Decision, decideAppend, type Place } from './append-rules.js';
import { DELETED_REVISION, type LogEvent, NO_REVISION, type ProposedEvent } from './log-event.js';
import { isMetastream, metastreamOf, originalOf, parseMetadata, SOFT_DELETED_JSON, truncatedMetadata } from './stream-metadata.js';
import { otherHalf, type StreamInfo, type StreamState, streamInfo } from './stream-states.js';

/** What is asked of the writer. */
export interface WriteRequest {
  readonly kind: 'append' | 'delete' | 'tombstone';
  readonly stream: string;
  /** A revision, or one of the `EXPECT_` numbers. */
  readonly expected: number;
  /** Empty for deletes. */
  readonly events: readonly ProposedEvent[];
}

export type WriteOutcome =
  | { readonly kind: 'done'; readonly revision: number; readonly position: number | null }
  | { readonly kind: 'wrong-version'; readonly current: number }
  | { readonly kind: 'deleted' };

const NO_BYTES = new Uint8Array(0);
const NO_PLACES: readonly Place[] = [];

/**
 * Appends that will be committed together. Each is decided upon what the ones before it in the batch leave behind, none of which is known to
 * anyone else until the commit: if that fails, the whole batch is dropped, the refusals included.
 */
export class LogBatch {
  readonly events: LogEvent[] = [];
  readonly newStreams: { id: number; name: string }[] = [];
  /** The states after the batch of the streams it writes. */
  readonly changed = new Map<string, StreamState>();
  private readonly added = new Map<string, Map<string, Place[]>>();

  constructor(
    private readonly base: { state(stream: string): StreamState; places(stream: string, id: string): readonly Place[] },
    private nextPosition: number,
    private nextStreamId: number,
    private readonly nowUs: number,
  ) {}

  add(request: WriteRequest): WriteOutcome {
    const info = this.info(request.stream);
    const decision = this.decide(request, info);
    switch (decision.kind) {
      case 'write':
        return this.write(request, info);
      case 'repeated':
        return { kind: 'done', revision: decision.last.revision, position: decision.last.position };
      case 'wrong-version':
      case 'deleted':
        return decision;
    }
  }

  private decide(request: WriteRequest, info: StreamInfo): Decision {
    if (info.tombstoned) return { kind: 'deleted' };
    const view = { head: info.head, softDeleted: info.softDeleted, hasMetadata: this.hasMetadata(request.stream) };
    // A delete counts as an append of one new event.
    const ids = request.kind === 'append' ? request.events.map((event) => event.id) : [randomUUID()];
    return decideAppend(view, request.expected, ids, (id) => this.places(request.stream, id));
  }

  private write(request: WriteRequest, info: StreamInfo): WriteOutcome {
    switch (request.kind) {
      case 'append':
        return this.append(request, info);
      case 'tombstone':
        return this.push(request.stream, '$streamDeleted', true, NO_BYTES, DELETED_REVISION);
      case 'delete':
        // There is nothing to hide, not even metadata.
        if (info.head === NO_REVISION && !this.hasMetadata(request.stream)) return { kind: 'wrong-version', current: NO_REVISION };
        return this.push(metastreamOf(request.stream), '$metadata', true, SOFT_DELETED_JSON);
    }
  }

  private append({ stream, events }: WriteRequest, info: StreamInfo): WriteOutcome {
    if (events.length === 0) return { kind: 'done', revision: info.head, position: null };
    const revives = isMetastream(stream) && this.info(originalOf(stream)).softDeleted;
    let outcome: WriteOutcome = { kind: 'deleted' };
    for (const event of events) outcome = this.push(stream, event.type, event.isJson, event.data, undefined, event);
    if (info.softDeleted) this.hideBefore(stream, info.head + 1);
    else if (revives) this.hideBefore(originalOf(stream), this.info(originalOf(stream)).head + 1);
    return outcome;
  }

  /** A soft-deleted stream that is written to again begins after what was deleted. */
  private hideBefore(stream: string, revision: number): void {
    const metastream = metastreamOf(stream);
    const content = this.state(metastream).content;
    this.push(metastream, '$metadata', true, truncatedMetadata(content?.isJson ?? false, content?.data ?? NO_BYTES, revision));
  }

  private push(
    stream: string,
    type: string,
    isJson: boolean,
    data: Uint8Array,
    atRevision?: number,
    proposed?: ProposedEvent,
  ): Extract<WriteOutcome, { kind: 'done' }> {
    let { id, head } = this.state(stream);
    if (id === 0) {
      id = this.nextStreamId++;
      this.newStreams.push({ id, name: stream });
    }
    const revision = atRevision ?? head + 1;
    const position = this.nextPosition++;
    const eventId = proposed?.id ?? randomUUID();
    this.events.push({
      position,
      stream,
      revision,
      id: eventId,
      type,
      isJson,
      createdUs: this.nowUs,
      data,
      metadata: proposed?.metadata ?? NO_BYTES,
    });
    const content = isMetastream(stream) ? { isJson, data, metadata: parseMetadata(isJson, data) } : undefined;
    head = revision;
    this.changed.set(stream, { id, head, content });
    this.remember(stream, eventId, { revision, position });
    return { kind: 'done', revision, position };
  }

  private remember(stream: string, id: string, place: Place): void {
    const ofStream = this.added.get(stream) ?? new Map<string, Place[]>();
    this.added.set(stream, ofStream);
    const places = ofStream.get(id);
    if (places === undefined) ofStream.set(id, [place]);
    else places.push(place);
  }

  private places(stream: string, id: string): readonly Place[] {
    const committed = this.base.places(stream, id);
    const added = this.added.get(stream)?.get(id) ?? NO_PLACES;
    return added.length === 0 ? committed : [...committed, ...added];
  }

  /** The id that a stream has or, in this batch, was given. */
  streamId(stream: string): number {
    return this.state(stream).id;
  }

  private state(stream: string): StreamState {
    return this.changed.get(stream) ?? this.base.state(stream);
  }

  private info(stream: string): StreamInfo {
    return streamInfo(stream, this.state(stream), this.state(otherHalf(stream)));
  }

  private hasMetadata(stream: string): boolean {
    return this.state(metastreamOf(stream)).head >= 0;
  }
}

/** The streams whose states must be known before a request can be decided. */
export function streamsNeeded(request: WriteRequest): readonly string[] {
  const { stream } = request;
  return isMetastream(stream) ? [stream, originalOf(stream), metastreamOf(stream)] : [stream, metastreamOf(stream)];
}
