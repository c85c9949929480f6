import { parentPort, workerData } from 'node:worker_threads';
import { projections } from '../projections/all.js';
import { EventStoreDbLog } from './adapters/eventstoredb/event-log.js';
import { widenWindow } from './adapters/eventstoredb/wide-window.js';
import { createPool } from './adapters/postgres/pool.js';
import { PostgresRebuilds } from './adapters/postgres/rebuild-store.js';
import { workOffRebuilds } from './application/run-rebuilds.js';
import type { RebuildPlaces, Said } from './rebuild-thread.js';

// The thread of rebuilds: works off those that there are with a client and connections of its own, and ends. Any message stops it.
widenWindow();
const { databaseUrl, eventStoreUrl } = workerData as RebuildPlaces;
const port = parentPort!;
const stopping = new AbortController();
port.once('message', () => stopping.abort());
const report = (message: string, level?: 'info') => port.postMessage({ message, level } satisfies Said);
const clock = { now: () => new Date().toISOString() };
const pool = createPool(databaseUrl, report);
const log = new EventStoreDbLog(eventStoreUrl, report);
try {
  await workOffRebuilds({ log, rebuilds: new PostgresRebuilds(pool, projections), clock, report }, stopping.signal);
} finally {
  await log.close();
  await pool.end();
  port.close();
}
