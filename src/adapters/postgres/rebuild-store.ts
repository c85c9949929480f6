import type pg from 'pg';
import type { Projection } from '../../../projections/projection.js';
import type { Difference, ProjectionRows, Rebuild, RebuildStore } from '../../application/ports.js';
import { parkedTable } from './parked-events.js';
import { transaction } from './pool.js';
import { ProjectionStore, RUNNER } from './projection-store.js';
import { dropStatements, indexStatements, quoted, SCHEMA, tableName } from './tables.js';

const JOBS = `${SCHEMA}.rebuilds`;
/** Rows that are shown of each kind of difference. */
const SAMPLES = 5;

const CREATE = `CREATE TABLE IF NOT EXISTS ${JOBS} (id text PRIMARY KEY, projections text[] NOT NULL, compare boolean NOT NULL,
  status text NOT NULL, events bigint NOT NULL DEFAULT 0, fraction double precision NOT NULL DEFAULT 0, error text,
  differences json, "startedAt" timestamptz NOT NULL, "finishedAt" timestamptz)`;

/** Rebuilds and the rows they make: each fills tables of its own schema, which take the place of the live ones in one transaction. */
export class PostgresRebuilds implements RebuildStore {
  constructor(
    private readonly pool: pg.Pool,
    private readonly projections: Projection[],
  ) {}

  async prepare(): Promise<void> {
    await this.pool.query(CREATE);
  }

  async create(id: string, names: string[], compare: boolean, startedAt: string): Promise<Rebuild> {
    const { rows } = await this.pool.query(
      `INSERT INTO ${JOBS} (id, projections, compare, status, "startedAt") VALUES ($1, $2, $3, 'running', $4) RETURNING *`,
      [id, names, compare, startedAt],
    );
    return rows[0];
  }

  /** For rows of an older version, found at the start: one rebuild of them, whichever instance finds them. */
  async createUnlessRunning(names: string[], startedAt: string): Promise<void> {
    const versions = this.named(names).map(({ name, version }) => `${name}${version}`);
    await this.pool.query(
      `INSERT INTO ${JOBS} (id, projections, compare, status, "startedAt") VALUES ($1, $2, false, 'running', $3)
       ON CONFLICT (id) DO UPDATE SET status = 'running', error = NULL, events = 0, fraction = 0, "finishedAt" = NULL
       WHERE rebuilds.status <> 'running'`,
      [versions.join('_').slice(0, 40), names, startedAt],
    );
  }

  async get(id: string): Promise<Rebuild | null> {
    const { rows } = await this.pool.query(`SELECT * FROM ${JOBS} WHERE id = $1`, [id]);
    return rows[0] ?? null;
  }

  async running(): Promise<Rebuild[]> {
    const { rows } = await this.pool.query(`SELECT * FROM ${JOBS} WHERE status = 'running' ORDER BY "startedAt", id`);
    return rows;
  }

  async progress(id: string, events: number, fraction: number): Promise<void> {
    await this.pool.query(`UPDATE ${JOBS} SET events = events + $2, fraction = $3 WHERE id = $1`, [id, events, fraction]);
  }

  async finish(id: string, status: 'failed' | 'cancelled', error: string | null, at: string): Promise<boolean> {
    const { rowCount } = await this.pool.query(
      `UPDATE ${JOBS} SET status = $2, error = $3, "finishedAt" = $4
       WHERE id = $1 AND status = 'running'`,
      [id, status, error, at],
    );
    if (rowCount === 1) await this.pool.query(`DROP SCHEMA IF EXISTS ${quoted(schemaOf(id))} CASCADE`);
    return rowCount === 1;
  }

  /** The rows that a rebuild fills; made where it begins, found again where it goes on. */
  async shadow({ id, projections }: Rebuild): Promise<ProjectionRows> {
    const shadow = new ProjectionStore(this.pool, this.named(projections), schemaOf(id));
    await shadow.prepare();
    return shadow;
  }

  /** Indexes, which rows are filled without, are made before the locks of the switch. */
  async index({ id, projections }: Rebuild): Promise<boolean> {
    const shadow = schemaOf(id);
    if (!(await hasCaughtUp(this.pool, shadow))) return false;
    for (const projection of this.named(projections))
      for (const statement of indexStatements(shadow, projection)) await this.pool.query(statement);
    return true;
  }

