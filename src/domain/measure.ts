import { fisherExact, mcNemarExact, newcombe95, type Share, shareOf } from './statistics.js';

/** Sums over the dispatches of a group, as the read model keeps them. */
export interface Sums {
  dispatches: number;
  firstTries: number;
  firstTryPassed: number;
  withinBudgetPassed: number;
  attempts: number;
  escalations: number;
  sparedAttempts: number;
  frontierPasses: number;
  frontierFails: number;
  injectionEvents: number;
  injectedDispatches: number;
  promptTokens: number;
  completionTokens: number;
  frontierTokens: number;
  costNanoUsd: number;
  frontierCostNanoUsd: number;
  apartAbandoned: number;
  apartBlocked: number;
  unfinished: number;
  budgetSavedByBlocking: number;
  assignedDispatches: number;
  blocksWhole: number;
  blocksAltered: number;
  blocksMissing: number;
}

/** Sums of the dispatches of one arm, on cold files or on others. */
export interface GroupSums extends Sums {
  arm: string | null;
  cold: boolean;
}

/** How many tasks ran in both arms, by whether their first dispatch in each passed the first try, and within its budget. */
export interface PairCount {
  armA: string;
  armB: string;
  firstTryA: boolean;
  firstTryB: boolean;
  passedA: boolean;
  passedB: boolean;
  tasks: number;
}

/** A group of a report (domain.md, Measurement). Rates are of `dispatches`; `firstTryPass` is of those that the builder tried first. */
export interface Measured {
  dispatches: number;
  firstTryPass: Share;
  passedWithinBudget: Share;
  /** The builder's, passed or failed. */
  attempts: number;
  /** Dispatches that were sent to the frontier. */
  escalations: number;
  /** Of the builder's budget, what those left unspent that the frontier then ended. */
  sparedAttempts: number;
  frontierPasses: number;
  frontierFails: number;
  injections: { events: number; dispatches: number };
  /** Of the blocks of earlier attempts whose prompt was sent along: how they stood in it. */
  blocksInPrompts: { whole: number; altered: number; missing: number };
  /** Prompt and completion, of both seats, failed attempts included. */
  tokens: number;
  costUsd: number;
  frontier: { tokens: number; costUsd: number };
  /** Abandoned or blocked before a first pass or fail: no failures, and in nothing above but the injections and the costs. */
  apart: { abandoned: number; blocked: number };
  /** Attempts that blocked dispatches did not spend. */
  budgetSavedByBlocking: number;
  /** Open, without a pass or fail yet. */
  unfinished: number;
}

export type Stratum = 'all' | 'cold' | 'history';

/** One arm against another, a − b. `shown`: whether the data show a difference at all. */
export interface Comparison {
  /** Of all dispatches, or only of those on cold files, or on files with history: where a hint has something to say. */
  stratum: Stratum;
  metric: 'firstTryPass' | 'passedWithinBudget';
  arms: [a: string, b: string];
  difference: number;
  interval: [low: number, high: number];
  pValue: number;
  /** The tasks that ran in both arms, the first dispatch of each; null where there are none. */
  paired: { tasks: number; onlyA: number; onlyB: number; pValue: number } | null;
  shown: boolean;
  /** Whether chance alone put every dispatch of both arms where it is. */
  causal: boolean;
  sentence: string;
}

export interface Report {
  all: Measured;
  cold: Measured;
  history: Measured;
  arms: (Measured & { arm: string | null; cold: Measured; history: Measured })[];
  comparisons: Comparison[];
  /** What the figures can and cannot say. */
  notes: string[];
}

const NANO = 1e9;
const NOTES = [
  'Cold and history are not comparable: files with earlier failures are harder files. That gap is selection, not the effect of a hint.',
  'A comparison between arms is causal only where an experiment let chance alone decide which dispatch went into which arm.',
];

/** A report from the sums of its groups, and from the tasks that ran in several arms. */
export function reportOf(groups: readonly GroupSums[], pairs: readonly PairCount[]): Report {
  const of = (fits: (group: GroupSums) => boolean) => measuredOf(groups.filter(fits));
  const arms = [...new Set(groups.map(({ arm }) => arm))].sort((a, b) => (a === null ? 1 : b === null ? -1 : a < b ? -1 : 1));
  const named = arms.filter((arm) => arm !== null);
  return {
    all: of(() => true),
    cold: of(({ cold }) => cold),
    history: of(({ cold }) => !cold),
    arms: arms.map((arm) => ({
      arm,
      ...of((group) => group.arm === arm),
      cold: of((group) => group.arm === arm && group.cold),
      history: of((group) => group.arm === arm && !group.cold),
    })),
    comparisons: named.flatMap((a, i) => named.slice(i + 1).flatMap((b) => comparisonsOf(a, b, groups, pairs))),
    notes: NOTES,
  };
}

