import { readConfig } from '../config.js';
import { ownLifetime } from './lifetime.js';
import { startNode } from './node/start-node.js';
import { startPostgres } from './postgres.js';

const report = (line: string) => console.error(`${new Date().toISOString()} ${line}`);

// The embedded node as a process of its own (`npm run eventstore`), for several instances of the service on one machine: on loopback,
// over the database that DATABASE_URL names or an embedded one in ANVIL_DATA_DIR.
await ownLifetime(report, async ({ onEnd, end }) => {
  const config = readConfig();
  let { databaseUrl } = config;
  if (databaseUrl === undefined) {
    const postgres = await startPostgres({ dataDir: config.dataDir, log: report });
    onEnd(() => postgres.stop());
    void postgres.failed.then(() => end(1));
    databaseUrl = postgres.connectionString;
    console.log(`The log lies in an embedded PostgreSQL, data in ${postgres.dataDir}`);
  }
  const node = await startNode({ databaseUrl, port: config.eventStorePort, log: report });
  onEnd(() => node.stop());
  // Quoted, so that a shell takes them as they are.
  console.log(`EVENTSTORE_URL='${node.connectionString}'\nDATABASE_URL='${databaseUrl}'`);
  void node.closed.then((reason) => {
    if (reason !== null) report(`the node ended: ${reason.message}`);
    end(reason === null ? 0 : 1);
  });
});
