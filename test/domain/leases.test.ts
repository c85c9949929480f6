import { settleOverdue } from '../../src/domain/settle.js';
import { all, blocked, fail, only, pass } from './builders.js';
import { decided, FileHistory } from './history.js';
import { abandoning, at, contextAt } from './specification.js';

/** A dispatch whose lease ran out and that another task's opening closed. */
function closedForItsLease(options: { budget?: number } = {}) {
  const file = new FileHistory();
  const slow = file.open({ task: 't', leaseSeconds: 60, ...options });
  file.wait(60);
  const other = file.open({ task: 'u' });
  return { file, slow, other };
}

describe('an open dispatch whose lease ran out', () => {
  it('is closed as abandoned by the next opening, before anything else is said', () => {
    const { other, slow } = closedForItsLease();
    expect(other.types).toEqual(['DispatchClosed', 'DispatchOpened', 'NextStepDecided']);
    expect(only(other.events, 'DispatchClosed')).toMatchObject({ dispatchId: slow.dispatchId, outcome: 'abandoned', cause: 'lease_lost' });
  });

  it('no longer holds its task; a second earlier it still does', () => {
    const file = new FileHistory();
    file.open({ task: 't', leaseSeconds: 60 });
    expect(decided(file.wait(59).open({ task: 't' }))).toBe('wait already_running');
    expect(decided(file.wait(1).open({ task: 't' }))).toBe('attempt cold_start');
  });

  it('is closed even where the opening itself is refused', () => {
    const file = new FileHistory();
    for (const task of ['a', 'b']) file.attempt(file.open({ task }), blocked('disk'));
    file.open({ task: 'dead', leaseSeconds: 60, force: true });
    expect(file.wait(60).open({ task: 'c' }).types).toEqual(['DispatchClosed', 'DispatchSkipped', 'NextStepDecided']);
  });

  it('is closed by what the saga does in time, too, and only then', () => {
    const file = new FileHistory();
    file.open({ leaseSeconds: 60 });
    expect(settleOverdue(file.state, contextAt(at(59)))).toEqual([]);
    expect(only(settleOverdue(file.state, contextAt(at(60))), 'DispatchClosed').cause).toBe('lease_lost');
  });

  it('is simply renewed by a command as long as nobody has closed it', () => {
    const file = new FileHistory();
    const dispatch = file.open({ leaseSeconds: 60 });
    const attempt = file.wait(500).attempt(dispatch, fail('E0308'));
    expect(only(attempt.events, 'AttemptRecorded')).toMatchObject({ late: false, leaseUntil: at(560) });
    expect(attempt.types).not.toContain('LeaseRenewed');
    expect(decided(file.wait(59).open())).toBe('wait already_running');
  });

  it('is renewed by a heartbeat', () => {
    const file = new FileHistory();
    const { dispatchId } = file.open({ leaseSeconds: 60 });
    file.append([
      { type: 'LeaseRenewed', data: { repo: 'tessera', targetFile: 'src/lru_cache.rs', at: at(50), dispatchId, leaseUntil: at(110) } },
    ]);
    expect(decided(file.wait(109).open())).toBe('wait already_running');
    expect(decided(file.wait(1).open())).toBe('attempt cold_start');
  });
});

describe('a result that comes after its dispatch was closed for its lost lease', () => {
  it('a late pass is recorded as late and still stages its proposal; the dispatch closes no second time', () => {
    const { file, slow } = closedForItsLease();
    const late = file.attempt(slow, pass());
    expect(late.types).toEqual(['AttemptRecorded', 'VerdictReached', 'NextStepDecided', 'ProposalStaged']);
    expect(only(late.events, 'AttemptRecorded')).toMatchObject({ late: true, leaseUntil: null });
    expect(only(late.events, 'VerdictReached').late).toBe(true);
    expect(decided(late)).toBe('done passed');
    expect(decided(file.open({ task: 't' }))).toBe('done existing_proposal');
  });

  it.each([['fail', fail('E0308')] as const, ['blocked', blocked('dns')] as const])(
    'a late %s answers stop, late_result',
    (_name, outcome) => {
      const { file, slow } = closedForItsLease();
      const late = file.attempt(slow, outcome);
      expect(decided(late)).toBe('stop late_result');
      expect(late.types).toEqual(['AttemptRecorded', 'VerdictReached', 'NextStepDecided']);
    },
  );

  it('a late failure still counts as evidence', () => {
    const { file, slow } = closedForItsLease({ budget: 9 });
    file.failedBefore('v', ['E0308', 'E0308']);
    expect(file.attempt(slow, fail('E0308')).types).toContain('CalibrationSignalRaised');
  });

  it('a late pass still overcomes what the task failed with', () => {
    const { file, slow } = closedForItsLease();
    file.failedBefore('t', ['E0308', 'E0308', 'E0308']);
    expect(file.attempt(slow, pass()).types).toContain('CalibrationSignalCleared');
  });

  it('a late frontier pass stages, a late frontier fail answers late_result and still says task_hardness', () => {
    const { file, slow } = closedForItsLease();
    expect(decided(file.frontier(slow, pass()))).toBe('done frontier_passed');
    expect(all(file.events, 'ProposalStaged')).toHaveLength(1);
    const failed = closedForItsLease();
    const outcome = failed.file.frontier(failed.slow, fail('E0308'));
    expect(decided(outcome)).toBe('stop late_result');
    expect(only(outcome.events, 'CapacityClassified').classification).toBe('task_hardness');
    expect(outcome.types).not.toContain('DispatchClosed');
  });
});

describe('a dispatch that ended otherwise takes no result', () => {
  const ended: [string, (file: FileHistory) => { dispatchId: string }][] = [
    [
      'abandoned by its caller',
      (file) => {
        const d = file.open();
        file.abandon(d);
        return d;
      },
    ],
    [
      'passed',
      (file) => {
        const d = file.open();
        file.attempt(d, pass());
        return d;
      },
    ],
    [
      'exhausted',
      (file) => {
        const d = file.open({ budget: 1 });
        file.attempt(d, fail('E0308'));
        return d;
      },
    ],
    [
      'blocked',
      (file) => {
        const d = file.open();
        file.attempt(d, blocked('dns'));
        return d;
      },
    ],
    [
      'failed by the frontier',
      (file) => {
        const d = file.open();
        file.frontier(d, fail('E0308'));
        return d;
      },
    ],
  ];

  it.each(ended)('%s: a conflict, for either seat, and nothing is stored', (_name, end) => {
    const file = new FileHistory();
    const dispatch = end(file);
    const before = file.events.length;
    expect(() => file.attempt(dispatch, pass())).toThrow('closed');
    expect(() => file.frontier(dispatch, pass())).toThrow('closed');
    expect(file.events).toHaveLength(before);
  });

  it('abandoning twice is one event; abandoning what ended otherwise is a conflict', () => {
    const file = new FileHistory();
    const dispatch = file.open();
    expect(file.abandon(dispatch)).toHaveLength(1);
    expect(file.abandon(dispatch)).toEqual([]);
    const passed = file.open();
    file.attempt(passed, pass());
    expect(() => file.run(abandoning(passed.dispatchId))).toThrow('closed');
  });
});
