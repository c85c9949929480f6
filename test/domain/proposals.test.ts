import { settleOverdue } from '../../src/domain/settle.js';
import { all, fail, only, pass } from './builders.js';
import { decided, FileHistory } from './history.js';
import { at, contextAt, FILE, resolving } from './specification.js';

const WEEK = 7 * 24 * 3600;

describe('a passing output is staged', () => {
  it('after the decision and before the dispatch closes, with what a caller needs', () => {
    const file = new FileHistory();
    const passed = file.attempt(file.open({ task: 't', baseHash: 'b1' }), { ...pass(), output: 'the code', diff: 'the diff' });
    expect(passed.types).toEqual([
      'AttemptRecorded',
      'SnapshotDiffCaptured',
      'VerdictReached',
      'NextStepDecided',
      'ProposalStaged',
      'DispatchClosed',
    ]);
    expect(only(passed.events, 'ProposalStaged')).toMatchObject({
      taskId: 't',
      attemptId: passed.attemptId,
      files: [FILE],
      seat: 'builder',
      output: { text: 'the code' },
      diff: { text: 'the diff' },
      baseHash: 'b1',
      expiresAt: at(WEEK),
    });
  });

  it('whoever made it: a frontier pass too', () => {
    const file = new FileHistory();
    expect(only(file.frontier(file.open(), pass()).events, 'ProposalStaged').seat).toBe('frontier');
  });

  it('and nothing else is', () => {
    const file = new FileHistory();
    const dispatch = file.open();
    expect(file.attempt(dispatch, fail('E0308')).types).not.toContain('ProposalStaged');
    expect(file.frontier(dispatch, fail('E0308')).types).not.toContain('ProposalStaged');
  });
});

describe('existing_proposal holds', () => {
  const withProposal = (baseHash: string | null = null) => {
    const file = new FileHistory();
    const { proposalId } = file.attempt(file.open({ task: 't', baseHash }), pass());
    return { file, proposalId };
  };

  it('for this task only', () => {
    expect(decided(withProposal().file.open({ task: 'u' }))).toBe('attempt history');
  });

  it('until the second before it expires', () => {
    expect(
      decided(
        withProposal()
          .file.wait(WEEK - 1)
          .open({ task: 't' }),
      ),
    ).toBe('done existing_proposal');
    expect(decided(withProposal().file.wait(WEEK).open({ task: 't' }))).toBe('attempt history');
  });

  it('only while nobody accepted it', () => {
    const { file, proposalId } = withProposal();
    file.accept(proposalId);
    expect(decided(file.open({ task: 't' }))).toBe('attempt history');
  });

  it('only while nobody rejected it', () => {
    const { file, proposalId } = withProposal();
    file.run(resolving(proposalId, 'rejected'));
    expect(decided(file.open({ task: 't' }))).toBe('attempt history');
  });

  it.each([
    ['b1', 'b1', 'done existing_proposal'],
    ['b1', 'b2', 'attempt history'],
    ['b1', null, 'done existing_proposal'],
    [null, 'b2', 'done existing_proposal'],
    [null, null, 'done existing_proposal'],
  ])('with base hashes: staged on %s, asked on %s: %s', (staged, asked, expected) => {
    expect(decided(withProposal(staged).file.open({ task: 't', baseHash: asked }))).toBe(expected);
  });
});

describe('a newer passing output of a task', () => {
  it('supersedes the one that is pending, and is then the one handed out', () => {
    const file = new FileHistory();
    const first = file.attempt(file.open({ task: 't' }), pass());
    const second = file.attempt(file.open({ task: 't', force: true }), pass());
    expect(second.types).toEqual([
      'AttemptRecorded',
      'VerdictReached',
      'NextStepDecided',
      'ProposalResolved',
      'ProposalStaged',
      'DispatchClosed',
    ]);
    expect(only(second.events, 'ProposalResolved')).toMatchObject({ proposalId: first.proposalId, resolution: 'superseded' });
    expect(file.open({ task: 't' }).next.proposalId).toBe(second.proposalId);
    expect(() => file.accept(first.proposalId)).toThrow('superseded');
  });

  it('leaves those of other tasks alone', () => {
    const file = new FileHistory();
    file.attempt(file.open({ task: 'a' }), pass());
    expect(file.attempt(file.open({ task: 'b' }), pass()).types).not.toContain('ProposalResolved');
  });
});

describe('resolving a proposal', () => {
  it('twice the same way is one event; another way is a conflict', () => {
    const file = new FileHistory();
    const { proposalId } = file.attempt(file.open(), pass());
    expect(all(file.accept(proposalId), 'ProposalResolved')).toEqual([expect.objectContaining({ proposalId, resolution: 'accepted' })]);
    expect(file.accept(proposalId)).toEqual([]);
    expect(() => file.run(resolving(proposalId, 'rejected'))).toThrow('accepted');
  });

  it('what nobody resolved in time expires, exactly at its time', () => {
    const file = new FileHistory();
    const { proposalId } = file.attempt(file.open(), pass());
    expect(settleOverdue(file.state, contextAt(at(WEEK - 1)))).toEqual([]);
    const settled = settleOverdue(file.state, contextAt(at(WEEK)));
    expect(settled.map(({ type }) => type)).toEqual(['ProposalResolved']);
    expect(only(settled, 'ProposalResolved')).toMatchObject({ proposalId, resolution: 'expired' });
  });
});
