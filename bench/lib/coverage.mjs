import { simulate, truthOf } from './simulated-builder.mjs';

const METRICS = ['firstTryPass', 'passedWithinBudget'];
const CLAIMED = 0.95;
/** How far chance alone takes a share of runs: one time in a thousand further than this many standard errors. */
const BOUND = 3.29;

/**
 * Reports of many simulated runs, held against what is true. `rules`: `conditionOf`, `reportOf` and `newcombe95` of the domain.
 *
 * - `coverage`: of each interval, in how many runs it held the truth. Passes within the bound around 95%.
 * - `tests`: how often Fisher's test saw a difference. Where there is none, that passes up to the bound above 5%: an exact test claims no more.
 * - `biases`: the mean error of hint less none. Passes within the bound around 0.
 * - `naive`: what comparing history to cold would have said: its mean `difference`, and in how many runs its interval `covers` the true effect.
 */
export function measureCoverage(rules, scenario, { runs, firstRun = 1 }) {
  const truth = truthOf(scenario);
  const covered = new Map();
  const positives = new Map(METRICS.map((metric) => [metric, 0]));
  const errors = new Map(METRICS.map((metric) => [metric, []]));
  const naive = { differences: [], covers: 0 };
  const count = (name, metric, hit) => covered.set(`${name}|${metric}`, (covered.get(`${name}|${metric}`) ?? 0) + (hit ? 1 : 0));
  for (let run = firstRun; run < firstRun + runs; run += 1) {
    const groups = simulate(rules.conditionOf, scenario, run);
    const whole = rules.reportOf(groups, []);
    const ofHistory = rules.reportOf(
      groups.filter(({ cold }) => !cold),
      [],
    );
    for (const metric of METRICS) {
      count('rate, cold files', metric, within(whole.cold[metric].interval, truth.cold[metric]));
      for (const { arm, history } of whole.arms)
        count(`rate, history, ${arm}`, metric, within(history[metric].interval, truth[arm][metric]));
      const compared = ofHistory.comparisons.find((comparison) => comparison.metric === metric);
      if (!compared.causal || compared.arms[0] !== 'hint') throw new Error('the arms were not drawn as the experiment says');
      count('difference, hint − none', metric, within(compared.interval, truth.effect[metric]));
      const overAll = whole.comparisons.find((comparison) => comparison.metric === metric);
      count('difference, all dispatches', metric, within(overAll.interval, truth.effectOverAll[metric]));
      positives.set(metric, positives.get(metric) + (compared.pValue < 1 - CLAIMED ? 1 : 0));
      errors.get(metric).push(compared.difference - truth.effect[metric]);
    }
    const { cold, history } = whole;
    naive.differences.push(history.firstTryPass.rate - cold.firstTryPass.rate);
    naive.covers += within(rules.newcombe95(history.firstTryPass, cold.firstTryPass), truth.effect.firstTryPass) ? 1 : 0;
  }
  const slack = BOUND * Math.sqrt((CLAIMED * (1 - CLAIMED)) / runs);
  const coverage = [...covered].map(([key, hits]) => {
    const [name, metric] = key.split('|');
    return { name: `interval covers: ${name}`, metric, hits, runs, passed: Math.abs(hits / runs - CLAIMED) <= slack };
  });
  const noEffect = METRICS.every((metric) => truth.effect[metric] === 0);
  const tests = METRICS.map((metric) => {
    const hits = positives.get(metric);
    const passed = noEffect ? hits / runs <= 1 - CLAIMED + slack : null;
    return { name: noEffect ? 'false positive: Fisher p < 0.05' : 'power: Fisher p < 0.05', metric, hits, runs, passed };
  });
  const biases = METRICS.map((metric) => {
    const { mean, standardError } = momentsOf(errors.get(metric));
    return { metric, bias: mean, standardError, passed: Math.abs(mean) <= BOUND * standardError };
  });
  return { truth, coverage, tests, biases, naive: { difference: momentsOf(naive.differences).mean, covers: naive.covers, runs } };
}

function within(interval, truth) {
  return interval[0] <= truth && truth <= interval[1];
}

function momentsOf(values) {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1);
  return { mean, standardError: Math.sqrt(variance / values.length) };
}

/** What the intervals are held against. In the last the hint helps and anchors at once, so that it does harm; its arms are uneven. */
export const SCENARIOS = {
  'no effect': { files: 160, effect: 0, anchoring: 0, weights: { hint: 1, none: 1 } },
  'no effect, few files': { files: 40, effect: 0, anchoring: 0, weights: { hint: 1, none: 1 } },
  'the hint helps': { files: 160, effect: 0.2, anchoring: 0, weights: { hint: 1, none: 1 } },
  'the hint anchors, 3 : 1': { files: 160, effect: 0.1, anchoring: 0.5, weights: { hint: 3, none: 1 } },
};
