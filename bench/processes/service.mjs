import 'reflect-metadata';
import { constants, PerformanceObserver } from 'node:perf_hooks';
import { EventStoreDBClient, streamNameFilter } from '@eventstore/db-client';
import { pino } from 'pino';
import { assemble } from '../../dist/src/app.module.js';
import { readConfig } from '../../dist/src/config.js';
import { FOLLOWED_STREAMS } from '../../dist/src/domain/ids.js';
import { startEngines } from '../../dist/src/embedded/engines.js';
import { createApp } from '../../dist/src/http/create-app.js';
import { answerCalls } from '../lib/answer-calls.mjs';

// The service as dist/src/main.js starts it, in a process of its own, but for two things: it tells where its engines listen, so that the
// references use the very same ones, and its projections and saga begin when they are told to, so that a log can be filled before.
const [dataDir] = process.argv.slice(2);
const config = readConfig({ ANVIL_DATA_DIR: dataDir });
const logger = pino(
  { base: undefined, timestamp: pino.stdTimeFunctions.isoTime, level: config.logLevel },
  pino.destination({ fd: 2, sync: true }),
);
const report = (message) => logger.warn(message);
const engines = await startEngines({ ...config, log: report });
const rebuildWorker = new URL('../../dist/src/rebuild-worker.js', import.meta.url);
const parts = await assemble({ ...config, ...engines, rebuildWorker, report });
const app = await createApp(parts.module, logger);
await app.listen(0, '127.0.0.1');
const url = await app.getUrl();

/** What the process held right after its newest full collection of garbage, which it makes when it sees fit: what is really in use. */
let liveBytes = 0;
new PerformanceObserver((list) => {
  if (!list.getEntries().some(({ detail }) => detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR)) return;
  const { heapUsed, external } = process.memoryUsage();
  liveBytes = heapUsed + external;
}).observe({ entryTypes: ['gc'] });

answerCalls(
  {
    addresses: () => ({ url, databaseUrl: engines.databaseUrl, eventStoreUrl: engines.eventStoreUrl }),
    run: () => parts.run(),
    /** The client alone, where the service has it: reads what a rebuild reads, and does nothing with it. */
    async readAlone() {
      const client = EventStoreDBClient.connectionString(engines.eventStoreUrl);
      const began = performance.now();
      const { user, system } = process.cpuUsage();
      let events = 0;
      const all = client.subscribeToAll({ filter: streamNameFilter({ prefixes: [...FOLLOWED_STREAMS] }) });
      await new Promise((resolve, reject) => {
        all.on('data', () => {
          events += 1;
        });
        all.on('caughtUp', resolve);
        all.on('error', reject);
      });
      const seconds = (performance.now() - began) / 1000;
      await all.unsubscribe();
      await client.dispose();
      const spent = process.cpuUsage({ user, system });
      return { events, seconds, cpuMs: (spent.user + spent.system) / 1000 };
    },
    usage() {
      const { user, system } = process.cpuUsage();
      return { cpuMs: (user + system) / 1000, rssMiB: process.memoryUsage.rss() / 2 ** 20, liveMiB: liveBytes / 2 ** 20 };
    },
  },
  async () => {
    parts.drain();
    await app.close();
    await parts.close();
    await engines.stop();
  },
);
