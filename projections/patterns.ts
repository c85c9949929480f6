import type { EventData } from '../src/catalogue/events.js';
import { codeOf, type ErrorPattern, patternKey, type Verdict } from '../src/catalogue/primitives.js';
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
 *   pass overcomes all earlier failures of its task; a failure after it is a new one. Corrected verdicts count as what they are now.
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
  version: 4,
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
    tasks: {
      columns: { stream: 'text', taskId: 'text', configuration: 'text', attempts: 'integer', failures: 'json' },
      key: ['stream', 'taskId', 'configuration'],
    },
    // Its attempts by number, from 1: a corrected one changes what was overcome by whom.
    attempts: {
      columns: {
        ...{ stream: 'text', taskId: 'text', configuration: 'text', number: 'text' },
        ...{ attemptId: 'text', verdict: 'text', failures: 'json' },
      },
      key: ['stream', 'taskId', 'configuration', 'number'],
    },
  },
  handles: ['VerdictReached', 'VerdictCorrected', 'CalibrationSignalRaised', 'CalibrationSignalCleared', 'CapacityClassified'],

  needs(projected) {
    return [...countsOf(projected).flatMap((count) => keysOf(count)), ...taskOf(projected)];
  },

  needsNext(rows, projected) {
    if (projected.event.type !== 'VerdictCorrected') return overcomeBy(rows, projected).flatMap((count) => keysOf(count));
    const attempts = attemptKeys(rows, projected);
    const failures = attempts.flatMap(({ table, key }) => (rows(table, ...key)?.failures ?? []) as Count[]);
    return [...attempts, ...failures.flatMap((count) => keysOf(count))];
  },

  evolve(rows, projected) {
    const { at } = projected.event.data as { at: string };
    if (projected.event.type === 'VerdictCorrected') {
      const { counts, changes } = corrected(rows, projected, projected.event.data);
      return [...addUp(rows, [...countsOf(projected).filter(({ by }) => by < 0), ...counts], at), ...changes];
    }
    const counts = [...countsOf(projected), ...overcomeBy(rows, projected)];
    return [...addUp(rows, counts, at), ...taken(rows, projected)];
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
    case 'CapacityClassified':
      return classifiedCount(event.data.repo, event.data, 1);
    case 'VerdictCorrected': {
      const { repo, corrects, verdict, patterns: found } = event.data;
      if (corrects === null) return [];
      const withdrawn = corrects.classified.flatMap((classified) => classifiedCount(repo, classified, -1));
      // Of a builder's, these name the rows only: what they count hangs on the task's other attempts.
      return [...withdrawn, ...failuresOf({ ...corrects, repo }), ...failuresOf({ ...corrects, repo, verdict, patterns: found })];
    }
    default:
      return [];
  }
}

type Classified = Pick<EventData<'CapacityClassified'>, 'model' | 'kind' | 'pattern' | 'classification'>;

function classifiedCount(repo: string, { model, kind, pattern, classification }: Classified, by: number): Count[] {
  if (kind === null) return [];
  const column = classification === 'capacity' ? 'frontierPassed' : 'frontierFailed';
  const code = pattern === null ? null : codeOf(pattern);
  return [{ repo, model, kind: pattern === null ? kind : 'pattern', pattern, code, category: null, by, column }];
}

type Judged = { repo: string; model: string; seat: string; verdict: Verdict; patterns: ErrorPattern[] };

function failuresOf({ repo, model, seat, verdict, patterns: found }: Judged): Count[] {
  if (seat !== 'builder' || verdict !== 'fail') return [];
  const distinct = new Map(found.map((pattern) => [patternKey(pattern), pattern]));
  return [...distinct.values()].map(({ pattern, code, category }) => ({
    ...{ repo, model, kind: 'pattern', pattern, code, category, by: 1, column: 'failed' },
  }));
}

/** The row of the task that a builder's verdict, or its correction, is about. */
function taskOf({ event, stream }: ProjectedEvent): RowKey[] {
  const of = event.type === 'VerdictReached' ? event.data : event.type === 'VerdictCorrected' ? event.data.corrects : null;
  return of?.seat === 'builder' ? [{ table: 'tasks', key: [stream, of.taskId, of.configuration] }] : [];
}

function taskRow(rows: Rows, projected: ProjectedEvent): { attempts: number; failures: Count[] } {
  const [row] = taskOf(projected).map(({ table, key }) => rows(table, ...key));
  return { attempts: (row?.attempts ?? 0) as number, failures: (row?.failures ?? []) as Count[] };
}

