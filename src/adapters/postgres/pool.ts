import pg from 'pg';

/** int8 comes back as a string otherwise: counts and positions of read models stay well below 2^53. */
pg.types.setTypeParser(pg.types.builtins.INT8, Number);

/** A pool whose idle connections may break without ending the process: the next query says what is wrong. */
export function createPool(connectionString: string, report: (message: string) => void): pg.Pool {
  const pool = new pg.Pool({ connectionString, max: 10, connectionTimeoutMillis: 5_000, application_name: 'anvil' });
  // Those of a pool that has ended may still be closing when the server goes.
  pool.on('error', (error) => pool.ending || report(`an idle database connection broke: ${error.message}`));
  return pool;
}

/** Runs `work` in one transaction, on one connection. `begin` may do more than begin it, in the same round trip. */
export async function transaction<T>(pool: pg.Pool, work: (client: pg.PoolClient) => Promise<T>, begin = 'BEGIN'): Promise<T> {
  const client = await pool.connect();
  let broken: Error | undefined;
  // The pool listens to idle connections only: one that breaks between two statements of ours would end the process.
  const onError = (error: Error) => {
    broken = error;
  };
  client.on('error', onError);
  try {
    await client.query(begin);
    const result = await work(client);
    await client.query('COMMIT');
    return result;
  } catch (error) {
    await client.query('ROLLBACK').catch((rollback: Error) => {
      broken = rollback;
    });
    throw error;
  } finally {
    client.off('error', onError);
    client.release(broken);
  }
}

/** Whoever takes a statement, a connection among them. */
export interface Statements {
  query(statement: string | { text: string; values?: unknown[] }, values?: unknown[]): Promise<pg.QueryResult>;
}

/**
 * A connection for several that work at once in one transaction: their statements wait for each other. Behind one that failed none is sent
 * any more: each fails as that one did.
 */
export function inTurns(client: Statements): Statements {
  let before: Promise<unknown> = Promise.resolve();
  return {
    query: (statement, values) => {
      const result = before.then(() => client.query(statement, values));
      before = result;
      return result;
    },
  };
}

/** Waits until all have ended, and then throws what one of them threw: nobody goes on with a transaction that is being given up. */
export async function allOf(parts: Promise<void>[]): Promise<void> {
  for (const one of await Promise.allSettled(parts)) if (one.status === 'rejected') throw one.reason;
}
