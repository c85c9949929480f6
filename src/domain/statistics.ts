/** The 97.5% quantile of the standard normal distribution: what a two-sided 95% interval reaches to. */
const Z95 = 1.959963984540054;

/** A share of something: `count` of `of`. `interval` is [low, high] of its 95% confidence interval; both are null where `of` is 0. */
export interface Share {
  count: number;
  of: number;
  rate: number | null;
  interval: [low: number, high: number] | null;
}

/**
 * The share of `count` in `of`, with Wilson's 95% score interval without continuity correction (E. B. Wilson, JASA 22, 1927; method 3 of
 * R. G. Newcombe, Statistics in Medicine 17, 1998): it stays within 0 and 1, and means something for small numbers too.
 */
export function shareOf(count: number, of: number): Share {
  if (of === 0) return { count, of, rate: null, interval: null };
  return { count, of, rate: count / of, interval: wilson95(count, of) };
}

/** `count` successes of `of` > 0 trials, as shares between 0 and 1. */
export function wilson95(count: number, of: number): [low: number, high: number] {
  const rate = count / of;
  const spread = 1 + Z95 ** 2 / of;
  const centre = (rate + Z95 ** 2 / (2 * of)) / spread;
  const half = (Z95 / spread) * Math.sqrt((rate * (1 - rate)) / of + Z95 ** 2 / (4 * of ** 2));
  // Where nothing or everything succeeded, rounding would leave the bound a hair off 0 or 1.
  return [count === 0 ? 0 : centre - half, count === of ? 1 : centre + half];
}

/** Successes among trials of one arm. */
export interface Trials {
  count: number;
  of: number;
}

/**
 * The 95% interval of the difference of two independent shares, a − b, from the two Wilson intervals (R. G. Newcombe, "Interval estimation
 * for the difference between independent proportions: comparison of eleven methods", Statistics in Medicine 17, 1998, method 10). Both
 * arms have trials.
 */
export function newcombe95(a: Trials, b: Trials): [low: number, high: number] {
  const difference = a.count / a.of - b.count / b.of;
  const [lowA, highA] = wilson95(a.count, a.of);
  const [lowB, highB] = wilson95(b.count, b.of);
  const below = Math.hypot(a.count / a.of - lowA, highB - b.count / b.of);
  const above = Math.hypot(highA - a.count / a.of, b.count / b.of - lowB);
  return [difference - below, difference + above];
}

/** Probabilities that differ by rounding alone are one. */
const SAME = 1 + 1e-7;

/**
 * Fisher's exact test, two-sided, of whether two arms differ: the share of all tables with these margins that are no likelier than the one
 * seen (R. A. Fisher, Statistical Methods for Research Workers, 1934, section 21.02; the two-sided rule is that of R's `fisher.test`).
 */
export function fisherExact(a: Trials, b: Trials): number {
  const successes = a.count + b.count;
  const total = a.of + b.of;
  const logOf = (count: number) => logChoose(a.of, count) + logChoose(b.of, successes - count) - logChoose(total, successes);
  const seen = Math.exp(logOf(a.count)) * SAME;
  let sum = 0;
  for (let count = Math.max(0, successes - b.of); count <= Math.min(a.of, successes); count += 1) {
    const probability = Math.exp(logOf(count));
    if (probability <= seen) sum += probability;
  }
  return Math.min(1, sum);
}

/**
 * McNemar's test, exact and two-sided, where the same tasks ran in both arms: `onlyA` passed in the first only, `onlyB` in the second
 * only. Tasks that came out alike say nothing about a difference (Q. McNemar, Psychometrika 12, 1947; exact: binomial with 1/2).
 */
export function mcNemarExact(onlyA: number, onlyB: number): number {
  const discordant = onlyA + onlyB;
  if (discordant === 0) return 1;
  let tail = 0;
  for (let count = 0; count <= Math.min(onlyA, onlyB); count += 1) tail += Math.exp(logChoose(discordant, count) - discordant * Math.LN2);
  return Math.min(1, 2 * tail);
}

const logFactorials: number[] = [0];

function logFactorial(n: number): number {
  for (let i = logFactorials.length; i <= n; i += 1) logFactorials.push(logFactorials[i - 1]! + Math.log(i));
  return logFactorials[n]!;
}

function logChoose(n: number, k: number): number {
  return logFactorial(n) - logFactorial(k) - logFactorial(n - k);
}
