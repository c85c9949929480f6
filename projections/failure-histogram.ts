import { type ErrorPattern, patternKey } from '../src/catalogue/primitives.js';
import type { Projection, RowKey } from './projection.js';

/**
 * How often each error pattern failed an attempt, by file, seat and model. Everything counts here, always: what was overcome or no
 * longer counts for signals too. A pattern counts once an attempt; patterns that came with a pass or a blocked attempt do not count.
 */
export const failureHistogram: Projection = {
  name: 'failure_histogram',
  version: 2,
  tables: {
    patterns: {
      columns: {
        repo: 'text',
        targetFile: 'text',
        patternKey: 'text',
        pattern: 'text',
        code: 'text',
        category: 'text',
        seat: 'text',
        model: 'text',
        attempts: 'integer',
        firstSeen: 'time',
        lastSeen: 'time',
      },
      key: ['repo', 'targetFile', 'patternKey', 'seat', 'model'],
      indexes: [
        ['attempts', 'repo', 'targetFile', 'patternKey', 'seat', 'model'],
        ['repo', 'attempts', 'targetFile', 'patternKey', 'seat', 'model'],
        ['targetFile', 'repo', 'patternKey', 'seat', 'model'],
        ['model', 'repo', 'targetFile', 'patternKey', 'seat'],
      ],
    },
  },
  handles: ['VerdictReached'],

  needs({ event }) {
    return event.type === 'VerdictReached' && event.data.verdict === 'fail' ? [...byKey(event.data).values()].map(({ key }) => key) : [];
  },

  evolve(rows, { event }) {
    if (event.type !== 'VerdictReached' || event.data.verdict !== 'fail') return [];
    const { repo, targetFile, seat, model, at } = event.data;
    return [...byKey(event.data)].map(([patternKeyOf, { pattern, key }]) => {
      const { pattern: label, code, category } = pattern;
      const row = rows(key.table, ...key.key) ?? {
        ...{ repo, targetFile, patternKey: patternKeyOf, pattern: label, code, category, seat, model },
        ...{ attempts: 0, firstSeen: at },
      };
      return { ...key, row: { ...row, attempts: (row.attempts as number) + 1, lastSeen: at } };
    });
  },
};

type Failed = { repo: string; targetFile: string; seat: string; model: string; patterns: ErrorPattern[] };

function byKey({ repo, targetFile, seat, model, patterns }: Failed): Map<string, { pattern: ErrorPattern; key: RowKey }> {
  return new Map(
    patterns.map((pattern) => {
      const key = patternKey(pattern);
      return [key, { pattern, key: { table: 'patterns', key: [repo, targetFile, key, seat, model] } }];
    }),
  );
}
