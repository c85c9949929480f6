import { jest } from '@jest/globals';
import { EXPECT_ANY } from '../../../src/embedded/node/append-rules.js';
import { LiveTail } from '../../../src/embedded/node/live-tail.js';
import type { LogSession } from '../../../src/embedded/node/log-session.js';
import { LogWriter, WriteUnconfirmedError } from '../../../src/embedded/node/log-writer.js';
import { StreamStates } from '../../../src/embedded/node/stream-states.js';

/** A database that says nothing was ever written, and commits when it is let. */
class FakeSession {
  inserts = 0;
  lost = null;
  release: (error?: Error) => void = () => undefined;

  readonly client = {
    query: async (query: string | { name: string }) => {
      if (typeof query === 'string') return { rows: [{ position: '0', stream_id: '0' }] };
      if (query.name !== 'anvil-log-insert') return { rows: [] };
      this.inserts += 1;
      await new Promise<void>((resolve, reject) => {
        this.release = (error) => (error === undefined ? resolve() : reject(error));
      });
      return { rows: [] };
    },
  };
}

function request(stream: string, bytes = 10) {
  const id = '00000000-0000-4000-8000-000000000000';
  return {
    kind: 'append' as const,
    stream,
    expected: EXPECT_ANY,
    events: [{ id, type: 't', isJson: true, data: Buffer.alloc(bytes), metadata: Buffer.alloc(0) }],
  };
}

const never = () => false;
const turns = async (count = 10) => {
  for (let n = 0; n < count; n++) await new Promise((resolve) => setImmediate(resolve));
};

describe('the writer', () => {
  let session: FakeSession;
  let tail: LiveTail;
  let writer: LogWriter;
  let failures: Error[];
  beforeEach(async () => {
    session = new FakeSession();
    tail = new LiveTail(0);
    failures = [];
    writer = new LogWriter('log', new StreamStates('log'), tail, (_session, error) => failures.push(error));
    await writer.connect(session as unknown as LogSession);
  });

  test('commits together what came while it was busy, and answers after the commit', async () => {
    const answered: string[] = [];
    const submit = (stream: string) => writer.submit(request(stream), never).then(() => answered.push(stream));
    const first = submit('a');
    await turns();
    const others = ['b', 'c', 'd'].map(submit);
    await turns();
    expect([session.inserts, answered, tail.head]).toEqual([1, [], 0]);
    session.release();
    await first;
    await turns();
    expect([session.inserts, answered, tail.head]).toEqual([2, ['a'], 1]);
    session.release();
    await Promise.all(others);
    expect([session.inserts, answered, tail.head]).toEqual([2, ['a', 'b', 'c', 'd'], 4]);
  });

  test('writes and answers what is queued before it closes, and takes no more', async () => {
    const first = writer.submit(request('a'), never);
    await turns();
    const second = writer.submit(request('b'), never);
    const closed = writer.close();
    await expect(writer.submit(request('c'), never)).rejects.toThrow(WriteUnconfirmedError);
    session.release();
    await first;
    await turns();
    session.release();
    expect(await second).toMatchObject({ kind: 'done', position: 2 });
    await closed;
  });

  test('fails all of a batch whose commit failed, writes nothing until it is connected again, and then what waited', async () => {
    const failed = [writer.submit(request('a'), never), writer.submit({ ...request('b'), expected: 7 }, never)];
    await turns();
    const waited = writer.submit(request('c'), never);
    session.release(new Error('gone'));
    for (const { status, reason } of (await Promise.allSettled(failed)) as PromiseRejectedResult[]) {
      // Even the refusal was founded on what is now uncertain.
      expect([status, reason instanceof WriteUnconfirmedError]).toEqual(['rejected', true]);
    }
    expect([failures.length, tail.head]).toEqual([1, 0]);
    await turns();
    expect(session.inserts).toBe(1);
    const next = new FakeSession();
    await writer.connect(next as unknown as LogSession);
    await turns();
    next.release();
    expect(await waited).toMatchObject({ kind: 'done', position: 1 });
  });

  test('lets what waits for a lost database go after a while', async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
    try {
      writer.disconnect();
      const waiting = writer.submit(request('a'), never);
      jest.advanceTimersByTime(2_900);
      const result = Promise.race([waiting.catch((error) => error), turns().then(() => 'still waiting')]);
      expect(await result).toBe('still waiting');
      jest.advanceTimersByTime(200);
      await expect(waiting).rejects.toThrow(WriteUnconfirmedError);
      await expect(writer.submit(request('b'), never)).rejects.toThrow(WriteUnconfirmedError);
    } finally {
      jest.useRealTimers();
    }
  });

  test('does not begin what nobody waits for any more', async () => {
    const first = writer.submit(request('a'), never);
    await turns();
    let gone = false;
    const second = writer.submit(request('b'), () => gone);
    gone = true;
    session.release();
    await first;
    await expect(second).rejects.toThrow(WriteUnconfirmedError);
    expect(session.inserts).toBe(1);
  });

  test('bounds its queue, and says when there is room again', async () => {
    const first = writer.submit(request('a'), never);
    await turns();
    const queued = Array.from({ length: 64 }, (_, n) => writer.submit(request(`s${n}`, 1024 * 1024), never));
    expect(writer.isFull).toBe(true);
    await expect(writer.submit(request('more'), never)).rejects.toThrow(/Too many appends/);
    let relieved = false;
    void writer.relief().then(() => {
      relieved = true;
    });
    await turns();
    expect(relieved).toBe(false);
    for (let n = 0; n < 12; n++) {
      session.release();
      await turns();
    }
    await Promise.all([first, ...queued]);
    expect([relieved, writer.isFull]).toEqual([true, false]);
    // 64 MiB in batches of at most 8.
    expect(session.inserts).toBeGreaterThanOrEqual(9);
  });
});
