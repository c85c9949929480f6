import { blocked, fail, only, pass } from './builders.js';
import { decided, FileHistory } from './history.js';

describe('after a frontier outcome', () => {
  it('pass: done, frontier_passed; staged, and closed as escalated_passed', () => {
    const file = new FileHistory();
    const passed = file.frontier(file.open(), pass());
    expect(decided(passed)).toBe('done frontier_passed');
    expect(passed.types).toEqual([
      'AttemptRecorded',
      'VerdictReached',
      'FrontierOutcomeRecorded',
      'NextStepDecided',
      'ProposalStaged',
      'DispatchClosed',
    ]);
    expect(only(passed.events, 'DispatchClosed').outcome).toBe('escalated_passed');
  });

  it('fail: decompose, frontier_failed; classified, flagged, and closed as escalated_failed', () => {
    const file = new FileHistory();
    const failed = file.frontier(file.open(), fail('E0308'));
    expect(decided(failed)).toBe('decompose frontier_failed');
    expect(failed.types).toEqual([
      'AttemptRecorded',
      'VerdictReached',
      'FrontierOutcomeRecorded',
      'CapacityClassified',
      'TaskFlaggedForDecomposition',
      'NextStepDecided',
      'DispatchClosed',
    ]);
    expect(only(failed.events, 'DispatchClosed').outcome).toBe('escalated_failed');
  });

  it('blocked: stop, infra_blocked; it classifies nothing, and the dispatch closes as blocked', () => {
    const file = new FileHistory();
    const stopped = file.frontier(file.open(), blocked('dns'));
    expect(decided(stopped)).toBe('stop infra_blocked');
    expect(stopped.types).toEqual(['AttemptRecorded', 'VerdictReached', 'FrontierOutcomeRecorded', 'NextStepDecided', 'DispatchClosed']);
    expect(only(stopped.events, 'DispatchClosed').outcome).toBe('blocked');
  });

  it('every outcome has an attempt and a verdict of seat frontier beside it, numbered on', () => {
    const file = new FileHistory();
    const dispatch = file.open();
    file.attempt(dispatch, fail('E0308'));
    const outcome = file.frontier(dispatch, pass('E0308'), 'claude-next');
    expect(only(outcome.events, 'AttemptRecorded')).toMatchObject({ seat: 'frontier', model: 'claude-next', attempt: 2 });
    expect(only(outcome.events, 'VerdictReached')).toMatchObject({ seat: 'frontier', verdict: 'pass', attemptId: outcome.attemptId });
    expect(only(outcome.events, 'FrontierOutcomeRecorded')).toMatchObject({
      model: 'claude-next',
      verdict: 'pass',
      attemptId: outcome.attemptId,
    });
  });

  it('spends none of the builder’s budget', () => {
    const file = new FileHistory();
    const dispatch = file.open({ leaseSeconds: 60, budget: 1 });
    file.wait(60).open({ task: 'other' });
    file.frontier(dispatch, fail('E0308'));
    expect(file.dispatch(dispatch).counted).toBe(0);
    expect(decided(file.attempt(dispatch, pass()))).toBe('done passed');
  });
});

describe('an outcome says whether it was asked for', () => {
  const solicited = (file: FileHistory, dispatch: { dispatchId: string }) =>
    only(file.frontier(dispatch, pass()).events, 'FrontierOutcomeRecorded').solicited;

  it('after escalate: yes', () => {
    const file = new FileHistory();
    const dispatch = file.open();
    for (const _ of [1, 2, 3]) file.attempt(dispatch, fail('E0308'));
    expect(solicited(file, dispatch)).toBe(true);
  });

  it('after attempt, retry or replan: no, and it is recorded all the same', () => {
    for (const failures of [0, 1, 2]) {
      const file = new FileHistory();
      const dispatch = file.open();
      for (let i = 0; i < failures; i += 1) file.attempt(dispatch, fail('E0308'));
      expect(solicited(file, dispatch)).toBe(false);
    }
  });

  it('straight after an opening that escalated: yes', () => {
    const file = new FileHistory({ ...new FileHistory().policy, probeRate: 0 });
    const first = file.open();
    for (const _ of [1, 2, 3]) file.attempt(first, fail('E0308'));
    file.accept(file.frontier(first, pass()).proposalId);
    expect(solicited(file, file.open())).toBe(true);
  });
});
