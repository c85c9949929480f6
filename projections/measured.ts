import type { EventData } from '../src/catalogue/events.js';
import type { Verdict } from '../src/catalogue/primitives.js';
import type { Change, ProjectedEvent, Projection, Row, RowKey, Rows, Table } from './projection.js';

/** What a dispatch adds to a report (domain.md, Measurement): each column is summed over the dispatches of a group. */
export const MEASURES = [
  'dispatches',
  'firstTries',
  'firstTryPassed',
  'withinBudgetPassed',
  'attempts',
  'escalations',
  'sparedAttempts',
  'frontierPasses',
  'frontierFails',
  'injectionEvents',
  'injectedDispatches',
  'promptTokens',
  'completionTokens',
  'frontierTokens',
  'costNanoUsd',
  'frontierCostNanoUsd',
  'apartAbandoned',
  'apartBlocked',
  'unfinished',
  'budgetSavedByBlocking',
  'assignedDispatches',
  'blocksWhole',
  'blocksAltered',
  'blocksMissing',
] as const;
export type Measure = (typeof MEASURES)[number];

const NOTHING: Row = Object.fromEntries(MEASURES.map((measure) => [measure, 0]));
const NANO = 1e9;
/** Dispatches that a trial remembers. */
const MOST_TRIED = 50;

/** What a dispatch asked for beside its task's name: enough to ask for it again. */
const request: Table['columns'] = {
  targetFiles: 'json',
  description: 'json',
  prompt: 'json',
  frontier: 'text',
  profile: 'text',
};

/** Facts of one dispatch that its measures are counted from, beside how it was asked for and what it used. */
const facts: Table['columns'] = {
  status: 'text',
  outcome: 'text',
  builderPassed: 'integer',
  builderFailed: 'integer',
  blocked: 'integer',
  /** Number, seat and verdict of its first try: attempt 1, or the first behind undecided ones that passed or failed; null while there is none. */
  firstAttempt: 'integer',
  firstSeat: 'text',
  firstVerdict: 'text',
  /** Whether a hint was handed out for its attempt 1. */
  shownAtFirst: 'boolean',
  /** Whether one of its outputs was also judged the other way: a flaky verifier's. */
  flaky: 'boolean',
};

/**
 * What is measured, a row a dispatch. A dispatch counts among `dispatches` from its first pass or fail on; abandoned or blocked before
 * that it is counted apart, and still open it is unfinished. `firstTries` are those whose first try was the builder's. Costs are
 * billionths of a dollar: sums of whole numbers do not depend on their order.
 */
export const measured: Projection = {
  name: 'measured',
  version: 5,
  tables: {
    dispatches: {
      columns: {
        ...{ dispatchId: 'text', repo: 'text', targetFile: 'text', taskId: 'text', model: 'text', configuration: 'text' },
        ...{ arm: 'text', experiment: 'text', batch: 'text', carry: 'text', cold: 'boolean', budget: 'integer', openedAt: 'time' },
        ...request,
        ...facts,
        ...Object.fromEntries(MEASURES.map((measure) => [measure, 'integer' as const])),
      },
      key: ['dispatchId'],
      indexes: [
        ['repo', 'batch'],
        ['batch', 'arm'],
        ['arm', 'repo', 'targetFile', 'taskId', 'openedAt'],
      ],
    },
    trials: {
      columns: { stream: 'text', trial: 'text', passed: 'boolean', failed: 'boolean', dispatchIds: 'json' },
      key: ['stream', 'trial'],
    },
    attempts: { columns: { attemptId: 'text', seat: 'text', attempt: 'integer', verdict: 'text' }, key: ['attemptId'] },
  },
  handles: [
    ...(['DispatchOpened', 'HistoryInjected', 'AttemptRecorded', 'VerdictReached', 'VerdictCorrected'] as const),
    ...(['NextStepDecided', 'DispatchClosed'] as const),
  ],

  needs(projected) {
    const { event } = projected;
    const { dispatchId = null, attemptId } = event.data as { dispatchId?: string | null; attemptId?: string };
    const judged = event.type === 'VerdictReached' || event.type === 'VerdictCorrected';
    return [
      ...(dispatchId === null ? [] : [{ table: 'dispatches', key: [dispatchId] }]),
      ...(judged && attemptId !== undefined ? [{ table: 'attempts', key: [attemptId] }] : []),
      ...trialOf(projected),
    ];
  },

  needsNext(rows, projected) {
    return triedBefore(rows, projected).map((dispatchId) => ({ table: 'dispatches', key: [dispatchId] }));
  },

  evolve(rows, projected) {
    const { event } = projected;
    if (event.type === 'DispatchOpened') return [dispatchRow(opened(event.data))];
    const { dispatchId } = event.data as { dispatchId?: string | null };
    const row = dispatchId == null ? undefined : rows('dispatches', dispatchId);
    if (row === undefined) return [];
    const adding = (more: Partial<Record<Measure, number>>) => [dispatchRow(counted({ ...row, ...sumsOf(row, more) }))];
    switch (event.type) {
      case 'HistoryInjected':
        return [
          dispatchRow(
            counted({
              ...row,
              ...sumsOf(row, { injectionEvents: 1 }),
              shownAtFirst: row.shownAtFirst || event.data.forAttempt === 1,
            }),
          ),
        ];
      case 'AttemptRecorded':
        return adding({ ...usageOf(event.data), ...blockOf(event.data) });
      case 'VerdictReached':
        return tried(rows, projected, judged(row, event.data, undefined, event.data.verdict));
      case 'VerdictCorrected':
        return corrected(rows, row, event.data);
      case 'NextStepDecided':
        return event.data.step === 'escalate' ? [dispatchRow(counted({ ...row, escalations: 1 }))] : [];
      case 'DispatchClosed':
        return [dispatchRow(counted({ ...row, status: 'closed', outcome: event.data.outcome }))];
      default:
        return [];
    }
  },
};

