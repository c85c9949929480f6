import type { AnvilEvent } from '../src/catalogue/events.js';
import { type ErrorPattern, patternKey } from '../src/catalogue/primitives.js';
import type { Projection, RowKey } from './projection.js';

/**
 * How often each error pattern failed an attempt, by file, seat and model. Everything counts here, always: what was overcome or no
 * longer counts for signals too. A pattern counts once an attempt; patterns that came with a pass or a blocked attempt do not count. A
 * failure that was attributed to another file counts on both; what a renamed file had stays with its old name.
 */
export const failureHistogram: Projection = {
  name: 'failure_histogram',
  version: 3,
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
  handles: ['VerdictReached', 'FailureAttributed', 'AttributionWithdrawn'],

  needs({ event }) {
    const failed = failedBy(event);
    return failed === null ? [] : [...byKey(failed).values()].map(({ key }) => key);
  },

  evolve(rows, { event }) {
    const failed = failedBy(event);
    if (failed === null) return [];
    const { repo, targetFile, seat, model, at, by } = failed;
    return [...byKey(failed)].map(([patternKeyOf, { pattern, key }]) => {
      const { pattern: label, code, category } = pattern;
      const row = rows(key.table, ...key.key) ?? {
        ...{ repo, targetFile, patternKey: patternKeyOf, pattern: label, code, category, seat, model },
        ...{ attempts: 0, firstSeen: at },
      };
      const attempts = (row.attempts as number) + by;
      return { ...key, row: attempts === 0 ? null : { ...row, attempts, lastSeen: by > 0 ? at : row.lastSeen } };
    });
  },
};

interface Failed {
  repo: string;
  targetFile: string;
  seat: string;
  model: string;
  patterns: ErrorPattern[];
  at: string;
  /** How the failure counts: -1 where it was taken back. */
  by: 1 | -1;
}

/** What an event says failed on its file; only a builder's failures are attributed to files that are not its home. */
function failedBy(event: AnvilEvent): Failed | null {
  switch (event.type) {
    case 'VerdictReached':
      return event.data.verdict === 'fail' ? { ...event.data, by: 1 } : null;
    case 'FailureAttributed':
      return { ...event.data, seat: 'builder', by: 1 };
    case 'AttributionWithdrawn':
      return { ...event.data, seat: 'builder', by: -1 };
    default:
      return null;
  }
}

function byKey({ repo, targetFile, seat, model, patterns }: Failed): Map<string, { pattern: ErrorPattern; key: RowKey }> {
  return new Map(
    patterns.map((pattern) => {
      const key = patternKey(pattern);
      return [key, { pattern, key: { table: 'patterns', key: [repo, targetFile, key, seat, model] } }];
    }),
  );
}
