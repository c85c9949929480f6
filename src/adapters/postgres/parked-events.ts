import type pg from 'pg';
import type { EventPlace, FollowerName, ParkedEvent, ParkedEvents } from '../../application/ports.js';
import type { Statements } from './pool.js';
import { asText, quoted, SCHEMA } from './tables.js';

/** The table of parked events, one row a follower and stream. It lies beside the rows that it is about, so also in a rebuild's schema. */
export function parkedTable(schema: string): string {
  return `${quoted(schema)}.parked_events`;
}

export function createParkedTable(schema: string): string {
  return `CREATE TABLE IF NOT EXISTS ${parkedTable(schema)} (follower text, stream text, revision bigint NOT NULL,
    position numeric(20) NOT NULL, "eventId" text NOT NULL, type text NOT NULL, reason text NOT NULL, "heldUpTo" bigint NOT NULL,
    tries integer NOT NULL DEFAULT 1, "firstTriedAt" timestamptz NOT NULL DEFAULT now(), "lastTriedAt" timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (follower, stream))`;
}

/** Parks an event, or counts one more try; one that takes another's place begins with its first. */
export async function park(
  client: Statements,
  schema: string,
  follower: FollowerName,
  event: EventPlace,
  reason: string,
  heldUpTo: number,
): Promise<void> {
  const { stream, revision, position, id, type } = event;
  const other = `parked.revision <> EXCLUDED.revision`;
  await client.query(
    `INSERT INTO ${parkedTable(schema)} AS parked (follower, stream, revision, position, "eventId", type, reason, "heldUpTo")
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (follower, stream) DO UPDATE SET
       revision = EXCLUDED.revision, position = EXCLUDED.position, "eventId" = EXCLUDED."eventId", type = EXCLUDED.type,
       reason = EXCLUDED.reason, "heldUpTo" = GREATEST(parked."heldUpTo", EXCLUDED."heldUpTo"), "lastTriedAt" = now(),
       tries = CASE WHEN ${other} THEN 1 ELSE parked.tries + 1 END,
       "firstTriedAt" = CASE WHEN ${other} THEN now() ELSE parked."firstTriedAt" END`,
    [follower, stream, revision, position, id, asText(type), asText(reason), heldUpTo],
  );
}

export async function hold(
  client: Statements,
  schema: string,
  follower: FollowerName,
  upTo: Map<string, number>,
): Promise<Map<string, number>> {
  const { rows } = await client.query(
    `UPDATE ${parkedTable(schema)} SET "heldUpTo" = GREATEST("heldUpTo", revised) FROM unnest($2::text[], $3::bigint[]) AS u(held, revised)
     WHERE follower = $1 AND stream = held RETURNING stream, revision`,
    [follower, [...upTo.keys()], [...upTo.values()]],
  );
  return new Map(rows.map(({ stream, revision }) => [stream, revision]));
}

/** Parked events of the live rows, and of the saga. */
export class PostgresParkedEvents implements ParkedEvents {
  constructor(private readonly pool: pg.Pool) {}

  async counts(): Promise<Record<FollowerName, number>> {
    const { rows } = await this.pool.query(
      `SELECT follower, count(*) AS parked FROM ${parkedTable(SCHEMA)} GROUP BY follower ORDER BY follower`,
    );
    return Object.fromEntries(rows.map(({ follower, parked }) => [follower, parked]));
  }

  async of(follower: FollowerName, stream?: string): Promise<ParkedEvent[]> {
    const { rows } = await this.pool.query(
      `SELECT follower, stream, revision, "heldUpTo" FROM ${parkedTable(SCHEMA)} WHERE follower = $1 AND stream = COALESCE($2, stream) ORDER BY position`,
      [follower, stream],
    );
    return rows;
  }

  hold(follower: FollowerName, upTo: Map<string, number>): Promise<Map<string, number>> {
    return hold(this.pool, SCHEMA, follower, upTo);
  }

  park(follower: FollowerName, event: EventPlace, reason: string, heldUpTo: number): Promise<void> {
    return park(this.pool, SCHEMA, follower, event, reason, heldUpTo);
  }

  async release({ follower, stream, revision, heldUpTo }: ParkedEvent): Promise<boolean> {
    const { rowCount } = await this.pool.query(
      `DELETE FROM ${parkedTable(SCHEMA)} WHERE follower = $1 AND stream = $2 AND revision = $3 AND "heldUpTo" = $4`,
      [follower, stream, revision, heldUpTo],
    );
    return rowCount === 1;
  }
}
