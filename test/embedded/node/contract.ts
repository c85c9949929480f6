import { EventStoreDBClient } from '@eventstore/db-client';
import { appendContract } from './contract/append.js';
import { deleteContract } from './contract/delete.js';
import { metadataContract } from './contract/metadata.js';
import { readContract } from './contract/read.js';
import { subscribeContract } from './contract/subscribe.js';
import { event, newStream } from './contract/support.js';

export interface ContractStore {
  connectionString: string;
  stop(): Promise<void>;
}

/**
 * What the service may expect of an event store, tried through the real client over real gRPC, so that the stand-in and a real node are held to
 * the same. One client for all of it: the client keeps state in its module, and two of them in a process break each other's appends.
 */
export function eventStoreContract(name: string, start: () => Promise<ContractStore>): void {
  describe(name, () => {
    let store: ContractStore;
    let client: EventStoreDBClient;
    beforeAll(async () => {
      store = await start();
      client = EventStoreDBClient.connectionString(store.connectionString);
      // The first of several appends on a cold client may overtake the others.
      await client.appendToStream(newStream('warm-up'), event(0));
    }, 60_000);
    afterAll(async () => {
      await client?.dispose();
      await store?.stop();
    });
    const theClient = () => client;

    describe('appending', () => appendContract(theClient));
    describe('reading', () => readContract(theClient));
    describe('deleting and tombstoning', () => deleteContract(theClient));
    describe('stream metadata', () => metadataContract(theClient));
    describe('subscribing', () => subscribeContract(theClient));
  });
}
