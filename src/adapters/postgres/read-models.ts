import type pg from 'pg';
import {
  type Checkpoints,
  type FilePlace,
  type OverdueFiles,
  type PageRequest,
  type ReadModels,
  type Row,
} from '../../application/ports.js';
import { fromCursor, readCursor, writeCursor } from './cursors.js';
import { fromDatabase, quoted, SCHEMA, tableName } from './tables.js';

/** The read models as queries see them, and the checkpoints of processes beside them. */
export class PostgresReadModels implements ReadModels, Checkpoints, OverdueFiles {
  constructor(private readonly pool: pg.Pool) {}

  async page({
    projection,
    table,
    where,
    order,
    descending,
    limit,
    cursor,
  }: PageRequest): Promise<{ items: Row[]; nextCursor: string | null }> {
    const values: unknown[] = [];
    const parameter = (value: unknown) => `$${values.push(value)}`;
    const conditions = Object.entries(where)
      .filter(([, value]) => value !== undefined)
      .map(([column, value]) => `${quoted(column)} = ${parameter(value)}`);
    const columns = order.map(quoted).join(', ');
    if (cursor !== undefined)
      conditions.push(`(${columns}) ${descending ? '<' : '>'} (${readCursor(cursor, order.length).map(parameter).join(', ')})`);
    const filter = conditions.length > 0 ? `WHERE ${conditions.join(' AND ')}` : '';
    const sorted = order.map((column) => `${quoted(column)} ${descending ? 'DESC' : 'ASC'}`).join(', ');
    const text = `SELECT * FROM ${tableName(SCHEMA, projection, table)} ${filter} ORDER BY ${sorted} LIMIT ${parameter(limit + 1)}`;
    const asked = this.pool.query<Row>(text, values);
    const rows = (await (cursor === undefined ? asked : fromCursor(asked))).rows.map(fromDatabase);
    const items = rows.slice(0, limit);
    return { items, nextCursor: rows.length > limit ? writeCursor(order.map((column) => items.at(-1)![column])) : null };
  }

  async position(projection: string): Promise<string | null> {
    return this.load(projection);
  }

  async load(name: string): Promise<string | null> {
    const { rows } = await this.pool.query(`SELECT position::text FROM ${SCHEMA}.checkpoints WHERE name = $1`, [name]);
    return rows[0]?.position ?? null;
  }

  async save(name: string, position: string): Promise<void> {
    await this.pool.query(
      `INSERT INTO ${SCHEMA}.checkpoints (name, version, position) VALUES ($1, 1, $2)
       ON CONFLICT (name) DO UPDATE SET position = GREATEST(checkpoints.position, EXCLUDED.position)`,
      [name, position],
    );
  }

  async overdue(now: string, limit: number, after: FilePlace | null): Promise<FilePlace[]> {
    const { rows } = await this.pool.query(
      `SELECT * FROM (
         SELECT repo, "targetFile" FROM ${tableName(SCHEMA, 'dispatches', 'dispatches')} WHERE status = 'open' AND "leaseUntil" <= $1
         UNION SELECT repo, "targetFile" FROM ${tableName(SCHEMA, 'proposals', 'proposals')} WHERE status = 'pending' AND "expiresAt" <= $1
       ) AS overdue WHERE $3::text IS NULL OR (repo, "targetFile") > ($3, $4) ORDER BY repo, "targetFile" LIMIT $2`,
      [now, limit, after?.repo ?? null, after?.targetFile ?? null],
    );
    return rows;
  }

  async paired(attemptIds: string[]): Promise<Set<string>> {
    const [pairs, rejections] = ['pairs', 'rejections'].map((table) => tableName(SCHEMA, 'correction_pairs', table));
    const { rows } = await this.pool.query(
      `SELECT id FROM unnest($1::text[]) AS given(id) WHERE EXISTS (SELECT FROM ${pairs} WHERE "chosenAttemptId" = id)
         OR EXISTS (SELECT FROM ${rejections} WHERE "rejectedAttemptId" = id AND json_array_length(chosen) > 0)`,
      [attemptIds],
    );
    return new Set(rows.map(({ id }) => id));
  }

  async ping(): Promise<void> {
    await this.pool.query('SELECT 1');
  }
}
