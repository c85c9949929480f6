import { Writable } from 'node:stream';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import fc from 'fast-check';
import { createFilter } from '../../../src/embedded/node/filters.js';
import { LiveTail } from '../../../src/embedded/node/live-tail.js';
import type { LogEvent } from '../../../src/embedded/node/log-event.js';
import type { LogReader } from '../../../src/embedded/node/log-reader.js';
import type { NodeContext } from '../../../src/embedded/node/node-context.js';
import type { ReadRequest } from '../../../src/embedded/node/read-request.js';
import { type ReadCall, Responder } from '../../../src/embedded/node/responder.js';
import { subscribeToAll } from '../../../src/embedded/node/subscribe-to-all.js';
import { subscribeToStream } from '../../../src/embedded/node/subscribe-to-stream.js';

const OURS = 'ours';
const TAIL_EVENTS = 8;
const PAGE_EVENTS = 6;

/** What happens around the reads of a subscription: how many events are committed just before a read sees the log, and just after. */
const few = fc.oneof({ weight: 2, arbitrary: fc.constant(0) }, { weight: 2, arbitrary: fc.nat(3) }, { weight: 1, arbitrary: fc.nat(9) });
const schedules = fc.array(fc.record({ before: few, after: few }), { minLength: 1, maxLength: 14 });

/** A log in memory, into which events are committed exactly while a subscription is reading it. */
class Scene {
  readonly log: LogEvent[] = [];
  readonly tail = new LiveTail(0, TAIL_EVENTS);
  private reads = 0;

  constructor(private readonly schedule: readonly { before: number; after: number }[]) {
    this.commit(20);
  }

  /** Every third event is another stream's. */
  commit(count: number): void {
    const committed: LogEvent[] = [];
    for (let i = 0; i < count; i++) {
      const position = this.log.length + 1;
      const stream = position % 3 === 0 ? 'other' : OURS;
      const revision = this.log.filter((event) => event.stream === stream).length;
      const id = '00000000-0000-4000-8000-000000000000';
      const event = {
        position,
        stream,
        revision,
        id,
        type: 't',
        isJson: true,
        createdUs: 0,
        data: Buffer.alloc(0),
        metadata: Buffer.alloc(0),
      };
      this.log.push(event);
      committed.push(event);
    }
    if (count > 0) this.tail.push(committed);
  }

  private async read<T>(look: () => T): Promise<T> {
    const { before, after } = this.schedule[this.reads++] ?? { before: 0, after: 0 };
    await new Promise((resolve) => setImmediate(resolve));
    this.commit(before);
    const seen = look();
    this.commit(after);
    await new Promise((resolve) => setImmediate(resolve));
    return seen;
  }

  readonly reader = {
    streamInfo: (stream: string) =>
      this.read(() => {
        const head = this.log.filter((event) => event.stream === stream).length - 1;
        return { id: 1, head, tombstoned: false, softDeleted: false, metadata: {} };
      }),
    readStream: (stream: string, _info: unknown, { from, to }: { from: number; to: number }) =>
      this.read(() => {
        const all = this.log.filter((event) => event.stream === stream && event.revision >= from && event.revision <= to);
        return { events: all.slice(0, PAGE_EVENTS), complete: all.length < PAGE_EVENTS };
      }),
    readAll: ({ after, to }: { after: number; to: number }) =>
      this.read(() => {
        const all = this.log.filter(({ position }) => position > after && position <= to);
        const events = all.slice(0, PAGE_EVENTS);
        return { events, scannedTo: events.length < PAGE_EVENTS ? to : events.at(-1)!.position };
      }),
  } as unknown as LogReader;
}

