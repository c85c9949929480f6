import { BACKWARDS, END, jsonEvent } from '@eventstore/db-client';
import { type Client, collect, event, events, newStream, numbers } from './support.js';

export function metadataContract(client: Client): void {
  const read = async (stream: string, options = {}) => numbers(await collect(client().readStream(stream, options)));

  test('metadata is read back as it was written, and only its newest', async () => {
    const stream = newStream('meta');
    expect(await client().getStreamMetadata(stream)).toEqual({ streamName: stream });
    await client().setStreamMetadata(stream, { maxAge: 100, acl: { readRoles: ['$all'] } });
    await client().setStreamMetadata(stream, { maxCount: 7, own: { x: [1] } }, { expectedRevision: 0n });
    expect((await client().getStreamMetadata(stream)).metadata).toEqual({ maxCount: 7, own: { x: [1] } });
    expect(await collect(client().readStream(`$$${stream}`))).toHaveLength(1);
  });

  test('$maxCount shows the newest events', async () => {
    const stream = newStream('max-count');
    await client().setStreamMetadata(stream, { maxCount: 3 });
    await client().appendToStream(stream, events(10));
    expect(await read(stream)).toEqual([7, 8, 9]);
    expect(await read(stream, { direction: BACKWARDS, fromRevision: END })).toEqual([9, 8, 7]);
    expect(await read(stream, { fromRevision: 8n })).toEqual([8, 9]);
    await client().setStreamMetadata(stream, { maxCount: 5 });
    expect(await read(stream)).toEqual([5, 6, 7, 8, 9]);
  });

  test('$tb hides what is before it', async () => {
    const stream = newStream('tb');
    await client().appendToStream(stream, events(6));
    await client().setStreamMetadata(stream, { truncateBefore: 4 });
    expect(await read(stream)).toEqual([4, 5]);
    expect(await read(stream, { direction: BACKWARDS, fromRevision: END })).toEqual([5, 4]);
    await client().setStreamMetadata(stream, { truncateBefore: 100 });
    expect(await read(stream)).toEqual([]);
    expect((await client().appendToStream(stream, event(6), { expectedRevision: 5n })).nextExpectedRevision).toBe(6n);
  });

  test('$maxAge hides what is too old', async () => {
    const stream = newStream('max-age');
    await client().setStreamMetadata(stream, { maxAge: 2 });
    await client().appendToStream(stream, event(1));
    expect(await read(stream)).toEqual([1]);
    await new Promise((resolve) => setTimeout(resolve, 2300));
    await client().appendToStream(stream, event(2));
    expect(await read(stream)).toEqual([2]);
    expect(await read(stream, { direction: BACKWARDS, fromRevision: END })).toEqual([2]);
  });

  test('metadata that cannot be understood hides nothing', async () => {
    const stream = newStream('odd-meta');
    await client().appendToStream(stream, events(3));
    await client().appendToStream(`$$${stream}`, jsonEvent({ type: '$metadata', data: { $maxCount: 'two', $tb: 2 } }));
    expect(await read(stream)).toEqual([0, 1, 2]);
  });

  test('a subscription honours it too', async () => {
    const stream = newStream('meta-sub');
    await client().setStreamMetadata(stream, { maxCount: 2 });
    await client().appendToStream(stream, events(5));
    const found: number[] = [];
    const subscription = client().subscribeToStream(stream);
    for await (const { event: e } of subscription) {
      found.push((e!.data as { n: number }).n);
      if (found.length === 2) break;
    }
    await subscription.unsubscribe();
    expect(found).toEqual([3, 4]);
  });
}
