import { rm } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { projections } from '../../projections/all.js';
import { EventStoreDbLog } from '../../src/adapters/eventstoredb/event-log.js';
import { createPool } from '../../src/adapters/postgres/pool.js';
import { ProjectionStore } from '../../src/adapters/postgres/projection-store.js';
import { PostgresRebuilds } from '../../src/adapters/postgres/rebuild-store.js';
import { SCHEMA, tableName } from '../../src/adapters/postgres/tables.js';
import { runRebuilds, workOffRebuilds } from '../../src/application/run-rebuilds.js';
import { type EmbeddedPostgres, startPostgres } from '../../src/embedded/postgres.js';
import { makeFolder } from '../support/folder.js';
import { busyHistory } from '../support/naive.js';
import { TestNode } from '../support/node.js';
import { eventually } from '../support/service.js';

// Batches of a rebuild do not wait for the disk: one that was committed may be gone after a crash, with its checkpoint.
const REPOS = 24;
const APPENDED_AT_ONCE = 100;

let node: TestNode;
let log: EventStoreDbLog;
let dataDir: string;
let database: EmbeddedPostgres;
let fresh: Record<string, string[]>;
const reports: string[] = [];
const report = (message: string) => reports.push(message);
const clock = { now: () => new Date().toISOString() };

beforeAll(async () => {
  node = await TestNode.start();
  dataDir = await makeFolder('anvil-test-killed');
  database = await startPostgres({ dataDir, log: () => undefined });
  log = new EventStoreDbLog(node.url, report);
  await Promise.all(Array.from({ length: REPOS }, (_, n) => fill(busyHistory(n, 160, `repo-${n}`).events)));
  fresh = await rebuiltRows('fresh');
  expect(Object.entries(fresh).flatMap(([table, rows]) => (rows.length === 0 ? [table] : []))).toEqual([
    'captures_waiting',
    'measured_trials',
  ]);
}, 120_000);
afterAll(async () => {
  await log.close();
  await database.stop();
  await rm(dataDir, { recursive: true, force: true });
  await node.end();
});

async function fill(events: ReturnType<typeof busyHistory>['events']): Promise<void> {
  for (const stream of new Set(events.map((event) => event.stream))) {
    const own = events.filter((event) => event.stream === stream);
    for (let at = 0; at < own.length; at += APPENDED_AT_ONCE) {
      const some = own.slice(at, at + APPENDED_AT_ONCE);
      const proposed = some.map(({ id, event, metadata }) => ({ id, ...event, metadata }));
      await log.append(stream, some[0]!.revision - 1, proposed);
    }
  }
}

type Disturb = (text: string, when: 'before' | 'after', pool: pg.Pool) => Promise<void>;

/** The rows of a rebuild that `disturb` may see every statement of, before it is sent and when it is answered; `behind`: of live rows. */
async function rebuiltRows(id: string, disturb: Disturb = async () => {}, behind = 0n): Promise<Record<string, string[]>> {
  const pool = createPool(database.connectionString, report);
  await new ProjectionStore(pool, projections).prepare();
  const rebuilds = new PostgresRebuilds(pool, projections);
  await rebuilds.prepare();
  await rebuilds.create(
    id,
    projections.map(({ name }) => name),
    behind > 0n,
    clock.now(),
  );
  // The live rows have seen the log, or nearly, so that the built ones do not take their place before they have.
  await pool.query(`UPDATE ${SCHEMA}.checkpoints SET position = $1`, [BigInt((await log.head())!) - behind]);
  const watched = createPool(database.connectionString, report);
  watched.on('connect', (client) => {
    const query = client.query.bind(client) as (...args: unknown[]) => Promise<unknown>;
    client.query = (async (...args: unknown[]) => {
      const text = typeof args[0] === 'string' ? args[0] : (args[0] as { text: string }).text;
      await disturb(text, 'before', pool);
      const answer = await query(...args);
      await disturb(text, 'after', pool);
      return answer;
    }) as typeof client.query;
  });
  const stopping = new AbortController();
  const parts = { log, rebuilds: new PostgresRebuilds(watched, projections), clock, report };
  const running = runRebuilds({ ...parts, workOff: (signal) => workOffRebuilds(parts, signal) }, stopping.signal);
  try {
    await eventually(async () => {
      const { status, error } = (await rebuilds.get(id).catch(() => null)) ?? { status: 'running', error: null };
      if (status === 'failed') throw new Error(`the rebuild failed: ${error}`);
      return status === 'done';
    }, 'the rebuild is done');
    return await allRows(pool);
  } finally {
    stopping.abort();
    await running;
    await Promise.all([pool.end(), watched.end()]);
  }
}

