import { seeded } from './random.mjs';

/**
 * A builder whose truth is known. Files are of these classes; `pass` is the chance that one attempt passes, without a hint. Some files are
 * beyond it. Every file is built cold; the files that failed their first try are built again, for another task: those have history. That is the
 * selection which makes history look harmful.
 */
const FILES = [
  { share: 0.2, pass: 0 },
  { share: 0.3, pass: 0.25 },
  { share: 0.3, pass: 0.55 },
  { share: 0.2, pass: 0.85 },
];
const BUDGET = 3;

/**
 * The chance that an attempt on a file passes. `effect`: what a hint adds to it, where there is any. `anchoring`: the chance that a builder
 * that is shown a failure only repeats it.
 */
function passOf({ pass }, { effect, anchoring }, hinted) {
  if (!hinted || pass === 0) return pass;
  return (1 - anchoring) * Math.min(1, pass + effect);
}

/**
 * The true rates of a scenario, each the chance that a dispatch of that kind comes to it; and hint less none, as `effect` where there is
 * history, as `effectOverAll` over all dispatches.
 */
export function truthOf(scenario) {
  const mean = (weight, rate) =>
    FILES.reduce((sum, file) => sum + weight(file) * rate(file), 0) / FILES.reduce((sum, file) => sum + weight(file), 0);
  const drawn = ({ share }) => share;
  const builtAgain = ({ share, pass }) => share * (1 - pass);
  const rates = (weight, hinted) => ({
    firstTryPass: mean(weight, (file) => passOf(file, scenario, hinted)),
    passedWithinBudget: mean(weight, (file) => 1 - (1 - passOf(file, scenario, hinted)) ** BUDGET),
  });
  const [cold, hint, none] = [rates(drawn, false), rates(builtAgain, true), rates(builtAgain, false)];
  // Of the files that are built cold, so many are built again; a hint says nothing on the others.
  const again = FILES.reduce((sum, file) => sum + builtAgain(file), 0);
  const difference = (share) => Object.fromEntries(Object.keys(hint).map((metric) => [metric, share * (hint[metric] - none[metric])]));
  return { cold, hint, none, effect: difference(1), effectOverAll: difference(again / (1 + again)) };
}

/**
 * The dispatches of one run, summed as the read model sums them. Arms are drawn by `conditionOf` of the rules, as for any dispatch.
 * `scenario`: `{ files, effect, anchoring, weights: { hint, none } }`.
 */
export function simulate(conditionOf, scenario, run) {
  const random = seeded(run);
  const arms = ['hint', 'none'].map((arm) => ({ arm, carry: arm, weight: scenario.weights[arm] }));
  const groups = new Map();
  const build = (file, n, cold) => {
    const asked = { repo: 'simulated', targetFile: `src/${n}.rs`, taskId: cold ? 'first' : 'second', cold };
    const { arm } = conditionOf({ arm: null, carry: null }, asked, { name: `run-${run}`, arms });
    const chance = passOf(file, scenario, !cold && arm === 'hint');
    let attempts = 0;
    let passed = false;
    while (!passed && attempts < BUDGET) {
      attempts += 1;
      passed = random() < chance;
    }
    const firstTry = passed && attempts === 1;
    const key = `${arm} ${cold}`;
    const group = groups.get(key) ?? { arm, cold, ...NOTHING };
    groups.set(key, {
      ...group,
      dispatches: group.dispatches + 1,
      assignedDispatches: group.assignedDispatches + 1,
      firstTries: group.firstTries + 1,
      firstTryPassed: group.firstTryPassed + (firstTry ? 1 : 0),
      withinBudgetPassed: group.withinBudgetPassed + (passed ? 1 : 0),
      attempts: group.attempts + attempts,
    });
    return firstTry;
  };
  for (let n = 0; n < scenario.files; n += 1) {
    const file = draw(random());
    if (!build(file, n, true)) build(file, n, false);
  }
  return [...groups.values()];
}

function draw(chance) {
  let passed = 0;
  return (
    FILES.find(({ share }) => {
      passed += share;
      return chance < passed;
    }) ?? FILES.at(-1)
  );
}

const NOTHING = Object.fromEntries(
  [
    ...['dispatches', 'firstTries', 'firstTryPassed', 'withinBudgetPassed', 'attempts', 'escalations', 'sparedAttempts', 'frontierPasses'],
    ...['frontierFails', 'injectionEvents', 'injectedDispatches', 'promptTokens', 'completionTokens', 'frontierTokens', 'costNanoUsd'],
    ...['frontierCostNanoUsd', 'apartAbandoned', 'apartBlocked', 'unfinished', 'budgetSavedByBlocking', 'assignedDispatches'],
    ...['blocksWhole', 'blocksAltered', 'blocksMissing'],
  ].map((measure) => [measure, 0]),
);
