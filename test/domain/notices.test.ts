import type { FileEvent } from '../../src/catalogue/events.js';
import { noticeSignal, type Raised } from '../../src/domain/notice-signal.js';
import { all, fail, only, pass } from './builders.js';
import { FileHistory } from './history.js';
import { BUILDER, type Command, dispatchId, given } from './specification.js';

/** Two dispatches of other tasks run on the file while the failures of others raise a signal. */
function raisedBeside() {
  const file = new FileHistory();
  const [first, second] = [file.open({ task: 'first' }), file.open({ task: 'second' })];
  file.failedBefore('theirs', ['E0308', 'E0308', 'E0308']);
  return { file, first, second, raised: raisedIn(file) };
}

/** The newest signal raised. */
function raisedIn(file: FileHistory): Raised {
  const raisedAtRevision = file.events.findLastIndex(({ type }) => type === 'CalibrationSignalRaised');
  return { ...all(file.events, 'CalibrationSignalRaised').at(-1)!, raisedAtRevision };
}

const noticing =
  (raised: Raised, by: string | null = null): Command =>
  (state, context) =>
    noticeSignal(state, raised, by, context);
const toldOf = (events: readonly FileEvent[]) => all(events, 'SignalNoticed').map((noticed) => noticed.dispatchId);

describe('a signal that was raised beside running dispatches', () => {
  it('is told to each of them once, with its kind, its pattern and its place', () => {
    const { file, first, second, raised } = raisedBeside();
    const signal = { kind: 'per_pattern', pattern: 'e0308_type_mismatch', raisedAtRevision: raised.raisedAtRevision } as const;
    given(file.events)
      .when(noticing(raised))
      .thenNamed(
        ['SignalNoticed', { dispatchId: first.dispatchId, ...signal }],
        ['SignalNoticed', { dispatchId: second.dispatchId, ...signal }],
      );
    file.run(noticing(raised));
    given(file.events).when(noticing(raised)).then([]);
  });

  it('is not told to the dispatch whose attempt raised it: it was answered with it', () => {
    const file = new FileHistory();
    const other = file.open({ task: 'other' });
    file.failedBefore('t', ['E0308', 'E0308']);
    const own = file.open({ task: 'own' });
    file.attempt(own, fail('E0308'));
    expect(toldOf(file.run(noticing(raisedIn(file), own.dispatchId)))).toEqual([other.dispatchId]);
  });

  it('is told to the dispatch of an attempt that a correction made its evidence', () => {
    const file = new FileHistory();
    const running = file.open({ task: 'running' });
    file.failedBefore('t', ['E0308', 'E0308']);
    const { attemptId } = file.attempt(running, fail());
    file.correct(attemptId, 'fail', fail('E0308').patterns);
    expect(toldOf(file.run(noticing(raisedIn(file))))).toEqual([running.dispatchId]);
  });

  it('is told no more when it was cleared', () => {
    const { file, raised } = raisedBeside();
    file.attempt(file.open({ task: 'theirs', force: true }), pass());
    given(file.events).when(noticing(raised)).then([]);
  });

  it('is not told to who closed meanwhile, nor to who came after it and had it in the hint', () => {
    const { file, first, second, raised } = raisedBeside();
    file.abandon(first);
    file.open({ task: 'later' });
    expect(toldOf(file.run(noticing(raised)))).toEqual([second.dispatchId]);
  });

  it('is told after an earlier one was, and an earlier one not after it', () => {
    const { file, first, raised } = raisedBeside();
    file.failedBefore('theirs', ['E0599', 'E0599', 'E0599']);
    const later = raisedIn(file);
    expect(later.raisedAtRevision).toBeGreaterThan(raised.raisedAtRevision);
    file.run(noticing(raised));
    expect(only(file.run(noticing(later)).slice(0, 1), 'SignalNoticed')).toMatchObject({
      dispatchId: first.dispatchId,
      pattern: 'e0599_no_method',
    });
    given(file.events).when(noticing(raised)).then([]);
    given(file.events).when(noticing(later)).then([]);
  });

  it('of another builder configuration is told as well: its place says whose it is', () => {
    const file = new FileHistory();
    file.open({ task: 'mine', builder: 'another-model' });
    file.failedBefore('theirs', ['E0308', 'E0308', 'E0308']);
    const raised = raisedIn(file);
    expect(raised.configuration).toBe(BUILDER);
    expect(toldOf(file.run(noticing(raised)))).toEqual([dispatchId('n1')]);
  });
});
