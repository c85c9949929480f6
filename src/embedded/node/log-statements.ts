import type { ClientBase } from 'pg';
import type { Place } from './append-rules.js';
import type { LogBatch } from './log-batch.js';
import { DELETED_REVISION, toRevision } from './log-event.js';
import { quoteSchema } from './log-schema.js';
import { boolArray, byteaArray, int8Array, textArray, uuidArray } from './pg-arrays.js';

const LARGEST = { value: DELETED_REVISION, low: 0xffffffff, high: 0x7fffffff };

/** The writer's SQL. */
export class LogStatements {
  private readonly headSql: string;
  private readonly insertSql: string;
  private readonly placesSql: string;

  constructor(schema: string) {
    const s = quoteSchema(schema);
    this.headSql = `
      SELECT coalesce((SELECT max(position) FROM ${s}.events), 0) AS position, coalesce((SELECT max(id) FROM ${s}.streams), 0) AS stream_id`;
    // One statement is one transaction: streams and events come together or not at all, in a single round trip with the commit.
    this.insertSql = `
      WITH assumption AS (SELECT WHERE NOT EXISTS (SELECT FROM ${s}.streams WHERE name = ANY($12::text[]))),
      new_streams AS (INSERT INTO ${s}.streams (id, name) SELECT n.* FROM assumption, unnest($1::bigint[], $2::text[]) n)
      INSERT INTO ${s}.events (position, stream_id, revision, event_id, is_json, created_us, type, data, metadata)
      SELECT n.* FROM assumption,
        unnest($3::bigint[], $4::bigint[], $5::bigint[], $6::uuid[], $7::boolean[], $8::bigint[], $9::text[], $10::bytea[], $11::bytea[]) n`;
    this.placesSql = `
      SELECT e.stream_id, e.event_id, e.revision, e.position
      FROM unnest($1::bigint[], $2::uuid[]) AS n(stream_id, event_id)
      JOIN ${s}.events e ON e.stream_id = n.stream_id AND e.event_id = n.event_id
      ORDER BY e.position`;
  }

  /** The last position and the last stream id that were given out. */
  async readHead(client: ClientBase): Promise<{ position: number; streamId: number }> {
    const { rows } = await client.query<{ position: string; stream_id: string }>(this.headSql);
    const row = rows[0]!;
    return { position: Number(row.position), streamId: Number(row.stream_id) };
  }

  /** Writes a batch, which was decided on the assumption that some streams were never written. False, and nothing written, where one was. */
  async insert(client: ClientBase, batch: LogBatch, assumedNew: readonly string[]): Promise<boolean> {
    const { events, newStreams } = batch;
    const { rowCount } = await client.query({
      name: 'anvil-log-insert',
      text: this.insertSql,
      values: [
        int8Array(newStreams.map(({ id }) => id)),
        textArray(newStreams.map(({ name }) => name)),
        int8Array(events.map(({ position }) => position)),
        int8Array(events.map(({ stream }) => batch.streamId(stream))),
        int8Array(
          events.map(({ revision }) => revision),
          LARGEST,
        ),
        uuidArray(events.map(({ id }) => id)),
        boolArray(events.map(({ isJson }) => isJson)),
        int8Array(events.map(({ createdUs }) => createdUs)),
        textArray(events.map(({ type }) => type)),
        byteaArray(events.map(({ data }) => data)),
        byteaArray(events.map(({ metadata }) => metadata)),
        textArray(assumedNew),
      ],
    });
    return rowCount !== 0;
  }

  /** Where event ids stand in streams, oldest first. */
  async findPlaces(
    client: ClientBase,
    wanted: readonly { streamId: number; id: string }[],
  ): Promise<(streamId: number, id: string) => readonly Place[]> {
    const { rows } = await client.query<[string, string, string, string]>({
      name: 'anvil-log-places',
      text: this.placesSql,
      values: [int8Array(wanted.map(({ streamId }) => streamId)), uuidArray(wanted.map(({ id }) => id))],
      rowMode: 'array',
    });
    const found = new Map<string, Place[]>();
    for (const [streamId, id, revision, position] of rows) {
      const key = `${streamId}/${id}`;
      const places = found.get(key) ?? [];
      // The same id may be wanted by several appends of a batch, and is then found several times.
      if (places.at(-1)?.position !== Number(position)) places.push({ revision: toRevision(revision), position: Number(position) });
      found.set(key, places);
    }
    return (streamId, id) => found.get(`${streamId}/${id}`) ?? [];
  }
}
