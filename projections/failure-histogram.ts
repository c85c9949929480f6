import type { AnvilEvent } from '../src/catalogue/events.js';
import { type ErrorPattern, patternKey, type Verdict } from '../src/catalogue/primitives.js';
import type { Change, Projection, Row, RowKey } from './projection.js';

/**
 * How often each error pattern failed an attempt, by file, seat and model. Everything counts here, always: what was overcome or no
 * longer counts for signals too. A pattern counts once an attempt; patterns that came with a pass or a blocked attempt do not count. A
 * failure that was attributed to another file counts on both; what a renamed file had stays with its old name. A corrected verdict counts
 * as what it is now.
 */
export const failureHistogram: Projection = {
  name: 'failure_histogram',
  version: 4,
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
  handles: ['VerdictReached', 'VerdictCorrected', 'FailureAttributed', 'AttributionWithdrawn'],

  needs({ event }) {
    return countsOf(event).map(({ key }) => key);
  },

  evolve(rows, { event }) {
    const { at } = event.data as { at: string };
    const changed = new Map<string, Change>();
    for (const { key, pattern, of, by } of countsOf(event)) {
      const id = JSON.stringify(key);
      const before = changed.has(id) ? changed.get(id)!.row : rows(key.table, ...key.key);
      const row = before ?? newRow(of, pattern, at);
      const attempts = (row.attempts as number) + by;
      const seen = by > 0 ? { lastSeen: at } : {};
      if (before != null || by > 0) changed.set(id, { ...key, row: attempts > 0 ? { ...row, ...seen, attempts } : null });
    }
    return [...changed.values()];
  },
};

type Of = { repo: string; targetFile: string; seat: string; model: string };

/** One attempt more, or one less, in the row of a pattern. */
interface Count {
  key: RowKey;
  pattern: ErrorPattern;
  of: Of;
  by: 1 | -1;
}

/** A corrected verdict takes back what the one before it counted. */
function countsOf(event: AnvilEvent): Count[] {
  switch (event.type) {
    case 'VerdictReached':
      return failuresOf(event.data, event.data, 1);
    case 'VerdictCorrected': {
      const { repo, targetFile, corrects } = event.data;
      if (corrects === null) return [];
      const of = { repo, targetFile, seat: corrects.seat, model: corrects.model };
      return [...failuresOf(of, corrects, -1), ...failuresOf(of, event.data, 1)];
    }
    // Only a builder's failures are attributed to files that are not its home.
    case 'FailureAttributed':
      return failuresOf({ ...event.data, seat: 'builder' }, { ...event.data, verdict: 'fail' }, 1);
    case 'AttributionWithdrawn':
      return failuresOf({ ...event.data, seat: 'builder' }, { ...event.data, verdict: 'fail' }, -1);
    default:
      return [];
  }
}

function failuresOf(of: Of, { verdict, patterns }: { verdict: Verdict; patterns: ErrorPattern[] }, by: Count['by']): Count[] {
  if (verdict !== 'fail') return [];
  const { repo, targetFile, seat, model } = of;
  return [...new Map(patterns.map((pattern) => [patternKey(pattern), pattern]))].map(([patternKeyOf, pattern]) => ({
    ...{ pattern, by, of: { repo, targetFile, seat, model } },
    key: { table: 'patterns', key: [repo, targetFile, patternKeyOf, seat, model] },
  }));
}

function newRow(of: Of, { pattern, code, category }: ErrorPattern, at: string): Row {
  return { ...of, patternKey: patternKey({ pattern, code }), pattern, code, category, attempts: 0, firstSeen: at, lastSeen: at };
}
