import { readConfig } from '../config.js';
import { startNode } from './node/start-node.js';
import { startPostgres } from './postgres.js';

/**
 * The embedded node as a process of its own (`npm run eventstore`), for several instances of the service on one machine: on loopback,
 * over the database that DATABASE_URL names or an embedded one in ANVIL_DATA_DIR.
 */
async function main(): Promise<void> {
  const report = (line: string) => console.error(`${new Date().toISOString()} ${line}`);
  const closings: (() => Promise<void>)[] = [];
  let ending = false;
  const end = async (status: number) => {
    if (ending) return;
    ending = true;
    for (const close of closings.reverse()) await close().catch((error: unknown) => report(`while closing: ${String(error)}`));
    process.exit(status);
  };
  process.on('SIGINT', () => void end(0));
  process.on('SIGTERM', () => void end(0));

  try {
    const config = readConfig();
    let { databaseUrl } = config;
    if (databaseUrl === undefined) {
      const postgres = await startPostgres({ dataDir: config.dataDir, log: report });
      closings.push(() => postgres.stop());
      databaseUrl = postgres.connectionString;
      console.log(`The log lies in an embedded PostgreSQL, data in ${postgres.dataDir}`);
    }
    const node = await startNode({ databaseUrl, port: config.eventStorePort, log: report });
    closings.push(() => node.stop());
    console.log(`EVENTSTORE_URL=${node.connectionString}\nDATABASE_URL=${databaseUrl}`);
    const reason = await node.closed;
    if (reason !== null) report(`the node ended: ${reason.message}`);
    await end(reason === null ? 0 : 1);
  } catch (error) {
    report(error instanceof Error ? error.message : String(error));
    await end(1);
  }
}

await main();
