import type { EventData } from '../src/catalogue/events.js';
import { codeOf, type Verdict } from '../src/catalogue/primitives.js';
import type { Change, Projection, Row } from './projection.js';

type Judged = [attemptId: string, verdict: Verdict];

/**
 * Dispatches that a calibration signal took from the builder, or would have, had its caller followed: one row each, by the first decision
 * that a signal made after an attempt. Open dispatches that no signal has met yet have a row too, without `firedAt`; closed ones have none.
 *
 * - `kind`, `pattern`: of the signal that the decision named. `afterAttempt`: counted attempts by then, counted as verdicts are now.
 * - `saved`: attempts of the builder that passed or failed and came after it; `wrong`: 1 where one of them passed.
 * - `spared`: of the budget, what was left unspent when the frontier ended the dispatch; `confirmed`, `refuted`: 1 where the frontier
 *   passed or failed it.
 */
export const signalFirings: Projection = {
  name: 'signal_firings',
  version: 1,
  tables: {
    dispatches: {
      columns: {
        ...{ dispatchId: 'text', repo: 'text', targetFile: 'text', model: 'text', budget: 'integer', verdicts: 'json' },
        ...{ firedAt: 'time', firedAfter: 'integer', kind: 'text', pattern: 'text', code: 'text', outcome: 'text' },
        ...{ afterAttempt: 'integer', saved: 'integer', wrong: 'integer', spared: 'integer', confirmed: 'integer', refuted: 'integer' },
      },
      key: ['dispatchId'],
      indexes: [['repo', 'firedAt'], ['firedAt']],
    },
  },
  handles: ['DispatchOpened', 'VerdictReached', 'VerdictCorrected', 'NextStepDecided', 'DispatchClosed'],

  needs({ event }) {
    const { dispatchId = null } = event.data as { dispatchId?: string | null };
    return event.type === 'DispatchOpened' || dispatchId === null ? [] : [{ table: 'dispatches', key: [dispatchId] }];
  },

  evolve(rows, { event }) {
    if (event.type === 'DispatchOpened') return [stored(opened(event.data))];
    const { dispatchId } = event.data as { dispatchId?: string | null };
    const row = dispatchId == null ? undefined : rows('dispatches', dispatchId);
    if (row === undefined) return [];
    switch (event.type) {
      case 'VerdictReached': {
        const { seat, attemptId, verdict } = event.data;
        return seat === 'builder' ? [stored({ ...row, verdicts: [...judgedIn(row), [attemptId, verdict]] })] : [];
      }
      case 'VerdictCorrected': {
        const { attemptId, verdict } = event.data;
        const verdicts = judgedIn(row).map(([id, before]) => [id, id === attemptId ? verdict : before]);
        return [stored({ ...row, verdicts })];
      }
      case 'NextStepDecided':
        return row.firedAt === null && isSignal(event.data) ? [stored(fired(row, event.data))] : [];
      case 'DispatchClosed':
        return [row.firedAt === null ? { ...placeOf(row), row: null } : stored({ ...row, outcome: event.data.outcome })];
      default:
        return [];
    }
  },
};

function placeOf({ dispatchId }: Row) {
  return { table: 'dispatches', key: [dispatchId as string] };
}

function opened({ dispatchId, repo, targetFile, model, budget }: EventData<'DispatchOpened'>): Row {
  const nothing = { firedAt: null, firedAfter: null, kind: null, pattern: null, code: null, outcome: null };
  return { dispatchId, repo, targetFile, model, budget, verdicts: [], ...nothing };
}

function judgedIn(row: Row): Judged[] {
  return row.verdicts as Judged[];
}

function isSignal({ rule, inputs }: EventData<'NextStepDecided'>): boolean {
  return inputs.command === 'record_attempt' && (rule === 'per_pattern' || rule === 'per_file');
}

function fired(row: Row, { rule, pattern, at }: EventData<'NextStepDecided'>): Row {
  const code = pattern === null ? null : codeOf(pattern);
  return { ...row, firedAt: at, firedAfter: judgedIn(row).length, kind: rule, pattern, code };
}

/** A row with what follows from its verdicts. */
function stored(row: Row): Change {
  const verdicts = judgedIn(row).map(([, verdict]) => verdict);
  const counted = (some: Verdict[]) => some.filter((verdict) => verdict !== 'blocked').length;
  const at = row.firedAfter as number | null;
  const later = at === null ? [] : verdicts.slice(at);
  const byFrontier = row.outcome === 'escalated_passed' || row.outcome === 'escalated_failed';
  return {
    ...placeOf(row),
    row: {
      ...row,
      afterAttempt: at === null ? null : counted(verdicts.slice(0, at)),
      saved: counted(later),
      wrong: later.includes('pass') ? 1 : 0,
      spared: byFrontier ? Math.max(0, (row.budget as number) - counted(verdicts)) : 0,
      confirmed: row.outcome === 'escalated_passed' ? 1 : 0,
      refuted: row.outcome === 'escalated_failed' ? 1 : 0,
    },
  };
}
