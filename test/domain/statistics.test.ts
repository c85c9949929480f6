import { shareOf, wilson95 } from '../../src/domain/statistics.js';

/**
 * R. G. Newcombe, "Two-sided confidence intervals for the single proportion: comparison of seven methods", Statistics in Medicine 17
 * (1998) 857–872, Table I, method 3 (Wilson's score interval without continuity correction).
 */
test.each([
  [81, 263, 0.2553, 0.3662],
  [15, 148, 0.0624, 0.1605],
  [0, 20, 0, 0.1611],
  [1, 29, 0.0061, 0.1718],
])('%i of %i: as Newcombe (1998) tabulates it', (count, of, low, high) => {
  const interval = wilson95(count, of);
  expect(interval[0]).toBeCloseTo(low, 4);
  expect(interval[1]).toBeCloseTo(high, 4);
});

test('17 of 31: as the conformance suite has it', () => {
  const [low, high] = wilson95(17, 31);
  expect(low).toBeCloseTo(0.3777, 4);
  expect(high).toBeCloseTo(0.7084, 4);
});

test('the bounds are where the score test just does not refuse: |rate - p| = z √(p (1 - p) / n)', () => {
  for (const trials of [1, 2, 7, 31, 1000])
    for (const count of [0, 1, Math.floor(trials / 3), trials]) {
      const [low, high] = wilson95(count, trials);
      expect(low).toBeGreaterThanOrEqual(0);
      expect(high).toBeLessThanOrEqual(1);
      for (const p of [low, high].filter((bound) => bound > 0 && bound < 1))
        expect(Math.abs(count / trials - p)).toBeCloseTo(1.959964 * Math.sqrt((p * (1 - p)) / trials), 6);
    }
});

test('all and none end exactly at 1 and 0; a share of nothing is no share', () => {
  expect(wilson95(0, 3)[0]).toBe(0);
  expect(wilson95(3, 3)[1]).toBe(1);
  expect(shareOf(0, 0)).toEqual({ count: 0, of: 0, rate: null, interval: null });
  expect(shareOf(1, 4)).toMatchObject({ count: 1, of: 4, rate: 0.25 });
});
