import fc from 'fast-check';
import type { FileEvent } from '../../src/catalogue/events.js';
import type { Policy } from '../../src/catalogue/policy.js';
import { cutShort, SideSums } from '../../src/domain/course.js';
import { noInfraTrouble } from '../../src/domain/infra-breaker.js';
import { noPolicyYet } from '../../src/domain/policy-in-force.js';
import { type Difference, type OtherRules, Shadow } from '../../src/domain/shadow.js';
import { all, differently, fail, pass } from './builders.js';
import { FileHistory } from './history.js';
import { type Happening, happenings, lawPolicy, live } from './laws-commands.js';

/** Runs a file's commands again: what came of it, and which decisions came out otherwise. */
function again(commands: FileEvent[][], rules: Partial<OtherRules>, policy: Policy) {
  const shadow = new Shadow({ policy: {}, patterns: 'set', ...rules });
  const differences: Difference[] = [];
  let revision = 0;
  for (const command of commands) {
    const events = command.map((event) => ({ revision: revision++, event }));
    const difference = shadow.take({ events, policy: { ...noPolicyYet, policy }, infra: noInfraTrouble });
    if (difference !== null) differences.push(difference);
  }
  const sideOf = (course: Shadow['other']) => {
    const sums = new SideSums();
    sums.add(course);
    return sums.side();
  };
  return { recorded: sideOf(shadow.recorded), other: sideOf(shadow.other), differences, cutShort: cutShort(shadow.recorded, shadow.other) };
}

/** A file on which things happened, by command. */
function commandsOf(things: Happening[]): FileEvent[][] {
  const commands: FileEvent[][] = [];
  live(things, ({ events }) => {
    const told = commands.reduce((sum, { length }) => sum + length, 0);
    if (events.length > told) commands.push(events.slice(told));
  });
  return commands;
}

/** A file whose commands are kept apart. */
function scripted(policy: Policy = lawPolicy) {
  const file = new FileHistory(policy);
  const commands: FileEvent[][] = [];
  const taking = <A extends unknown[], R>(act: (...given: A) => R) => {
    return (...given: A): R => {
      const before = file.events.length;
      const result = act(...given);
      commands.push(file.events.slice(before));
      return result;
    };
  };
  return {
    file,
    commands,
    open: taking(file.open.bind(file)),
    attempt: taking(file.attempt.bind(file)),
    abandon: taking(file.abandon.bind(file)),
    correct: taking(file.correct.bind(file)),
    again: (rules: Partial<OtherRules>) => again(commands, rules, policy),
  };
}

/** Each failure like no other before it. */
let signatures = 0;
const failing = (...codes: string[]) => differently(fail(...codes), `signature-${signatures++}`);

describe('whatever happens to a file', () => {
  it('the rules that were in force decide the same again, and raise and clear the same signals', () => {
    let raised = 0;
    fc.assert(
      fc.property(happenings, (things) => {
        const commands = commandsOf(things);
        const { recorded, other, differences, ...rest } = again(commands, {}, lawPolicy);
        expect([other, differences, rest]).toEqual([recorded, [], { cutShort: 0 }]);
        raised += recorded.signals.raised;
        const told = all(commands.flat(), 'CalibrationSignalRaised').length;
        expect(recorded.signals.raised).toBe(told);
      }),
      { numRuns: 150 },
    );
    expect(raised).toBeGreaterThan(20);
  });

  it('after N failures, a dispatch is taken, and wrongly, and saves, as a count over the verdicts says', () => {
    let taken = 0;
    fc.assert(
      fc.property(happenings, fc.integer({ min: 1, max: 4 }), (things, n) => {
        const events = commandsOf(things.filter(({ kind }) => kind !== 'correct'));
        const counted = new Map<string, string[]>();
        for (const { seat, verdict, dispatchId, late } of all(events.flat(), 'VerdictReached'))
          if (seat === 'builder' && verdict !== 'blocked')
            counted.set(dispatchId, [...(counted.get(dispatchId) ?? []), late && verdict === 'fail' ? 'late' : verdict]);
        const expected = { dispatches: 0, wrong: 0, saved: 0 };
        for (const verdicts of counted.values()) {
          // A late failure fails, but nothing is decided of it any more.
          const at = verdicts.findIndex(
            (one, i) => one === 'fail' && verdicts.slice(0, i + 1).filter((each) => each !== 'pass').length >= n,
          );
          if (at < 0) continue;
          expected.dispatches += 1;
          expected.wrong += verdicts.slice(at).includes('pass') ? 1 : 0;
          expected.saved += verdicts.length - at - 1;
        }
        const { escalations } = again(events, { escalation: { afterFailures: n, of: 'dispatch' } }, { ...lawPolicy, probeRate: 1 }).other;
        const fromOpening = escalations.atAttempt['0'] ?? 0;
        if (fromOpening > 0) return;
        const { dispatches, wrong, saved } = escalations;
        expect({ dispatches, wrong: wrong.count, saved }).toEqual(expected);
        taken += dispatches;
      }),
      { numRuns: 150 },
    );
    expect(taken).toBeGreaterThan(100);
  });
});

