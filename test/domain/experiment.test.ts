import fc from 'fast-check';
import { conditionOf } from '../../src/domain/experiment.js';
import { FileHistory } from './history.js';

const arms = [
  { arm: 'hint', weight: 3, carry: 'hint' as const },
  { arm: 'none', weight: 1, carry: 'none' as const },
];
const experiment = { name: 'e-1', arms };
const nothing = { arm: null, carry: null };
const task = (n: number, cold = true) => ({ repo: 'r', targetFile: `src/${n}.rs`, taskId: `t-${n}`, cold });

describe('the condition of a dispatch', () => {
  it('is what the caller says where it says anything, and the usual one without an experiment', () => {
    expect(conditionOf({ arm: 'mine', carry: null }, task(1), experiment)).toEqual({ arm: 'mine', carry: 'hint', assigned: null });
    expect(conditionOf({ arm: null, carry: 'none' }, task(1), experiment)).toEqual({ arm: null, carry: 'none', assigned: null });
    expect(conditionOf(nothing, task(1), undefined)).toEqual({ arm: null, carry: 'hint', assigned: null });
  });

  it('comes in shares of the weights, and says the chance it had', () => {
    const given = Array.from({ length: 4_000 }, (_, n) => conditionOf(nothing, task(n), experiment));
    const share = given.filter(({ arm }) => arm === 'hint').length / given.length;
    // Five standard errors around 3/4.
    expect(Math.abs(share - 0.75)).toBeLessThan(5 * Math.sqrt((0.75 * 0.25) / given.length));
    for (const { arm, carry, assigned } of given)
      expect([carry, assigned]).toEqual([arm, { experiment: 'e-1', stratum: 'cold', propensity: arm === 'hint' ? 0.75 : 0.25 }]);
  });

  it('is drawn anew for cold files and others, and for another experiment', () => {
    const of = (cold: boolean, name = 'e-1') =>
      Array.from({ length: 200 }, (_, n) => conditionOf(nothing, task(n, cold), { ...experiment, name }).arm).join();
    expect(new Set([of(true), of(false), of(true, 'e-2')]).size).toBe(3);
  });

  it('is the same for the same task, however often', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.boolean(), (targetFile, taskId, cold) => {
        const asked = { repo: 'r', targetFile, taskId, cold };
        expect(conditionOf(nothing, asked, experiment)).toEqual(conditionOf(nothing, asked, experiment));
      }),
    );
  });

  it('decides whether a hint is injected', () => {
    const injected = (weight: number) => {
      const file = new FileHistory();
      file.failedBefore('t', ['E0308']);
      file.policy = { ...file.policy, experiment: { name: 'e', arms: [arms[1]!, { ...arms[0]!, weight }] } };
      file.open({ task: 't', carry: null });
      return file.events.filter(({ type }) => type === 'HistoryInjected').length;
    };
    expect([injected(1e-9), injected(1e6)]).toEqual([0, 1]);
  });
});
