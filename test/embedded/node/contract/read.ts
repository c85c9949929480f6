import { BACKWARDS, END, ErrorType, FORWARDS, START } from '@eventstore/db-client';
import { type Client, collect, event, events, failure, newStream, numbers, revisions } from './support.js';

export function readContract(client: Client): void {
  describe('reading a stream', () => {
    const stream = newStream('read');
    beforeAll(() => client().appendToStream(stream, events(10)));

    test.each([
      ['forwards from the start', { direction: FORWARDS, fromRevision: START }, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]],
      ['forwards from a revision, which is included', { direction: FORWARDS, fromRevision: 7n }, [7, 8, 9]],
      ['forwards, no more than asked for', { direction: FORWARDS, fromRevision: 2n, maxCount: 3 }, [2, 3, 4]],
      ['forwards from behind the end', { direction: FORWARDS, fromRevision: 99n }, []],
      ['forwards from the end', { direction: FORWARDS, fromRevision: END }, []],
      ['backwards from the end', { direction: BACKWARDS, fromRevision: END }, [9, 8, 7, 6, 5, 4, 3, 2, 1, 0]],
      ['backwards from a revision, which is included', { direction: BACKWARDS, fromRevision: 2n }, [2, 1, 0]],
      ['backwards, no more than asked for', { direction: BACKWARDS, fromRevision: END, maxCount: 2 }, [9, 8]],
      ['backwards from behind the end', { direction: BACKWARDS, fromRevision: 99n, maxCount: 2 }, [9, 8]],
    ] as const)('%s', async (_name, options, expected) => {
      expect(numbers(await collect(client().readStream(stream, options)))).toEqual(expected);
    });

    test('that does not exist', async () => {
      const missing = newStream('mißing');
      const error = await failure(collect(client().readStream(missing)));
      expect(error.type).toBe(ErrorType.STREAM_NOT_FOUND);
      expect((await failure(collect(client().readStream(missing, { direction: BACKWARDS, fromRevision: END })))).type).toBe(
        ErrorType.STREAM_NOT_FOUND,
      );
    });

    test('of thousands of events, in order and each once', async () => {
      const long = newStream('long');
      for (let n = 0; n < 3; n++) await client().appendToStream(long, events(1000));
      const all = revisions(await collect(client().readStream(long)));
      expect(all).toEqual(Array.from({ length: 3000 }, (_, n) => BigInt(n)));
      const back = revisions(await collect(client().readStream(long, { direction: BACKWARDS, fromRevision: END })));
      expect(back).toEqual(all.reverse());
    });
  });

  describe('reading $all', () => {
    const a = newStream('all-a');
    const b = newStream('all-b');
    const ours = (found: Awaited<ReturnType<typeof collect<{ event?: { streamId: string; revision: bigint } }>>>) =>
      found.flatMap(({ event: e }) =>
        e && (e.streamId === a || e.streamId === b) ? [`${e.streamId === a ? 'a' : 'b'}${e.revision}`] : [],
      );
    const positions: { commit: bigint; prepare: bigint }[] = [];
    beforeAll(async () => {
      for (let n = 0; n < 3; n++) {
        positions.push((await client().appendToStream(a, event(n))).position!);
        positions.push((await client().appendToStream(b, event(n))).position!);
      }
    });

    test('forwards from a position, which is included', async () => {
      expect(ours(await collect(client().readAll({ fromPosition: positions[2]! })))).toEqual(['a1', 'b1', 'a2', 'b2']);
      const [first] = await collect(client().readAll({ fromPosition: positions[3]!, maxCount: 1 }));
      expect([first?.event?.streamId, first?.event?.revision, first?.event?.position]).toEqual([b, 1n, positions[3]]);
    });

    test('backwards from the end', async () => {
      const found = ours(await collect(client().readAll({ direction: BACKWARDS, fromPosition: END, maxCount: 500 })));
      expect(found).toEqual(['b2', 'a2', 'b1', 'a1', 'b0', 'a0']);
    });

    test('backwards from a position, which is not included', async () => {
      expect(ours(await collect(client().readAll({ direction: BACKWARDS, fromPosition: positions[2]!, maxCount: 100 })))).toEqual([
        'b0',
        'a0',
      ]);
    });

    test('from the start, with positions that only grow', async () => {
      let last = -1n;
      for await (const { event: e } of client().readAll({ fromPosition: START })) {
        expect(e!.position.commit > last).toBe(true);
        last = e!.position.commit;
      }
      expect(last).toBeGreaterThanOrEqual(positions.at(-1)!.commit);
    });

    test('forwards from the end', async () => {
      expect(await collect(client().readAll({ fromPosition: END }))).toEqual([]);
    });
  });
}
