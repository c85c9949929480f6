import type pg from 'pg';
import type { Change, ProjectedEvent, Projection, Row, RowKey, Rows } from '../../../projections/projection.js';
import type { ProjectionRows, StoredEvent } from '../../application/ports.js';
import { transaction } from './pool.js';
import { asText, byKeys, createStatements, fromDatabase, quoted, SCHEMA, upsert } from './tables.js';

/**
 * The checkpoint of whoever takes projections along: how far events were handed to all of them, also to those whose rows are of another
 * version and do not change. Its lock keeps batches and switches apart.
 */
export const RUNNER = '(runner)';

/** Where projections keep their rows, each beside its checkpoint: both change in one transaction, so that an event counts once. */
export class ProjectionStore implements ProjectionRows {
  private readonly checkpoints: string;

  constructor(
    private readonly pool: pg.Pool,
    private readonly projections: Projection[],
    /** Another one than that of the live rows: a shadow, to take their place later. */
    private readonly schema = SCHEMA,
  ) {
    this.checkpoints = `${quoted(schema)}.checkpoints`;
  }

  /**
   * Makes the tables, and answers the projections whose rows were made by another version than this code's: they stay as they are,
   * and answer, until rebuilt rows take their place.
   */
  async prepare(): Promise<Projection[]> {
    return transaction(this.pool, async (client) => {
      // Two instances that start at once take turns.
      await client.query('SELECT pg_advisory_xact_lock(hashtext($1))', [this.schema]);
      await client.query(`CREATE SCHEMA IF NOT EXISTS ${quoted(this.schema)}`);
      await client.query(
        `CREATE TABLE IF NOT EXISTS ${this.checkpoints} (name text PRIMARY KEY, version integer NOT NULL, position numeric(20))`,
      );
      await client.query(`INSERT INTO ${this.checkpoints} VALUES ('${RUNNER}', 0, NULL) ON CONFLICT DO NOTHING`);
      const { rows } = await client.query(`SELECT name, version FROM ${this.checkpoints}`);
      const versions = new Map(rows.map(({ name, version }) => [name, version]));
      for (const projection of this.projections.filter(({ name }) => !versions.has(name))) {
        for (const statement of createStatements(this.schema, projection)) await client.query(statement);
        await client.query(`INSERT INTO ${this.checkpoints} (name, version) VALUES ($1, $2)`, [projection.name, projection.version]);
      }
      return this.projections.filter(({ name, version }) => versions.has(name) && versions.get(name) !== version);
    });
  }

  /** The position after which at least one projection still has to see events; null: from the start. */
  async oldestPosition(): Promise<string | null> {
    const { rows } = await this.pool.query(
      `SELECT position::text FROM ${this.checkpoints} JOIN unnest($1::text[], $2::int[]) AS ours(name, version) USING (name, version)
       ORDER BY position NULLS FIRST LIMIT 1`,
      [this.projections.map(({ name }) => name), this.projections.map(({ version }) => version)],
    );
    return rows[0]?.position ?? null;
  }

  /**
   * Takes every projection over a batch of events, all or nothing; events that one has seen before do not count again, and rows of
   * another version are left alone.
   */
  async apply(events: StoredEvent[]): Promise<void> {
    await transaction(this.pool, async (client) => {
      const names = [RUNNER, ...this.projections.map(({ name }) => name)];
      const { rows } = await client.query(
        `SELECT name, version, position::text FROM ${this.checkpoints} WHERE name = ANY($1) ORDER BY name FOR UPDATE`,
        [names],
      );
      const checkpoints = new Map(rows.map(({ name, version, position }) => [`${name} ${version}`, position as string | null]));
      const moved = [RUNNER];
      for (const projection of this.projections) {
        const seen = checkpoints.get(`${projection.name} ${projection.version}`);
        if (seen === undefined) continue;
        const fresh = events.filter((event) => seen === null || BigInt(event.position) > BigInt(seen));
        const handled = fresh.filter(({ event }) => projection.handles.includes(event.type));
        if (handled.length > 0) await project(client, this.schema, projection, handled);
        if (fresh.length > 0) moved.push(projection.name);
      }
      const last = events.at(-1)!.position;
      await client.query(`UPDATE ${this.checkpoints} SET position = GREATEST(position, $2) WHERE name = ANY($1)`, [moved, last]);
    });
  }
}

async function project(client: pg.PoolClient, schema: string, projection: Projection, events: ProjectedEvent[]): Promise<void> {
  const known = await load(
    client,
    schema,
    projection,
    events.flatMap((event) => projection.needs(event)),
  );
  const changed = new Map<string, Change>();
  const rows: Rows = (table, ...key) => known.get(idOf({ table, key }));
  const further = events.flatMap((event) => projection.needsNext?.(rows, event) ?? []);
  for (const [id, row] of await load(client, schema, projection, further)) known.set(id, row);
  for (const event of events)
    for (const change of projection.evolve(rows, event)) {
      known.set(idOf(change), change.row ?? undefined);
      changed.set(idOf(change), change);
    }
  await store(client, schema, projection, [...changed.values()]);
}

/** Keys that the database cannot tell apart are one. */
function idOf({ table, key }: RowKey): string {
  return JSON.stringify([table, ...key.map(asText)]);
}

async function load(client: pg.PoolClient, schema: string, projection: Projection, keys: RowKey[]): Promise<Map<string, Row | undefined>> {
  const known = new Map<string, Row | undefined>();
  const distinct = [...new Map(keys.map((key) => [idOf(key), key])).values()];
  for (const [name, table] of Object.entries(projection.tables)) {
    const wanted = distinct.filter((key) => key.table === name).map(({ key }) => key);
    if (wanted.length === 0) continue;
    const { rows } = await client.query(byKeys('SELECT *', schema, projection.name, name, table, wanted));
    for (const row of rows) known.set(idOf({ table: name, key: table.key.map((column) => String(row[column])) }), fromDatabase(row));
  }
  return known;
}

async function store(client: pg.PoolClient, schema: string, projection: Projection, changes: Change[]): Promise<void> {
  for (const [name, table] of Object.entries(projection.tables)) {
    const own = changes.filter((change) => change.table === name);
    const kept = own.flatMap(({ row }) => (row === null ? [] : [row]));
    const removed = own.filter(({ row }) => row === null).map(({ key }) => key);
    if (kept.length > 0) await client.query(upsert(schema, projection.name, name, table, kept));
    if (removed.length > 0) await client.query(byKeys('DELETE', schema, projection.name, name, table, removed));
  }
}
