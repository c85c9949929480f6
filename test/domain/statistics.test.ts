import { fisherExact, mcNemarExact, newcombe95, shareOf, wilson95 } from '../../src/domain/statistics.js';

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

/**
 * R. G. Newcombe, "Interval estimation for the difference between independent proportions: comparison of eleven methods", Statistics in
 * Medicine 17 (1998) 873–890, Table II, method 10 (hybrid score, without continuity correction).
 */
test.each([
  [56, 70, 48, 80, 0.0524, 0.3339],
  [9, 10, 3, 10, 0.1705, 0.809],
  [6, 7, 2, 7, 0.0582, 0.8062],
  [5, 56, 0, 29, -0.0381, 0.1926],
  [0, 10, 0, 20, -0.1611, 0.2775],
  [0, 10, 0, 10, -0.2775, 0.2775],
  [10, 10, 0, 20, 0.6791, 1],
  [10, 10, 0, 10, 0.6075, 1],
])('%i of %i against %i of %i: as Newcombe (1998) tabulates it', (countA, ofA, countB, ofB, low, high) => {
  const interval = newcombe95({ count: countA, of: ofA }, { count: countB, of: ofB });
  expect(interval[0]).toBeCloseTo(low, 4);
  expect(interval[1]).toBeCloseTo(high, 4);
});

describe('Fisher’s exact test', () => {
  test('a lady tasting tea: 3 of 4 against 1 of 4 (Agresti, Categorical Data Analysis, 1990, p. 61)', () => {
    expect(fisherExact({ count: 3, of: 4 }, { count: 1, of: 4 })).toBeCloseTo(0.4857, 4);
  });

  test('convictions of twins: 10 of 13 against 2 of 17 (Fisher 1962; as R documents fisher.test: p = 0.0005367)', () => {
    expect(fisherExact({ count: 10, of: 13 }, { count: 2, of: 17 })).toBeCloseTo(0.0005367, 7);
  });

  test('is 1 for equal arms, the same either way round, and holds for large numbers', () => {
    expect(fisherExact({ count: 5, of: 10 }, { count: 5, of: 10 })).toBe(1);
    expect(fisherExact({ count: 0, of: 10 }, { count: 0, of: 7 })).toBe(1);
    const [a, b] = [
      { count: 300, of: 5_000 },
      { count: 400, of: 5_200 },
    ];
    expect(fisherExact(a, b)).toBeCloseTo(fisherExact(b, a), 12);
    expect(fisherExact(a, b)).toBeLessThan(0.001);
  });
});

describe('McNemar’s exact test', () => {
  test('approval of a prime minister: 150 against 86 changed their mind (Agresti 1990, p. 350): p = 3.7e-5', () => {
    expect(mcNemarExact(150, 86)).toBeCloseTo(3.716e-5, 7);
  });

  test('is the binomial sign test: 1 against 9 gives 22/1024', () => {
    expect(mcNemarExact(1, 9)).toBeCloseTo(22 / 1024, 12);
    expect(mcNemarExact(9, 1)).toBe(mcNemarExact(1, 9));
    expect([mcNemarExact(0, 0), mcNemarExact(4, 4)]).toEqual([1, 1]);
  });
});
