import { BACKWARDS, END, ErrorType, NO_STREAM, STREAM_EXISTS } from '@eventstore/db-client';
import { APPEND_PATHS, type Client, collect, event, events, failure, newStream, numbers, revisions } from './support.js';

export function deleteContract(client: Client): void {
  const read = (stream: string) => collect(client().readStream(stream));

  describe('deleting', () => {
    test('hides a stream; written again, it goes on counting and shows what is new', async () => {
      const stream = newStream('deleted');
      await client().appendToStream(stream, events(3));
      const { position } = await client().deleteStream(stream, { expectedRevision: 2n });
      expect(position).toBeDefined();
      expect((await failure(read(stream))).type).toBe(ErrorType.STREAM_NOT_FOUND);
      const result = await client().appendToStream(stream, [event(10), event(11)], { expectedRevision: NO_STREAM });
      expect(result.nextExpectedRevision).toBe(4n);
      const found = await read(stream);
      expect([numbers(found), revisions(found)]).toEqual([
        [10, 11],
        [3n, 4n],
      ]);
      const back = await collect(client().readStream(stream, { direction: BACKWARDS, fromRevision: END }));
      expect(revisions(back)).toEqual([4n, 3n]);
    });

    test('a deleted stream can be written at its last revision or at any, but does not exist', async () => {
      const [exact, any, exists] = [newStream('deleted'), newStream('deleted'), newStream('deleted')];
      for (const stream of [exact, any, exists]) {
        await client().appendToStream(stream, events(2));
        await client().deleteStream(stream);
      }
      expect((await client().appendToStream(exact, event(5), { expectedRevision: 1n })).nextExpectedRevision).toBe(2n);
      expect((await client().appendToStream(any, event(5))).nextExpectedRevision).toBe(2n);
      expect((await failure(client().appendToStream(exists, event(5), { expectedRevision: STREAM_EXISTS }))).type).toBe(
        ErrorType.STREAM_DELETED,
      );
      expect(numbers(await read(exact))).toEqual([5]);
    });

    test('new metadata brings a deleted stream back, empty', async () => {
      const stream = newStream('deleted-meta');
      await client().appendToStream(stream, events(2));
      await client().deleteStream(stream);
      await client().setStreamMetadata(stream, { maxCount: 5 });
      expect(await read(stream)).toEqual([]);
      expect((await client().getStreamMetadata(stream)).metadata).toEqual({ maxCount: 5, truncateBefore: 2 });
    });

    test('wants the right revision, and something to delete', async () => {
      const stream = newStream('not-deleted');
      await client().appendToStream(stream, events(3));
      expect(await failure(client().deleteStream(stream, { expectedRevision: 0n }))).toMatchObject({
        type: ErrorType.WRONG_EXPECTED_VERSION,
        streamName: stream,
        expectedVersion: 0n,
        actualVersion: 2n,
      });
      expect((await failure(client().deleteStream(stream, { expectedRevision: NO_STREAM }))).type).toBe(ErrorType.WRONG_EXPECTED_VERSION);
      expect((await failure(client().deleteStream(newStream('missing')))).type).toBe(ErrorType.WRONG_EXPECTED_VERSION);
      expect(await read(stream)).toHaveLength(3);
    });

    test('a stream that has only metadata can be deleted', async () => {
      const stream = newStream('only-metadata');
      await client().setStreamMetadata(stream, { cacheControl: 10 });
      expect(await client().deleteStream(stream, { expectedRevision: NO_STREAM })).toBeDefined();
    });

    test('deleted events stay in $all', async () => {
      const stream = newStream('still-in-all');
      const { position } = await client().appendToStream(stream, events(2));
      await client().deleteStream(stream);
      const found = (await collect(client().readAll({ fromPosition: position! }))).map(({ event: e }) => e?.streamId);
      expect(found).toEqual(expect.arrayContaining([stream, `$$${stream}`]));
    });
  });

  describe('tombstoning', () => {
    test('ends a stream for good', async () => {
      const stream = newStream('tömb');
      await client().appendToStream(stream, events(2));
      const { position } = await client().tombstoneStream(stream, { expectedRevision: 1n });
      expect(position).toBeDefined();
      expect((await failure(read(stream))).type).toBe(ErrorType.STREAM_DELETED);
      expect((await failure(client().deleteStream(stream))).type).toBe(ErrorType.STREAM_DELETED);
      expect((await failure(client().tombstoneStream(stream))).type).toBe(ErrorType.STREAM_DELETED);
      for (const [, options] of APPEND_PATHS) {
        for (const expectedRevision of [1n, NO_STREAM, 'any'] as const) {
          const error = await failure(client().appendToStream(stream, event(5), { expectedRevision, ...options }));
          expect(error.type).toBe(ErrorType.STREAM_DELETED);
        }
      }
    });

    test('its metadata goes with it', async () => {
      const stream = newStream('tomb-meta');
      await client().setStreamMetadata(stream, { maxCount: 1 });
      await client().appendToStream(stream, event(0));
      await client().tombstoneStream(stream);
      expect((await failure(client().setStreamMetadata(stream, { maxCount: 2 }))).type).toBe(ErrorType.STREAM_DELETED);
      expect((await failure(client().getStreamMetadata(stream))).type).toBe(ErrorType.STREAM_DELETED);
    });

    test('wants the right revision, and can end a stream before it begins', async () => {
      const stream = newStream('not-tomb');
      await client().appendToStream(stream, events(2));
      expect(await failure(client().tombstoneStream(stream, { expectedRevision: 5n }))).toMatchObject({
        type: ErrorType.WRONG_EXPECTED_VERSION,
        actualVersion: 1n,
      });
      const unborn = newStream('unborn');
      await client().tombstoneStream(unborn, { expectedRevision: NO_STREAM });
      expect((await failure(client().appendToStream(unborn, event(0)))).type).toBe(ErrorType.STREAM_DELETED);
    });

    test('shows in $all as the last event of the stream', async () => {
      const stream = newStream('tomb-all');
      const { position } = await client().appendToStream(stream, event(0));
      await client().tombstoneStream(stream);
      const found = (await collect(client().readAll({ fromPosition: position! }))).filter(({ event: e }) => e?.streamId === stream);
      expect(found.map(({ event: e }) => e?.type)).toEqual(['counted', '$streamDeleted']);
      expect(found[1]?.event?.revision).toBe(9223372036854775807n);
    });
  });
}
