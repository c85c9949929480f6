import { type AllStreamSubscription, END, ErrorType, EventStoreDBClient, NO_STREAM, START } from '@eventstore/db-client';
import pg from 'pg';
import { type EmbeddedNode, startNode } from '../../../src/embedded/node/start-node.js';
import { startTestPostgres, type TestPostgres } from '../../support/postgres.js';
import { collect, event, events, failure, newStream, numbers, revisions, until } from './contract/support.js';
import { CutProxy } from './cut-proxy.js';

/** What only the stand-in can be asked: to stop, to be cut off from its database, and to share it with nobody. */
describe('the log of the embedded node', () => {
  let postgres: TestPostgres;
  let node: EmbeddedNode;
  let client: EventStoreDBClient;
  const lines: string[] = [];
  const start = (options = {}) => startNode({ databaseUrl: postgres.connectionString, log: (line) => lines.push(line), ...options });

  beforeAll(async () => {
    postgres = await startTestPostgres();
    node = await start();
    client = EventStoreDBClient.connectionString(node.connectionString);
    await client.appendToStream(newStream('warm-up'), event(0));
  }, 60_000);
  afterAll(async () => {
    await client?.dispose();
    await node?.stop();
    await postgres?.stop();
  });

  async function sql<T extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<T[]> {
    const db = new pg.Client({ connectionString: postgres.connectionString });
    await db.connect();
    try {
      return (await db.query<T>(text, values)).rows;
    } finally {
      await db.end();
    }
  }

  const cutOffWriter = () =>
    sql(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'anvil event log writer'`);

  /** The client gives up on its channel when a node goes; its next calls find the new one. */
  async function untilServed(): Promise<void> {
    await until(async () => {
      try {
        await collect(client.readAll({ maxCount: 1 }));
        return true;
      } catch {
        return false;
      }
    }, 'the node to answer');
  }

  async function restart(): Promise<void> {
    const { port } = node;
    await node.stop();
    node = await start({ port });
    await untilServed();
  }

  test('survives a restart: events, revisions, positions, idempotency, deletes', async () => {
    const [kept, deleted, dead] = [newStream('kept'), newStream('deleted'), newStream('dead')];
    const same = events(3);
    const before = await client.appendToStream(kept, same, { expectedRevision: NO_STREAM });
    await client.appendToStream(deleted, events(2));
    await client.deleteStream(deleted);
    await client.tombstoneStream(dead);
    await restart();
    expect(numbers(await collect(client.readStream(kept)))).toEqual([0, 1, 2]);
    expect((await failure(collect(client.readStream(deleted)))).type).toBe(ErrorType.STREAM_NOT_FOUND);
    expect((await failure(collect(client.readStream(dead)))).type).toBe(ErrorType.STREAM_DELETED);
    for (const expectedRevision of [NO_STREAM, 'any'] as const) {
      expect(await client.appendToStream(kept, same, { expectedRevision })).toEqual(before);
    }
    const after = await client.appendToStream(kept, event(3), { expectedRevision: 2n });
    expect(after.position!.commit > before.position!.commit).toBe(true);
    expect((await client.appendToStream(deleted, event(2))).nextExpectedRevision).toBe(2n);
  });

  test('streams of before a restart are not taken for new ones, also in a commit with streams that are', async () => {
    const [kept, dead, fresh, deleted] = ['kept', 'dead', 'fresh', 'deleted'].map(newStream) as [string, string, string, string];
    await client.appendToStream(kept, event(0));
    await client.appendToStream(deleted, event(0));
    await client.deleteStream(deleted);
    await client.tombstoneStream(dead);
    await restart();
    const appended = await Promise.allSettled(
      [kept, dead, fresh, fresh, deleted].map((stream) => client.appendToStream(stream, event(1), { expectedRevision: NO_STREAM })),
    );
    const outcomes = appended.map((one) => (one.status === 'fulfilled' ? one.value.nextExpectedRevision : one.reason.type));
    expect(outcomes).toEqual([ErrorType.WRONG_EXPECTED_VERSION, ErrorType.STREAM_DELETED, 0n, ErrorType.WRONG_EXPECTED_VERSION, 1n]);
    expect(numbers(await collect(client.readStream(kept)))).toEqual([0]);
    expect(numbers(await collect(client.readStream(deleted)))).toEqual([1]);
  });

  test('positions have no gaps and no repetitions', async () => {
    const [row] = await sql<{ count: string; max: string; min: string }>(
      'SELECT count(*), max(position), min(position) FROM anvil_log.events',
    );
    expect([row?.min, row?.max]).toEqual(['1', row?.count]);
  });

  test('a second node on the same log is refused, on another schema it is not', async () => {
    await expect(start()).rejects.toThrow(/Another Anvil node already writes this log \(schema "anvil_log"/);
    const other = await start({ schema: 'other_log' });
    await other.stop();
    expect(await other.closed).toBeNull();
  });

  test('a writer that is cut off loses nothing that it answered, repeats nothing, and goes on', async () => {
    const stream = newStream('cut-off');
    await client.appendToStream(stream, event(-1));
    const seen: number[] = [];
    const subscription: AllStreamSubscription = client.subscribeToAll({ fromPosition: END });
    subscription.on('data', ({ event: e }) => {
      if (e?.streamId === stream) seen.push((e.data as { n: number }).n);
    });
    await new Promise((resolve) => subscription.once('caughtUp', resolve));

    const answered: number[] = [];
    const types = new Set<string>();
    let n = 0;
    let running = true;
    const appenders = Array.from({ length: 16 }, async () => {
      while (running) {
        const mine = n++;
        try {
          await client.appendToStream(stream, event(mine));
          answered.push(mine);
        } catch (error) {
          types.add((error as { type: string }).type);
        }
      }
    });
    for (let cut = 0; cut < 3; cut++) {
      const enough = answered.length + 100;
      await until(() => answered.length > enough, 'appends to go through');
      await cutOffWriter();
    }
    const enough = answered.length + 100;
    await until(() => answered.length > enough, 'appends to go through again');
    running = false;
    await Promise.all(appenders);

    // Whatever could not be confirmed must not be called refused.
    expect([...types].filter((type) => type !== ErrorType.DEADLINE_EXCEEDED && type !== ErrorType.UNAVAILABLE)).toEqual([]);
    const found = await collect(client.readStream(stream));
    expect(revisions(found)).toEqual(found.map((_, index) => BigInt(index)));
    const written = numbers(found) as number[];
    expect(new Set(written).size).toBe(written.length);
    expect(answered.filter((mine) => !written.includes(mine))).toEqual([]);
    await until(() => seen.length === written.length - 1, 'the subscription to see it all');
    expect(seen).toEqual(written.slice(1));
    await subscription.unsubscribe();
    expect(lines.filter((line) => line.includes('connected again')).length).toBeGreaterThan(0);
  });

  test('an append that was not confirmed can be repeated safely', async () => {
    const stream = newStream('again');
    const same = event(1);
    await client.appendToStream(stream, event(0));
    const first = client.appendToStream(stream, same, { expectedRevision: 0n }).catch(() => null);
    await cutOffWriter();
    await first;
    await until(
      () =>
        client.appendToStream(stream, same, { expectedRevision: 0n }).then(
          ({ nextExpectedRevision }) => nextExpectedRevision === 1n,
          () => false,
        ),
      'the append to be answered',
    );
    expect(numbers(await collect(client.readStream(stream)))).toEqual([0, 1]);
  });

  test.each([
    ['answers', 'took place'],
    ['requests', 'never reached the log'],
  ] as const)(
    'a commit whose outcome is unknown (its %s were lost: it %s) is called unconfirmed, and found out afterwards',
    async (half, _fate) => {
      const proxy = await CutProxy.start(postgres.connectionString);
      const { port } = node;
      await node.stop();
      node = await start({ port, databaseUrl: proxy.connectionString });
      await untilServed();
      const stream = newStream('unknown');
      await client.appendToStream(stream, event(0));
      const seen: number[] = [];
      const subscription = client.subscribeToStream(stream);
      subscription.on('data', ({ event: e }) => seen.push((e?.data as { n: number } | undefined)?.n ?? -1));
      await new Promise((resolve) => subscription.once('caughtUp', resolve));

      const lost = event(1);
      proxy.lose(half);
      const error = failure(client.appendToStream(stream, lost, { expectedRevision: 0n }));
      if (half === 'answers') {
        await until(async () => (await sql('SELECT 1 FROM anvil_log.events WHERE event_id = $1', [lost.id])).length > 0, 'the commit');
      } else {
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
      proxy.cut();
      expect((await error).type).toBe(ErrorType.DEADLINE_EXCEEDED);

      // The next append knows where the stream stands, be it that the lost one is there or not.
      const again = () =>
        client.appendToStream(stream, lost, { expectedRevision: 0n }).then(({ nextExpectedRevision }) => nextExpectedRevision);
      await until(async () => (await again().catch(() => null)) === 1n, 'the repetition to be answered');
      expect((await client.appendToStream(stream, event(2), { expectedRevision: 1n })).nextExpectedRevision).toBe(2n);
      expect(numbers(await collect(client.readStream(stream)))).toEqual([0, 1, 2]);
      await until(() => seen.length >= 3, 'the subscription to see it all');
      expect(seen).toEqual([0, 1, 2]);
      await subscription.unsubscribe();
      await node.stop();
      await proxy.stop();
      node = await start({ port });
      await untilServed();
    },
  );

  test('a node whose log goes to somebody else ends, and says why', async () => {
    const schema = 'taken_log';
    const doomed = await start({ schema, reconnectForMs: 300 });
    const thief = new pg.Client({ connectionString: postgres.connectionString });
    await thief.connect();
    const [{ pid } = { pid: 0 }] = await sql<{ pid: number }>(
      `SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted AND ((classid::bigint << 32) | objid::bigint) = hashtextextended($1, 0)`,
      [`anvil event log ${schema}`],
    );
    const stolen = thief.query('SELECT pg_advisory_lock(hashtextextended($1, 0))', [`anvil event log ${schema}`]);
    await sql('SELECT pg_terminate_backend($1)', [pid]);
    await stolen;
    expect((await doomed.closed)?.message).toMatch(/could not get its database back: Another Anvil node/);
    await doomed.stop();
    await thief.end();
  });

  test('a stop answers the appends that are queued, and ends reads with an error', async () => {
    const stream = newStream('stopping');
    const subscription = client.subscribeToAll({ fromPosition: START });
    let error: { type?: string } | null = null;
    subscription.on('data', () => undefined);
    subscription.on('error', (e) => {
      error = e as { type?: string };
    });
    await new Promise((resolve) => subscription.once('caughtUp', resolve));
    const appends = Array.from({ length: 200 }, (_, n) => client.appendToStream(stream, event(n)).then(() => n));
    await Promise.race(appends);
    const { port } = node;
    await node.stop();
    const results = await Promise.allSettled(appends);
    const confirmed = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
    await until(() => error !== null, 'the subscription to end');
    expect(error!.type).toBe(ErrorType.UNAVAILABLE);
    node = await start({ port });
    await untilServed();
    const written = numbers(await collect(client.readStream(stream))) as number[];
    expect(confirmed.filter((n) => !written.includes(n))).toEqual([]);
    expect(confirmed.length).toBeGreaterThan(0);
  });
});
