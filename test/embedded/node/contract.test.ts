import { startNode } from '../../../src/embedded/node/start-node.js';
import { startTestPostgres } from '../../support/postgres.js';
import { eventStoreContract } from './contract.js';

/** TEST_EVENTSTORE_URL points the same suite at a real node. */
const given = process.env.TEST_EVENTSTORE_URL;

eventStoreContract(given ? 'the event store at TEST_EVENTSTORE_URL' : 'the embedded event store', async () => {
  if (given) return { connectionString: given, stop: async () => undefined };
  const postgres = await startTestPostgres();
  const node = await startNode({ databaseUrl: postgres.connectionString });
  return {
    connectionString: node.connectionString,
    stop: async () => {
      await node.stop();
      await postgres.stop();
    },
  };
});
