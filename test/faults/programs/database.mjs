import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

// A PostgreSQL for the read models alone, in a process of its own, so that it can go away while the event store stays.
const { startPostgres } = await import(pathToFileURL(join(process.env.ANVIL_FAULTS_DIST, 'src/embedded/postgres.js')));
const postgres = await startPostgres({ dataDir: process.env.ANVIL_DATA_DIR });
console.log(`DATABASE_URL='${postgres.connectionString}'`);
process.once('SIGTERM', async () => {
  await postgres.stop();
  process.exit(0);
});
