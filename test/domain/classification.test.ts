import { all, blocked, fail, type Outcome, only, pass } from './builders.js';
import { FileHistory, type Turn } from './history.js';
import type { Opening } from './specification.js';

const classified = ({ events }: Turn) =>
  all(events, 'CapacityClassified').map(({ classification, kind, pattern }) => [classification, kind, pattern]);
const ledBy = ({ events }: Turn) => only(events, 'FrontierOutcomeRecorded').ledBy;

/** What the frontier's outcome says after these attempts of a dispatch. */
function afterwards(outcomes: Outcome[], frontier: Outcome, file = new FileHistory(), asked: Opening = {}): Turn {
  const dispatch = file.open({ task: 't', budget: 9, ...asked });
  for (const outcome of outcomes) file.attempt(dispatch, outcome);
  return file.frontier(dispatch, frontier);
}
const times = (n: number, outcome: Outcome) => Array.from({ length: n }, () => outcome);

describe('a frontier pass confirms capacity', () => {
  it('for the pattern of the signal that led to it', () => {
    const outcome = afterwards(times(3, fail('E0308')), pass());
    expect(classified(outcome)).toEqual([['capacity', 'per_pattern', 'e0308_type_mismatch']]);
    expect(ledBy(outcome)).toEqual({ kind: 'per_pattern', patterns: ['e0308_type_mismatch'] });
    expect(only(outcome.events, 'CapacityClassified')).toMatchObject({ model: 'qwen3.5-9b', frontier: 'grok-4.20', taskId: 't' });
  });

  it('and for no other pattern that the attempts also had', () => {
    const outcome = afterwards(times(3, fail('E0308')).concat(fail('E0308', 'E0599')), pass('E0599'));
    expect(classified(outcome)).toEqual([['capacity', 'per_pattern', 'e0308_type_mismatch']]);
  });

  it('for per_file as a row of its own, which names no pattern', () => {
    const file = new FileHistory();
    file.failedBefore('t', ['E0369', 'E0425', 'E0308', 'E0308']);
    const outcome = afterwards([fail('E0599'), fail('E0277')], pass(), file);
    expect(classified(outcome)).toEqual([['capacity', 'per_file', null]]);
  });

  it('for the repeated failure that led to it', () => {
    const codes = ['E0308', 'E0308', 'E0599', 'E0599'];
    const outcome = afterwards(
      codes.map((code) => fail(code)),
      pass(),
    );
    expect(classified(outcome)).toEqual([['capacity', 'repeated_signature', 'e0599_no_method']]);
    expect(ledBy(outcome)?.kind).toBe('repeated_signature');
  });

  it('for each pattern of a repeated failure with several', () => {
    const failure = fail('E0308', 'E0432');
    const outcome = afterwards([fail('E0599'), fail('E0599'), failure, failure], pass());
    expect(classified(outcome).map(([, , pattern]) => pattern)).toEqual(['e0308_type_mismatch', 'e0432_unresolved_import']);
  });

  it('unasked, where a signal of this dispatch was live', () => {
    const file = new FileHistory();
    file.failedBefore('t', ['E0308', 'E0308']);
    const outcome = afterwards([fail('E0308')], pass(), file);
    expect(only(outcome.events, 'FrontierOutcomeRecorded').solicited).toBe(false);
    expect(classified(outcome)).toEqual([['capacity', 'per_pattern', 'e0308_type_mismatch']]);
  });

  it('unasked, where a signal was live for a pattern that the task had failed with in earlier dispatches', () => {
    const file = new FileHistory();
    file.failedBefore('t', ['E0308', 'E0308', 'E0308']);
    expect(classified(afterwards([], pass(), file))).toEqual([['capacity', 'per_pattern', 'e0308_type_mismatch']]);
  });

  it('of a task whose capacity was confirmed before, when it is asked again', () => {
    const file = new FileHistory({ ...new FileHistory().policy, probeRate: 0 });
    file.accept(afterwards(times(3, fail('E0308')), pass(), file).proposalId);
    expect(classified(file.frontier(file.open({ task: 't' }), pass()))).toEqual([['capacity', 'per_pattern', 'e0308_type_mismatch']]);
  });

  it('for a pattern without a code', () => {
    expect(classified(afterwards(times(3, fail('go_undefined')), pass()))).toEqual([['capacity', 'per_pattern', 'go_undefined']]);
  });
});

describe('a frontier pass classifies nothing', () => {
  it('where nothing led to it: not asked for, no signal live', () => {
    for (const outcomes of [[], [fail('E0308')], [fail('E0308'), fail('E0308')]]) {
      const outcome = afterwards(outcomes, pass('E0308'));
      expect(classified(outcome)).toEqual([]);
      expect(ledBy(outcome)).toBeNull();
    }
  });

  it('where only another task’s pattern is stuck', () => {
    const file = new FileHistory();
    file.failedBefore('other', ['E0106', 'E0106', 'E0106']);
    expect(classified(afterwards([fail('E0308')], pass(), file))).toEqual([]);
    expect(classified(afterwards([], pass('E0106'), file, { task: 'v' }))).toEqual([]);
  });

  it('where the decision that asked for it named a pattern that this task never failed with', () => {
    const file = new FileHistory({ ...new FileHistory().policy, probeRate: 0 });
    file.accept(afterwards(times(3, fail('E0308')), pass(), file).proposalId);
    file.failedBefore(
      'other',
      times(4, fail('E0106')).map(() => 'E0106'),
    );
    const opened = file.open({ task: 't' });
    expect(opened.next).toMatchObject({ rule: 'confirmed_capacity', pattern: 'e0106_missing_lifetime_specifier' });
    expect(classified(file.frontier(opened, pass()))).toEqual([]);
  });
});

describe('a frontier fail says task_hardness', () => {
  it('asked for: for the signal that led to it', () => {
    expect(classified(afterwards(times(3, fail('E0308')), fail('E0308')))).toEqual([
      ['task_hardness', 'per_pattern', 'e0308_type_mismatch'],
    ]);
  });

  it('not asked for, and with nothing that led to it', () => {
    expect(classified(afterwards([], fail('E0599')))).toEqual([['task_hardness', null, null]]);
  });

  it('once, however many patterns led to it', () => {
    const failure = fail('E0308', 'E0432');
    expect(classified(afterwards([fail('E0599'), fail('E0599'), failure, failure], fail()))).toHaveLength(1);
  });
});

it('a blocked frontier classifies nothing, whatever led to it', () => {
  const outcome = afterwards(times(3, fail('E0308')), blocked('rate_limit'));
  expect(classified(outcome)).toEqual([]);
  expect(outcome.types).not.toContain('TaskFlaggedForDecomposition');
});
