import { EventStoreDBClient } from '@eventstore/db-client';
import pg from 'pg';
import { answerCalls } from '../lib/answer-calls.mjs';
import { timed } from '../lib/timed.mjs';
import { DecideLoads } from '../loads/decide.mjs';
import { HistogramLoads } from '../loads/histogram.mjs';
import { RebuildLoads } from '../loads/rebuild.mjs';
import { RecordLoads } from '../loads/record.mjs';
import { ServiceClient } from '../loads/service-client.mjs';

/** As many as let one commit carry several transactions, and fewer than the embedded server takes beside the service's own. */
const CONNECTIONS = 24;

// All callers: of the service, of the database, and of the event store (one client a process, by which its appends are kept apart).
const [url, databaseUrl, eventStoreUrl] = process.argv.slice(2);
const service = new ServiceClient(url);
const pool = new pg.Pool({ connectionString: databaseUrl, max: CONNECTIONS, application_name: 'bench' });
const client = EventStoreDBClient.connectionString(eventStoreUrl);
const parts = { service, pool, client };
const record = new RecordLoads(parts);
const decide = new DecideLoads(parts);
const histogram = new HistogramLoads(parts);
const rebuild = new RebuildLoads(parts);
/** Calls that were made ready, until they are made. */
let ready = [];

answerCalls(
  {
    prepareRecord: () => record.prepare(),
    makeReady: async ({ kind, round, count }) => {
      ready = await record[kind](round, count);
    },
    makeCalls: ({ concurrency }) => timed(ready.splice(0), concurrency),
    prepareDecide: () => decide.prepare(),
    fillFile: (input) => decide.fill(input),
    skipTo: (input) => decide.skipTo(input),
    decide: async ({ kind, files, round, count }) => timed(await decide[kind](files, round, count), 1),
    fillHistogram: (input) => histogram.fill(input),
    histogram: async ({ kind, count }) => timed(await histogram[kind](count), 1),
    fillLog: (input) => rebuild.fill(input),
    skipToHead: () => rebuild.skipToHead(),
    rebuild: (input) => rebuild.start(input),
    rebuildProgress: (input) => rebuild.progress(input),
    caughtUp: () => service.caughtUp(),
  },
  async () => {
    service.close();
    await client.dispose();
    await pool.end();
  },
);
