import { measureCoverage, SCENARIOS } from '../lib/coverage.mjs';
import { table } from '../lib/report.mjs';

/** Whether the reports say what is true of builders whose truth is known. No service, no clock: the same figures every time. */
export async function measureSimulated({ runs }) {
  const [{ conditionOf }, { reportOf }, { newcombe95, shareOf }] = await Promise.all(
    ['experiment', 'measure', 'statistics'].map((name) => import(`../../dist/src/domain/${name}.js`)),
  );
  const tables = Object.entries(SCENARIOS).map(([name, scenario]) => {
    const { truth, coverage, tests, biases, naive } = measureCoverage({ conditionOf, reportOf, newcombe95 }, scenario, { runs });
    const share = ({ name: title, metric, hits, passed }) => {
      const { rate, interval } = shareOf(hits, runs);
      return [title, metric, percent(rate), interval.map(percent).join(' to '), verdict(passed)];
    };
    const bias = ({ metric, bias: mean, standardError, passed }) => [
      'bias of hint − none, in points',
      ...[metric, points(mean), `standard error ${(standardError * 100).toFixed(2)}`, verdict(passed)],
    ];
    return table(
      `${name}: ${scenario.files} files, hint − none is truly ${points(truth.effect.firstTryPass)} points of first tries, ${points(truth.effect.passedWithinBudget)} of budgets`,
      [['', 'of', `share of ${runs} runs`, '95% of that share', ''], ...coverage.map(share), ...tests.map(share), ...biases.map(bias)],
      [
        `History − cold, taken for the effect of the hint, says ${points(naive.difference)} points; its interval covers the truth in ${percent(naive.covers / runs)} of runs.`,
      ],
    );
  });
  return tables.join('\n');
}

const verdict = (passed) => (passed === null ? '' : passed ? 'PASS' : 'FAIL');
const percent = (share) => `${(share * 100).toFixed(1)}%`;

function points(difference) {
  const text = (difference * 100).toFixed(1);
  return Number(text) === 0 ? '0.0' : `${difference > 0 ? '+' : '−'}${text.replace('-', '')}`;
}