async function allRows(pool: pg.Pool): Promise<Record<string, string[]>> {
  const tables = projections.flatMap(({ name, tables: own }) =>
    Object.keys(own).map((table) => [`${name}_${table}`, tableName(SCHEMA, name, table)]),
  );
  const rows: Record<string, string[]> = {};
  for (const [name, table] of tables)
    rows[name!] = (await pool.query(`SELECT t::text AS row FROM ${table} t ORDER BY t::text COLLATE "C"`)).rows.map(({ row }) => row);
  return rows;
}

/** Every process of the cluster at once, so that none writes what another one left in memory. */
async function killDatabase(): Promise<void> {
  const client = new pg.Client({ connectionString: database.connectionString });
  client.on('error', () => {});
  await client.connect();
  const { rows } = await client.query(
    `SELECT pid FROM pg_stat_activity UNION ALL SELECT split_part(pg_read_file('postmaster.pid'), E'\\n', 1)::int`,
  );
  for (const { pid } of rows.reverse()) process.kill(pid, 'SIGKILL');
  await client.end().catch(() => {});
}

test.each([
  ['before', 2],
  ['after', 2],
  ['after', 3],
] as const)(
  'killed %s the commit of batch %i, it comes back, goes on from what survived, and the rows are the same',
  async (when, batch) => {
    const id = `killed_${when}_${batch}`;
    let relaxed = 0;
    let survived: string | null | undefined;
    let back: Promise<void> | undefined;
    const comeBack = async () => {
      await database.stop();
      database = await startPostgres({ dataDir, log: () => undefined });
      const pool = createPool(database.connectionString, report);
      const { rows } = await pool.query(`SELECT max(position)::text AS at FROM anvil_rebuild_${id}.checkpoints`);
      survived = rows[0].at;
      await pool.end();
    };
    const rows = await rebuiltRows(id, async (text, now) => {
      if (now === 'before' && text.includes('synchronous_commit = off')) relaxed += 1;
      if (text !== 'COMMIT' || now !== when || relaxed !== batch || back !== undefined) return;
      await killDatabase();
      back = comeBack();
    });
    await back;
    expect(relaxed).toBeGreaterThan(batch);
    expect(Number(survived)).toBeGreaterThan(0);
    expect(rows).toEqual(fresh);
  },
  60_000,
);

test('connections that break under a batch, while the database stays, do not fail the rebuild', async () => {
  let broken = false;
  const rows = await rebuiltRows('broken', async (text, when, pool) => {
    if (when !== 'before' || broken || !text.includes('INSERT INTO "anvil_rebuild_broken"."captures')) return;
    broken = true;
    await pool.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1 AND pid <> pg_backend_pid()', [
      'anvil',
    ]);
  });
  expect(broken).toBe(true);
  expect(rows).toEqual(fresh);
}, 60_000);

test('a compared rebuild that waits for the live rows tries to switch again and again, and makes its indexes once', async () => {
  const made: string[] = [];
  let tries = 0;
  const rows = await rebuiltRows(
    'compared',
    async (text, when, pool) => {
      if (when === 'before' && text.startsWith('CREATE INDEX')) made.push(text);
      if (when !== 'before' || !text.includes('LOCK TABLE')) return;
      tries += 1;
      if (tries === 4) await pool.query(`UPDATE ${SCHEMA}.checkpoints SET position = $1`, [await log.head()]);
    },
    1n,
  );
  expect(tries).toBeGreaterThanOrEqual(4);
  expect(made.length).toBeGreaterThan(20);
  expect(made).toEqual([...new Set(made)]);
  expect(rows).toEqual(fresh);
}, 60_000);
