import streams from '@eventstore/db-client/generated/streams_pb.js';
import fc from 'fast-check';
import { createFilter } from '../../../src/embedded/node/filters.js';
import { LiveTail } from '../../../src/embedded/node/live-tail.js';
import { DELETED_REVISION, type LogEvent } from '../../../src/embedded/node/log-event.js';
import { checkPattern } from '../../../src/embedded/node/safe-pattern.js';
import { StreamStates } from '../../../src/embedded/node/stream-states.js';
import { encodeEvent } from '../../../src/embedded/node/wire.js';

function logEvent(position: number, change: Partial<LogEvent> = {}): LogEvent {
  const id = '00000000-0000-4000-8000-000000000000';
  return {
    position,
    stream: 's',
    revision: position,
    id,
    type: 't',
    isJson: true,
    createdUs: 0,
    data: Buffer.alloc(10),
    metadata: Buffer.alloc(0),
    ...change,
  };
}

describe('what is remembered of streams', () => {
  /** A database that answers when it is let, with what it held when it was asked. */
  function slowDatabase() {
    let answer: () => void = () => undefined;
    let asked = 0;
    const query = (): Promise<{ rows: unknown[] }> => {
      asked += 1;
      return new Promise((resolve) => {
        answer = () => resolve({ rows: [['s', '1', '4', null, true]] });
      });
    };
    return { db: { query } as never, answer: () => answer(), asked: () => asked };
  }

  test('a reader leaves what it found, so that the next one need not ask', async () => {
    const states = new StreamStates('log');
    const { db, answer, asked } = slowDatabase();
    const first = states.info(db, 's');
    answer();
    expect((await first).head).toBe(4);
    expect((await states.info(db, 's')).head).toBe(4);
    expect(asked()).toBe(1);
  });

  test.each<[string, (states: StreamStates) => void]>([
    ['something was committed', (states) => states.put('s', { id: 1, head: 5 })],
    ['the writer lost track', (states) => states.clear()],
  ])('but not if %s while it asked', async (_name, meanwhile) => {
    const states = new StreamStates('log');
    const { db, answer } = slowDatabase();
    const first = states.info(db, 's');
    meanwhile(states);
    answer();
    await first;
    expect(states.get('s')?.head).not.toBe(4);
  });
});

describe('the live tail', () => {
  const positions = (events: LogEvent[] | null) => events?.map(({ position }) => position) ?? null;

  test('gives what follows a position, and nothing at the head or beyond', () => {
    const tail = new LiveTail(5);
    expect(tail.after(5, 10)).toEqual([]);
    tail.push([logEvent(6), logEvent(7), logEvent(8)]);
    expect(positions(tail.after(5, 10))).toEqual([6, 7, 8]);
    expect(positions(tail.after(6, 1))).toEqual([7]);
    expect(positions(tail.after(8, 10))).toEqual([]);
    expect(positions(tail.after(99, 10))).toEqual([]);
  });

  test('says so when it does not reach back far enough', () => {
    const tail = new LiveTail(5, 2);
    expect(tail.after(4, 10)).toBeNull();
    tail.push([logEvent(6), logEvent(7), logEvent(8)]);
    expect(tail.after(5, 10)).toBeNull();
    expect(positions(tail.after(6, 10))).toEqual([7, 8]);
  });

  test('is bounded in bytes, but always keeps the newest event', () => {
    const tail = new LiveTail(0, 100, 5000);
    for (let n = 1; n <= 50; n++) tail.push([logEvent(n, { data: Buffer.alloc(1000) })]);
    expect(tail.after(40, 100)).toBeNull();
    expect(positions(tail.after(48, 100))).toEqual([49, 50]);
    tail.push([logEvent(51, { data: Buffer.alloc(100_000) })]);
    expect(positions(tail.after(50, 100))).toEqual([51]);
    expect(tail.after(49, 100)).toBeNull();
  });

  test('goes on right after a very long time', () => {
    const tail = new LiveTail(0, 10);
    for (let n = 1; n <= 1000; n++) {
      tail.push([logEvent(n)]);
      expect(positions(tail.after(n - 1, 10))).toEqual([n]);
      if (n > 10) expect(positions(tail.after(n - 10, 20))).toHaveLength(10);
    }
  });

  test('starts over behind events that it did not see, and wakes those who wait', () => {
    const tail = new LiveTail(5);
    tail.push([logEvent(6)]);
    let woken = 0;
    const unlisten = tail.listen(() => {
      woken += 1;
    });
    tail.reset(6);
    expect(positions(tail.after(5, 10))).toEqual([6]);
    tail.reset(9);
    expect(tail.after(6, 10)).toBeNull();
    expect(woken).toBe(1);
    tail.push([logEvent(10)]);
    expect(positions(tail.after(9, 10))).toEqual([10]);
    unlisten();
    tail.push([logEvent(11)]);
    expect(woken).toBe(2);
  });
});