function overcomeBy(rows: Rows, projected: ProjectedEvent): Count[] {
  const { event } = projected;
  if (event.type !== 'VerdictReached' || event.data.verdict !== 'pass') return [];
  return taskRow(rows, projected).failures.map((failure) => ({ ...failure, column: 'overcome' }));
}

/** A verdict as the next one of its task. */
function taken(rows: Rows, projected: ProjectedEvent): Change[] {
  const { event, stream } = projected;
  const [task] = taskOf(projected);
  if (task === undefined || event.type !== 'VerdictReached') return [];
  const { taskId, configuration, attemptId, verdict } = event.data;
  const before = taskRow(rows, projected);
  const attempts = before.attempts + 1;
  const failures = failuresOf(event.data);
  const row = { stream, taskId, configuration, number: String(attempts), attemptId, verdict, failures };
  const live = verdict === 'pass' ? [] : merged([...before.failures, ...failures]);
  return [
    { table: 'attempts', key: [...task.key, row.number], row },
    { ...task, row: { stream, taskId, configuration, attempts, failures: live } },
  ];
}

function attemptKeys(rows: Rows, projected: ProjectedEvent): RowKey[] {
  const { attempts } = taskRow(rows, projected);
  return taskOf(projected).flatMap(({ key }) =>
    Array.from({ length: attempts }, (_, i) => ({ table: 'attempts', key: [...key, String(i + 1)] })),
  );
}

/** A corrected verdict: what the task's attempts now come to, less what they came to before. */
function corrected(rows: Rows, projected: ProjectedEvent, data: EventData<'VerdictCorrected'>): { counts: Count[]; changes: Change[] } {
  const { repo, attemptId, verdict, patterns: found, corrects } = data;
  const [task] = taskOf(projected);
  const before = attemptKeys(rows, projected).map(({ table, key }) => rows(table, ...key)!);
  const place = before.findIndex((row) => row.attemptId === attemptId);
  if (task === undefined || corrects === null || place < 0) return { counts: [], changes: [] };
  const failures = failuresOf({ repo, model: corrects.model, seat: corrects.seat, verdict, patterns: found });
  const row: Row = { ...before[place]!, verdict, failures };
  const after = before.with(place, row);
  const then = outcomeOf(before);
  const now = outcomeOf(after);
  const number = row.number as string;
  return {
    counts: [...now.counts, ...then.counts.map((count) => ({ ...count, by: -count.by }))],
    changes: [
      { table: 'attempts', key: [...task.key, number], row },
      { ...task, row: { ...rows(task.table, ...task.key)!, failures: now.live } },
    ],
  };
}

/** What attempts of one task, in their order, count as; `live` is what no pass of them overcame. */
function outcomeOf(attempts: Row[]): { counts: Count[]; live: Count[] } {
  const counts: Count[] = [];
  let live: Count[] = [];
  for (const { verdict, failures } of attempts) {
    counts.push(...(failures as Count[]));
    if (verdict === 'pass') counts.push(...live.map((failure): Count => ({ ...failure, column: 'overcome' })));
    live = verdict === 'pass' ? [] : merged([...live, ...(failures as Count[])]);
  }
  return { counts, live };
}

/** Failures of the same row as one. */
function merged(failures: Count[]): Count[] {
  const byRow = new Map<string, Count>();
  for (const failure of failures) byRow.set(rowOf(failure), { ...failure, by: (byRow.get(rowOf(failure))?.by ?? 0) + failure.by });
  return [...byRow.values()];
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

/** Adds counts to their rows. What was taken back leaves a row with nothing in it: when it was first seen may be of another file. */
function addUp(rows: Rows, counts: Count[], at: string): Change[] {
  const changed = new Map<string, Change>();
  for (const count of counts)
    for (const { table, key } of keysOf(count)) {
      const id = JSON.stringify([table, ...key]);
      const row = changed.get(id)?.row ?? rows(table, ...key) ?? newRow(count, at, table === 'by_repo');
      const seen = { firstSeen: earlier(row.firstSeen as string, at), lastSeen: later(row.lastSeen as string, at) };
      const named = { pattern: least(row.pattern, count.pattern), category: least(row.category, count.category) };
      const sum = (row[count.column] as number) + count.by;
      changed.set(id, { table, key, row: { ...row, ...named, ...seen, [count.column]: sum } });
    }
  return [...changed.values()];
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
