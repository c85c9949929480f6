import type pg from 'pg';
import type { Projection } from '../../../projections/projection.js';
import type { EventLog, FollowedEvent, ProjectionRows } from '../../application/ports.js';
import { createParkedTable, parkedTable } from './parked-events.js';
import { allOf, transaction } from './pool.js';
import { createStatements, indexStatements, quoted, SCHEMA } from './tables.js';
import { type Held, refusesValues, takeBatch } from './take-batch.js';

/** Events of a stream that are taken in one go when they are tried again. */
const RETRIED_AT_ONCE = 500;

interface Checkpoint {
  version: number;
  position: string | null;
  /** Of the streams that were asked about, those that hold a parked event, with its revision. */
  held: Record<string, number> | null;
}

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
      await client.query(createParkedTable(this.schema));
      await client.query(`INSERT INTO ${this.checkpoints} VALUES ('${RUNNER}', 0, NULL) ON CONFLICT DO NOTHING`);
      const { rows } = await client.query(`SELECT name, version FROM ${this.checkpoints}`);
      const versions = new Map(rows.map(({ name, version }) => [name, version]));
      for (const projection of this.projections.filter(({ name }) => !versions.has(name))) {
        for (const statement of createStatements(this.schema, projection)) await client.query(statement);
        if (this.schema === SCHEMA) for (const statement of indexStatements(SCHEMA, projection)) await client.query(statement);
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
   * another version are left alone. What a projection cannot take in is parked.
   */
  async apply(events: FollowedEvent[]): Promise<void> {
    try {
      await this.take(events, false);
    } catch (error) {
      if (!refusesValues(error)) throw error;
      await this.take(events, true);
    }
  }

  async retry(log: Pick<EventLog, 'readFollowed'>): Promise<void> {
    const { rows } = await this.pool.query(
      `SELECT follower, stream FROM ${parkedTable(this.schema)} WHERE follower = ANY($1) ORDER BY position`,
      [this.projections.map(({ name }) => name)],
    );
    for (const { follower, stream } of rows)
      await this.retryOne(this.projections.find(({ name }) => name === follower)!, stream, (from, most) =>
        log.readFollowed(stream, from, most),
      );
  }

  private async take(events: FollowedEvent[], inParts: boolean): Promise<void> {
    await this.locked(async (client) => {
      const checkpoints = await this.checkpointsFor(client, new Set(events.map(({ stream }) => stream)));
      const positions = events.map(({ position }) => BigInt(position));
      const moved = [RUNNER];
      const taken: Promise<void>[] = [];
      for (const projection of this.projections) {
        const checkpoint = checkpoints.get(projection.name);
        if (checkpoint?.version !== projection.version) continue;
        const seen = BigInt(checkpoint.position ?? -1);
        const first = positions.findIndex((position) => position > seen);
        if (first < 0) continue;
        const held = new Map(Object.entries(checkpoint.held ?? {}));
        const target = { client, schema: this.schema, projection };
        const own = takeBatch(target, first === 0 ? events : events.slice(first), held, inParts);
        // Savepoints are one's at a time. Otherwise one projects while the database works on what the others say.
        if (inParts) await own;
        taken.push(own);
        moved.push(projection.name);
      }
      await allOf(taken);
      const last = events.at(-1)!.position;
      await client.query(`UPDATE ${this.checkpoints} SET position = GREATEST(position, $2) WHERE name = ANY($1)`, [moved, last]);
    });
  }

  /** The projection's checkpoint does not move: what was held back lies before it. */
  private async retryOne(
    projection: Projection,
    stream: string,
    read: (from: number, most: number) => AsyncIterable<FollowedEvent>,
  ): Promise<void> {
    const { schema } = this;
    await this.locked(async (client) => {
      const parkedHere = `${parkedTable(schema)} WHERE follower = $1 AND stream = $2`;
      const { rows } = await client.query(
        `SELECT revision, "heldUpTo", (SELECT version FROM ${this.checkpoints} WHERE name = $1) AS version FROM ${parkedHere}`,
        [projection.name, stream],
      );
      if (rows[0]?.version !== projection.version) return;
      const { revision, heldUpTo } = rows[0];
      for (let from: number = revision; from <= heldUpTo; from += RETRIED_AT_ONCE) {
        const events: FollowedEvent[] = [];
        for await (const event of read(from, Math.min(RETRIED_AT_ONCE, heldUpTo - from + 1))) events.push(event);
        const held: Held = new Map();
        await takeBatch({ client, schema, projection }, events, held, true);
        if (held.size > 0) return;
      }
      await client.query(`DELETE FROM ${parkedHere}`, [projection.name, stream]);
    });
  }

  /** One batch, retry or switch at a time: each waits for the runner's checkpoint before it looks at what the one before it left. */
  private locked(work: (client: pg.PoolClient) => Promise<void>): Promise<void> {
    // Rows and checkpoint come back together from a crash: of rows that nobody sees yet, the last batches may be made once more.
    const relaxed = this.schema === SCHEMA ? '' : 'SET LOCAL synchronous_commit = off; ';
    return transaction(this.pool, work, `BEGIN; ${relaxed}SELECT FROM ${this.checkpoints} WHERE name = '${RUNNER}' FOR UPDATE`);
  }

  private async checkpointsFor(client: pg.PoolClient, streams: Set<string>): Promise<Map<string, Checkpoint>> {
    const { rows } = await client.query(
      `SELECT name, version, position::text, (SELECT json_object_agg(stream, revision) FROM ${parkedTable(this.schema)}
         WHERE follower = name AND stream = ANY($2)) AS held FROM ${this.checkpoints} WHERE name = ANY($1)`,
      [this.projections.map(({ name }) => name), [...streams]],
    );
    return new Map(rows.map((row) => [row.name, row]));
  }
}
