// @ts-expect-error: plain JavaScript, for the bench runs it without a build of its own.
import { measureCoverage, SCENARIOS } from '../../bench/lib/coverage.mjs';
import { conditionOf } from '../../src/domain/experiment.js';
import { type Report, reportOf } from '../../src/domain/measure.js';
import { newcombe95 } from '../../src/domain/statistics.js';

/** `npm run bench -- --only simulate` has more scenarios, and five times as many runs. */
const RUNS = { runs: 200 };
const rules = { conditionOf, reportOf, newcombe95 };
interface Check {
  name?: string;
  metric: string;
  passed: boolean | null;
}
const failed = (checks: Check[]) =>
  checks.filter(({ passed }) => passed === false).map(({ name, metric }) => `${name ?? 'bias'}, ${metric}`);

test.each(['no effect, few files', 'the hint anchors, 3 : 1'])(
  '%s: intervals cover what is true as often as they claim, and drawn arms are not biased',
  (name) => {
    const { coverage, tests, biases } = measureCoverage(rules, SCENARIOS[name], RUNS);
    expect(coverage).toHaveLength(10);
    expect(failed([...coverage, ...tests, ...biases])).toEqual([]);
  },
);

test('history against cold says that a hint without effect does harm', () => {
  const { truth, naive } = measureCoverage(rules, SCENARIOS['no effect, few files'], RUNS);
  expect(truth.effect.firstTryPass).toBe(0);
  expect(naive.difference).toBeLessThan(-0.1);
});

test('what is wrong is seen: intervals a quarter too narrow, and a difference that flatters one arm', () => {
  const narrowed = (report: Report): Report => ({
    ...report,
    comparisons: report.comparisons.map((comparison) => {
      const { difference, interval } = comparison;
      const nearer = (bound: number) => difference + 0.75 * (bound - difference);
      return { ...comparison, interval: [nearer(interval[0]), nearer(interval[1])] };
    }),
  });
  const narrow = measureCoverage(
    { ...rules, reportOf: (...given: Parameters<typeof reportOf>) => narrowed(reportOf(...given)) },
    SCENARIOS['no effect, few files'],
    RUNS,
  );
  expect(failed(narrow.coverage)).toContain('interval covers: difference, hint − none, firstTryPass');

  // As when the easier files are sent to that arm.
  const flattered = (report: Report): Report => ({
    ...report,
    comparisons: report.comparisons.map((comparison) => ({ ...comparison, difference: comparison.difference + 0.15 })),
  });
  const biased = measureCoverage(
    { ...rules, reportOf: (...given: Parameters<typeof reportOf>) => flattered(reportOf(...given)) },
    SCENARIOS['no effect, few files'],
    RUNS,
  );
  expect(failed(biased.biases)).toEqual(['bias, firstTryPass', 'bias, passedWithinBudget']);
});
