import { policy } from '../../src/catalogue/policy.js';
import type { Outcome } from './builders.js';
import { blocked, differently, fail, only, pass, unsure } from './builders.js';
import { decided, FileHistory } from './history.js';
import type { Opening } from './specification.js';

/** What a dispatch is told after each of some attempts. */
function steps(outcomes: Outcome[], asked: Opening = {}, file = new FileHistory()): string[] {
  const dispatch = file.open({ task: 't', ...asked });
  return outcomes.map((outcome) => decided(file.attempt(dispatch, outcome)));
}
const withHistory = (task: string, failures: (string | string[])[]) => {
  const file = new FileHistory();
  file.failedBefore(task, failures);
  return file;
};

describe('after a builder attempt: the first rule that holds wins', () => {
  it('1 passed: done, and the dispatch is closed', () => {
    const file = new FileHistory();
    const passed = file.attempt(file.open(), pass());
    expect(decided(passed)).toBe('done passed');
    expect(only(passed.events, 'DispatchClosed')).toMatchObject({ outcome: 'passed', cause: null });
  });

  it('1 passed comes before everything: a pass with the last of the budget, under a live signal', () => {
    expect(steps([fail('E0308'), pass()], { budget: 2 }, withHistory('t', ['E0308', 'E0308']))).toEqual([
      'retry within_budget',
      'done passed',
    ]);
  });

  it('2 infra_blocked: stop, closed as blocked, no budget spent, no failure', () => {
    const file = new FileHistory();
    const dispatch = file.open();
    const stopped = file.attempt(dispatch, blocked('dns'));
    expect(decided(stopped)).toBe('stop infra_blocked');
    expect(only(stopped.events, 'DispatchClosed').outcome).toBe('blocked');
    expect(file.dispatch(dispatch).counted).toBe(0);
  });

  it('2 undecided: the verifier is asked once more, before the revert; what it says then counts', () => {
    expect(steps([unsure(blocked('killed')), pass()])).toEqual(['reverify undecided', 'done passed']);
    expect(steps([unsure(blocked('killed')), fail('E0308')])).toEqual(['reverify undecided', 'retry within_budget']);
    expect(steps([unsure(blocked('killed')), unsure(blocked('killed'))])).toEqual(['reverify undecided', 'stop infra_blocked']);
    expect(steps([unsure(blocked('killed')), fail('E0308'), unsure(blocked('killed'))])[2]).toBe('reverify undecided');
    const file = new FileHistory();
    const dispatch = file.open({ budget: 1 });
    const asked = file.attempt(dispatch, unsure(blocked('killed')));
    expect([asked.next.terminal, file.dispatch(dispatch).status, file.dispatch(dispatch).counted]).toEqual([false, 'open', 0]);
  });

  it('failures that the text left open are no evidence for a signal', () => {
    expect(
      steps([unsure(fail('E0369')), unsure(fail('E0106')), unsure(fail('E0369')), unsure(fail('E0369'))], { budget: 9 }),
    ).not.toContain('escalate per_pattern');
  });

  it('3 a live signal escalates from the second counted attempt on, and not from the first', () => {
    expect(steps([fail('E0369'), fail('E0369')], {}, withHistory('t', ['E0369', 'E0369', 'E0369']))).toEqual([
      'retry within_budget',
      'escalate per_pattern',
    ]);
  });

  it('3 a first attempt that spends the budget escalates too', () => {
    expect(steps([fail('E0369')], { budget: 1 }, withHistory('t', ['E0369', 'E0369', 'E0369']))).toEqual(['escalate per_pattern']);
  });

  it('3 the decision names the pattern, how often, the threshold and the attempts', () => {
    const file = new FileHistory();
    const earlier = file.failedBefore('t', ['E0369', 'E0369']);
    const dispatch = file.open({ task: 't' });
    const first = file.attempt(dispatch, fail('E0369'));
    const { next, attemptId } = file.attempt(dispatch, fail('E0369'));
    expect(next).toMatchObject({ pattern: 'e0369_missing_trait_bound', occurrences: 4, threshold: 3, terminal: false });
    expect(next.evidence).toEqual([...earlier, first.attemptId, attemptId]);
  });

  it('3 a signal whose pattern failed no attempt of this dispatch does not escalate it', () => {
    const told = steps([fail('E0308'), fail('E0277'), fail('E0106')], {}, withHistory('other', ['E0106', 'E0106', 'E0106']));
    expect(told).toEqual(['retry within_budget', 'retry within_budget', 'escalate per_pattern']);
  });

  it('3 a pattern that failed an earlier attempt of this dispatch is enough', () => {
    expect(steps([fail('E0106'), fail('E0308')], {}, withHistory('other', ['E0106', 'E0106', 'E0106']))[1]).toBe('escalate per_pattern');
  });

  it('3 a per_file signal is every dispatch’s', () => {
    const file = withHistory('other', ['E0106', 'E0106', 'E0308', 'E0308', 'E0599', 'E0599']);
    expect(steps([fail('E0432'), fail('E0425')], {}, file)[1]).toBe('escalate per_file');
  });

  it('3 per_pattern comes before per_file, though that has more occurrences', () => {
    const file = withHistory('other', ['E0106', 'E0106', 'E0308', 'E0308', 'E0599', 'E0599', 'E0277', 'E0277', 'E0277']);
    expect(file.signals).toEqual(['per_file:', 'per_pattern:E0277']);
    expect(steps([fail('E0277'), fail('E0432')], {}, file)[1]).toBe('escalate per_pattern');
  });

  it('3 of several stuck patterns: one of this attempt, then the most occurrences, then the newest', () => {
    const named = (history: string[], outcomes: Outcome[]) => {
      const file = withHistory('other', history);
      const dispatch = file.open({ task: 't', budget: 9 });
      return outcomes.map((outcome) => file.attempt(dispatch, outcome).next.pattern).at(-1);
    };
    const many = ['E0308', 'E0308', 'E0308', 'E0308', 'E0599', 'E0599', 'E0599'];
    expect(named(many, [fail('E0308'), fail('E0599')])).toBe('e0599_no_method');
    expect(named(many, [fail('E0308', 'E0599'), fail('E0432')])).toBe('e0308_type_mismatch');
    expect(named(many, [fail('E0599', 'E0308'), fail('E0599', 'E0308')])).toBe('e0308_type_mismatch');
    const equal = ['E0308', 'E0308', 'E0599', 'E0599'];
    expect(named(equal, [fail('E0308'), fail('E0599'), fail('E0432')])).toBe('e0599_no_method');
    expect(named(equal, [fail('E0599'), fail('E0308'), fail('E0432')])).toBe('e0308_type_mismatch');
  });

  it('3 without a frontier it stops, and the dispatch was futile', () => {
    const file = withHistory('t', ['E0308', 'E0308']);
    const dispatch = file.open({ task: 't', frontier: null });
    file.attempt(dispatch, fail('E0308'));
    const stopped = file.attempt(dispatch, fail('E0308'));
    expect(decided(stopped)).toBe('stop per_pattern');
    expect(only(stopped.events, 'DispatchClosed').outcome).toBe('futile');
  });

  it('3 comes before 4: with the budget spent and a signal live, the frontier is asked and the dispatch stays open', () => {
    const file = withHistory('t', ['E0308', 'E0308']);
    const dispatch = file.open({ task: 't', budget: 1 });
    const spent = file.attempt(dispatch, fail('E0308'));
    expect(decided(spent)).toBe('escalate per_pattern');
    expect(spent.types).not.toContain('DispatchClosed');
  });

  it('4 budget_exhausted: stop, closed as exhausted', () => {
    const file = new FileHistory();
    const dispatch = file.open({ budget: 2 });
    file.attempt(dispatch, fail('E0308'));
    const spent = file.attempt(dispatch, fail('E0599'));
    expect(decided(spent)).toBe('stop budget_exhausted');
    expect(only(spent.events, 'DispatchClosed').outcome).toBe('exhausted');
  });

  it('4 comes before 5 and 6: a repeated signature with the budget spent stops', () => {
    expect(steps([fail('E0308'), fail('E0308')], { budget: 2 })).toEqual(['retry within_budget', 'stop budget_exhausted']);
  });

  it('6 then 5: the same signature asks for a new plan, and after that for the frontier', () => {
    const told = steps([fail('E0308'), fail('E0308'), fail('E0599'), fail('E0599')], { budget: 8 });
    expect(told).toEqual(['retry within_budget', 'replan repeated_signature', 'retry within_budget', 'escalate repeated_signature']);
  });

  it('5 without a frontier: retry', () => {
    const told = steps([fail('E0308'), fail('E0308'), fail('E0599'), fail('E0599')], { budget: 8, frontier: null });
    expect(told.at(-1)).toBe('retry repeated_signature');
  });

  it('6 a signature is looked for in all earlier attempts of the dispatch, not only the last', () => {
    expect(steps([fail('E0308'), fail('E0599'), fail('E0308')])[2]).toBe('replan repeated_signature');
  });

  it('6 but not in other dispatches', () => {
    expect(steps([fail('E0308')], {}, withHistory('t', ['E0308']))).toEqual(['retry within_budget']);
  });

  it('6 equal patterns with another signature are another failure; no signature equals nothing', () => {
    expect(steps([fail('E0308'), differently(fail('E0308'), 'other way')])[1]).toBe('retry within_budget');
    expect(steps([fail(), fail(), fail()])).toEqual(['retry within_budget', 'retry within_budget', 'retry within_budget']);
  });

  it('3 comes before 5 and 6: a stuck pattern that repeats escalates as per_pattern', () => {
    expect(steps([fail('E0308'), fail('E0308'), fail('E0308')])).toEqual([
      'retry within_budget',
      'replan repeated_signature',
      'escalate per_pattern',
    ]);
  });

  it('from which attempt a signal escalates is policy', () => {
    const file = new FileHistory(policy.parse({ escalateFromAttempt: 1, perPattern: 2 }));
    file.failedBefore('t', ['E0308']);
    expect(steps([fail('E0308')], {}, file)).toEqual(['escalate per_pattern']);
  });
});

describe('the budget', () => {
  it('spent, it takes no further attempt of the builder, though the dispatch is open', () => {
    const file = withHistory('t', ['E0308', 'E0308']);
    const dispatch = file.open({ task: 't', budget: 1 });
    file.attempt(dispatch, fail('E0308'));
    expect(() => file.attempt(dispatch, pass())).toThrow('budget');
    expect(decided(file.frontier(dispatch, pass()))).toBe('done frontier_passed');
  });

  it('is four counted attempts with the default policy', () => {
    expect(policy.parse({}).defaultBudget).toBe(4);
    expect(steps(['E0308', 'E0599', 'E0277', 'E0432'].map((code) => fail(code))).at(-1)).toBe('stop budget_exhausted');
  });
});

describe('advice is not a lock', () => {
  it('attempts after replan and escalate are recorded, and each is answered anew', () => {
    const told = steps([fail('E0308'), fail('E0308'), fail('E0308'), fail('E0308'), pass()], { budget: 5 });
    expect(told).toEqual([
      'retry within_budget',
      'replan repeated_signature',
      'escalate per_pattern',
      'escalate per_pattern',
      'done passed',
    ]);
  });
});
