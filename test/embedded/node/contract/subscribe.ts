import {
  type AllStreamSubscription,
  END,
  ErrorType,
  eventTypeFilter,
  excludeSystemEvents,
  type Position,
  START,
  type StreamSubscription,
  streamNameFilter,
} from '@eventstore/db-client';
import { type Client, event, events, newStream, until } from './support.js';

type Subscription = AllStreamSubscription | StreamSubscription;

/** Follows a subscription, and notes down what it brings, in order. */
function follow(subscription: Subscription) {
  const log: string[] = [];
  let error: { type?: string } | null = null;
  subscription.on('data', (resolved: { event?: { data: unknown; streamId: string } }) =>
    log.push(String((resolved.event?.data as { n?: number } | undefined)?.n)),
  );
  subscription.on('caughtUp', () => log.push('caught up'));
  subscription.on('error', (e) => {
    error = e as { type?: string };
  });
  return { log, error: () => error, stop: () => subscription.unsubscribe() };
}

export function subscribeContract(client: Client): void {
  describe('subscribing to a stream', () => {
    test('from the start: what is there, then "caught up", then what comes', async () => {
      const stream = newStream('sub');
      await client().appendToStream(stream, events(3));
      const { log, stop } = follow(client().subscribeToStream(stream, { fromRevision: START }));
      await until(() => log.includes('caught up'), 'caught up');
      await client().appendToStream(newStream('other'), event(77));
      await client().appendToStream(stream, [event(3), event(4)]);
      await until(() => log.length === 6, 'live events');
      await stop();
      expect(log).toEqual(['0', '1', '2', 'caught up', '3', '4']);
    });

    test('from a revision, which is not included', async () => {
      const stream = newStream('sub');
      await client().appendToStream(stream, events(4));
      const { log, stop } = follow(client().subscribeToStream(stream, { fromRevision: 1n }));
      await until(() => log.includes('caught up'), 'caught up');
      await stop();
      expect(log).toEqual(['2', '3', 'caught up']);
    });

    test('from the end', async () => {
      const stream = newStream('sub');
      await client().appendToStream(stream, events(4));
      const { log, stop } = follow(client().subscribeToStream(stream, { fromRevision: END }));
      await until(() => log.includes('caught up'), 'caught up');
      await client().appendToStream(stream, event(4));
      await until(() => log.length === 2, 'a live event');
      await stop();
      expect(log).toEqual(['caught up', '4']);
    });

    test('that does not exist yet', async () => {
      const stream = newStream('sub-later');
      const { log, stop } = follow(client().subscribeToStream(stream));
      await until(() => log.includes('caught up'), 'caught up');
      await client().appendToStream(stream, event(0));
      await until(() => log.length === 2, 'the first event');
      await stop();
      expect(log).toEqual(['caught up', '0']);
    });

    test('that is tombstoned, before or meanwhile', async () => {
      const stream = newStream('sub-tomb');
      await client().appendToStream(stream, event(0));
      const meanwhile = follow(client().subscribeToStream(stream));
      await until(() => meanwhile.log.includes('caught up'), 'caught up');
      await client().tombstoneStream(stream);
      await until(() => meanwhile.error() !== null, 'the error');
      expect(meanwhile.error()?.type).toBe(ErrorType.STREAM_DELETED);
      const before = follow(client().subscribeToStream(stream));
      await until(() => before.error() !== null, 'the error');
      expect(before.error()?.type).toBe(ErrorType.STREAM_DELETED);
    });

    test('sees every event once and in order, while it catches up under appends', async () => {
      const stream = newStream('crossing');
      await client().appendToStream(stream, events(600));
      let next = 600;
      const append = async () => {
        for (let round = 0; round < 60; round++) {
          const batch = Array.from({ length: 10 }, () => event(next++));
          await client().appendToStream(stream, batch);
        }
      };
      const appending = append();
      const { log, stop } = follow(client().subscribeToStream(stream));
      await appending;
      await until(() => log.length >= 1201, 'all events');
      await stop();
      expect(log.filter((entry) => entry !== 'caught up')).toEqual(Array.from({ length: 1200 }, (_, n) => String(n)));
    });
  });

  describe('subscribing to $all', () => {
    const prefixed = async (
      filter: Parameters<ReturnType<Client>['subscribeToAll']>[0],
      act: (log: string[]) => Promise<void>,
      expected: number,
    ) => {
      const { log, stop } = follow(client().subscribeToAll(filter));
      await act(log);
      await until(() => log.filter((entry) => entry !== 'caught up').length >= expected, 'all events');
      // What does not belong would come now.
      await new Promise((resolve) => setTimeout(resolve, 100));
      await stop();
      return log.filter((entry) => entry !== 'caught up');
    };

    test('by stream prefix: from the log and live', async () => {
      const prefix = newStream('prefix');
      const { position } = await client().appendToStream(newStream('mark'), event(0));
      await client().appendToStream(`${prefix}-a`, event(1));
      await client().appendToStream(newStream('elsewhere'), event(100));
      const log = await prefixed(
        { fromPosition: position!, filter: streamNameFilter({ prefixes: [`${prefix}-a`, `${prefix}-b`] }) },
        async (seen) => {
          await until(() => seen.includes('caught up'), 'caught up');
          await client().appendToStream(newStream('elsewhere'), event(101));
          await client().appendToStream(`${prefix}-b`, event(2));
          await client().appendToStream(`${prefix}-c`, event(102));
        },
        2,
      );
      expect(log).toEqual(['1', '2']);
    });

    test('by event type: prefixes and regular expressions', async () => {
      const type = newStream('type');
      const { position } = await client().appendToStream(newStream('mark'), event(0));
      for (const filter of [eventTypeFilter({ prefixes: [type] }), eventTypeFilter({ regex: `^${type}-[ab]` })]) {
        const base = 'prefixes' in filter ? 0 : 10;
        const log = await prefixed(
          { fromPosition: position!, filter },
          async (seen) => {
            await until(() => seen.includes('caught up'), 'caught up');
            await client().appendToStream(newStream('s'), [event(base, `${type}-a`), event(50, 'other'), event(base + 1, `${type}-b`)]);
          },
          base === 0 ? 2 : 4,
        );
        expect(log).toEqual(base === 0 ? ['0', '1'] : ['0', '1', '10', '11']);
      }
    });

    test('without system events', async () => {
      const stream = newStream('no-system');
      const { position } = await client().appendToStream(stream, event(0));
      await client().setStreamMetadata(stream, { maxCount: 9 });
      const log = await prefixed(
        { fromPosition: position!, filter: excludeSystemEvents() },
        async (seen) => {
          await until(() => seen.includes('caught up'), 'caught up');
          await client().setStreamMetadata(stream, { maxCount: 10 });
          await client().appendToStream(stream, event(1));
        },
        1,
      );
      expect(log).toEqual(['1']);
    });

    test('from a position, which is not included, with metadata among the events', async () => {
      const stream = newStream('with-system');
      const { position } = await client().appendToStream(stream, event(0));
      await client().setStreamMetadata(stream, { maxCount: 9 });
      const seen: string[] = [];
      const subscription = client().subscribeToAll({ fromPosition: position! });
      subscription.on('data', ({ event: e }) => seen.push(e!.streamId));
      await until(() => seen.includes(`$$${stream}`), 'the metadata');
      await subscription.unsubscribe();
      expect(seen).not.toContain(stream);
    });

    test('a filtered subscription is told how far it has come, by events that do not match', async () => {
      const { position } = await client().appendToStream(newStream('mark'), event(0));
      await client().appendToStream(newStream('noise'), events(100));
      const checkpoints: Position[] = [];
      const subscription = client().subscribeToAll({
        fromPosition: position!,
        filter: streamNameFilter({
          prefixes: [newStream('nobody')],
          maxSearchWindow: 4,
          checkpointInterval: 2,
          checkpointReached: async (_subscription, at) => {
            checkpoints.push(at);
          },
        }),
      });
      subscription.on('data', () => undefined);
      await until(() => checkpoints.length >= 5, 'checkpoints from the log');
      const { position: last } = await client().appendToStream(newStream('noise'), events(100));
      await until(() => checkpoints.some(({ commit }) => commit > last!.commit - 50n), 'checkpoints of live events');
      await subscription.unsubscribe();
      const commits = checkpoints.map(({ commit }) => commit);
      expect(commits).toEqual([...commits].sort((x, y) => (x < y ? -1 : 1)));
      expect(commits.at(-1)! <= last!.commit).toBe(true);
    });

    test('resumes from a checkpoint without losing or repeating an event', async () => {
      const prefix = newStream('resume');
      const { position } = await client().appendToStream(newStream('mark'), event(0));
      for (let n = 0; n < 40; n++) await client().appendToStream(n % 4 === 0 ? prefix : newStream('noise'), event(n));
      const seen: number[] = [];
      let checkpoint: Position | undefined;
      let atCheckpoint = 0;
      const filter = streamNameFilter({
        prefixes: [prefix],
        maxSearchWindow: 3,
        checkpointReached: async (_subscription, at) => {
          checkpoint = at;
          atCheckpoint = seen.length;
        },
      });
      const first = client().subscribeToAll({ fromPosition: position!, filter });
      for await (const { event: e } of first) {
        seen.push((e!.data as { n: number }).n);
        if (seen.length === 6) break;
      }
      await first.unsubscribe();
      seen.length = atCheckpoint;
      const second = client().subscribeToAll({ fromPosition: checkpoint!, filter });
      for await (const { event: e } of second) {
        seen.push((e!.data as { n: number }).n);
        if (seen.length === 10) break;
      }
      await second.unsubscribe();
      expect(seen).toEqual([0, 4, 8, 12, 16, 20, 24, 28, 32, 36]);
    });
  });
}
