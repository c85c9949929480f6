import type { EventData } from '../src/catalogue/events.js';
import { codeOf, patternKey } from '../src/catalogue/primitives.js';
import type { Change, ProjectedEvent, Projection, Row, Rows, Table } from './projection.js';

const columns: Table['columns'] = {
  kind: 'text',
  patternKey: 'text',
  pattern: 'text',
  code: 'text',
  category: 'text',
  model: 'text',
  failed: 'integer',
  signals: 'integer',
  signalsOvercome: 'integer',
  frontierPassed: 'integer',
  frontierFailed: 'integer',
  firstSeen: 'time',
  lastSeen: 'time',
};

/**
 * The capacity map: what each error pattern is to each builder model, over all files of a repo and over all repos (domain.md,
 * Calibration).
 *
 * - `failed`: the builder's failed attempts that carry the pattern; a pattern counts once an attempt.
 * - `signals`, `signalsOvercome`: the calibration signals that it raised, and those cleared as `overcome`: the same builder
 *   configuration passed tasks that it had failed with it, until too few live failures were left.
 * - `frontierPassed`, `frontierFailed`: frontier outcomes that the pattern led to, as they were classified: a pass (of a task that had
 *   failed with the pattern) as `capacity`, a fail as `task_hardness`.
 *
 * `kind` is `pattern`, or what a row without a pattern is about: `per_file` (several constraints at once: says nothing about single
 * patterns) and `repeated_signature` (the same failure again, its pattern unknown). A frontier's fail that nothing led to is about its
 * task alone, and is not in the map.
 */
export const patterns: Projection = {
  name: 'patterns',
  version: 1,
  tables: {
    by_repo: {
      columns: { repo: 'text', ...columns },
      key: ['repo', 'kind', 'patternKey', 'model'],
      indexes: [['repo', 'failed', 'kind', 'patternKey', 'model']],
    },
    overall: {
      columns,
      key: ['kind', 'patternKey', 'model'],
      indexes: [
        ['failed', 'kind', 'patternKey', 'model'],
        ['model', 'failed', 'kind', 'patternKey'],
        ['model', 'kind', 'patternKey'],
      ],
    },
  },
  handles: ['VerdictReached', 'CalibrationSignalRaised', 'CalibrationSignalCleared', 'CapacityClassified'],

  needs(projected) {
    return countsOf(projected).flatMap((count) => keysOf(count));
  },

  evolve(rows, projected) {
    return countsOf(projected).flatMap((count) => counted(rows, count, projected.event.data as { at: string }));
  },
};

/** One more in one column of the row of a pattern and a model. */
interface Count {
  repo: string;
  model: string;
  kind: string;
  pattern: string | null;
  code: string | null;
  category: string | null;
  column: 'failed' | 'signals' | 'signalsOvercome' | 'frontierPassed' | 'frontierFailed';
}

function countsOf({ event }: ProjectedEvent): Count[] {
  switch (event.type) {
    case 'VerdictReached':
      return failuresOf(event.data);
    case 'CalibrationSignalRaised':
      return [signalCount(event.data, 'signals')];
    case 'CalibrationSignalCleared':
      return event.data.reason === 'overcome' ? [signalCount(event.data, 'signalsOvercome')] : [];
    case 'CapacityClassified': {
      const { repo, model, kind, pattern, classification } = event.data;
      if (kind === null) return [];
      const column = classification === 'capacity' ? 'frontierPassed' : 'frontierFailed';
      const code = pattern === null ? null : codeOf(pattern);
      return [{ repo, model, kind: pattern === null ? kind : 'pattern', pattern, code, category: null, column }];
    }
    default:
      return [];
  }
}

function failuresOf({ repo, model, seat, verdict, patterns: found }: EventData<'VerdictReached'>): Count[] {
  if (seat !== 'builder' || verdict !== 'fail') return [];
  const distinct = new Map(found.map((pattern) => [patternKey(pattern), pattern]));
  return [...distinct.values()].map(({ pattern, code, category }) => ({
    ...{ repo, model, kind: 'pattern', pattern, code, category, column: 'failed' },
  }));
}

function signalCount(
  { repo, model, kind, pattern, code }: EventData<'CalibrationSignalCleared' | 'CalibrationSignalRaised'>,
  column: Count['column'],
): Count {
  return { repo, model, kind: pattern === null ? kind : 'pattern', pattern, code, category: null, column };
}

function keysOf({ repo, model, kind, pattern, code }: Count) {
  const key = [kind, pattern === null ? '' : patternKey({ pattern, code }), model];
  return [
    { table: 'by_repo', key: [repo, ...key] },
    { table: 'overall', key },
  ];
}

function counted(rows: Rows, count: Count, { at }: { at: string }): Change[] {
  return keysOf(count).map(({ table, key }) => {
    const row = rows(table, ...key) ?? newRow(count, at, table === 'by_repo');
    const category = row.category ?? count.category;
    return { table, key, row: { ...row, category, [count.column]: (row[count.column] as number) + 1, lastSeen: at } };
  });
}

function newRow({ repo, model, kind, pattern, code, category }: Count, at: string, ofRepo: boolean): Row {
  return {
    ...(ofRepo && { repo }),
    ...{ kind, patternKey: pattern === null ? '' : patternKey({ pattern, code }), pattern, code, category, model },
    ...{ failed: 0, signals: 0, signalsOvercome: 0, frontierPassed: 0, frontierFailed: 0, firstSeen: at, lastSeen: at },
  };
}
