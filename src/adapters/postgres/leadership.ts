import pg from 'pg';
import type { Leadership } from '../../application/ports.js';
import { pause, withTimeout } from '../../application/timing.js';

/** "anvl" as a number: one lock for all that only one instance may do. */
const LOCK = 0x616e766c;
const ASK_AGAIN_MS = 1_000;
const STILL_THERE_MS = 2_000;

/**
 * One instance of all that share a database leads, by a lock that lasts as long as its session: who is killed, or loses the database,
 * loses the lead, and another one has it within seconds.
 */
export class PostgresLeadership implements Leadership {
  constructor(
    private readonly connectionString: string,
    private readonly report: (message: string, level?: 'info') => void,
  ) {}

  async whileLeading(signal: AbortSignal, lead: (leading: AbortSignal) => Promise<void>): Promise<void> {
    while (!signal.aborted) {
      try {
        await this.inOneSession(signal, lead);
      } catch (error) {
        this.report(`the lead cannot be asked for: ${error instanceof Error ? error.message : String(error)}`);
      }
      await pause(ASK_AGAIN_MS, signal);
    }
  }

  private async inOneSession(signal: AbortSignal, lead: (leading: AbortSignal) => Promise<void>): Promise<void> {
    const client = new pg.Client({
      connectionString: this.connectionString,
      application_name: 'anvil-leader',
      connectionTimeoutMillis: 5_000,
    });
    const lost = new AbortController();
    client.on('error', () => lost.abort());
    client.on('end', () => lost.abort());
    try {
      await client.connect();
      // A leader whose machine is gone is found out by the database itself; without effect on a Unix socket.
      await client.query('SET tcp_keepalives_idle = 3; SET tcp_keepalives_interval = 1; SET tcp_keepalives_count = 3');
      const over = AbortSignal.any([signal, lost.signal]);
      while (!(await hasLock(client))) {
        await pause(ASK_AGAIN_MS, over);
        if (over.aborted) return;
      }
      this.report('this instance leads: it runs the projections and the saga', 'info');
      await Promise.all([lead(over), watch(client, lost, over)]);
    } finally {
      await client.end().catch(() => {});
    }
  }
}

async function hasLock(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query('SELECT pg_try_advisory_lock($1) AS ours', [LOCK]);
  return rows[0].ours;
}

/** A session that does not answer is lost, whatever the socket says. */
async function watch(client: pg.Client, lost: AbortController, over: AbortSignal): Promise<void> {
  while (!over.aborted) {
    await pause(STILL_THERE_MS, over);
    if (over.aborted) return;
    await withTimeout(client.query('SELECT 1'), STILL_THERE_MS, 'the session').catch(() => lost.abort());
  }
}
