import type pg from 'pg';
import type { SignalQualityFilter, SignalQualityRows } from '../../application/ports.js';
import { SCHEMA, tableName } from './tables.js';

/** What a raised signal adds, and what a dispatch that one fired in adds: the same columns, so that both are summed together. */
const SUMS = ['raised', 'live', 'overcome', 'fired', 'wrong', 'saved', 'spared', 'confirmed', 'refuted'];

/** Sums over the rows of the projections `signals` and `signal_firings`. */
export class PostgresSignalQualityRows implements SignalQualityRows {
  constructor(private readonly pool: pg.Pool) {}

  /** A pattern with a code is one whatever it is called; of several names the first in the alphabet is shown. */
  async patterns(filter: SignalQualityFilter): ReturnType<SignalQualityRows['patterns']> {
    const { rows } = await this.pool.query(
      `SELECT kind, min(pattern) AS pattern, code, model, ${SUMS.map(summed).join(', ')} FROM (${both()}) t
       GROUP BY kind, coalesce(code, pattern), code, model`,
      valuesOf(filter),
    );
    return rows;
  }

  async periods(filter: SignalQualityFilter, period: 'day' | 'week'): ReturnType<SignalQualityRows['periods']> {
    const { rows } = await this.pool.query(
      `SELECT to_char(date_trunc('${period}', at AT TIME ZONE 'UTC'), 'YYYY-MM-DD') AS "from", ${SUMS.map(summed).join(', ')}
       FROM (${both()}) t GROUP BY 1 ORDER BY 1`,
      valuesOf(filter),
    );
    return rows;
  }
}

function summed(column: string): string {
  return `coalesce(sum(${column}), 0)::bigint AS ${column}`;
}

function both(): string {
  const given = (at: string) =>
    `($1::text IS NULL OR repo = $1) AND ($2::text IS NULL OR model = $2)
     AND ($3::timestamptz IS NULL OR "${at}" >= $3) AND ($4::timestamptz IS NULL OR "${at}" < $4)`;
  return `SELECT kind, pattern, code, model, "raisedAt" AS at, 1 AS raised, live::int AS live, (reason = 'overcome')::int AS overcome,
      0 AS fired, 0 AS wrong, 0 AS saved, 0 AS spared, 0 AS confirmed, 0 AS refuted
    FROM ${tableName(SCHEMA, 'signals', 'signals')} WHERE ${given('raisedAt')}
    UNION ALL SELECT kind, pattern, code, model, "firedAt", 0, 0, 0, 1, wrong, saved, spared, confirmed, refuted
    FROM ${tableName(SCHEMA, 'signal_firings', 'dispatches')} WHERE "firedAt" IS NOT NULL AND ${given('firedAt')}`;
}

function valuesOf({ repo, model, from, to }: SignalQualityFilter): (string | null)[] {
  return [repo ?? null, model ?? null, from ?? null, to ?? null];
}
