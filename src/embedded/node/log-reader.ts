import type { Pool } from 'pg';
import type { EventFilter } from './filters.js';
import { DELETED_REVISION, DELETED_REVISION_TEXT, type LogEvent, toRevision } from './log-event.js';
import { quoteSchema } from './log-schema.js';
import type { StreamInfo, StreamStates } from './stream-states.js';

/** Pages are bounded in rows and in bytes, whichever comes first, so that a reader's memory does not depend on what it reads. */
const PAGE_EVENTS = 500;
const PAGE_BYTES = 1024 * 1024;
/** A filter may match nothing for a long way; a page still ends, so that checkpoints move and the session is given back. */
const FILTERED_PAGE_SCAN = 10_000;

const EVENT_COLUMNS = 'e.position, e.revision, e.event_id, e.is_json, e.created_us, e.type, e.data, e.metadata';
/** Stops a page after the event that fills it, without fetching the bodies of the ones behind. */
const RUNNING_BYTES =
  'sum(octet_length(e.data) + octet_length(e.metadata)) OVER w - octet_length(e.data) - octet_length(e.metadata) AS before';

type Row = [string, string, string, boolean, string, string, Buffer, Buffer, string?];

export type Direction = 'forwards' | 'backwards';

export interface StreamPage {
  readonly events: readonly LogEvent[];
  /** Whether nothing was left in the range that was asked for. */
  readonly complete: boolean;
}

export interface AllPage {
  readonly events: readonly LogEvent[];
  /** The last position that was looked at, whether or not it matched. */
  readonly scannedTo: number;
}

/** Reads the log in pages by key; between pages nothing is held in the database. */
export class LogReader {
  private readonly s: string;

  constructor(
    private readonly pool: Pool,
    schema: string,
    private readonly states: StreamStates,
  ) {
    this.s = quoteSchema(schema);
  }

  streamInfo(stream: string): Promise<StreamInfo> {
    return this.states.info(this.pool, stream);
  }

  /** The events of a stream from one revision to another, both included; `to` is the far end in the direction of reading. */
  async readStream(
    stream: string,
    info: StreamInfo,
    range: { from: number; to: number; direction: Direction; limit: number },
  ): Promise<StreamPage> {
    const limit = Math.min(range.limit, PAGE_EVENTS);
    const forwards = range.direction === 'forwards';
    const [low, high] = forwards ? [range.from, range.to] : [range.to, range.from];
    if (limit <= 0 || low > high || info.id === 0) return { events: [], complete: true };
    const { maxAge } = info.metadata;
    const oldest = maxAge === undefined ? 0 : Math.max(0, Math.floor((Date.now() - maxAge * 1000) * 1000));
    const order = forwards ? 'ASC' : 'DESC';
    const { rows } = await this.pool.query<Row>({
      name: `anvil-read-stream-${order}`,
      text: `
        SELECT position, revision, event_id, is_json, created_us, type, data, metadata FROM (
          SELECT ${EVENT_COLUMNS}, ${RUNNING_BYTES} FROM (
            SELECT * FROM ${this.s}.events
            WHERE stream_id = $1 AND revision BETWEEN $2 AND $3 AND created_us >= $4
            ORDER BY revision ${order} LIMIT $5
          ) e WINDOW w AS (ORDER BY e.revision ${order} ROWS UNBOUNDED PRECEDING)
        ) p WHERE before < ${PAGE_BYTES} ORDER BY revision ${order}`,
      values: [info.id, toInt8(low), toInt8(high), oldest, limit],
      rowMode: 'array',
    });
    const events = rows.map((row) => toEvent(row, stream));
    return { events, complete: events.length < limit && bytesOf(events) < PAGE_BYTES };
  }

  /** Events with positions after `after` (forwards) or before it (backwards), no further than `to`. */
  async readAll(range: { after: number; to: number; direction: Direction; limit: number; filter: EventFilter | null }): Promise<AllPage> {
    const { after, to, direction, filter } = range;
    const forwards = direction === 'forwards';
    const limit = Math.min(range.limit, PAGE_EVENTS);
    const far = filter === null ? to : forwards ? Math.min(to, after + FILTERED_PAGE_SCAN) : Math.max(to, after - FILTERED_PAGE_SCAN);
    const [low, high] = forwards ? [after + 1, far] : [far, after - 1];
    if (limit <= 0 || low > high) return { events: [], scannedTo: far };
    const order = forwards ? 'ASC' : 'DESC';
    const { rows } = await this.pool.query<Row>({
      name: `anvil-read-all-${order}-${filter?.sql?.name ?? 'any'}`,
      text: `
        SELECT position, revision, event_id, is_json, created_us, type, data, metadata, stream FROM (
          SELECT ${EVENT_COLUMNS}, e.stream, ${RUNNING_BYTES} FROM (
            SELECT e.*, s.name AS stream FROM ${this.s}.events e JOIN ${this.s}.streams s ON s.id = e.stream_id
            WHERE e.position BETWEEN $1 AND $2 ${filter?.sql ? `AND ${filter.sql.condition('$4')}` : ''}
            ORDER BY e.position ${order} LIMIT $3
          ) e WINDOW w AS (ORDER BY e.position ${order} ROWS UNBOUNDED PRECEDING)
        ) p WHERE before < ${PAGE_BYTES} ORDER BY position ${order}`,
      values: [low, high, limit, ...(filter?.sql?.value === undefined ? [] : [filter.sql.value])],
      rowMode: 'array',
    });
    const events = rows.map((row) => toEvent(row, row[8] ?? ''));
    const cut = events.length >= limit || bytesOf(events) >= PAGE_BYTES;
    const scannedTo = cut ? events.at(-1)!.position : far;
    return { events: filter === null || filter.sql !== null ? events : events.filter(filter.matches), scannedTo };
  }
}

function toEvent(row: Row, stream: string): LogEvent {
  const [position, revision, id, isJson, createdUs, type, data, metadata] = row;
  return {
    position: Number(position),
    stream,
    revision: toRevision(revision),
    id,
    type,
    isJson,
    createdUs: Number(createdUs),
    data,
    metadata,
  };
}

function toInt8(revision: number): number | string {
  return revision >= DELETED_REVISION ? DELETED_REVISION_TEXT : revision;
}

function bytesOf(events: readonly LogEvent[]): number {
  let bytes = 0;
  for (const { data, metadata } of events) bytes += data.length + metadata.length;
  return bytes;
}
