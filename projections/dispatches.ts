import type { Projection } from './projection.js';

/** Every dispatch with where it stands: the list that a person looks through, and where overdue leases are found. */
export const dispatches: Projection = {
  name: 'dispatches',
  version: 2,
  tables: {
    dispatches: {
      columns: {
        dispatchId: 'text',
        repo: 'text',
        targetFile: 'text',
        taskId: 'text',
        model: 'text',
        frontier: 'text',
        arm: 'text',
        batch: 'text',
        cold: 'boolean',
        budget: 'integer',
        attempts: 'integer',
        status: 'text',
        outcome: 'text',
        step: 'text',
        rule: 'text',
        leaseUntil: 'time',
        openedAt: 'time',
        closedAt: 'time',
      },
      key: ['dispatchId'],
      indexes: [
        ['openedAt', 'dispatchId'],
        ['repo', 'openedAt', 'dispatchId'],
        ['targetFile', 'openedAt', 'dispatchId'],
        ['status', 'openedAt', 'dispatchId'],
        ['outcome', 'openedAt', 'dispatchId'],
        ['batch', 'openedAt', 'dispatchId'],
        ['arm', 'openedAt', 'dispatchId'],
        ['status', 'leaseUntil'],
      ],
    },
  },
  handles: ['DispatchOpened', 'LeaseRenewed', 'HistoryInjected', 'AttemptRecorded', 'NextStepDecided', 'DispatchClosed'],

  needs({ event }) {
    const dispatchId = 'dispatchId' in event.data ? event.data.dispatchId : null;
    return dispatchId === null ? [] : [{ table: 'dispatches', key: [dispatchId] }];
  },

  evolve(rows, { event }) {
    if (event.type === 'DispatchOpened') {
      const { dispatchId, repo, targetFile, taskId, model, frontier, arm, batch, cold, budget, leaseUntil, at } = event.data;
      const opened = { dispatchId, repo, targetFile, taskId, model, frontier, arm, batch, cold, budget, leaseUntil, openedAt: at };
      const row = { ...opened, attempts: 0, status: 'open', outcome: null, step: null, rule: null, closedAt: null };
      return [{ table: 'dispatches', key: [dispatchId], row }];
    }
    const dispatchId = 'dispatchId' in event.data ? event.data.dispatchId : null;
    const row = dispatchId === null ? undefined : rows('dispatches', dispatchId);
    if (dispatchId === null || row === undefined) return [];
    const changed = (change: Record<string, unknown>) => [{ table: 'dispatches', key: [dispatchId], row: { ...row, ...change } }];
    switch (event.type) {
      case 'LeaseRenewed':
        return changed({ leaseUntil: event.data.leaseUntil });
      case 'HistoryInjected':
        return event.data.leaseUntil === null ? [] : changed({ leaseUntil: event.data.leaseUntil });
      case 'AttemptRecorded': {
        const { seat, leaseUntil } = event.data;
        const attempts = (row.attempts as number) + (seat === 'builder' ? 1 : 0);
        return changed({ attempts, leaseUntil: leaseUntil ?? row.leaseUntil });
      }
      case 'NextStepDecided':
        return changed({ step: event.data.step, rule: event.data.rule });
      case 'DispatchClosed':
        return changed({ status: 'closed', outcome: event.data.outcome, closedAt: event.data.at });
      default:
        return [];
    }
  },
};