function dispatchRow(row: Row): Change {
  return { table: 'dispatches', key: [row.dispatchId as string], row };
}

function opened(data: EventData<'DispatchOpened'>): Row {
  const { dispatchId, repo, targetFile, taskId, model, configuration, arm, batch, carry, cold, budget, at } = data;
  const { targetFiles, description, prompt, frontier, profile, assigned } = data;
  return counted({
    ...{ dispatchId, repo, targetFile, taskId, model, configuration, arm, batch, carry, cold, budget, openedAt: at },
    ...{ targetFiles, description, prompt, frontier, profile, experiment: assigned?.experiment ?? null },
    ...{ shownAtFirst: false, flaky: false },
    ...{ status: 'open', outcome: null, builderPassed: 0, builderFailed: 0, blocked: 0 },
    ...{ firstAttempt: null, firstSeat: null, firstVerdict: null },
    ...NOTHING,
  });
}

function sumsOf(row: Row, more: Partial<Record<Measure, number>>): Row {
  return Object.fromEntries(Object.entries(more).map(([measure, value]) => [measure, number(row[measure]) + value]));
}

function usageOf({ seat, usage }: EventData<'AttemptRecorded'>): Partial<Record<Measure, number>> {
  const { promptTokens = 0, completionTokens = 0, costUsd = 0 } = usage ?? {};
  const costNanoUsd = Math.round(costUsd * NANO);
  const byFrontier = seat === 'frontier' && { frontierTokens: promptTokens + completionTokens, frontierCostNanoUsd: costNanoUsd };
  return { promptTokens, completionTokens, costNanoUsd, ...byFrontier };
}

function blockOf({ history }: EventData<'AttemptRecorded'>): Partial<Record<Measure, number>> {
  switch (history?.inPrompt) {
    case 'whole':
      return { blocksWhole: 1 };
    case 'altered':
      return { blocksAltered: 1 };
    case 'missing':
      return { blocksMissing: 1 };
    default:
      return {};
  }
}

/** Takes an attempt's verdict into its dispatch, in the place of the one before. */
function judged(
  row: Row,
  { attemptId, seat, attempt }: { attemptId: string; seat: string; attempt: number },
  before: Verdict | undefined,
  verdict: Verdict,
): Change[] {
  const after = { ...row };
  const count = (of: Verdict, by: number) => {
    const column = of === 'blocked' ? 'blocked' : columnOf(seat, of);
    after[column] = number(after[column]) + by;
  };
  if (before !== undefined) count(before, -1);
  count(verdict, 1);
  const isFirst = row.firstAttempt === null ? verdict !== 'blocked' : attempt <= number(row.firstAttempt);
  const tried = verdict === 'blocked' ? { firstSeat: null, firstVerdict: null } : { firstSeat: seat, firstVerdict: verdict };
  if (isFirst) Object.assign(after, { firstAttempt: attempt, ...tried });
  return [dispatchRow(counted(after)), { table: 'attempts', key: [attemptId], row: { attemptId, seat, attempt, verdict } }];
}

