import type { Projection } from './projection.js';

/** The return queue: passing outputs, staged until their caller takes or refuses them. Texts are stored texts, not their content. */
export const proposals: Projection = {
  name: 'proposals',
  version: 2,
  tables: {
    proposals: {
      columns: {
        proposalId: 'text',
        dispatchId: 'text',
        attemptId: 'text',
        repo: 'text',
        targetFile: 'text',
        taskId: 'text',
        files: 'json',
        seat: 'text',
        output: 'json',
        diff: 'json',
        baseHash: 'text',
        status: 'text',
        stagedAt: 'time',
        expiresAt: 'time',
        resolvedAt: 'time',
      },
      key: ['proposalId'],
      indexes: [
        ['stagedAt', 'proposalId'],
        ['repo', 'stagedAt', 'proposalId'],
        ['targetFile', 'stagedAt', 'proposalId'],
        ['status', 'stagedAt', 'proposalId'],
        ['status', 'expiresAt'],
      ],
    },
  },
  handles: ['ProposalStaged', 'ProposalResolved'],

  needs({ event }) {
    return event.type === 'ProposalResolved' ? [{ table: 'proposals', key: [event.data.proposalId] }] : [];
  },

  evolve(rows, { event }) {
    if (event.type === 'ProposalStaged') {
      const { at, ...staged } = event.data;
      return [{ table: 'proposals', key: [staged.proposalId], row: { ...staged, status: 'pending', stagedAt: at, resolvedAt: null } }];
    }
    if (event.type !== 'ProposalResolved') return [];
    const { proposalId, resolution, at } = event.data;
    const row = rows('proposals', proposalId);
    return row === undefined ? [] : [{ table: 'proposals', key: [proposalId], row: { ...row, status: resolution, resolvedAt: at } }];
  },
};
