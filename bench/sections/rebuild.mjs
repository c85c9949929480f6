import { setTimeout as sleep } from 'node:timers/promises';
import { table, target } from '../lib/report.mjs';
import { figure, median } from '../lib/statistics.mjs';

const LOOK_EVERY_MS = 250;
const SETTLE_MS = 3_000;
const READS = 3;
const MOST_MIB = 400;
const LEAST_SHARE = 0.6;

/** All read models from the start of a large log: without and with a kill half-way, beside the client that only reads the same events. */
export async function measureRebuild({ options, load, restart, service: filled }) {
  const { events } = await load.call('fillLog', { events: options.logEvents, files: options.files });
  await load.call('skipToHead');
  const alone = [];
  for (let i = 0; i < READS; i += 1) {
    const read = await filled.call('readAlone');
    alone.push(read.events / read.seconds);
  }
  // What was filled and read is not to count as the rebuild's.
  const whole = await rebuilt(await restart());
  const first = await restart();
  const half = await rebuilt(first, { until: 0.5 });
  first.service.kill();
  const again = await restart();
  const rest = await followed(again, half.id);
  const { id } = await again.load.call('rebuild', { compare: true });
  const { differences } = await followed(again, id);
  const rates = [whole.events / whole.seconds];
  const share = rates.map((rate) => rate / median(alone));
  return table(
    `Rebuild of all projections: ${events.toLocaleString('en-US')} events on ${options.files.toLocaleString('en-US')} files`,
    [
      ['', 'figure', 'target'],
      ['client alone, same process', figure(alone, 'events/s')],
      ['rebuild', figure(rates, 'events/s')],
      ['rebuild : client alone', figure(share), target(share, { atLeast: LEAST_SHARE })],
      ['memory above idle', figure([whole.peakMiB], 'MiB'), target([whole.peakMiB], { atMost: MOST_MIB, unit: ' MiB' })],
      ['CPU of the process', figure([(1000 * whole.cpuMs) / whole.events], 'µs an event')],
      ['killed at', `${Math.round(100 * half.fraction)} %, resumed: ${rest.status} with ${rest.events.toLocaleString('en-US')} events`],
      ['a further rebuild, compared', differences.length === 0 ? 'no differences' : JSON.stringify(differences)],
    ],
    [
      'Node, client and projections share one process, in which a rebuild has a thread of its own; the client alone has that of the node.',
      'PostgreSQL is another process. Events are of 2.5 KB on average.',
    ],
  );
}

async function rebuilt(parts, { until = 1 } = {}) {
  await sleep(SETTLE_MS);
  const idle = await parts.service.call('usage');
  const began = performance.now();
  const { id } = await parts.load.call('rebuild', {});
  const { peakMiB, ...ended } = await followed(parts, id, until);
  const seconds = (performance.now() - began) / 1000;
  const { cpuMs } = await parts.service.call('usage');
  return { ...ended, id, seconds, peakMiB: peakMiB - idle.rssMiB, cpuMs: cpuMs - idle.cpuMs };
}

/** Until a rebuild has ended, or come so far. */
async function followed({ service, load }, id, until = 1) {
  for (let peakMiB = 0; ; await sleep(LOOK_EVERY_MS)) {
    peakMiB = Math.max(peakMiB, (await service.call('usage')).rssMiB);
    const progress = await load.call('rebuildProgress', { id });
    if (progress.error !== null) throw new Error(`the rebuild failed: ${progress.error}`);
    if (progress.status !== 'running' || (until < 1 && progress.fraction >= until)) return { ...progress, peakMiB };
  }
}