describe('the encoding of events', () => {
  const bytes = fc.uint8Array({ maxLength: 300 }).map((array) => Buffer.from(array));
  const name = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 200 });
  const events = fc.record({
    position: fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
    revision: fc.oneof(fc.constant(0), fc.constant(DELETED_REVISION), fc.integer({ min: 0, max: 2 ** 52 })),
    stream: name,
    type: name,
    id: fc.uuid(),
    isJson: fc.boolean(),
    createdUs: fc.integer({ min: 0, max: 2 ** 52 }),
    data: bytes,
    metadata: bytes,
  });

  test('is read back by the generated code', () => {
    fc.assert(
      fc.property(events, (event) => {
        const response = streams.ReadResp.deserializeBinary(encodeEvent({ ...event }, false));
        const recorded = response.getEvent()!.getEvent()!;
        const metadata = recorded.getMetadataMap();
        expect({
          position: Number(recorded.getCommitPosition()),
          revision: recorded.getStreamRevision() === '9223372036854775807' ? DELETED_REVISION : Number(recorded.getStreamRevision()),
          stream: Buffer.from(recorded.getStreamIdentifier()!.getStreamName_asU8()).toString(),
          type: metadata.get('type'),
          id: recorded.getId()!.getString(),
          isJson: metadata.get('content-type') === 'application/json',
          createdUs: Number(BigInt(metadata.get('created')!) / 10n),
          data: Buffer.from(recorded.getData_asU8()),
          metadata: Buffer.from(recorded.getCustomMetadata_asU8()),
        }).toEqual(event);
        expect(recorded.getPreparePosition()).toBe(recorded.getCommitPosition());
        expect(response.getEvent()!.getCommitPosition()).toBe(recorded.getCommitPosition());
        const structured = streams.ReadResp.deserializeBinary(encodeEvent({ ...event }, true));
        expect(structured.getEvent()!.getEvent()!.getId()!.hasStructured()).toBe(true);
        expect(structured.getEvent()!.getEvent()!.getStreamRevision()).toBe(recorded.getStreamRevision());
      }),
    );
  });

  test('is shared by those who want the same event', () => {
    const event = logEvent(1);
    expect(encodeEvent(event, false)).toBe(encodeEvent(event, false));
  });
});

describe('filters', () => {
  test.each([
    '^[^$].*',
    '^order-',
    '^(order|cart)-.*',
    'created$',
    '^a.*b',
    '^[a-z]+-\\d+$',
    '^x{3}y',
    '\\$',
    '^a?b',
    '^(abc)+',
    '^[(+*]+x',
  ])('the pattern %s is taken, and means what it means', (source) => {
    const pattern = checkPattern(source);
    for (const text of ['order-1', 'cart-x', '$x', 'it-created', 'a--b', 'xxxy', 'abcabc', '(+x'])
      expect(pattern.test(text)).toBe(new RegExp(source).test(text));
  });

  test.each([
    '(a+)+',
    '(a*)*b',
    '(a|aa)+$',
    '(a?){50}',
    '^(.*a){12}',
    'a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?',
    '(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)',
    '^.*.*.*x',
    '(?<=a)b',
    '(a)\\1',
    '(',
  ])('the pattern %s is refused', (source) => {
    expect(() => checkPattern(source)).toThrow();
  });

  test('what is taken is quick, even on names that nearly match', () => {
    for (const source of ['^.*a.*b', 'a.*b', '.*.*'.slice(0, 2), '^[a-z]*[a-z]*$']) {
      const pattern = checkPattern(source);
      const started = performance.now();
      pattern.test(`${'a'.repeat(1024)}!`);
      expect(performance.now() - started).toBeLessThan(200);
    }
  });

  test('prefixes and patterns do not mix, and something must be there', () => {
    expect(() => createFilter('type', ['a'], 'b')).toThrow();
    expect(() => createFilter('type', [], '')).toThrow();
    expect(() => createFilter('stream', Array.from({ length: 101 }, String), '')).toThrow();
    expect(createFilter('stream', ['a', 's'], '').matches(logEvent(1))).toBe(true);
    expect(createFilter('type', ['a', 's'], '').matches(logEvent(1))).toBe(false);
  });
});
