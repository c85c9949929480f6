import type pg from 'pg';
import type { Change, ProjectedEvent, Projection, Row, RowKey, Rows } from '../../../projections/projection.js';
import type { ProjectionRows, StoredEvent } from '../../application/ports.js';
import { transaction } from './pool.js';
import { CREATE_SNAPSHOTS } from './snapshots.js';
import { asText, createStatements, deleteByKeys, dropStatements, fromDatabase, SCHEMA, selectByKeys, upsert } from './tables.js';

const CHECKPOINTS = `${SCHEMA}.checkpoints`;

/** Where projections keep their rows, each beside its checkpoint: both change in one transaction, so that an event counts once. */
export class ProjectionStore implements ProjectionRows {
  constructor(
    private readonly pool: pg.Pool,
    private readonly projections: Projection[],
  ) {}

  /** Makes the tables. A projection whose version is another than the one that filled them starts again from the log. */
  async prepare(): Promise<void> {
    await transaction(this.pool, async (client) => {
      // Two instances that start at once take turns.
      await client.query(`SELECT pg_advisory_xact_lock(hashtext('${SCHEMA}'))`);
      await client.query(`CREATE SCHEMA IF NOT EXISTS ${SCHEMA}`);
      await client.query(
        `CREATE TABLE IF NOT EXISTS ${CHECKPOINTS} (name text PRIMARY KEY, version integer NOT NULL, position numeric(20))`,
      );
      await client.query(CREATE_SNAPSHOTS);
      for (const projection of this.projections) {
        const { rows } = await client.query(`SELECT version FROM ${CHECKPOINTS} WHERE name = $1`, [projection.name]);
        const stale = rows[0] !== undefined && rows[0].version !== projection.version;
        if (stale) for (const statement of dropStatements(projection)) await client.query(statement);
        for (const statement of createStatements(projection)) await client.query(statement);
        if (stale || rows[0] === undefined)
          await client.query(
            `INSERT INTO ${CHECKPOINTS} (name, version, position) VALUES ($1, $2, NULL)
             ON CONFLICT (name) DO UPDATE SET version = EXCLUDED.version, position = NULL`,
            [projection.name, projection.version],
          );
      }
    });
  }

  /** The position after which at least one projection still has to see events; null: from the start. */
  async oldestPosition(): Promise<string | null> {
    const names = this.projections.map((projection) => projection.name);
    const { rows } = await this.pool.query(`SELECT position::text FROM ${CHECKPOINTS} WHERE name = ANY($1)`, [names]);
    const positions = rows.map((row) => row.position as string | null);
    return positions.reduce(
      (oldest, position) => (oldest === null || position === null ? null : lower(oldest, position)),
      positions[0] ?? null,
    );
  }

  /** Takes every projection over a batch of events, all or nothing; events that one has seen before do not count again. */
  async apply(events: StoredEvent[]): Promise<void> {
    await transaction(this.pool, async (client) => {
      for (const projection of this.projections) {
        const { rows } = await client.query(`SELECT position::text FROM ${CHECKPOINTS} WHERE name = $1 FOR UPDATE`, [projection.name]);
        const seen = rows[0]?.position as string | null;
        const fresh = events.filter((event) => seen === null || BigInt(event.position) > BigInt(seen));
        if (fresh.length === 0) continue;
        const handled = fresh.filter(({ event }) => projection.handles.includes(event.type));
        if (handled.length > 0) await project(client, projection, handled);
        await client.query(`UPDATE ${CHECKPOINTS} SET position = $2 WHERE name = $1`, [projection.name, fresh.at(-1)!.position]);
      }
    });
  }
}

function lower(a: string, b: string): string {
  return BigInt(a) < BigInt(b) ? a : b;
}

async function project(client: pg.PoolClient, projection: Projection, events: ProjectedEvent[]): Promise<void> {
  const known = await load(
    client,
    projection,
    events.flatMap((event) => projection.needs(event)),
  );
  const changed = new Map<string, Change>();
  const rows: Rows = (table, ...key) => known.get(idOf({ table, key }));
  const further = events.flatMap((event) => projection.needsNext?.(rows, event) ?? []);
  for (const [id, row] of await load(client, projection, further)) known.set(id, row);
  for (const event of events)
    for (const change of projection.evolve(rows, event)) {
      known.set(idOf(change), change.row ?? undefined);
      changed.set(idOf(change), change);
    }
  await store(client, projection, [...changed.values()]);
}

/** Keys that the database cannot tell apart are one. */
function idOf({ table, key }: RowKey): string {
  return JSON.stringify([table, ...key.map(asText)]);
}

async function load(client: pg.PoolClient, projection: Projection, keys: RowKey[]): Promise<Map<string, Row | undefined>> {
  const known = new Map<string, Row | undefined>();
  const distinct = [...new Map(keys.map((key) => [idOf(key), key])).values()];
  for (const [name, table] of Object.entries(projection.tables)) {
    const wanted = distinct.filter((key) => key.table === name).map(({ key }) => key);
    if (wanted.length === 0) continue;
    const { rows } = await client.query(selectByKeys(projection.name, name, table, wanted));
    for (const row of rows) known.set(idOf({ table: name, key: table.key.map((column) => String(row[column])) }), fromDatabase(row));
  }
  return known;
}

async function store(client: pg.PoolClient, projection: Projection, changes: Change[]): Promise<void> {
  for (const [name, table] of Object.entries(projection.tables)) {
    const own = changes.filter((change) => change.table === name);
    const kept = own.flatMap(({ row }) => (row === null ? [] : [row]));
    const removed = own.filter(({ row }) => row === null).map(({ key }) => key);
    if (kept.length > 0) await client.query(upsert(projection.name, name, table, kept));
    if (removed.length > 0) await client.query(deleteByKeys(projection.name, name, table, removed));
  }
}
