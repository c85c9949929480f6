import { setTimeout as sleep } from 'node:timers/promises';
import { table, target } from '../lib/report.mjs';
import { figure, interleaved, ratios, Samples } from '../lib/statistics.mjs';

const KINDS = ['viaService', 'table', 'raw'];
const AT_ONCE = 64;
const SAMPLE_MEMORY_EVERY_MS = 200;

/** Recording an attempt of about 9 KB, beside the plain table and the raw client; and what memory the service takes meanwhile. */
export async function measureRecording({ options, service, load }) {
  const samples = new Samples();
  await service.call('run');
  const { events } = await load.call('prepareRecord');
  await sleep(2_000);
  const idle = (await service.call('usage')).rssMiB;
  const watch = watchMemory(service);
  for (const kind of KINDS) {
    await load.call('makeReady', { kind, round: 'warm-up', count: options.warmUp });
    await load.call('makeCalls', { concurrency: AT_ONCE });
  }

  const measure = (concurrency, count) => async (kind, round) => {
    const name = `${kind} ${concurrency}`;
    await load.call('makeReady', { kind, round: `${round}-${concurrency}`, count });
    await load.call('caughtUp');
    const before = await service.call('usage');
    const began = performance.now();
    const result = await load.call('makeCalls', { concurrency });
    await load.call('caughtUp');
    const spent = (await service.call('usage')).cpuMs - before.cpuMs;
    for (const [figureName, value] of Object.entries(result)) samples.add(`${name} ${figureName}`, value);
    samples.add(`${name} cpu`, spent / count);
    samples.add(`${name} sustained`, (count * 1000) / (performance.now() - began));
  };
  await interleaved(options.rounds, KINDS, measure(1, options.sequential));
  await interleaved(options.rounds, KINDS, measure(AT_ONCE, options.concurrent));
  const most = watch.stop();
  await sleep(options.restSeconds * 1000);
  const after = (await service.call('usage')).rssMiB;
  return [timesAndRates(samples, events), memory({ idle, most, after }, options)].join('\n');
}

function timesAndRates(samples, events) {
  const row = (label, name, unit) => [label, ...KINDS.map((kind) => figure(samples.of(`${kind} ${name}`), unit))];
  const slower = ratios(samples.of('viaService 1 p50'), samples.of('table 1 p50'));
  const rate = ratios(samples.of('viaService 64 rate'), samples.of('table 64 rate'));
  const ofRaw = ratios(samples.of('viaService 64 rate'), samples.of('raw 64 rate'));
  return table(
    'Record an attempt (output 4 KiB, diff 2 KiB, cargo text 2 KiB, all unique)',
    [
      ['', 'service (POST)', 'plain table', 'raw client', 'service : table', 'target'],
      [...row('sequential, p50', '1 p50', 'ms'), figure(slower), target(slower, { atMost: 3.5, unit: '×' })],
      row('sequential, p99', '1 p99', 'ms'),
      [...row(`${AT_ONCE} at once, rate`, '64 rate', '/s'), figure(rate), target(rate, { atLeast: 0.35 })],
      row(`${AT_ONCE} at once, p50`, '64 p50', 'ms'),
      row(`${AT_ONCE} at once, p99`, '64 p99', 'ms'),
      ['… with the read models', figure(samples.of('viaService 64 sustained'), '/s')],
      ['CPU of the service’s process', ...KINDS.map((kind) => figure(samples.of(`${kind} 64 cpu`), 'ms'))],
    ],
    [
      `Plain table: one INSERT with a version check, a transaction each, same bytes, same server. Raw client: the same ${events} events in the`,
      `same two appends to the same node, from the callers' process. Service at ${figure(ofRaw)} of the raw client's rate.`,
      'With the read models: until every projection has the attempts too. CPU: of service, node and projections for one call; it depends',
      'least on what else the machine does. emmett-postgresql is not installed: its 1,380/s is the figure of the issue, not measured here.',
    ],
  );
}

function memory({ idle, most, after }, { restSeconds }) {
  return table('Memory of the service’s process (RSS, node and client included, PostgreSQL not)', [
    ['idle', 'under load, most', `${restSeconds} s after`],
    [idle, most, after].map((mib) => `${Math.round(mib)} MiB`),
  ]);
}

function watchMemory(service) {
  let most = 0;
  const timer = setInterval(async () => {
    const usage = await service.call('usage').catch(() => ({ rssMiB: 0 }));
    most = Math.max(most, usage.rssMiB);
  }, SAMPLE_MEMORY_EVERY_MS);
  return {
    stop() {
      clearInterval(timer);
      return most;
    },
  };
}