function measuredOf(groups: readonly Sums[]): Measured {
  const sum = (measure: keyof Sums) => groups.reduce((total, group) => total + group[measure], 0);
  const dispatches = sum('dispatches');
  return {
    dispatches,
    firstTryPass: shareOf(sum('firstTryPassed'), sum('firstTries')),
    passedWithinBudget: shareOf(sum('withinBudgetPassed'), dispatches),
    attempts: sum('attempts'),
    escalations: sum('escalations'),
    sparedAttempts: sum('sparedAttempts'),
    frontierPasses: sum('frontierPasses'),
    frontierFails: sum('frontierFails'),
    injections: { events: sum('injectionEvents'), dispatches: sum('injectedDispatches') },
    blocksInPrompts: { whole: sum('blocksWhole'), altered: sum('blocksAltered'), missing: sum('blocksMissing') },
    tokens: sum('promptTokens') + sum('completionTokens'),
    costUsd: sum('costNanoUsd') / NANO,
    frontier: { tokens: sum('frontierTokens'), costUsd: sum('frontierCostNanoUsd') / NANO },
    apart: { abandoned: sum('apartAbandoned'), blocked: sum('apartBlocked') },
    budgetSavedByBlocking: sum('budgetSavedByBlocking'),
    unfinished: sum('unfinished'),
  };
}

/** Over all, and by stratum where there are both: what happens on cold files dilutes what a hint does. Pairs are told over all only. */
function comparisonsOf(a: string, b: string, groups: readonly GroupSums[], pairs: readonly PairCount[]): Comparison[] {
  const ofArms = groups.filter(({ arm, dispatches }) => (arm === a || arm === b) && dispatches > 0);
  const ofPair = pairs.filter(({ armA, armB }) => armA === a && armB === b);
  const [cold, history] = [ofArms.filter((group) => group.cold), ofArms.filter((group) => !group.cold)];
  return [
    ...compare(a, b, 'all', ofArms, ofPair),
    ...(cold.length > 0 && history.length > 0 ? [...compare(a, b, 'cold', cold, []), ...compare(a, b, 'history', history, [])] : []),
  ];
}

function compare(a: string, b: string, stratum: Stratum, groups: readonly GroupSums[], pairs: readonly PairCount[]): Comparison[] {
  const [ofA, ofB] = [a, b].map((arm) => measuredOf(groups.filter((group) => group.arm === arm))) as [Measured, Measured];
  const causal = groups.every((group) => group.assignedDispatches === group.dispatches);
  return (['firstTryPass', 'passedWithinBudget'] as const).flatMap((metric) => {
    const [shareA, shareB] = [ofA[metric], ofB[metric]];
    if (shareA.of === 0 || shareB.of === 0) return [];
    const interval = newcombe95(shareA, shareB);
    const difference = shareA.rate! - shareB.rate!;
    const shown = interval[0] > 0 || interval[1] < 0;
    const paired = pairedOf(pairs, metric);
    const sentence = sentenceOf(a, b, { stratum, difference, interval, shown, causal, n: shareA.of + shareB.of });
    const arms: [string, string] = [a, b];
    return [{ stratum, metric, arms, difference, interval, pValue: fisherExact(shareA, shareB), paired, shown, causal, sentence }];
  });
}

function pairedOf(pairs: readonly PairCount[], metric: Comparison['metric']): Comparison['paired'] {
  const [inA, inB] = metric === 'firstTryPass' ? (['firstTryA', 'firstTryB'] as const) : (['passedA', 'passedB'] as const);
  const count = (fits: (pair: PairCount) => boolean) => pairs.filter(fits).reduce((sum, { tasks }) => sum + tasks, 0);
  const tasks = count(() => true);
  if (tasks === 0) return null;
  const onlyA = count((pair) => pair[inA] && !pair[inB]);
  const onlyB = count((pair) => !pair[inA] && pair[inB]);
  return { tasks, onlyA, onlyB, pValue: mcNemarExact(onlyA, onlyB) };
}

/** For a person: `no difference shown: hint − none −4 points, 95% interval −12 to +5, n = 120`. */
function sentenceOf(
  a: string,
  b: string,
  {
    stratum,
    difference,
    interval: [low, high],
    shown,
    causal,
    n,
  }: Pick<Comparison, 'stratum' | 'difference' | 'interval' | 'shown' | 'causal'> & { n: number },
): string {
  const where = { all: '', cold: ' on cold files', history: ' on files with history' }[stratum];
  const how = causal ? '' : ' (chance did not decide the arms)';
  const figures = `${points(difference)} points, 95% interval ${points(low)} to ${points(high)}, n = ${n}${where}${how}`;
  return shown ? `${a} − ${b}: ${figures}` : `no difference shown: ${a} − ${b} ${figures}`;
}

function points(difference: number): string {
  const rounded = Math.round(difference * 100);
  return rounded === 0 ? '0' : `${rounded < 0 ? '−' : '+'}${Math.abs(rounded)}`;
}
