import { table, target } from '../lib/report.mjs';
import { figure, interleaved, ratios, Samples } from '../lib/statistics.mjs';

const KINDS = ['serviceDecides', 'tableDecides', 'rawDecides', 'serviceReads', 'tableReads', 'rawReads'];
/** Enough short files that the few attempts which each gets while it is measured leave it short. */
const FILES = { 10: 64, 1000: 2 };
const WARM_UP_COUNT = 64;
/** The rule in SQL takes tens of milliseconds on a long file: fewer calls tell as much. */
const SLOW_CALLS = 12;

/** Puts the files into the log and into the plain table. The projections must not run yet. */
export async function fillFiles({ options, load }) {
  await load.call('prepareDecide');
  const sizes = [10, 1000, options.longest];
  const lengths = [];
  let last = { position: '0' };
  for (const size of sizes) {
    const files = Array.from({ length: FILES[size] ?? 1 }, (_, i) => `src/of-${size}/file-${i}.rs`);
    for (const targetFile of files) last = await load.call('fillFile', { targetFile, attempts: size });
    lengths.push({ size, files, events: last.events });
  }
  await load.call('skipTo', last);
  return lengths;
}

export async function measureDeciding({ options, load }, lengths) {
  const samples = new Samples();
  const measures = lengths.flatMap((length) => KINDS.map((kind) => ({ ...length, kind })));
  const count = ({ kind, size }) => (kind.startsWith('table') && size > 1000 ? Math.min(SLOW_CALLS, options.decisions) : options.decisions);
  for (let done = 0; done < options.warmUp; done += 2 * WARM_UP_COUNT * lengths.length)
    for (const kind of ['serviceDecides', 'serviceReads'])
      for (const { files } of lengths) await load.call('decide', { kind, files, round: `warm-up-${done}`, count: WARM_UP_COUNT });
  for (const measure of measures) await load.call('decide', { ...measure, round: 'warm-up', count: count(measure) });
  await load.call('caughtUp');
  await interleaved(options.rounds, measures, async ({ kind, files, size, events: _events }, round) => {
    const { p50 } = await load.call('decide', { kind, files, round, count: count({ kind, size }) });
    samples.add(`${kind} ${size}`, p50);
    if (kind === 'serviceDecides') await load.call('caughtUp');
  });
  return [
    decisions(samples, lengths, 'Decides', 'Next-step decision: read, decide, append a small attempt (POST)'),
    decisions(samples, lengths, 'Reads', 'Next step, only read (GET /v1/memory)'),
  ].join('\n');
}

function decisions(samples, lengths, what, title) {
  const of = (kind, size) => samples.of(`${kind}${what} ${size}`);
  const flat = ratios(of('service', lengths.at(-1).size), of('service', lengths[0].size));
  const rows = lengths.map(({ size, events }) => [
    `${size.toLocaleString('en-US')} attempts (${events.toLocaleString('en-US')} events)`,
    ...['service', 'table', 'raw'].map((kind) => figure(of(kind, size), 'ms')),
    figure(ratios(of('service', size), of('table', size))),
    target(of('service', size), { atMost: 1, unit: ' ms' }),
  ]);
  return table(
    title,
    [
      ['p50, one at a time', 'service', 'the rule in SQL', 'raw client, tail', 'service : SQL', 'target (about)'],
      ...rows,
      ['longest : shortest', figure(flat), '', '', '', target(flat, { atMost: 1.5, unit: '×' })],
    ],
    what === 'Decides'
      ? [
          'SQL: live failures by pattern for file and model, less tasks that passed later, from a covering index; then an INSERT with a version',
          'check. Raw client: reads the last event, appends as many small events. The streams were filled by the rules, without HTTP.',
        ]
      : [],
  );
}
