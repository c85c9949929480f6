import { randomUUID } from 'node:crypto';
import { ANY, type AppendExpectedRevision, binaryEvent, ErrorType, jsonEvent, NO_STREAM, STREAM_EXISTS } from '@eventstore/db-client';
import { APPEND_PATHS, type Client, collect, event, events, failure, newStream, numbers, revisions } from './support.js';

export function appendContract(client: Client): void {
  describe.each(APPEND_PATHS)('%s', (_path, options) => {
    test('gives out revisions and positions in order', async () => {
      const stream = newStream('append');
      const first = await client().appendToStream(stream, events(2), { expectedRevision: NO_STREAM, ...options });
      const second = await client().appendToStream(stream, event(2), { expectedRevision: 1n, ...options });
      expect([first.success, first.nextExpectedRevision, second.nextExpectedRevision]).toEqual([true, 1n, 2n]);
      expect(second.position!.commit).toBeGreaterThan(first.position!.commit);
      expect(numbers(await collect(client().readStream(stream)))).toEqual([0, 1, 2]);
    });

    test('keeps ids, types, JSON, bytes, metadata and the time', async () => {
      const stream = newStream('bodies');
      const json = jsonEvent({
        id: randomUUID(),
        type: 'gemütlich "json"',
        data: { text: 'naïve \u{1f600} "\\\n\0', n: 1.5 },
        metadata: { why: 'ß' },
      });
      const bytes = binaryEvent({
        id: randomUUID(),
        type: 'bytes',
        data: Buffer.from([0, 1, 127, 128, 255, 92, 120]),
        metadata: Buffer.from([0, 255]),
      });
      const before = Date.now();
      await client().appendToStream(stream, [json, bytes, binaryEvent({ type: 'empty', data: Buffer.alloc(0) })], options);
      const [a, b, c] = await collect(client().readStream(stream));
      expect(a?.event).toMatchObject({
        id: json.id,
        type: json.type,
        data: json.data,
        metadata: json.metadata,
        isJson: true,
        streamId: stream,
        revision: 0n,
      });
      expect(b?.event).toMatchObject({ id: bytes.id, type: 'bytes', isJson: false });
      expect(Buffer.from(b?.event?.data as Uint8Array)).toEqual(bytes.data);
      expect(Buffer.from(b?.event?.metadata as Uint8Array)).toEqual(bytes.metadata);
      expect(c?.event?.data).toHaveLength(0);
      expect(a!.event!.created.getTime()).toBeGreaterThanOrEqual(before - 1000);
      expect(a!.event!.created.getTime()).toBeLessThanOrEqual(Date.now() + 1000);
    });

    test('refuses a wrong revision, and says what is there', async () => {
      const stream = newStream('wrong');
      await client().appendToStream(stream, events(3), options);
      for (const expectedRevision of [0n, 5n]) {
        const error = await failure(client().appendToStream(stream, event(9), { expectedRevision, ...options }));
        expect(error).toMatchObject({
          type: ErrorType.WRONG_EXPECTED_VERSION,
          streamName: stream,
          expectedVersion: expectedRevision,
          actualVersion: 2n,
        });
      }
      const error = await failure(client().appendToStream(stream, event(9), { expectedRevision: NO_STREAM, ...options }));
      expect(error).toMatchObject({ type: ErrorType.WRONG_EXPECTED_VERSION, expectedVersion: NO_STREAM, actualVersion: 2n });
      expect(await collect(client().readStream(stream))).toHaveLength(3);
    });

    test('refuses a revision or "stream exists" where there is no stream', async () => {
      const stream = newStream('absent');
      for (const expectedRevision of [0n, STREAM_EXISTS] satisfies AppendExpectedRevision[]) {
        const error = await failure(client().appendToStream(stream, event(0), { expectedRevision, ...options }));
        expect(error).toMatchObject({
          type: ErrorType.WRONG_EXPECTED_VERSION,
          expectedVersion: expectedRevision,
          actualVersion: NO_STREAM,
        });
      }
      await client().appendToStream(stream, event(0), options);
      const result = await client().appendToStream(stream, event(1), { expectedRevision: STREAM_EXISTS, ...options });
      expect(result.nextExpectedRevision).toBe(1n);
    });

    test.each<AppendExpectedRevision>([ANY, NO_STREAM])(
      'answers the repetition of an append alike (expecting %s)',
      async (expectedRevision) => {
        const stream = newStream('repeated');
        const same = events(3);
        const first = await client().appendToStream(stream, same, { expectedRevision, ...options });
        const again = await client().appendToStream(stream, same, { expectedRevision, ...options });
        expect(again.nextExpectedRevision).toBe(first.nextExpectedRevision);
        expect(await collect(client().readStream(stream))).toHaveLength(3);
      },
    );

    test('answers the repetition of an append in the middle of a stream alike', async () => {
      const stream = newStream('repeated-middle');
      const middle = events(2);
      await client().appendToStream(stream, event(0), options);
      await client().appendToStream(stream, middle, { expectedRevision: 0n, ...options });
      await client().appendToStream(stream, event(9), { expectedRevision: 2n, ...options });
      const again = await client().appendToStream(stream, middle, { expectedRevision: 0n, ...options });
      expect(again.nextExpectedRevision).toBe(2n);
      expect(await collect(client().readStream(stream))).toHaveLength(4);
    });

    test('refuses an append of which only a part was written before', async () => {
      const stream = newStream('overlap');
      const [a, b] = [event(0), event(1)];
      await client().appendToStream(stream, [a], { expectedRevision: NO_STREAM, ...options });
      for (const expectedRevision of [NO_STREAM, ANY] satisfies AppendExpectedRevision[]) {
        const error = await failure(client().appendToStream(stream, [a, b], { expectedRevision, ...options }));
        expect(error.type).toBe(ErrorType.WRONG_EXPECTED_VERSION);
      }
      expect(revisions(await collect(client().readStream(stream)))).toEqual([0n]);
    });

    test('takes the same event id in another stream', async () => {
      const same = event(0);
      const [one, other] = [newStream('id'), newStream('id')];
      await client().appendToStream(one, same, options);
      await client().appendToStream(other, same, options);
      expect(await collect(client().readStream(other))).toHaveLength(1);
    });

    test('refuses an append of more than the limit, as a whole', async () => {
      const stream = newStream('large');
      const third = () => binaryEvent({ type: 'large', data: Buffer.alloc(400 * 1024, 1) });
      const error = await failure(client().appendToStream(stream, [third(), third(), third()], options));
      expect(error).toMatchObject({ type: ErrorType.MAXIMUM_APPEND_SIZE_EXCEEDED, maxAppendSize: 1024 * 1024 });
      expect((await failure(collect(client().readStream(stream)))).type).toBe(ErrorType.STREAM_NOT_FOUND);
      await client().appendToStream(stream, [third(), third()], options);
      expect(await collect(client().readStream(stream))).toHaveLength(2);
    });

    test('takes an append of nothing', async () => {
      const stream = newStream('nothing');
      const result = await client().appendToStream(stream, [], { expectedRevision: NO_STREAM, ...options });
      expect(result.success).toBe(true);
      expect((await failure(collect(client().readStream(stream)))).type).toBe(ErrorType.STREAM_NOT_FOUND);
    });

    test('lets exactly one of several writers have each revision', async () => {
      const stream = newStream('race');
      const rounds = 5;
      const writers = 64;
      for (let round = 0; round < rounds; round++) {
        const expectedRevision = round === 0 ? NO_STREAM : BigInt(round - 1);
        const results = await Promise.allSettled(
          Array.from({ length: writers }, (_, n) => client().appendToStream(stream, event(n), { expectedRevision, ...options })),
        );
        const won = results.filter(({ status }) => status === 'fulfilled');
        const lost = results.filter((result) => result.status === 'rejected').map(({ reason }) => reason.type);
        expect(won).toHaveLength(1);
        expect(new Set(lost)).toEqual(new Set([ErrorType.WRONG_EXPECTED_VERSION]));
      }
      expect(revisions(await collect(client().readStream(stream)))).toEqual([0n, 1n, 2n, 3n, 4n]);
    });
  });

  test('a refused append does not touch the ones beside it', async () => {
    const streams = Array.from({ length: 20 }, (_, n) => newStream(`beside-${n}`));
    const results = await Promise.allSettled(
      streams.map((stream, n) => client().appendToStream(stream, event(n), { expectedRevision: n % 2 === 0 ? NO_STREAM : 7n })),
    );
    expect(results.map(({ status }) => status)).toEqual(streams.map((_, n) => (n % 2 === 0 ? 'fulfilled' : 'rejected')));
  });

  test('the events of an append stay together while others are written', async () => {
    const [mine, others] = [newStream('together'), newStream('others')];
    const { position } = await client().appendToStream(others, event(0));
    await Promise.all([
      ...Array.from({ length: 20 }, () => client().appendToStream(mine, events(10))),
      ...Array.from({ length: 100 }, (_, n) => client().appendToStream(others, event(n))),
    ]);
    const log = (await collect(client().readAll({ fromPosition: position! }))).filter(({ event: e }) =>
      [mine, others].includes(e?.streamId ?? ''),
    );
    const runs: number[] = [];
    let previous = '';
    for (const { event: e } of log) {
      if (e!.streamId === mine && (previous !== mine || (e!.data as { n: number }).n === 0)) runs.push(0);
      if (e!.streamId === mine) runs[runs.length - 1]! += 1;
      previous = e!.streamId;
    }
    expect(runs).toEqual(Array.from({ length: 20 }, () => 10));
  });
}
