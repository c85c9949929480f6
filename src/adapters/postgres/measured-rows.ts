import type pg from 'pg';
import type { MeasuredFilter, MeasuredRows } from '../../application/ports.js';
import { quoted, SCHEMA, tableName } from './tables.js';

/** What makes a task one, whatever arm it ran in. */
const TASK = ['repo', 'targetFile', 'taskId', 'model'].map(quoted).join(', ');

/** Sums over the rows of the projection `measured`; `measures` are its columns that are summed. */
export class PostgresMeasuredRows implements MeasuredRows {
  private readonly table = tableName(SCHEMA, 'measured', 'dispatches');

  constructor(
    private readonly pool: pg.Pool,
    private readonly measures: readonly string[],
  ) {}

  async sums(filter: MeasuredFilter): ReturnType<MeasuredRows['sums']> {
    const { where, values } = conditions(filter);
    const sums = this.measures.map((measure) => `coalesce(sum(${quoted(measure)}), 0)::bigint AS ${quoted(measure)}`);
    const { rows } = await this.pool.query(`SELECT arm, cold, ${sums.join(', ')} FROM ${this.table} ${where} GROUP BY arm, cold`, values);
    return rows;
  }

  async pairs(filter: MeasuredFilter): ReturnType<MeasuredRows['pairs']> {
    const { where, values } = conditions(filter, ['arm IS NOT NULL', 'dispatches = 1']);
    const { rows } = await this.pool.query(
      `WITH firsts AS (
         SELECT DISTINCT ON (arm, ${TASK}) arm, ${TASK}, "firstTryPassed" = 1 AS "firstTry", "withinBudgetPassed" = 1 AS passed
         FROM ${this.table} ${where} ORDER BY arm, ${TASK}, "openedAt", "dispatchId")
       SELECT a.arm AS "armA", b.arm AS "armB", a."firstTry" AS "firstTryA", b."firstTry" AS "firstTryB",
         a.passed AS "passedA", b.passed AS "passedB", count(*) AS tasks
       FROM firsts a JOIN firsts b USING (${TASK}) WHERE a.arm < b.arm COLLATE "C" GROUP BY 1, 2, 3, 4, 5, 6`,
      values,
    );
    return rows;
  }
}

function conditions(filter: MeasuredFilter, always: string[] = []): { where: string; values: unknown[] } {
  const given = Object.entries(filter).filter(([, value]) => value !== undefined);
  const all = [...given.map(([column], i) => `${quoted(column)} = $${i + 1}`), ...always];
  return { where: all.length > 0 ? `WHERE ${all.join(' AND ')}` : '', values: given.map(([, value]) => value) };
}
