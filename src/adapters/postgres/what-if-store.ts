import type pg from 'pg';
import type { WhatIf, WhatIfStore } from '../../application/ports.js';
import { SCHEMA } from './tables.js';

const JOBS = `${SCHEMA}.what_ifs`;
const MOST_RUNNING = 100;
const KEPT_ENDED = 200;

// Not jsonb: that refuses the escaped NUL which a pattern's name may hold.
const CREATE = `CREATE TABLE IF NOT EXISTS ${JOBS} (id text PRIMARY KEY, asked json NOT NULL, status text NOT NULL,
  progress json NOT NULL, error text, result json, "startedAt" timestamptz NOT NULL, "finishedAt" timestamptz)`;

/** What-ifs and their results, where every instance finds them. */
export class PostgresWhatIfs implements WhatIfStore {
  constructor(private readonly pool: pg.Pool) {}

  async prepare(): Promise<void> {
    await this.pool.query(CREATE);
  }

  async create(id: string, asked: WhatIf['asked'], startedAt: string): Promise<WhatIf | null> {
    await this.pool.query(
      `DELETE FROM ${JOBS} WHERE status <> 'running' AND id NOT IN
         (SELECT id FROM ${JOBS} WHERE status <> 'running' ORDER BY "startedAt" DESC, id LIMIT ${KEPT_ENDED})`,
    );
    const { rows } = await this.pool.query(
      `INSERT INTO ${JOBS} (id, asked, status, progress, "startedAt") SELECT $1, $2, 'running', $3, $4
       WHERE (SELECT count(*) FROM ${JOBS} WHERE status = 'running') < ${MOST_RUNNING} RETURNING *`,
      [id, JSON.stringify(asked), JSON.stringify({ fraction: 0, files: 0, attempts: 0 }), startedAt],
    );
    return rows[0] ?? null;
  }

  async get(id: string): Promise<WhatIf | null> {
    const { rows } = await this.pool.query(`SELECT * FROM ${JOBS} WHERE id = $1`, [id]);
    return rows[0] ?? null;
  }

  async running(): Promise<WhatIf[]> {
    const { rows } = await this.pool.query(`SELECT * FROM ${JOBS} WHERE status = 'running' ORDER BY "startedAt", id`);
    return rows;
  }

  async progress(id: string, progress: WhatIf['progress']): Promise<boolean> {
    const { rowCount } = await this.pool.query(`UPDATE ${JOBS} SET progress = $2 WHERE id = $1 AND status = 'running'`, [
      id,
      JSON.stringify(progress),
    ]);
    return rowCount === 1;
  }

  async finish(id: string, { status, result, error }: Pick<WhatIf, 'status' | 'result' | 'error'>, at: string): Promise<void> {
    const done = result && JSON.stringify({ fraction: 1, files: result.files, attempts: result.attempts });
    await this.pool.query(
      `UPDATE ${JOBS} SET status = $2, result = $3, error = $4, "finishedAt" = $5, progress = coalesce($6, progress)
       WHERE id = $1 AND status = 'running'`,
      [id, status, result && JSON.stringify(result), error, at, done],
    );
  }
}
