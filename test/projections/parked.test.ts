import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { captures } from '../../projections/captures.js';
import { correctionPairs } from '../../projections/correction-pairs.js';
import { dispatches } from '../../projections/dispatches.js';
import { failureHistogram } from '../../projections/failure-histogram.js';
import { files } from '../../projections/files.js';
import { measured } from '../../projections/measured.js';
import { patterns } from '../../projections/patterns.js';
import type { Projection } from '../../projections/projection.js';
import { proposals } from '../../projections/proposals.js';
import { signals } from '../../projections/signals.js';
import { PostgresRebuilds } from '../../src/adapters/postgres/rebuild-store.js';
import type { FollowedEvent, StoredEvent } from '../../src/application/ports.js';
import type { History } from '../support/history.js';
import { busyHistory } from '../support/naive.js';
import { ProjectionSpec } from '../support/projection-spec.js';

const all = [failureHistogram, correctionPairs, dispatches, proposals, files, signals, captures, patterns, measured];
let spec: ProjectionSpec;
let history: History;
let fresh: Record<string, unknown>;
beforeAll(async () => {
  spec = await ProjectionSpec.start();
  history = busyHistory(20260102);
  await spec.clear();
  await (await spec.store(...all)).apply(history.events);
  fresh = await rowsOf(all);
}, 60_000);
afterAll(() => spec.end());
beforeEach(() => spec.clear());

const rowsOf = async (projections: Projection[]) =>
  Object.fromEntries(await Promise.all(projections.map(async (projection) => [projection.name, await spec.all(projection)] as const)));
const parked = async () => {
  const { rows } = await spec.pool.query('SELECT * FROM anvil_read.parked_events ORDER BY follower');
  return rows;
};
const chunks = (events: FollowedEvent[], size: number) =>
  Array.from({ length: Math.ceil(events.length / size) }, (_, i) => events.slice(i * size, (i + 1) * size));
/** A log as it is read, with what `read` makes of each event. */
const logOf = (read: (event: StoredEvent) => FollowedEvent = (event) => event) => ({
  async *readFollowed(stream: string, from: number, most = 1e9) {
    const own = history.events.filter((event) => event.stream === stream && event.revision >= from);
    for (const event of own.slice(0, most)) yield read(event);
  },
});
/** The tenth verdict of the history: nobody can read it. */
const poison = () => history.events.filter(({ event }) => event.type === 'VerdictReached' && event.data.verdict === 'fail')[9]!;
const unreadable = (event: StoredEvent): FollowedEvent => {
  const { id, stream, revision, position } = event;
  return event === poison() ? { id, stream, revision, position, type: 'VerdictReached', unreadable: 'of another shape' } : event;
};

test.each([4, 13, 1000])(
  'an unreadable event holds back its file only, and comes in with what it held back (batches of %i)',
  async (size) => {
    const store = await spec.store(...all);
    for (const batch of chunks(history.events.map(unreadable), size)) await store.apply(batch);
    const { id, stream, revision, position } = poison();
    const handled = all.filter(({ handles }) => handles.includes('VerdictReached')).map(({ name }) => name);
    expect((await parked()).map(({ follower }) => follower)).toEqual(handled.sort());
    const place = { eventId: id, stream, revision, position, type: 'VerdictReached', reason: 'of another shape', tries: 1 };
    expect((await parked())[0]).toMatchObject(place);
    for (const { name } of all) expect(await spec.position(name)).toBe(history.events.at(-1)!.position);

    // Exactly as if the file had ended before it, for those who would have taken it.
    const seen = await rowsOf(all);
    await spec.clear();
    const without = history.events.filter((event) => event.stream !== stream || event.revision < revision);
    await (await spec.store(...all)).apply(without);
    const expected = await rowsOf(all);
    for (const { name, handles } of all)
      expect([name, seen[name]]).toEqual([name, handles.includes('VerdictReached') ? expected[name] : fresh[name]]);

    await spec.clear();
    const again = await spec.store(...all);
    for (const batch of chunks(history.events.map(unreadable), size)) await again.apply(batch);
    await again.retry(logOf(unreadable));
    expect(await parked()).toHaveLength(handled.length);
    expect((await parked())[0]).toMatchObject({ ...place, tries: 2 });
    await again.retry(logOf());
    expect(await parked()).toEqual([]);
    expect(await rowsOf(all)).toEqual(fresh);
  },
);

