import { END, EventStoreDBClient, jsonEvent, START } from '@eventstore/db-client';
import { type EmbeddedNode, startNode } from '../../../src/embedded/node/start-node.js';
import { startTestPostgres, type TestPostgres } from '../../support/postgres.js';
import { event, newStream, until } from './contract/support.js';

/** More than the live tail holds, so that who does not keep up must go back to the log. */
const MANY = 14_000;

describe('the embedded node under load', () => {
  let postgres: TestPostgres;
  let node: EmbeddedNode;
  let client: EventStoreDBClient;
  beforeAll(async () => {
    postgres = await startTestPostgres();
    node = await startNode({ databaseUrl: postgres.connectionString });
    client = EventStoreDBClient.connectionString(node.connectionString);
    await client.appendToStream(newStream('warm-up'), event(0));
  }, 60_000);
  afterAll(async () => {
    await client?.dispose();
    await node?.stop();
    await postgres?.stop();
  });

  const body = 'x'.repeat(200);
  async function appendMany(stream: string, from: number, count: number): Promise<void> {
    for (let n = from; n < from + count; n += 500) {
      await client.appendToStream(
        stream,
        Array.from({ length: 500 }, (_, i) => jsonEvent({ type: 'many', data: { n: n + i, body } })),
      );
    }
  }

  test.each(['stream', '$all'])('a slow subscriber to %s falls behind, catches up, and misses or repeats nothing', async (kind) => {
    const stream = newStream('slow');
    await client.appendToStream(stream, jsonEvent({ type: 'many', data: { n: 0, body } }));
    const subscription =
      kind === '$all' ? client.subscribeToAll({ fromPosition: END }) : client.subscribeToStream(stream, { fromRevision: END });
    const seen: number[] = [];
    const marks: string[] = [];
    subscription.on('caughtUp', () => marks.push('caught up'));
    subscription.on('fellBehind', () => marks.push('fell behind'));
    subscription.on('data', ({ event: e }: { event?: { data: unknown } }) => seen.push((e?.data as { n: number } | undefined)?.n ?? -1));
    await until(() => marks.length === 1, 'caught up');
    subscription.pause();
    await appendMany(stream, 1, MANY);
    // Flow control must have stopped the node long before all of it was sent.
    expect(seen.length).toBeLessThan(MANY / 2);
    subscription.resume();
    await until(() => seen.length >= MANY && marks.at(-1) === 'caught up', 'all events', 25_000);
    await subscription.unsubscribe();
    expect(seen).toEqual(Array.from({ length: MANY }, (_, n) => n + 1));
    expect(marks).toEqual(['caught up', 'fell behind', 'caught up']);
  });

  test('ten subscriptions see what 32 appenders write, each event once and in the order of the log', async () => {
    const prefix = newStream('many');
    const { position } = await client.appendToStream(newStream('mark'), event(0));
    const followers = Array.from({ length: 10 }, () => {
      const seen: bigint[] = [];
      const subscription = client.subscribeToAll({ fromPosition: position! });
      subscription.on('data', ({ event: e }) => seen.push(e!.position.commit));
      return { seen, subscription };
    });
    await Promise.all(
      Array.from({ length: 32 }, async (_, writer) => {
        for (let n = 0; n < 50; n++) await client.appendToStream(`${prefix}-${writer}`, event(n));
      }),
    );
    const expected = Array.from({ length: 1600 }, (_, n) => position!.commit + 1n + BigInt(n));
    for (const { seen, subscription } of followers) {
      await until(() => seen.length >= 1600, 'all events');
      await subscription.unsubscribe();
      expect(seen).toEqual(expected);
    }
  });

  test('subscriptions that come and go leave nothing behind', async () => {
    for (let round = 0; round < 30; round++) {
      const subscriptions = Array.from({ length: 20 }, () => client.subscribeToAll({ fromPosition: round % 2 === 0 ? END : START }));
      await Promise.all(
        subscriptions.map(
          (subscription) => new Promise((resolve) => subscription.once('confirmation', resolve).on('data', () => undefined)),
        ),
      );
      await Promise.all(subscriptions.map((subscription) => subscription.unsubscribe()));
    }
    const stream = newStream('after');
    await client.appendToStream(stream, event(1));
    const started = Date.now();
    const last = client.subscribeToStream(stream);
    await new Promise((resolve) => last.once('data', resolve));
    await last.unsubscribe();
    expect(Date.now() - started).toBeLessThan(2000);
  });
});
