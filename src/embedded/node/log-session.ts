import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { prepareSchema, SESSION_OPTIONS } from './log-schema.js';

const LOCK_RETRY_MS = 100;
const CONNECT_TIMEOUT_MS = 10_000;
/** A database that is silent for this long has to be given up: what it was asked to write is unconfirmed. */
const QUERY_TIMEOUT_MS = 60_000;
const CLOSE_TIMEOUT_MS = 2_000;

export interface LogSessionOptions {
  readonly databaseUrl: string;
  readonly schema: string;
  readonly lockWaitMs: number;
  /** Called once, when the session ends without having been closed. */
  readonly onLost: (session: LogSession, error: Error) => void;
}

/** Another node has the log: waiting does not help, unless that node goes. */
export class LogTakenError extends Error {}

/**
 * The one PostgreSQL session that may write the log. It holds an advisory lock for as long as it lives and all writes go through it, so a node
 * whose session is gone cannot write any more, whatever it believes, and a second node cannot begin before.
 */
export class LogSession {
  /** Why the session ended; null while it lives. */
  lost: Error | null = null;
  private ending = false;

  private constructor(
    readonly client: pg.Client,
    private readonly onLost: (session: LogSession, error: Error) => void,
  ) {}

  /** Connects, takes the lock (trying for `lockWaitMs`: a node that was killed may hold it for a moment longer) and makes the tables. */
  static async open(options: LogSessionOptions): Promise<LogSession> {
    const client = new pg.Client({
      connectionString: options.databaseUrl,
      options: SESSION_OPTIONS,
      application_name: 'anvil event log writer',
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      query_timeout: QUERY_TIMEOUT_MS,
      keepAlive: true,
    });
    const session = new LogSession(client, options.onLost);
    client.on('error', (error) => session.fail(error));
    client.on('end', () => session.fail(new Error('The connection to PostgreSQL ended.')));
    try {
      await client.connect();
      await session.takeLock(options.schema, options.lockWaitMs);
      await prepareSchema(client, options.schema);
    } catch (error) {
      await session.close();
      throw error;
    }
    return session;
  }

  private async takeLock(schema: string, waitMs: number): Promise<void> {
    const until = performance.now() + waitMs;
    for (;;) {
      const { rows } = await this.client.query<{ taken: boolean }>('SELECT pg_try_advisory_lock(hashtextextended($1, 0)) AS taken', [
        `anvil event log ${schema}`,
      ]);
      if (rows[0]?.taken === true) return;
      if (performance.now() >= until) {
        throw new LogTakenError(
          `Another Anvil node already writes this log (schema "${schema}" of this database). One log has one node: stop the other one, or use another database or schema.`,
        );
      }
      await sleep(LOCK_RETRY_MS);
    }
  }

  private fail(error: Error): void {
    if (this.lost !== null) return;
    this.lost = error;
    if (!this.ending) this.onLost(this, error);
  }

  /** Ends the session, and with it the lock. */
  async close(): Promise<void> {
    this.ending = true;
    const timer = setTimeout(() => socketOf(this.client)?.destroy(), CLOSE_TIMEOUT_MS);
    await this.client.end().catch(() => undefined);
    clearTimeout(timer);
  }
}

/** `pg` waits for the server's goodbye, which a dead connection never brings; it has no other way to let go than its socket. */
function socketOf(client: pg.Client): { destroy(): void } | undefined {
  return (client as unknown as { connection?: { stream?: { destroy(): void } } }).connection?.stream;
}
