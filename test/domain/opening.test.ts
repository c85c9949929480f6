import { policy } from '../../src/catalogue/policy.js';
import { all, blocked, fail, only, pass } from './builders.js';
import { decided, FileHistory } from './history.js';
import { at, dispatchId, given, opening, STREAM } from './specification.js';

/** A task that its builder failed three times and a frontier then passed; the proposal is accepted. */
function solvedByFrontier(): FileHistory {
  const file = new FileHistory(policy.parse({ probeRate: 0 }));
  const dispatch = file.open();
  for (const _ of [1, 2, 3]) file.attempt(dispatch, fail('E0308'));
  file.accept(file.frontier(dispatch, pass()).proposalId);
  return file;
}

describe('opening a dispatch: the first rule that holds wins', () => {
  it('1 existing_proposal: a finished build is handed out instead of built again', () => {
    const file = new FileHistory();
    const { proposalId } = file.attempt(file.open({ task: 't' }), pass());
    const again = file.open({ task: 't' });
    expect(decided(again)).toBe('done existing_proposal');
    expect(again.types).toEqual(['DuplicateDispatchPrevented', 'NextStepDecided']);
    expect(only(again.events, 'DuplicateDispatchPrevented')).toMatchObject({
      rule: 'existing_proposal',
      proposalId,
      runningDispatchId: null,
    });
    expect(again.next).toMatchObject({ terminal: true, dispatchId: null, proposalId });
  });

  it('1 existing_proposal comes before 2 already_running', () => {
    const file = new FileHistory();
    file.attempt(file.open({ task: 't', leaseSeconds: 10 }), pass());
    file.open({ task: 't', force: true });
    expect(decided(file.open({ task: 't' }))).toBe('done existing_proposal');
  });

  it('2 already_running: who asks second waits for the first', () => {
    const file = new FileHistory();
    const running = file.open({ task: 't' });
    const second = file.open({ task: 't' });
    expect(decided(second)).toBe('wait already_running');
    expect(second.types).toEqual(['DuplicateDispatchPrevented', 'NextStepDecided']);
    expect(second.next).toMatchObject({ terminal: false, dispatchId: null, runningDispatchId: running.dispatchId });
  });

  it('2 another task on the file is built beside it', () => {
    const file = new FileHistory();
    file.open({ task: 't' });
    expect(decided(file.open({ task: 'u' }))).toBe('attempt cold_start');
  });

  it('2 another builder waits too: the task is what runs', () => {
    const file = new FileHistory();
    file.open({ task: 't' });
    expect(decided(file.open({ task: 't', builder: 'builder-14b' }))).toBe('wait already_running');
  });

  it('2 already_running comes before 3 infra_cooldown', () => {
    const file = new FileHistory();
    file.open({ task: 'running' });
    for (const task of ['a', 'b']) file.attempt(file.open({ task }), blocked('dns'));
    expect(decided(file.open({ task: 'running' }))).toBe('wait already_running');
    expect(decided(file.open({ task: 'other' }))).toBe('stop infra_cooldown');
  });

  it('3 infra_cooldown: refused, said as DispatchSkipped, with the seconds to wait', () => {
    const file = new FileHistory();
    for (const _ of [1, 2]) file.attempt(file.open({ task: 't' }), blocked('dns'));
    const third = file.wait(100).open({ task: 't' });
    expect(decided(third)).toBe('stop infra_cooldown');
    expect(third.types).toEqual(['DispatchSkipped', 'NextStepDecided']);
    expect(only(third.events, 'DispatchSkipped')).toMatchObject({ rule: 'infra_cooldown', retryAfterSeconds: 800 });
    expect(third.next).toMatchObject({ terminal: true, retryAfterSeconds: 800, occurrences: 2, dispatchId: null });
  });

  it('3 infra_cooldown comes before 4 task_hardness', () => {
    const file = new FileHistory();
    const hard = file.open({ task: 'hard' });
    file.frontier(hard, fail('E0308'));
    for (const _ of [1, 2]) file.attempt(file.open({ task: 'other', force: true }), blocked('disk'));
    expect(decided(file.open({ task: 'hard' }))).toBe('stop infra_cooldown');
    expect(decided(file.wait(3600).open({ task: 'hard' }))).toBe('decompose task_hardness');
  });

  it('4 task_hardness: refused, said as DispatchSkipped', () => {
    const file = new FileHistory();
    file.frontier(file.open({ task: 'hard' }), fail('E0308'));
    const again = file.open({ task: 'hard' });
    expect(decided(again)).toBe('decompose task_hardness');
    expect(again.types).toEqual(['DispatchSkipped', 'NextStepDecided']);
    expect(again.next).toMatchObject({ terminal: true, dispatchId: null });
  });

  it('4 task_hardness comes before 5 confirmed_capacity', () => {
    const file = solvedByFrontier();
    file.frontier(file.open({ force: true }), fail('E0308'));
    expect(decided(file.open())).toBe('decompose task_hardness');
  });

  it('5 confirmed_capacity: a dispatch is opened and sent straight to the frontier', () => {
    const file = solvedByFrontier();
    const again = file.open();
    expect(again.next.step).toBe('escalate');
    expect(again.next).toMatchObject({ rule: 'confirmed_capacity', terminal: false, pattern: 'e0308_type_mismatch', occurrences: 3 });
    expect(again.types).toEqual(['DispatchOpened', 'HistoryInjected', 'NextStepDecided']);
  });

  it('6 cold_start: nothing has passed or failed on the file, blocked attempts and open dispatches aside', () => {
    const file = new FileHistory();
    const first = file.open({ task: 't' });
    expect(decided(first)).toBe('attempt cold_start');
    expect(only(first.events, 'DispatchOpened').cold).toBe(true);
    file.attempt(first, blocked('dns'));
    const second = file.open({ task: 't' });
    expect(decided(second)).toBe('attempt cold_start');
    expect(only(second.events, 'DispatchOpened').cold).toBe(true);
  });

  it.each([['fail', fail('E0308')] as const, ['pass', pass()] as const])(
    '7 history: one %s of any task or seat ends the cold start',
    (_name, outcome) => {
      for (const seat of ['attempt', 'frontier'] as const) {
        const file = new FileHistory();
        file[seat](file.open({ task: 'a' }), outcome);
        const other = file.open({ task: 'b' });
        expect(decided(other)).toBe('attempt history');
        expect(only(other.events, 'DispatchOpened').cold).toBe(false);
      }
    },
  );
});

