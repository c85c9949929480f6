import type { EventData } from '../src/catalogue/events.js';
import { codeOf, patternKey } from '../src/catalogue/primitives.js';
import type { Change, ProjectedEvent, Projection, Row, RowKey, Rows, Table } from './projection.js';

const columns: Table['columns'] = {
  kind: 'text',
  patternKey: 'text',
  pattern: 'text',
  code: 'text',
  category: 'text',
  model: 'text',
  failed: 'integer',
  overcome: 'integer',
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
 * - `overcome`: those of them that are no longer live because the same configuration later passed the same task on the same file. One
 *   pass overcomes all earlier failures of its task; a failure after it is a new one.
 * - `signals`, `signalsOvercome`: the calibration signals that it raised, and those cleared as `overcome`: the same builder
 *   configuration passed tasks that it had failed with it, until too few live failures were left.
 * - `frontierPassed`, `frontierFailed`: frontier outcomes that the pattern led to, as they were classified: a pass (of a task that had
 *   failed with the pattern) as `capacity`, a fail as `task_hardness`.
 *
 * `kind` is `pattern`, or what a row without a pattern is about: `per_file` (several constraints at once: says nothing about single
 * patterns) and `repeated_signature` (the same failure again, its pattern unknown). A frontier's fail that nothing led to is about its
 * task alone, and is not in the map.
 *
 * Many files change the same row, in any order among them: `firstSeen` and `lastSeen` are the earliest and the latest time that was
 * said, and of several labels or categories that came with one code the first in the alphabet is shown.
 */
export const patterns: Projection = {
  name: 'patterns',
  version: 3,
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
    // What a task on a file has failed with since the configuration last passed it: a pass names no patterns.
    failing: {
      columns: { stream: 'text', taskId: 'text', configuration: 'text', failures: 'json' },
      key: ['stream', 'taskId', 'configuration'],
    },
  },
  handles: ['VerdictReached', 'CalibrationSignalRaised', 'CalibrationSignalCleared', 'CapacityClassified'],

  needs(projected) {
    return [...countsOf(projected).flatMap((count) => keysOf(count)), ...taskOf(projected)];
  },

  needsNext(rows, projected) {
    return overcomeBy(rows, projected).flatMap((count) => keysOf(count));
  },

  evolve(rows, projected) {
    const { at } = projected.event.data as { at: string };
    const counts = [...countsOf(projected), ...overcomeBy(rows, projected)];
    return [...counts.flatMap((count) => counted(rows, count, at)), ...failing(rows, projected)];
  },
};

/** So many more in one column of the row of a pattern and a model. */
interface Count {
  repo: string;
  model: string;
  kind: string;
  pattern: string | null;
  code: string | null;
  category: string | null;
  by: number;
  column: 'failed' | 'overcome' | 'signals' | 'signalsOvercome' | 'frontierPassed' | 'frontierFailed';
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
      return [{ repo, model, kind: pattern === null ? kind : 'pattern', pattern, code, category: null, by: 1, column }];
    }
    default:
      return [];
  }
}

function failuresOf({ repo, model, seat, verdict, patterns: found }: EventData<'VerdictReached'>): Count[] {
  if (seat !== 'builder' || verdict !== 'fail') return [];
  const distinct = new Map(found.map((pattern) => [patternKey(pattern), pattern]));
  return [...distinct.values()].map(({ pattern, code, category }) => ({
    ...{ repo, model, kind: 'pattern', pattern, code, category, by: 1, column: 'failed' },
  }));
}

/** The row of the task that a builder's verdict is about; a blocked one changes nothing. */
function taskOf({ event, stream }: ProjectedEvent): RowKey[] {
  if (event.type !== 'VerdictReached' || event.data.seat !== 'builder' || event.data.verdict === 'blocked') return [];
  return [{ table: 'failing', key: [stream, event.data.taskId, event.data.configuration] }];
}

function failuresBefore(rows: Rows, projected: ProjectedEvent): Count[] {
  return taskOf(projected).flatMap(({ table, key }) => (rows(table, ...key)?.failures ?? []) as Count[]);
}

function overcomeBy(rows: Rows, projected: ProjectedEvent): Count[] {
  const { event } = projected;
  if (event.type !== 'VerdictReached' || event.data.verdict !== 'pass') return [];
  return failuresBefore(rows, projected).map((failure) => ({ ...failure, column: 'overcome' }));
}

function failing(rows: Rows, projected: ProjectedEvent): Change[] {
  const { event, stream } = projected;
  const [task] = taskOf(projected);
  if (task === undefined || event.type !== 'VerdictReached') return [];
  const { taskId, configuration, verdict } = event.data;
  const before = failuresBefore(rows, projected);
  if (verdict === 'pass') return before.length === 0 ? [] : [{ ...task, row: null }];
  const failures = new Map(before.map((failure) => [rowOf(failure), failure]));
  for (const failure of failuresOf(event.data)) {
    const { by = 0 } = failures.get(rowOf(failure)) ?? {};
    failures.set(rowOf(failure), { ...failure, by: by + 1 });
  }
  return failures.size === 0 ? [] : [{ ...task, row: { stream, taskId, configuration, failures: [...failures.values()] } }];
}

/** Two models may be one configuration: each has its own row in the map. */
function rowOf(count: Count): string {
  return JSON.stringify(keysOf(count));
}

function signalCount(
  { repo, model, kind, pattern, code }: EventData<'CalibrationSignalCleared' | 'CalibrationSignalRaised'>,
  column: Count['column'],
): Count {
  return { repo, model, kind: pattern === null ? kind : 'pattern', pattern, code, category: null, by: 1, column };
}

function keysOf({ repo, model, kind, pattern, code }: Count) {
  const key = [kind, pattern === null ? '' : patternKey({ pattern, code }), model];
  return [
    { table: 'by_repo', key: [repo, ...key] },
    { table: 'overall', key },
  ];
}

function counted(rows: Rows, count: Count, at: string): Change[] {
  return keysOf(count).map(({ table, key }) => {
    const row = rows(table, ...key) ?? newRow(count, at, table === 'by_repo');
    const seen = { firstSeen: earlier(row.firstSeen as string, at), lastSeen: later(row.lastSeen as string, at) };
    const named = { pattern: least(row.pattern, count.pattern), category: least(row.category, count.category) };
    return { table, key, row: { ...row, ...named, ...seen, [count.column]: (row[count.column] as number) + count.by } };
  });
}

function newRow({ repo, model, kind, pattern, code, category }: Count, at: string, ofRepo: boolean): Row {
  return {
    ...(ofRepo && { repo }),
    ...{ kind, patternKey: pattern === null ? '' : patternKey({ pattern, code }), pattern, code, category, model },
    ...{ failed: 0, overcome: 0, signals: 0, signalsOvercome: 0, frontierPassed: 0, frontierFailed: 0, firstSeen: at, lastSeen: at },
  };
}

function earlier(a: string, b: string): string {
  return Date.parse(b) < Date.parse(a) ? b : a;
}

function later(a: string, b: string): string {
  return Date.parse(b) > Date.parse(a) ? b : a;
}

function least(a: unknown, b: string | null): unknown {
  return b === null || (typeof a === 'string' && a <= b) ? a : b;
}