/** Runs a subscription until everything that is in the log at the end could have reached it, and returns what it sent. */
async function run(scene: Scene, subscribe: (node: NodeContext, responder: Responder) => Promise<void>): Promise<string[]> {
  const sent: string[] = [];
  const call = new Writable({
    objectMode: true,
    highWaterMark: 2,
    write: (bytes: Buffer, _encoding, done) => {
      const response = streams.ReadResp.deserializeBinary(bytes);
      if (response.hasEvent()) sent.push(response.getEvent()!.getCommitPosition());
      if (response.hasCheckpoint()) sent.push(`checkpoint ${response.getCheckpoint()!.getCommitPosition()}`);
      if (response.hasCaughtUp()) sent.push('caught up');
      setImmediate(done);
    },
  });
  const responder = new Responder(call as unknown as ReadCall);
  const running = subscribe({ tail: scene.tail, reader: scene.reader } as NodeContext, responder);
  let quiet = 0;
  let length = -1;
  // It is done when it has been caught up and nothing more comes for many turns.
  while (quiet < 30) {
    await new Promise((resolve) => setImmediate(resolve));
    quiet = sent.length === length ? quiet + 1 : 0;
    length = sent.length;
  }
  responder.end();
  await running;
  return sent;
}

const request = (change: Partial<ReadRequest>): ReadRequest => ({
  stream: null,
  start: { kind: 'start' },
  direction: 'forwards',
  count: null,
  filter: null,
  checkpointInterval: 1000,
  structuredIds: false,
  ...change,
});
const onlyPositions = (sent: readonly string[]) => sent.filter((entry) => /^\d+$/.test(entry)).map(Number);

describe('a subscription that crosses from the log to the live tail, whatever is committed meanwhile', () => {
  test('of a stream: every event once and in order', async () => {
    await fc.assert(
      fc.asyncProperty(schedules, async (schedule) => {
        const scene = new Scene(schedule);
        const sent = await run(scene, (node, responder) => subscribeToStream(node, request({ stream: OURS }), OURS, responder));
        expect(onlyPositions(sent)).toEqual(scene.log.filter(({ stream }) => stream === OURS).map(({ position }) => position));
        expect(sent).toContain('caught up');
      }),
      { numRuns: 150 },
    );
  });

  test('of $all: every event once and in order', async () => {
    await fc.assert(
      fc.asyncProperty(schedules, async (schedule) => {
        const scene = new Scene(schedule);
        const sent = await run(scene, (node, responder) => subscribeToAll(node, request({}), responder));
        expect(onlyPositions(sent)).toEqual(scene.log.map(({ position }) => position));
      }),
      { numRuns: 150 },
    );
  });

  test('of $all with a filter: a checkpoint never overtakes an event, and none comes twice', async () => {
    await fc.assert(
      fc.asyncProperty(schedules, fc.integer({ min: 1, max: 6 }), async (schedule, checkpointInterval) => {
        const scene = new Scene(schedule);
        const filter = { ...createFilter('stream', ['other'], ''), sql: null };
        const withFilter = {
          ...scene.reader,
          readAll: async (range: Parameters<LogReader['readAll']>[0]) => {
            const page = await scene.reader.readAll(range);
            return { ...page, events: page.events.filter(filter.matches) };
          },
        };
        const sent = await run(scene, (node, responder) =>
          subscribeToAll({ ...node, reader: withFilter as unknown as LogReader }, request({ filter, checkpointInterval }), responder),
        );
        expect(onlyPositions(sent)).toEqual(scene.log.filter(({ stream }) => stream === 'other').map(({ position }) => position));
        let last = 0;
        for (const entry of sent) {
          if (entry === 'caught up') continue;
          const position = Number(entry.replace('checkpoint ', ''));
          // A checkpoint may stand at the event just sent; an event may not stand at or before a checkpoint.
          if (entry.startsWith('checkpoint')) expect(position).toBeGreaterThanOrEqual(last);
          else expect(position).toBeGreaterThan(last);
          last = position;
        }
        expect(scene.log.length - Number(sent.findLast((entry) => entry.startsWith('checkpoint'))?.slice(11))).toBeLessThan(
          checkpointInterval,
        );
      }),
      { numRuns: 150 },
    );
  });
});
