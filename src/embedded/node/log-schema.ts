import type { ClientBase } from 'pg';

const VERSION = 1;
const SCHEMA_NAME = /^[a-z_][a-z0-9_]{0,62}$/;

/**
 * Settings of every session on the log. All its queries walk an index from a key; without these hints, a planner with stale statistics may
 * answer a page of a few hundred rows by hashing or sorting a table of millions.
 */
export const SESSION_OPTIONS = [
  'enable_hashjoin=off',
  'enable_mergejoin=off',
  'enable_seqscan=off',
  'enable_bitmapscan=off',
  // The statements are few and their best plans do not depend on the values: planning each time would cost more than running them.
  'plan_cache_mode=force_generic_plan',
  'jit=off',
  'max_parallel_workers_per_gather=0',
  'statement_timeout=0',
  'idle_session_timeout=0',
  'idle_in_transaction_session_timeout=0',
  'bytea_output=hex',
  'client_encoding=UTF8',
  // A database or role may turn this off; an append that was answered must be on disk.
  'synchronous_commit=on',
]
  .map((setting) => `-c ${setting}`)
  .join(' ');

/** The schema as SQL writes it. Only plain names are taken, so that quoting cannot go wrong. */
export function quoteSchema(schema: string): string {
  if (!SCHEMA_NAME.test(schema)) {
    throw new Error(`The log's schema must be a plain lower-case name (letters, digits, underscores), not ${JSON.stringify(schema)}.`);
  }
  return `"${schema}"`;
}

/** Makes the tables of the log, or checks that those that are there are the ones this version writes. */
export async function prepareSchema(client: ClientBase, schema: string): Promise<void> {
  const s = quoteSchema(schema);
  const encoding = (await client.query<{ server_encoding: string }>('SHOW server_encoding')).rows[0]?.server_encoding;
  if (encoding !== 'UTF8') throw new Error(`The event log needs a database in UTF8, and this one is in ${encoding}.`);
  await client.query('BEGIN');
  try {
    await client.query(`CREATE SCHEMA IF NOT EXISTS ${s}`);
    await client.query(`CREATE TABLE IF NOT EXISTS ${s}.log_version (version integer NOT NULL)`);
    const found = (await client.query<{ version: number }>(`SELECT version FROM ${s}.log_version`)).rows[0]?.version;
    if (found === undefined) await createTables(client, s);
    else if (found !== VERSION)
      throw new Error(`The event log in schema ${schema} has version ${found}; this node knows version ${VERSION}.`);
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK').catch(() => undefined);
    throw error;
  }
}

/**
 * Rows are only ever added. The writer gives out ids and positions itself, so that positions have no gaps and their order is the order of
 * commits. Event ids are indexed below their stream: that keeps the index growing at its end, where an index over bare random ids would
 * touch all of its pages. Bodies up to 4 KB stay in the row uncompressed, since what is read most is read in order and whole.
 */
async function createTables(client: ClientBase, s: string): Promise<void> {
  await client.query(`
    CREATE TABLE ${s}.streams (
      id bigint PRIMARY KEY,
      name text COLLATE "C" NOT NULL UNIQUE
    );
    CREATE TABLE ${s}.events (
      position bigint PRIMARY KEY,
      stream_id bigint NOT NULL,
      revision bigint NOT NULL,
      event_id uuid NOT NULL,
      is_json boolean NOT NULL,
      created_us bigint NOT NULL,
      type text COLLATE "C" NOT NULL,
      data bytea NOT NULL,
      metadata bytea NOT NULL,
      UNIQUE (stream_id, revision)
    ) WITH (toast_tuple_target = 4080);
    CREATE INDEX events_by_id ON ${s}.events (stream_id, event_id);
    INSERT INTO ${s}.log_version (version) VALUES (${VERSION});
  `);
}
