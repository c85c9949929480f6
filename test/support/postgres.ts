import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import pg from 'pg';
import { startPostgres } from '../../src/embedded/postgres.js';
import { makeFolder } from './folder.js';

export interface TestPostgres {
  connectionString: string;
  stop(): Promise<void>;
}

/** A PostgreSQL for one test file: an embedded one of its own, or a fresh database in the one that TEST_DATABASE_URL names. */
export async function startTestPostgres(): Promise<TestPostgres> {
  const given = process.env.TEST_DATABASE_URL;
  return given ? createDatabase(given) : startEmbedded();
}

async function startEmbedded(): Promise<TestPostgres> {
  const dataDir = await makeFolder('anvil-test-pg');
  const postgres = await startPostgres({ dataDir, log: () => undefined });
  return {
    connectionString: postgres.connectionString,
    stop: async () => {
      await postgres.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

async function createDatabase(server: string): Promise<TestPostgres> {
  const name = `anvil_test_${randomBytes(6).toString('hex')}`;
  const run = async (sql: string) => {
    const client = new pg.Client({ connectionString: server });
    await client.connect();
    try {
      await client.query(sql);
    } finally {
      await client.end();
    }
  };
  await run(`CREATE DATABASE ${name} ENCODING 'UTF8' TEMPLATE template0`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  return { connectionString: url.toString(), stop: () => run(`DROP DATABASE ${name} WITH (FORCE)`) };
}