test('a second one behind the first is parked in its place once that can be read', async () => {
  const store = await spec.store(...all);
  const last = history.events.findLast(({ event, stream }) => event.type === 'VerdictReached' && stream === poison().stream)!;
  const { id, stream, revision, position } = last;
  const both = (event: StoredEvent): FollowedEvent =>
    event === last ? { id, stream, revision, position, type: 'VerdictReached', unreadable: 'unknown' } : unreadable(event);
  await store.apply(history.events.map(both));
  await store.retry(logOf((event) => (event === poison() ? event : both(event))));
  expect(new Set((await parked()).map((row) => `${row.type} ${row.revision} ${row.tries}`))).toEqual(
    new Set([`VerdictReached ${revision} 1`]),
  );
  await store.retry(logOf());
  expect(await parked()).toEqual([]);
  expect(await rowsOf(all)).toEqual(fresh);
});

test('an unknown type concerns every projection; what only some take in, only those', async () => {
  const opened = history.events.find(({ event }) => event.type === 'DispatchOpened')!;
  const { id, stream, revision, position } = opened;
  for (const [type, who] of [
    ['SomethingElse', all],
    ['DispatchOpened', all.filter(({ handles }) => handles.includes('DispatchOpened'))],
    ['TaskFlaggedForDecomposition', []],
  ] as const) {
    await spec.clear();
    await (await spec.store(...all)).apply([{ id, stream, revision, position, type, unreadable: 'x' }]);
    expect((await parked()).map(({ follower }) => follower)).toEqual(who.map(({ name }) => name).sort());
  }
});

const wrong: [string, (projection: Projection) => Projection, string][] = [
  [
    'an evolve that throws',
    (one) => ({ ...one, evolve: (rows, event) => (event.id === poison().id ? fail() : one.evolve(rows, event)) }),
    'a bug',
  ],
  ['a needs that throws', (one) => ({ ...one, needs: (event) => (event.id === poison().id ? fail() : one.needs(event)) }), 'a bug'],
  [
    'a row that the database refuses',
    (one) => ({
      ...one,
      evolve: (rows, event) =>
        one
          .evolve(rows, event)
          .map((change) => (event.id === poison().id ? { ...change, row: { ...change.row, attempts: 2 ** 70 } } : change)),
    }),
    'type bigint',
  ],
];
test.each(wrong)('%s parks the event for that projection; mended, it has the same rows', async (_what, bug, reason) => {
  for (const size of [7, 1000]) {
    await spec.clear();
    const others = all.filter((projection) => projection !== failureHistogram);
    const store = await spec.store(bug(failureHistogram), ...others);
    for (const batch of chunks(history.events, size)) await store.apply(batch);
    expect(await rowsOf(others)).toEqual(Object.fromEntries(others.map(({ name }) => [name, fresh[name]])));
    expect(await parked()).toHaveLength(1);
    expect((await parked())[0]).toMatchObject({
      follower: 'failure_histogram',
      eventId: poison().id,
      reason: expect.stringContaining(reason),
    });
    await store.retry(logOf());
    expect((await parked())[0]).toMatchObject({ tries: 2 });
    await (await spec.store(...all)).retry(logOf());
    expect(await parked()).toEqual([]);
    expect(await rowsOf(all)).toEqual(fresh);
  }
});

function fail(): never {
  throw new Error('a bug');
}

test('a rebuild parks what it cannot take in, in the place of what was parked before', async () => {
  const store = await spec.store(...all);
  await store.apply(history.events.map(unreadable));
  const rebuilds = new PostgresRebuilds(spec.pool, all);
  await rebuilds.prepare();
  const rebuilt = async (id: string, events: FollowedEvent[]) => {
    const rebuild = await rebuilds.create(id, ['failure_histogram', 'captures'], false, '2026-01-01T00:00:00.000Z');
    await (await rebuilds.shadow(rebuild)).apply(events);
    expect(await rebuilds.switchOver(rebuild, '2026-01-01T00:00:01.000Z')).toBe(true);
  };
  const before = await rowsOf(all);
  await rebuilt('one', history.events.map(unreadable));
  expect(await rowsOf(all)).toEqual(before);
  expect((await parked()).map(({ follower }) => follower)).toContain('captures');
  await rebuilt('two', history.events);
  expect((await parked()).map(({ follower }) => follower)).toEqual(['correction_pairs', 'files', 'measured', 'patterns']);
  await store.retry(logOf());
  expect(await rowsOf(all)).toEqual(fresh);
});

test('the order among files does not change what is read: a file may come late as a whole', async () => {
  const streams = [...new Set(history.events.map(({ stream }) => stream))];
  expect(streams.length).toBeGreaterThan(1);
  const late = [...streams].reverse().flatMap((stream) => history.events.filter((event) => event.stream === stream));
  const store = await spec.store(...all);
  await store.apply(late.map((event, place) => ({ ...event, position: String(place + 1) })));
  expect(await rowsOf(all)).toEqual(fresh);
});