function columnOf(seat: string, verdict: 'pass' | 'fail'): string {
  if (seat === 'frontier') return verdict === 'pass' ? 'frontierPasses' : 'frontierFails';
  return verdict === 'pass' ? 'builderPassed' : 'builderFailed';
}

function corrected(rows: Rows, row: Row, { attemptId, verdict }: EventData<'VerdictCorrected'>): Change[] {
  const known = rows('attempts', attemptId);
  if (known === undefined) return [];
  const { seat, attempt } = known as { seat: string; attempt: unknown };
  return judged(row, { attemptId, seat, attempt: number(attempt) }, known.verdict as Verdict, verdict);
}

/** The row of what was tried, for a verdict that says it (a blocked one judged nothing). */
function trialOf({ event, stream }: ProjectedEvent): RowKey[] {
  if (event.type !== 'VerdictReached' || event.data.trial === null || event.data.verdict === 'blocked') return [];
  return [{ table: 'trials', key: [stream, event.data.trial] }];
}

function triedBefore(rows: Rows, projected: ProjectedEvent): string[] {
  return trialOf(projected).flatMap(({ table, key }) => (rows(table, ...key)?.dispatchIds ?? []) as string[]);
}

/** Adds what a verdict says of its trial: judged both ways, all dispatches that tried it met a flaky verifier. */
function tried(rows: Rows, projected: ProjectedEvent, changes: Change[]): Change[] {
  const [trial] = trialOf(projected);
  if (trial === undefined) return changes;
  const { dispatchId, verdict } = projected.event.data as EventData<'VerdictReached'>;
  const before = rows(trial.table, ...trial.key);
  const [passed, failed] = [before?.passed === true || verdict === 'pass', before?.failed === true || verdict === 'fail'];
  const dispatchIds = [...new Set([...triedBefore(rows, projected), dispatchId])].slice(-MOST_TRIED);
  const [stream, name] = trial.key;
  const kept = { ...trial, row: { stream, trial: name, passed, failed, dispatchIds } };
  if (!(passed && failed)) return [...changes, kept];
  const others = dispatchIds.map((id) => rows('dispatches', id)).filter((row) => row !== undefined && row.dispatchId !== dispatchId);
  const marked = changes.map((change) =>
    change.table === 'dispatches' && change.row !== null ? dispatchRow({ ...change.row, flaky: true }) : change,
  );
  return [...marked, ...others.map((row) => dispatchRow({ ...row!, flaky: true })), kept];
}

/** The measures that follow from a dispatch's facts. */
function counted(row: Row): Row {
  const builder = number(row.builderPassed) + number(row.builderFailed);
  const some = builder + number(row.frontierPasses) + number(row.frontierFails) > 0;
  const closedEarly = row.status === 'closed' && !some;
  const wasBlocked = closedEarly && row.outcome === 'blocked';
  const byFrontier = row.outcome === 'escalated_passed' || row.outcome === 'escalated_failed';
  const left = Math.max(0, number(row.budget) - builder);
  return {
    ...row,
    dispatches: some ? 1 : 0,
    assignedDispatches: some && row.experiment !== null ? 1 : 0,
    firstTries: row.firstSeat === 'builder' ? 1 : 0,
    firstTryPassed: row.firstSeat === 'builder' && row.firstVerdict === 'pass' ? 1 : 0,
    withinBudgetPassed: number(row.builderPassed) > 0 ? 1 : 0,
    attempts: builder,
    sparedAttempts: number(row.escalations) > 0 && byFrontier ? left : 0,
    injectedDispatches: number(row.injectionEvents) > 0 ? 1 : 0,
    apartBlocked: wasBlocked ? 1 : 0,
    apartAbandoned: closedEarly && !wasBlocked ? 1 : 0,
    unfinished: !some && !closedEarly ? 1 : 0,
    budgetSavedByBlocking: wasBlocked ? left : 0,
  };
}

function number(value: unknown): number {
  return value as number;
}
