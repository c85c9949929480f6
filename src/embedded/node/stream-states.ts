import type { ClientBase, Pool } from 'pg';
import { DELETED_REVISION, NO_REVISION, toRevision } from './log-event.js';
import { quoteSchema } from './log-schema.js';
import {
  isMetastream,
  isSoftDeleted,
  METASTREAM_METADATA,
  metastreamOf,
  NO_METADATA,
  originalOf,
  parseMetadata,
  type StreamMetadata,
} from './stream-metadata.js';

const MAX_CACHED = 20_000;

/** Where a stream stands. `content` is there for metastreams only: the metadata that their newest event holds. */
export interface StreamState {
  /** 0 for a stream that was never written. */
  readonly id: number;
  readonly head: number;
  readonly content?: { readonly isJson: boolean; readonly data: Uint8Array; readonly metadata: StreamMetadata };
}

/** What a read of a stream has to know. */
export interface StreamInfo {
  readonly id: number;
  readonly head: number;
  readonly tombstoned: boolean;
  readonly softDeleted: boolean;
  readonly metadata: StreamMetadata;
}

export const NEVER_WRITTEN: StreamState = { id: 0, head: NO_REVISION };

/** A stream's fate also hangs on its other half: streams are hidden by their metadata, and metadata goes with a tombstoned stream. */
export function otherHalf(stream: string): string {
  return isMetastream(stream) ? originalOf(stream) : metastreamOf(stream);
}

export function streamInfo(stream: string, own: StreamState, other: StreamState): StreamInfo {
  const meta = isMetastream(stream);
  const metadata = meta ? METASTREAM_METADATA : (other.content?.metadata ?? NO_METADATA);
  return {
    id: own.id,
    head: own.head,
    tombstoned: own.head === DELETED_REVISION || (meta && other.head === DELETED_REVISION),
    softDeleted: isSoftDeleted(metadata),
    metadata,
  };
}

/**
 * The states of the streams used last, as committed. The writer puts in what it has committed. A reader that finds nothing asks the database,
 * and may leave the answer here only if nothing was committed meanwhile: what is here is never stale.
 */
export class StreamStates {
  private readonly states = new Map<string, StreamState>();
  private version = 0;
  private readonly sql: string;

  constructor(schema: string) {
    const s = quoteSchema(schema);
    this.sql = `
      SELECT s.name, s.id, h.revision, CASE WHEN starts_with(s.name, '$$') THEN h.data END, h.is_json
      FROM unnest($1::text[]) AS n(name)
      JOIN ${s}.streams s ON s.name = n.name
      JOIN LATERAL (
        SELECT revision, data, is_json FROM ${s}.events e WHERE e.stream_id = s.id ORDER BY revision DESC LIMIT 1
      ) h ON true`;
  }

  get(stream: string): StreamState | undefined {
    return this.states.get(stream);
  }

  put(stream: string, state: StreamState): void {
    this.version += 1;
    this.keep(stream, state);
  }

  private keep(stream: string, state: StreamState): void {
    this.states.delete(stream);
    this.states.set(stream, state);
    if (this.states.size <= MAX_CACHED) return;
    const oldest = this.states.keys().next();
    if (!oldest.done) this.states.delete(oldest.value);
  }

  clear(): void {
    this.version += 1;
    this.states.clear();
  }

  /** The current states of streams, straight from the database. */
  async fetch(db: ClientBase | Pool, streams: readonly string[]): Promise<Map<string, StreamState>> {
    const found = new Map<string, StreamState>(streams.map((stream) => [stream, NEVER_WRITTEN]));
    const { rows } = await db.query<[string, string, string, Buffer | null, boolean]>({
      name: 'anvil-stream-states',
      text: this.sql,
      values: [streams],
      rowMode: 'array',
    });
    for (const [stream, id, revision, data, isJson] of rows) {
      const content = data === null ? undefined : { isJson, data, metadata: parseMetadata(isJson, data) };
      found.set(stream, { id: Number(id), head: toRevision(revision), content });
    }
    return found;
  }

  /** What a reader has to know about a stream. Sees every append that was answered. */
  async info(db: ClientBase | Pool, stream: string): Promise<StreamInfo> {
    const other = otherHalf(stream);
    const cached = { own: this.states.get(stream), other: this.states.get(other) };
    if (cached.own !== undefined && cached.other !== undefined) return streamInfo(stream, cached.own, cached.other);
    const { version } = this;
    const found = await this.fetch(db, [stream, other]);
    if (this.version === version) for (const [name, state] of found) this.keep(name, state);
    return streamInfo(stream, found.get(stream) ?? NEVER_WRITTEN, found.get(other) ?? NEVER_WRITTEN);
  }
}
