import pg from 'pg';
import type { Projection, Row } from '../../projections/projection.js';
import { createPool } from '../../src/adapters/postgres/pool.js';
import { ProjectionStore } from '../../src/adapters/postgres/projection-store.js';
import { fromDatabase, SCHEMA, tableName } from '../../src/adapters/postgres/tables.js';
import type { StoredEvent } from '../../src/application/ports.js';
import { startTestPostgres, type TestPostgres } from './postgres.js';

/** Projections over a real PostgreSQL: given events in batches, the rows that stand there. */
export class ProjectionSpec {
  private constructor(
    private readonly postgres: TestPostgres,
    readonly pool: pg.Pool,
  ) {}

  static async start(): Promise<ProjectionSpec> {
    const postgres = await startTestPostgres();
    return new ProjectionSpec(
      postgres,
      createPool(postgres.connectionString, () => undefined),
    );
  }

  async end(): Promise<void> {
    await this.pool.end();
    await this.postgres.stop();
  }

  /** As after a fresh install. */
  async clear(): Promise<void> {
    await this.pool.query(`DROP SCHEMA IF EXISTS ${SCHEMA} CASCADE`);
  }

  /** A store as a service that was just started has it. */
  async store(...projections: Projection[]): Promise<ProjectionStore> {
    const store = new ProjectionStore(this.pool, projections);
    await store.prepare();
    return store;
  }

  async rows(projection: Projection, table: string): Promise<Row[]> {
    const key = projection.tables[table]!.key.map((column) => `"${column}" COLLATE "C"`).join(', ');
    const { rows } = await this.pool.query(`SELECT * FROM ${tableName(SCHEMA, projection.name, table)} ORDER BY ${key}`);
    return rows.map(fromDatabase);
  }

  /** All tables of a projection. */
  async all(projection: Projection): Promise<Record<string, Row[]>> {
    const tables = Object.keys(projection.tables).map(async (table) => [table, await this.rows(projection, table)] as const);
    return Object.fromEntries(await Promise.all(tables));
  }

  async position(name: string): Promise<string | null> {
    const { rows } = await this.pool.query(`SELECT position::text FROM ${SCHEMA}.checkpoints WHERE name = $1`, [name]);
    return rows[0]?.position ?? null;
  }

  /** From nothing, in one batch. */
  async given(projection: Projection, events: StoredEvent[]): Promise<Record<string, Row[]>> {
    await this.clear();
    await (await this.store(projection)).apply(events);
    return this.all(projection);
  }
}