describe('under another policy', () => {
  it('a lower threshold takes a dispatch earlier: what came after is saved, and wrong where the builder passed', () => {
    const { open, attempt, again: replay } = scripted();
    const { dispatchId } = open({ budget: 6 });
    for (const code of ['E0369', 'E0308', 'E0369', 'E0277']) attempt(dispatchId, failing(code));
    attempt(dispatchId, pass());
    const { recorded, other, differences } = replay({ policy: { perPattern: 2 } });
    expect(recorded.escalations).toMatchObject({ dispatches: 0, saved: 0 });
    expect(other.escalations).toMatchObject({ dispatches: 1, saved: 2, atAttempt: { 3: 1 }, wrong: { count: 1, of: 1, rate: 1 } });
    expect(other.signals).toEqual({ raised: 1, overcome: 1, clearedOtherwise: 0, live: 0, files: 1, filesOvercome: 1 });
    expect(differences.map(({ recorded: was, other: is }) => [was.rule, is.rule, is.evidence.length])).toEqual([
      ['within_budget', 'per_pattern', 2],
      ['within_budget', 'per_pattern', 2],
    ]);
  });

  it('a higher threshold cannot say what an attempt that nobody made would have been', () => {
    const { open, attempt, again: replay } = scripted();
    const { dispatchId } = open({ budget: 6, frontier: null });
    for (let i = 0; i < 3; i += 1) attempt(dispatchId, failing('E0369'));
    const { recorded, other, ...rest } = replay({ policy: { perPattern: 5 } });
    expect([recorded.byRule, other.byRule, rest.cutShort]).toEqual([{ per_pattern: 1 }, {}, 1]);
  });

  it('failures grow old', () => {
    const { file, open, attempt, again: replay } = scripted();
    const { dispatchId } = open({ budget: 6, leaseSeconds: 9_000 });
    for (let i = 0; i < 3; i += 1) {
      attempt(dispatchId, failing('E0369'));
      file.wait(600);
    }
    expect(replay({ policy: { failureMaxAgeSeconds: 900 } }).other.signals.raised).toBe(0);
    expect(replay({ policy: { failureMaxAgeSeconds: 1_300 } }).other.signals.raised).toBe(1);
  });

  it('with the first pattern alone, what comes second in an attempt raises nothing', () => {
    const { open, attempt, again: replay } = scripted();
    const { dispatchId } = open({ budget: 6 });
    for (const code of ['E0106', 'E0277', 'E0599']) attempt(dispatchId, failing(code, 'E0369'));
    const { recorded, other } = replay({ patterns: 'primary' });
    expect([recorded.signals.raised, other.signals.raised]).toEqual([1, 0]);
  });

  it('failures of a task are counted over its dispatches, and from its last pass on', () => {
    const { open, attempt, abandon, again: replay } = scripted();
    const step = (task: string, outcome: ReturnType<typeof fail>) => {
      const opened = open({ task, budget: 6, force: true });
      attempt(opened, outcome);
      if (outcome.verdict !== 'pass') abandon(opened);
    };
    for (const code of ['E0106', 'E0277']) step('t1', failing(code));
    step('t2', failing('E0599'));
    const rules = { escalation: { afterFailures: 2, of: 'task' } } as const;
    expect(replay(rules).other.escalations).toMatchObject({ dispatches: 1, atAttempt: { 1: 1 } });
    step('t1', pass());
    step('t1', failing('E0432'));
    expect(replay(rules).other.escalations.dispatches).toBe(1);
  });

  it('a pass that was corrected makes no decision wrong', () => {
    const { open, attempt, correct, again: replay } = scripted();
    const { dispatchId } = open({ budget: 6 });
    for (let i = 0; i < 2; i += 1) attempt(dispatchId, failing('E0369'));
    const { attemptId } = attempt(dispatchId, pass());
    expect(replay({ policy: { perPattern: 2 } }).other.bySignal.wrong.count).toBe(1);
    correct(attemptId, 'fail');
    expect(replay({ policy: { perPattern: 2 } }).other.bySignal.wrong).toMatchObject({ count: 0, of: 1 });
  });

  it('a signal that a flaky verifier raised is withdrawn, as it was: what it failed passed for another builder', () => {
    const { open, attempt, abandon, again: replay } = scripted();
    const first = open({ budget: 6 });
    for (let i = 0; i < 3; i += 1) attempt(first, failing('E0369'));
    abandon(first);
    attempt(open({ builder: 'builder-14b', force: true }), { ...pass(), output: fail().output });
    const { recorded, other, differences } = replay({});
    expect(other.signals).toMatchObject({ raised: 1, overcome: 0, clearedOtherwise: 1 });
    expect([other, differences]).toEqual([recorded, []]);
  });
});
