import { createHash } from 'node:crypto';
import { policy } from '../../src/catalogue/policy.js';
import { fail, pass } from './builders.js';
import { decided, FileHistory, type Turn } from './history.js';
import { dispatchId, given, type Opening, opening } from './specification.js';

/** Never a probe: what chance does is looked at below. */
const certain = policy.parse({ probeRate: 0 });

/** A builder failed the task three times, a frontier passed it, and the proposal is out of the way. */
function solvedByFrontier(usedPolicy = certain): FileHistory {
  const file = new FileHistory(usedPolicy);
  const dispatch = file.open({ task: 't' });
  for (const _ of [1, 2, 3]) file.attempt(dispatch, fail('E0308'));
  return accepted(file, file.frontier(dispatch, pass()));
}

function accepted(file: FileHistory, { proposalId }: Turn): FileHistory {
  file.accept(proposalId);
  return file;
}

const asks = (file: FileHistory, asked: Opening = {}) => decided(file.open({ task: 't', ...asked }));

describe('a task goes straight to the frontier', () => {
  it('where the frontier passed it and the signal still lives', () => {
    expect(asks(solvedByFrontier())).toBe('escalate confirmed_capacity');
  });

  it('to whichever frontier is asked for: one passed it', () => {
    expect(asks(solvedByFrontier(), { frontier: 'claude-next' })).toBe('escalate confirmed_capacity');
  });

  it('not without a frontier', () => {
    expect(asks(solvedByFrontier(), { frontier: null })).toBe('attempt history');
  });

  it('not another task, whatever the patterns: it gets the signal and the hint', () => {
    expect(asks(solvedByFrontier(), { task: 'u' })).toBe('attempt history');
  });

  it('not without a live signal', () => {
    const file = new FileHistory(certain);
    const dispatch = file.open({ task: 't' });
    for (const _ of [1, 2]) file.attempt(dispatch, fail('E0308'));
    expect(asks(accepted(file, file.frontier(dispatch, pass())))).toBe('attempt history');
  });

  it('not for another builder: the signal is not its own', () => {
    expect(asks(solvedByFrontier(), { builder: 'builder-14b' })).toBe('attempt history');
  });

  it('not after the builder has passed it since, though another task keeps a signal alive', () => {
    const file = solvedByFrontier();
    file.failedBefore('u', ['E0599', 'E0599', 'E0599']);
    accepted(file, file.attempt(file.open({ task: 't', force: true }), pass()));
    expect(file.signals).toEqual(['per_pattern:E0599']);
    expect(asks(file)).toBe('attempt history');
  });

  it('again where the builder’s pass lies before the frontier’s', () => {
    const file = new FileHistory(certain);
    accepted(file, file.attempt(file.open({ task: 't' }), pass()));
    const dispatch = file.open({ task: 't' });
    for (const _ of [1, 2, 3]) file.attempt(dispatch, fail('E0308'));
    expect(asks(accepted(file, file.frontier(dispatch, pass())))).toBe('escalate confirmed_capacity');
  });

  it('names, of several signals, the one with the most occurrences, then the newest', () => {
    const file = solvedByFrontier();
    file.failedBefore('u', ['E0599', 'E0599', 'E0599']);
    const newest = file.open({ task: 't' });
    expect(newest.next.pattern).toBe('e0599_no_method');
    file.abandon(newest);
    file.failedBefore('v', ['E0308']);
    file.failedBefore('w', ['E0277']);
    expect(file.open({ task: 't' }).next).toMatchObject({ pattern: 'e0308_type_mismatch', occurrences: 4, threshold: 3 });
  });
});

describe('one in ten confirmed capacities is probed with the builder', () => {
  const { events } = solvedByFrontier(policy.parse({}));
  const rules = Array.from({ length: 2000 }, (_, i) => {
    const file = new FileHistory();
    file.append(events);
    return file.open({ task: 't', unique: `p${i}` }).next;
  });
  const probes = rules.filter(({ rule }) => rule === 'capacity_probe');

  it('about one in ten, by nothing but the dispatch id', () => {
    expect(probes.length).toBeGreaterThan(140);
    expect(probes.length).toBeLessThan(260);
    expect(rules.length - probes.length).toBe(rules.filter(({ rule }) => rule === 'confirmed_capacity').length);
  });

  it('says attempt, and with which probability it said what it said', () => {
    for (const { step, rule, propensity, terminal } of rules) {
      expect([step, propensity, terminal]).toEqual(rule === 'capacity_probe' ? ['attempt', 0.1, false] : ['escalate', 0.9, false]);
    }
  });

  it('the same id is decided the same again', () => {
    for (const i of [0, 7, 42]) {
      const { rule, step } = rules[i]!;
      given(events)
        .when(opening({ task: 't', unique: `p${i}` }))
        .thenNamed(['DispatchOpened'], ['HistoryInjected'], ['NextStepDecided', { rule, step }]);
    }
  });

  it('never at rate 0, always at rate 1', () => {
    const file = new FileHistory(policy.parse({ probeRate: 1 }));
    file.append(events);
    expect(decided(file.open({ task: 't' }))).toBe('attempt capacity_probe');
  });

  it('no other rule has a propensity', () => {
    const file = new FileHistory();
    expect(file.open().next.propensity).toBeNull();
    expect(file.attempt(dispatchId('n1'), fail('E0308')).next.propensity).toBeNull();
  });

  it('ids that look alike are spread evenly', () => {
    const spread = new Set(rules.map(({ inputs }) => createHash('sha256').update(inputs.dispatchId).digest('hex').slice(0, 1)));
    expect(spread.size).toBe(16);
  });
});