  /**
   * Puts the built rows in the place of the live ones, if they have seen at least as much of the log, or `exactly` as much. Neither changes
   * meanwhile: the built ones' checkpoints are locked, and live updates wait for the lock on their runner's, and go on from the built rows'
   * own.
   */
  async switchOver({ id, projections, compare }: Rebuild, at: string, exactly = false): Promise<boolean> {
    const shadow = schemaOf(id);
    return transaction(
      this.pool,
      async (client) => {
        if (!(await hasCaughtUp(client, shadow, exactly))) return false;
        const { rowCount } = await client.query(
          `UPDATE ${JOBS} SET status = 'done', fraction = 1, "finishedAt" = $2 WHERE id = $1 AND status = 'running'`,
          [id, at],
        );
        if (rowCount !== 1) return false;
        if (compare) await this.compare(client, id, this.named(projections));
        for (const projection of this.named(projections)) {
          for (const statement of dropStatements(SCHEMA, projection)) await client.query(statement);
          for (const table of Object.keys(projection.tables))
            await client.query(`ALTER TABLE ${tableName(shadow, projection.name, table)} SET SCHEMA ${SCHEMA}`);
        }
        await client.query(`UPDATE ${SCHEMA}.checkpoints live SET version = built.version, position = built.position
          FROM ${quoted(shadow)}.checkpoints built WHERE built.name = live.name AND built.name <> '${RUNNER}'`);
        await client.query(`DELETE FROM ${parkedTable(SCHEMA)} WHERE follower = ANY($1)`, [projections]);
        await client.query(`INSERT INTO ${parkedTable(SCHEMA)} SELECT * FROM ${parkedTable(shadow)}`);
        await client.query(`DROP SCHEMA ${quoted(shadow)} CASCADE`);
        return true;
      },
      `BEGIN; LOCK TABLE ${quoted(shadow)}.checkpoints; SELECT FROM ${SCHEMA}.checkpoints WHERE name = '${RUNNER}' FOR UPDATE`,
    );
  }

  /** Notes what differs between live and built rows, while the live ones cannot change. */
  private async compare(client: pg.PoolClient, id: string, projections: Projection[]): Promise<void> {
    const differences: Difference[] = [];
    for (const { name, tables } of projections)
      for (const table of Object.keys(tables)) {
        const [live, built] = [tableName(SCHEMA, name, table), tableName(schemaOf(id), name, table)];
        const [onlyLive, onlyBuilt] = [await onlyIn(client, live, built), await onlyIn(client, built, live)];
        if (onlyLive.rows > 0 || onlyBuilt.rows > 0) differences.push({ projection: name, table, onlyLive, onlyBuilt });
      }
    await client.query(`UPDATE ${JOBS} SET differences = $2 WHERE id = $1`, [id, JSON.stringify(differences)]);
  }

  private named(names: string[]): Projection[] {
    return this.projections.filter(({ name }) => names.includes(name));
  }
}

function schemaOf(id: string): string {
  return `anvil_rebuild_${id}`;
}

/** Whether all built rows have seen as much as was handed to the live ones; `exactly`: and no more. */
async function hasCaughtUp(client: Pick<pg.ClientBase, 'query'>, shadow: string, exactly = false): Promise<boolean> {
  const { rows } = await client.query(
    `SELECT bool_and(COALESCE(built.position, 0) ${exactly ? '=' : '>='} COALESCE(live.position, 0)) AS "caughtUp" FROM ${quoted(shadow)}.checkpoints built,
       (SELECT position FROM ${SCHEMA}.checkpoints WHERE name = '${RUNNER}') live WHERE built.name <> '${RUNNER}'`,
  );
  return rows[0].caughtUp;
}

/** Rows of one table that another one does not have, as whole rows: how many, and a few of them. */
async function onlyIn(client: pg.PoolClient, one: string, other: string): Promise<{ rows: number; samples: unknown[] }> {
  const difference = `SELECT row_to_json(t)::text AS row FROM ${one} t EXCEPT ALL SELECT row_to_json(t)::text FROM ${other} t`;
  const { rows } = await client.query(
    `WITH d AS (${difference}) SELECT (SELECT count(*) FROM d) AS rows, ARRAY(SELECT row FROM d ORDER BY row LIMIT ${SAMPLES}) AS samples`,
  );
  return { rows: Number(rows[0].rows), samples: rows[0].samples.map((row: string) => JSON.parse(row)) };
}
