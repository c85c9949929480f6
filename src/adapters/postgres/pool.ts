import pg from 'pg';

/** int8 comes back as a string otherwise: counts and positions of read models stay well below 2^53. */
pg.types.setTypeParser(pg.types.builtins.INT8, Number);

/** PostgreSQL's code for a statement in a transaction that has failed before it. */
const BEHIND_A_FAILURE = '25P02';

/**
 * A pool whose idle connections may break without ending the process: the next query says what is wrong. Statements that are made at once on
 * one connection go out at once, and are worked on in their order.
 */
export function createPool(connectionString: string, report: (message: string) => void): pg.Pool {
  const pool = new pg.Pool({ connectionString, max: 10, connectionTimeoutMillis: 5_000, application_name: 'anvil', pipeline: true });
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

/** Whoever takes a statement: a connection, or a pool. */
export type Statements = Pick<pg.ClientBase, 'query'>;

/**
 * Waits until all who work at once in one transaction have ended, and then throws what the first of them failed with: nobody goes on with a
 * transaction that is being given up. Behind a statement that failed, PostgreSQL refuses all others of the transaction, with an error of
 * their own.
 */
export async function allOf(parts: Promise<void>[]): Promise<void> {
  const errors = (await Promise.allSettled(parts)).flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
  const cause = errors.find((error) => (error as { code?: unknown } | null)?.code !== BEHIND_A_FAILURE) ?? errors[0];
  if (errors.length > 0) throw cause;
}
