import { policy } from '../../src/catalogue/policy.js';
import { recalibrate } from '../../src/domain/settle.js';
import { all, blocked, fail, only, pass, pattern } from './builders.js';
import { FileHistory } from './history.js';
import { at, BUILDER, contextAt } from './specification.js';

const STUCK = ['E0308', 'E0308', 'E0308'];
const MOLES = ['E0369', 'E0425', 'E0308', 'E0308', 'E0277', 'E0599'];

function stuck(task = 't', asked = {}): FileHistory {
  const file = new FileHistory();
  file.failedBefore(task, STUCK, asked);
  return file;
}

describe('a signal is cleared', () => {
  it('overcome: in the append of the pass that ends it, right before the decision', () => {
    const file = stuck();
    const passed = file.attempt(file.open({ task: 't' }), pass());
    expect(passed.types).toEqual([
      'AttemptRecorded',
      'VerdictReached',
      'CalibrationSignalCleared',
      'NextStepDecided',
      'ProposalStaged',
      'DispatchClosed',
    ]);
    expect(only(passed.events, 'CalibrationSignalCleared')).toMatchObject({
      kind: 'per_pattern',
      code: 'E0308',
      model: BUILDER,
      reason: 'overcome',
    });
    expect(file.signals).toEqual([]);
  });

  it('superseded: a per_file whose pattern reached three is per_pattern from then on, and only that', () => {
    const file = new FileHistory();
    file.failedBefore('t', MOLES);
    const { events } = file.attempt(file.open({ task: 't' }), fail('E0308'));
    expect(all(events, 'CalibrationSignalRaised').map(({ kind, occurrences }) => [kind, occurrences])).toEqual([['per_pattern', 3]]);
    expect(all(events, 'CalibrationSignalCleared').map(({ kind, reason }) => [kind, reason])).toEqual([['per_file', 'superseded']]);
    expect(file.signals).toEqual(['per_pattern:E0308']);
  });

  it('not superseded where enough other failures thrash on', () => {
    const file = new FileHistory();
    file.failedBefore('t', [...MOLES, 'E0432', 'E0433']);
    file.failedBefore('t', ['E0308']);
    expect(file.signals).toEqual(['per_file:', 'per_pattern:E0308']);
  });

  it('overcome in part: what other tasks failed stays evidence', () => {
    const file = stuck('a');
    file.failedBefore('b', ['E0308', 'E0308']);
    file.attempt(file.open({ task: 'b' }), pass());
    expect(file.signals).toEqual(['per_pattern:E0308']);
    expect(file.hint().signals[0]?.occurrences).toBe(3);
  });
});

describe('a signal is not cleared', () => {
  it('by another task’s pass', () => {
    const file = stuck('hard');
    file.attempt(file.open({ task: 'easy' }), pass());
    expect(file.signals).toEqual(['per_pattern:E0308']);
  });

  it('by another builder’s pass of the task', () => {
    const file = stuck();
    file.attempt(file.open({ task: 't', builder: 'builder-14b' }), pass());
    expect(file.signals).toEqual(['per_pattern:E0308']);
  });

  it('by a frontier’s pass: that is no work of the builder', () => {
    const file = stuck();
    file.frontier(file.open({ task: 't' }), pass());
    expect(file.signals).toEqual(['per_pattern:E0308']);
  });

  it('by a pass that came before the failures', () => {
    const file = new FileHistory();
    file.accept(file.attempt(file.open({ task: 't' }), pass()).proposalId);
    file.failedBefore('t', STUCK);
    expect(file.signals).toEqual(['per_pattern:E0308']);
  });

  it('by a blocked attempt', () => {
    const file = stuck();
    file.attempt(file.open({ task: 't' }), blocked('dns'));
    expect(file.signals).toEqual(['per_pattern:E0308']);
  });
});

it('after it was overcome, a signal needs three new failures, and is raised anew', () => {
  const file = stuck();
  file.accept(file.attempt(file.open({ task: 't' }), pass()).proposalId);
  file.failedBefore('t', ['E0308', 'E0308']);
  expect(file.signals).toEqual([]);
  file.failedBefore('t', ['E0308']);
  expect(file.signals).toEqual(['per_pattern:E0308']);
  expect(all(file.events, 'CalibrationSignalRaised')).toHaveLength(2);
});

it('histograms count everything, always: a pass takes nothing out of them', () => {
  const file = stuck();
  file.attempt(file.open({ task: 't' }), pass());
  expect([...file.state.histogram.values()]).toMatchObject([{ code: 'E0308', attempts: 3 }]);
  expect(file.hint({ task: 't' }).text).toContain('E0308 (type, 3 occurrences)');
});

