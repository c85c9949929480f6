import { table, target } from '../lib/report.mjs';
import { figure, interleaved, Samples } from '../lib/statistics.mjs';

/** `indexed` makes the index that `kept` must not have, so it is measured in rounds of its own. */
const KINDS = ['asked', 'grouped', 'kept'];
const CALLS = { asked: 40, grouped: 3, kept: 10, indexed: 40 };

/** The 100 most frequent failures of all attempts. */
export async function measureHistogram({ options, load }) {
  const { attempts, files, rounds } = options;
  const { rows } = await load.call('fillHistogram', { attempts, files });
  const samples = new Samples();
  const measure = async (kind) => samples.add(kind, (await load.call('histogram', { kind, count: CALLS[kind] })).p50);
  for (const kind of KINDS) await load.call('histogram', { kind, count: CALLS[kind] });
  await interleaved(rounds, KINDS, measure);
  await interleaved(rounds, ['indexed'], measure);
  const figures = [...KINDS, 'indexed'].map((kind) => figure(samples.of(kind), 'ms'));
  return table(
    `Top 100 (file, pattern) of ${attempts.toLocaleString('en-US')} attempts on ${files.toLocaleString('en-US')} files (${rows.toLocaleString('en-US')} rows)`,
    [
      ['', 'service (GET)', 'GROUP BY', 'kept counters', '… with an index', 'target (about)'],
      ['p50, one at a time', ...figures, target(samples.of('asked'), { atMost: 30, unit: ' ms' })],
    ],
    ['The rows of the read model were written directly, to save the time of projecting them.'],
  );
}