describe('force skips rules 1, 3, 4 and 5, never 2', () => {
  it('1: a pending proposal', () => {
    const file = new FileHistory();
    file.attempt(file.open({ task: 't' }), pass());
    expect(decided(file.open({ task: 't', force: true }))).toBe('attempt history');
  });

  it('2: a running dispatch still makes it wait', () => {
    const file = new FileHistory();
    file.open({ task: 't' });
    expect(decided(file.open({ task: 't', force: true }))).toBe('wait already_running');
  });

  it('3: a cooldown', () => {
    const file = new FileHistory();
    for (const _ of [1, 2]) file.attempt(file.open({ task: 't' }), blocked('dns'));
    expect(decided(file.open({ task: 't', force: true }))).toBe('attempt cold_start');
  });

  it('4: a task that the frontier failed', () => {
    const file = new FileHistory();
    file.frontier(file.open({ task: 't' }), fail());
    expect(decided(file.open({ task: 't', force: true }))).toBe('attempt history');
  });

  it('5: a confirmed capacity, with no chance played', () => {
    const forced = solvedByFrontier().open({ force: true });
    expect(decided(forced)).toBe('attempt history');
    expect(forced.next.propensity).toBeNull();
  });
});

describe('what an opening decision was based on', () => {
  it('is the stream before its own events, and the command as it was asked', () => {
    const file = new FileHistory();
    file.failedBefore('t', ['E0308']);
    const revision = file.events.length - 1;
    const { next } = file.open({ task: 't', unique: 'x', baseHash: 'b1', frontier: null });
    expect(next.basedOn).toContainEqual({ stream: STREAM, revision });
    expect(next).toMatchObject({ policy: 'policy-of-the-test', decidedAt: at(0), at: at(0) });
    expect(next.inputs).toMatchObject({
      command: 'open_dispatch',
      dispatchId: dispatchId('x'),
      taskId: 't',
      frontier: null,
      baseHash: 'b1',
      force: false,
    });
  });

  it('on an empty stream: revision -1', () => {
    given([])
      .when(opening())
      .thenNamed(
        ['DispatchOpened', { cold: true, leaseUntil: at(900) }],
        ['NextStepDecided', { basedOn: [{ stream: STREAM, revision: -1 }] }],
      );
  });

  it('counts the closing of dead dispatches in', () => {
    const file = new FileHistory();
    file.open({ task: 'dead' });
    const { events, next } = file.wait(900).open({ task: 'new' });
    expect(all(events, 'DispatchClosed')).toHaveLength(1);
    expect(next.basedOn[0]?.revision).toBe(2);
  });
});
