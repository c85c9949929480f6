import type pg from 'pg';
import type { Snapshots } from '../../application/ports.js';
import { SCHEMA } from './tables.js';

const TABLE = `${SCHEMA}.fold_snapshots`;

/** One row a stream: a snapshot of another fold version takes the place of an older one. */
const CREATE = `CREATE TABLE IF NOT EXISTS ${TABLE}
  (stream text PRIMARY KEY, fold_version integer NOT NULL, revision bigint NOT NULL, body text NOT NULL)`;

export class PostgresSnapshots implements Snapshots {
  constructor(private readonly pool: pg.Pool) {}

  async prepare(): Promise<void> {
    await this.pool.query(CREATE);
  }

  async load(stream: string, foldVersion: number): Promise<{ revision: number; body: string } | null> {
    const { rows } = await this.pool.query(`SELECT revision, body FROM ${TABLE} WHERE stream = $1 AND fold_version = $2`, [
      stream,
      foldVersion,
    ]);
    return rows[0] ?? null;
  }

  async save(stream: string, foldVersion: number, revision: number, body: string): Promise<void> {
    await this.pool.query(
      `INSERT INTO ${TABLE} AS kept VALUES ($1, $2, $3, $4) ON CONFLICT (stream) DO UPDATE
       SET fold_version = EXCLUDED.fold_version, revision = EXCLUDED.revision, body = EXCLUDED.body
       WHERE kept.fold_version <> EXCLUDED.fold_version OR kept.revision < EXCLUDED.revision`,
      [stream, foldVersion, revision, body],
    );
  }

  async remove(stream: string): Promise<void> {
    await this.pool.query(`DELETE FROM ${TABLE} WHERE stream = $1`, [stream]);
  }
}