describe('a verdict that later turned out wrong', () => {
  it('fail → pass: the signal goes as corrected, and earlier failures of the task are overcome', () => {
    const file = new FileHistory();
    const [, , third] = file.failedBefore('t', STUCK);
    const events = file.correct(third!, 'pass');
    expect(events.map(({ type }) => type)).toEqual(['VerdictCorrected', 'CalibrationSignalCleared']);
    expect(only(events, 'CalibrationSignalCleared').reason).toBe('corrected');
    expect(file.hint()).toMatchObject({ passed: 1, failed: 2, signals: [] });
    file.failedBefore('t', ['E0308', 'E0308']);
    expect(file.signals).toEqual([]);
  });

  it('pass → fail: what it had overcome counts again', () => {
    const file = stuck();
    const passed = file.attempt(file.open({ task: 't' }), pass());
    expect(file.signals).toEqual([]);
    const events = file.correct(passed.attemptId, 'fail', [pattern('E0308')]);
    expect(only(events, 'CalibrationSignalRaised').occurrences).toBe(4);
    expect(file.hint()).toMatchObject({ passed: 0, failed: 4 });
  });

  it('fail → blocked: it was no failure, and no histogram has it', () => {
    const file = stuck();
    const [first] = [...file.state.attempts.keys()];
    file.correct(first!, 'blocked');
    expect(file.signals).toEqual([]);
    expect(file.hint()).toMatchObject({ failed: 2, blocked: 1 });
    expect([...file.state.histogram.values()]).toMatchObject([{ attempts: 2 }]);
  });

  it('fail for another reason: the pattern changes', () => {
    const file = stuck();
    const [first] = [...file.state.attempts.keys()];
    file.correct(first!, 'fail', [pattern('E0599')]);
    expect(file.signals).toEqual([]);
    expect(file.hint().patterns.map(({ code, occurrences }) => [code, occurrences])).toEqual([
      ['E0308', 2],
      ['E0599', 1],
    ]);
  });

  it('keeps its place in time: a later pass of the task still overcomes it', () => {
    const file = new FileHistory();
    const [first] = file.failedBefore('t', ['E0308']);
    file.attempt(file.open({ task: 't' }), pass());
    file.correct(first!, 'fail', [pattern('E0599')]);
    expect(file.state.evidence.get(BUILDER)?.failures.size ?? 0).toBe(0);
  });

  it('of a running dispatch: a corrected failure no longer makes the dispatch part of its pattern’s signal', () => {
    const file = stuck('other');
    const dispatch = file.open({ task: 't', budget: 9 });
    const first = file.attempt(dispatch, fail('E0308'));
    file.correct(first.attemptId, 'fail', [pattern('E0599')]);
    file.attempt(dispatch, fail('E0277'));
    expect(file.attempt(dispatch, fail('E0432')).next.rule).toBe('within_budget');
  });

  it('a frontier’s fail that was none lifts the task’s hardness', () => {
    const file = new FileHistory();
    const { attemptId } = file.frontier(file.open({ task: 't' }), fail('E0308'));
    file.correct(attemptId, 'pass');
    expect(file.open({ task: 't' }).next.rule).toBe('history');
  });

  it('of an attempt that the stream does not have: nothing changes', () => {
    const file = stuck();
    const { attempts, ...before } = file.state;
    file.append([
      {
        type: 'VerdictCorrected',
        data: {
          repo: 'r',
          targetFile: 'f',
          at: at(0),
          dispatchId: 'd',
          attemptId: 'none',
          verdict: 'pass',
          patterns: [],
          reason: '',
          source: '',
          corrects: null,
        },
      },
    ]);
    const { attempts: same, ...now } = file.state;
    expect(same).toEqual(attempts);
    expect(now).toEqual({ ...before, revision: before.revision + 1 });
  });
});

describe('evidence that came, or went, without a decision', () => {
  it('is brought in line once: the second time there is nothing to say', () => {
    const file = stuck();
    const unsaid = file.events.filter(({ type }) => type !== 'CalibrationSignalRaised');
    const silent = new FileHistory();
    silent.append(unsaid);
    const line = () => silent.run((state, context) => recalibrate(state, 'discounted', context));
    expect(line().map(({ type }) => type)).toEqual(['CalibrationSignalRaised']);
    expect(line()).toEqual([]);
  });

  it('says why: under a policy that asks for more, the signal is discounted', () => {
    const { state } = stuck();
    const stricter = contextAt(at(0), policy.parse({ perPattern: 4 }));
    const events = recalibrate(state, 'discounted', stricter);
    expect(only(events, 'CalibrationSignalCleared').reason).toBe('discounted');
  });
});
