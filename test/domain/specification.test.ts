import { blocked, fail, pass } from './builders.js';
import { FileHistory } from './history.js';
import { abandoning, attempting, dispatchId, given, opening } from './specification.js';

/** A frame that cannot fail proves nothing: each of its claims is broken here once. */
describe('the specification frame', () => {
  const opened = new FileHistory().open({ unique: '1' }).events;

  it('is exact: every field of every event counts', () => {
    const expected = new FileHistory().open({ unique: '1' }).events;
    given([]).when(opening()).then(expected);
    const changed = expected.map((event, place) => (place === 0 ? { ...event, data: { ...event.data, budget: 5 } } : event));
    expect(() =>
      given([])
        .when(opening())
        .then(changed as typeof expected),
    ).toThrow();
  });

  it('is ordered', () => {
    given([]).when(opening()).thenNamed(['DispatchOpened'], ['NextStepDecided']);
    expect(() => given([]).when(opening()).thenNamed(['NextStepDecided'], ['DispatchOpened'])).toThrow();
  });

  it('takes no event more and none less', () => {
    const when = given(opened).when(attempting(dispatchId('1'), fail('E0308')));
    when.thenNamed(['AttemptRecorded'], ['VerdictReached'], ['NextStepDecided', { step: 'retry' }]);
    expect(() => when.thenNamed(['AttemptRecorded'], ['VerdictReached'])).toThrow();
    expect(() => when.thenNamed(['AttemptRecorded'], ['VerdictReached'], ['NextStepDecided'], ['DispatchClosed'])).toThrow();
    expect(() => when.thenNamed(['AttemptRecorded'], ['VerdictReached'], ['NextStepDecided', { step: 'stop' }])).toThrow();
  });

  it('sees a conflict, and that there was none', () => {
    const history = new FileHistory();
    const dispatch = history.open({ unique: '1' });
    history.abandon(dispatch);
    given(history.events)
      .when(attempting(dispatchId('1'), pass()))
      .throws();
    expect(() =>
      given(opened)
        .when(attempting(dispatchId('1'), pass()))
        .throws(),
    ).toThrow();
    expect(() =>
      given(history.events)
        .when(attempting(dispatchId('1'), pass()))
        .thenNamed(),
    ).toThrow('closed');
  });

  it('builds what really happens: one command is facts, then the decision, then what it closes', () => {
    given(opened)
      .when(attempting(dispatchId('1'), blocked('dns')))
      .thenNamed(
        ['AttemptRecorded', { attempt: 1, seat: 'builder', late: false }],
        ['VerdictReached', { verdict: 'blocked', infraKind: 'dns' }],
        ['NextStepDecided', { step: 'stop', rule: 'infra_blocked', terminal: true }],
        ['DispatchClosed', { outcome: 'blocked', cause: null }],
      );
    given(opened)
      .when(abandoning(dispatchId('1'), 'enough'))
      .thenNamed(['DispatchClosed', { outcome: 'abandoned', cause: 'caller', note: 'enough' }]);
  });
});
