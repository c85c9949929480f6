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
