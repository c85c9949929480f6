import pg from 'pg';
import { EventStoreDbLog } from '../../dist/src/adapters/eventstoredb/event-log.js';
import { PostgresSnapshots } from '../../dist/src/adapters/postgres/snapshots.js';
import { FileHistories } from '../../dist/src/application/file-histories.js';
import { Metrics } from '../../dist/src/application/metrics.js';
import { answerCalls } from '../lib/answer-calls.mjs';

const [databaseUrl, eventStoreUrl] = process.argv.slice(2);
const pool = new pg.Pool({ connectionString: databaseUrl, max: 2 });
const report = (message) => console.error(`first touch: ${message}`);
const log = new EventStoreDbLog(eventStoreUrl, report);
const metrics = new Metrics();
const none = { load: async () => null, save: async () => {}, remove: async () => {} };
await log.ping();

answerCalls(
  {
    /** Milliseconds until a file is at its head in a new cache. */
    async touch({ stream, withSnapshot }) {
      const snapshots = withSnapshot ? new PostgresSnapshots(pool) : none;
      const histories = new FileHistories(log, snapshots, metrics, report);
      const began = performance.now();
      await histories.look(stream, () => {});
      return performance.now() - began;
    },
    /** Stores a snapshot of a stream at its head, as the service does when it has folded one that grew. */
    async snapshot({ stream }) {
      const stored = new PostgresSnapshots(pool);
      await stored.remove(stream);
      const saved = new Promise((resolve, reject) => {
        const save = (...args) => stored.save(...args).then(resolve, reject);
        new FileHistories(log, { ...none, save }, metrics, report).look(stream, () => {}).catch(reject);
      });
      await saved;
    },
  },
  async () => {
    await log.close();
    await pool.end();
  },
);
