import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type pg from 'pg';
import { createPool, transaction } from '../../src/adapters/postgres/pool.js';
import { isDatabaseAway } from '../../src/application/database-away.js';
import { startTestPostgres, type TestPostgres } from '../support/postgres.js';

let postgres: TestPostgres;
let pool: pg.Pool;
const reports: string[] = [];
beforeAll(async () => {
  postgres = await startTestPostgres();
  pool = createPool(postgres.connectionString, (message) => reports.push(message));
  await pool.query('CREATE TABLE counters (name text PRIMARY KEY, n bigint NOT NULL)');
}, 60_000);
afterAll(async () => {
  await pool.end();
  await postgres.stop();
});

const insert = (client: pg.PoolClient, name: string) => client.query('INSERT INTO counters VALUES ($1, 1)', [name]);
const names = async () => (await pool.query('SELECT name FROM counters ORDER BY name')).rows.map(({ name }) => name);

test('a transaction is kept whole, or not at all', async () => {
  expect(await transaction(pool, (client) => insert(client, 'kept').then(() => 'result'))).toBe('result');
  const failing = transaction(pool, async (client) => {
    await insert(client, 'lost');
    throw new Error('no');
  });
  await expect(failing).rejects.toThrow('no');
  expect(await names()).toEqual(['kept']);
});

test('a connection that breaks between two statements fails its transaction only, as a database that is away, and is not used again', async () => {
  const broken = transaction(pool, async (client) => {
    const { rows } = await client.query('SELECT pg_backend_pid() AS pid');
    await insert(client, 'broken');
    await pool.query('SELECT pg_terminate_backend($1)', [rows[0].pid]);
    await new Promise((resolve) => setTimeout(resolve, 100));
    await insert(client, 'after');
  });
  expect(await broken.catch(isDatabaseAway)).toBe(true);
  await transaction(pool, (client) => insert(client, 'next'));
  expect(await names()).toEqual(['kept', 'next']);
});

test('an idle connection that breaks is reported and replaced', async () => {
  const { rows } = await pool.query('SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()');
  await Promise.all([1, 2, 3].map(() => pool.query('SELECT pg_sleep(0.05)')));
  const all = await pool.query(
    "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name = 'anvil'",
  );
  expect(rows.length + all.rows.length).toBeGreaterThan(0);
  for (const { pid } of all.rows) await pool.query('SELECT pg_terminate_backend($1)', [pid]);
  for (let tried = 0; reports.length === 0 && tried < 100; tried += 1) await new Promise((resolve) => setTimeout(resolve, 20));
  expect(reports[0]).toMatch(/idle database connection broke/);
  expect(await names()).toEqual(['kept', 'next']);
});
