import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { EventStoreDbLog } from '../../src/adapters/eventstoredb/event-log.js';
import {
  type FollowedEvent,
  type NewEvent,
  type StoredEvent,
  StoreUnavailable,
  TooLarge,
  WrongRevision,
} from '../../src/application/ports.js';
import { fileIdOf, fileStream } from '../../src/domain/ids.js';
import { importedAttempt } from '../support/foreign.js';
import { TestNode } from '../support/node.js';
import { eventually, freshRepo } from '../support/service.js';

let node: TestNode;
let log: EventStoreDbLog;
const reports: string[] = [];
beforeAll(async () => {
  node = await TestNode.start();
  log = new EventStoreDbLog(node.url, (message) => reports.push(message));
  await log.ping();
}, 60_000);
afterAll(async () => {
  await log.close();
  await node.end();
});

const place = () => ({ repo: freshRepo('log'), targetFile: 'src/a.rs' });
const streamOf = ({ repo, targetFile }: ReturnType<typeof place>) => fileStream(fileIdOf(repo, targetFile));
const metadata = { $correlationId: 'c', $causationId: 'k', actor: 'test', schemaVersion: 1, hash: 'h', previousHash: null };
const eventsFor = (at: ReturnType<typeof place>, unique = '1'): NewEvent[] =>
  importedAttempt(at, { code: 'E0308', unique }).map((event) => ({ id: randomUUID(), ...event, metadata }));

async function all(stream: string, from?: number): Promise<StoredEvent[]> {
  const stored: StoredEvent[] = [];
  for await (const event of log.read(stream, from)) stored.push(event);
  return stored;
}

describe('append and read', () => {
  test('reads that are left after their first event leave nothing behind', async () => {
    const at = place();
    await log.append(streamOf(at), -1, eventsFor(at));
    const first = async () => {
      for await (const event of log.read(streamOf(at), 0, 1)) {
        // Left at this point of a turn, it is over before it can be cancelled.
        await new Promise((resolve) => setImmediate(resolve));
        return event;
      }
    };
    // What the client holds until it is taken has no public name.
    const held = () => (log as unknown as { client: { disposableStreams: Set<unknown> } }).client.disposableStreams.size;
    const before = held();
    for (let round = 0; round < 4; round += 1) {
      await Promise.all(Array.from({ length: 64 }, first));
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    expect(held() - before).toBeLessThan(10);
  });

  test('what was appended comes back, in order, whole, with where it lies', async () => {
    const at = place();
    const events = eventsFor(at);
    const { position } = await log.append(streamOf(at), -1, events);
    const stored = await all(streamOf(at));
    expect(stored.map(({ id, revision, stream, metadata: own }) => [id, revision, stream, own])).toEqual(
      events.map(({ id }, index) => [id, index, streamOf(at), metadata]),
    );
    expect(stored.map(({ event }) => event)).toEqual(events.map(({ type, data }) => ({ type, data })));
    expect(stored.at(-1)?.position).toBe(position);
    expect(stored[0]?.created).toBeInstanceOf(Date);
    expect((await all(streamOf(at), 1)).map(({ revision }) => revision)).toEqual([1]);
    expect(await all(`file-${freshRepo()}`)).toEqual([]);
  });

  test('at another revision than the expected one: refused whole', async () => {
    const at = place();
    await log.append(streamOf(at), -1, eventsFor(at));
    for (const expected of [-1, 0, 5]) await expect(log.append(streamOf(at), expected, eventsFor(at, '2'))).rejects.toThrow(WrongRevision);
    expect(await all(streamOf(at))).toHaveLength(2);
    await log.append(streamOf(at), 1, eventsFor(at, '2'));
    expect(await all(streamOf(at))).toHaveLength(4);
  });

  test('of many writers at one revision one wins', async () => {
    const at = place();
    const writers = Array.from({ length: 10 }, (_, index) => log.append(streamOf(at), -1, eventsFor(at, String(index))));
    const results = await Promise.allSettled(writers);
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const result of results) if (result.status === 'rejected') expect(result.reason).toBeInstanceOf(WrongRevision);
    expect(await all(streamOf(at))).toHaveLength(2);
  });

  test('the same events at the same revision count once', async () => {
    const at = place();
    const events = eventsFor(at);
    const first = await log.append(streamOf(at), -1, events);
    expect(await log.append(streamOf(at), -1, events)).toEqual(first);
    expect(await all(streamOf(at))).toHaveLength(2);
  });

  test('more than the store takes at once: said so, nothing stored', async () => {
    const at = place();
    const [recorded, reached] = eventsFor(at);
    const big = { ...recorded!, data: { ...(recorded!.data as object), output: { text: 'x'.repeat(1_100_000) } } };
    await expect(log.append(streamOf(at), -1, [big, reached!])).rejects.toThrow(TooLarge);
    expect(await all(streamOf(at))).toEqual([]);
  });

  test.each([
    ['an unknown type', { type: 'SomethingElse', data: {} }],
    ['another shape', { data: { repo: 'r' } }],
    ['a newer schema version', { metadata: { ...metadata, schemaVersion: 99 } }],
    ["metadata that is not Anvil's", { metadata: { foo: 1 } as never }],
  ])('%s is not taken for an event', async (_what, change) => {
    const stream = `file-${freshRepo('foreign')}`;
    await log.append(stream, -1, [{ ...eventsFor(place())[0]!, ...change }]);
    await expect(all(stream)).rejects.toThrow(/cannot read \w+ of schema version/);
  });
});

