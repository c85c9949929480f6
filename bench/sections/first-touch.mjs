import { startChild } from '../lib/child.mjs';
import { table, target } from '../lib/report.mjs';
import { figure } from '../lib/statistics.mjs';

const TOUCHES = { withSnapshot: 15, withoutSnapshot: 3 };

/** The first look at the longest file: in a new cache over the same stores, and by HTTP right after the service was started again. */
export async function measureFirstTouch({ options, service, load, restart }, { size, files, events }) {
  const { fileIdOf, fileStream } = await import('../../dist/src/domain/ids.js');
  const stream = fileStream(fileIdOf('bench', files[0]));
  const { databaseUrl, eventStoreUrl } = await service.call('addresses');
  await load.call('caughtUp');
  const toucher = await startChild('first-touch', { args: [databaseUrl, eventStoreUrl] });
  const without = [];
  const within = [];
  try {
    for (let i = 0; i < TOUCHES.withoutSnapshot; i += 1) without.push(await toucher.call('touch', { stream, withSnapshot: false }));
    await toucher.call('snapshot', { stream });
    for (let i = 0; i < TOUCHES.withSnapshot; i += 1) within.push(await toucher.call('touch', { stream, withSnapshot: true }));
  } finally {
    await toucher.stop();
  }
  const restarted = [];
  for (let i = 0; i < options.restarts; i += 1) {
    const again = await restart();
    restarted.push((await again.load.call('decide', { kind: 'serviceReads', files, round: 0, count: 1 })).p50);
  }
  return table(
    `First touch of the longest file (${size.toLocaleString('en-US')} attempts, ${events.toLocaleString('en-US')} events)`,
    [
      ['', 'time', 'target'],
      ['new cache, with snapshot', figure(within, 'ms'), target(within, { atMost: 50, unit: ' ms' })],
      ['new cache, without snapshot', figure(without, 'ms')],
      ['first request of a restarted service', figure(restarted, 'ms'), target(restarted, { atMost: 50, unit: ' ms' })],
    ],
    ['New cache: a new FileHistories over the same stores, in a process of its own.'],
  );
}
