import type pg from 'pg';
import type { MeasuredFilter, MeasuredRows, Row } from '../../application/ports.js';
import { fromCursor, readCursor, writeCursor } from './cursors.js';
import { fromDatabase, quoted, SCHEMA, tableName } from './tables.js';

/** What makes a task one, whatever arm it ran in. */
const KEY = ['repo', 'targetFile', 'taskId', 'model'];
const TASK = KEY.map(quoted).join(', ');

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

  async cohort(...[has, filter, { cursor, limit }]: Parameters<MeasuredRows['cohort']>): ReturnType<MeasuredRows['cohort']> {
    const { where, values } = conditions({ ...filter, ...has });
    const after = cursor === undefined ? [] : readCursor(cursor, KEY.length, ['string']);
    const beyond = cursor === undefined ? '' : `WHERE (${TASK}) > (${after.map((_, i) => `$${values.length + i + 1}`).join(', ')})`;
    const { rows } = await fromCursor(
      this.pool.query<Row>(
        `SELECT * FROM (SELECT DISTINCT ON (${TASK}) * FROM ${this.table} ${where} ORDER BY ${TASK}, "openedAt", "dispatchId") firsts
         ${beyond} ORDER BY ${TASK} LIMIT ${limit + 1}`,
        [...values, ...after],
      ),
    );
    const items = rows.slice(0, limit).map(fromDatabase);
    return { items, nextCursor: rows.length > limit ? writeCursor(KEY.map((column) => items.at(-1)![column])) : null };
  }

  async reruns(...[has, filter, batch]: Parameters<MeasuredRows['reruns']>): ReturnType<MeasuredRows['reruns']> {
    const { where, values } = conditions({ ...filter, ...has });
    const firstOf = (rest: string) => `SELECT DISTINCT ON (${TASK}) ${TASK}, "dispatchId", "withinBudgetPassed" AS passed
      FROM ${this.table} ${rest} ORDER BY ${TASK}, "openedAt", "dispatchId"`;
    const came = (first: number, again: number, name: string) =>
      `count(*) FILTER (WHERE f.passed = ${first} AND a.passed = ${again}) AS "${name}"`;
    const { rows } = await this.pool.query(
      `WITH firsts AS (${firstOf(where)}), again AS (${firstOf(`WHERE batch = $${values.length + 1} AND dispatches = 1`)})
       SELECT ${[came(1, 1, 'bothPassed'), came(1, 0, 'onlyFirst'), came(0, 1, 'onlyRerun'), came(0, 0, 'neither')].join(', ')}
       FROM firsts f JOIN again a USING (${TASK}) WHERE f."dispatchId" <> a."dispatchId"`,
      [...values, batch],
    );
    return rows[0];
  }
}

function conditions(filter: Record<string, unknown>, always: string[] = []): { where: string; values: unknown[] } {
  const given = Object.entries(filter).filter(([, value]) => value !== undefined);
  const all = [...given.map(([column], i) => `${quoted(column)} = $${i + 1}`), ...always];
  return { where: all.length > 0 ? `WHERE ${all.join(' AND ')}` : '', values: given.map(([, value]) => value) };
}