describe('following', () => {
  const collect = (prefix: string, after: string | null, seen: FollowedEvent[], stop: AbortController) =>
    (async () => {
      for await (const batch of log.follow([prefix], after, stop.signal)) seen.push(...batch);
    })();
  const until = async (seen: FollowedEvent[], count: number) => {
    for (let tried = 0; seen.length < count && tried < 600; tried += 1) await new Promise((resolve) => setTimeout(resolve, 25));
  };
  /** Streams under a prefix of the test's own, so that nothing else is in what it sees. */
  const write = async (prefix: string, name: string) => log.append(`${prefix}${name}`, -1, eventsFor(place()));

  test('what lies after a position, then what comes, of the prefix only, until told to stop', async () => {
    const prefix = `${freshRepo('follow')}-`;
    const { position } = await write(prefix, 'one');
    await write(prefix, 'two');
    await write(freshRepo('elsewhere'), 'x');
    const stop = new AbortController();
    const seen: FollowedEvent[] = [];
    const done = collect(prefix, position, seen, stop);
    await until(seen, 2);
    await write(prefix, 'three');
    await until(seen, 4);
    expect(seen.map(({ stream }) => stream)).toEqual([`${prefix}two`, `${prefix}two`, `${prefix}three`, `${prefix}three`]);
    stop.abort();
    await done;
  });

  test('goes on after the node was away: nothing lost, nothing twice, and appends work again', async () => {
    const prefix = `${freshRepo('away')}-`;
    const stop = new AbortController();
    const seen: FollowedEvent[] = [];
    const done = collect(prefix, null, seen, stop);
    const ids: string[] = [];
    for (const round of [1, 2, 3]) {
      for (const n of [1, 2, 3]) {
        const events = eventsFor(place());
        await log.append(`${prefix}${round}-${n}`, -1, events);
        ids.push(...events.map(({ id }) => id));
      }
      // In the first round it is stopped while events are still on their way.
      if (round > 1) await until(seen, ids.length);
      await node.stop();
      await expect(log.append(`${prefix}${round}-lost`, -1, eventsFor(place()))).rejects.toThrow(StoreUnavailable);
      await expect(all(`${prefix}${round}-1`)).rejects.toThrow(StoreUnavailable);
      await expect(log.ping()).rejects.toThrow(StoreUnavailable);
      await node.startAgain();
      // The client may be resting between two tries to connect.
      await eventually(
        () =>
          log.ping().then(
            () => true,
            () => false,
          ),
        'the client has connected again',
      );
    }
    await until(seen, ids.length);
    expect(seen.map(({ id }) => id)).toEqual(ids);
    expect(reports.length).toBeGreaterThan(0);
    stop.abort();
    await done;
  }, 60_000);

  test('a consumer that takes long, whose calls the server ends in the midst of it: nothing lost, nothing twice, in order', async () => {
    const prefix = `${freshRepo('slow')}-`;
    const stop = new AbortController();
    const seen: FollowedEvent[] = [];
    const done = (async () => {
      for await (const batch of log.follow([prefix], null, stop.signal, 5)) {
        // What it is given is bounded, however much has piled up behind it.
        expect(batch.length).toBeLessThanOrEqual(5);
        await new Promise((resolve) => setTimeout(resolve, 20));
        seen.push(...batch);
      }
    })();
    const ids: string[] = [];
    for (const round of [1, 2, 3]) {
      reports.length = 0;
      for (let n = 0; n < 20; n += 1) {
        const events = eventsFor(place());
        await log.append(`${prefix}${round}-${n}`, -1, events);
        ids.push(...events.map(({ id }) => id));
      }
      expect(seen.length).toBeLessThan(ids.length);
      node.endCalls();
      await until(seen, ids.length);
      expect(seen.map(({ id }) => id)).toEqual(ids);
      expect(reports.filter((report) => report.includes('resumes after position'))).toHaveLength(1);
    }
    stop.abort();
    await done;
  }, 60_000);
});
