import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { correctionPairs } from '../../projections/correction-pairs.js';
import { dispatches } from '../../projections/dispatches.js';
import { failureHistogram } from '../../projections/failure-histogram.js';
import type { Projection, Row } from '../../projections/projection.js';
import { proposals } from '../../projections/proposals.js';
import { ProjectionStore } from '../../src/adapters/postgres/projection-store.js';
import { PostgresRebuilds } from '../../src/adapters/postgres/rebuild-store.js';
import type { StoredEvent } from '../../src/application/ports.js';
import { History } from '../support/history.js';
import { busyHistory, naively } from '../support/naive.js';
import { ProjectionSpec } from '../support/projection-spec.js';

const projections = [failureHistogram, correctionPairs, dispatches, proposals];
let spec: ProjectionSpec;
let history: History;
beforeAll(async () => {
  spec = await ProjectionSpec.start();
  history = busyHistory(20260101);
}, 60_000);
afterAll(() => spec.end());
beforeEach(() => spec.clear());

const tableOf: Record<string, string> = {
  failure_histogram: 'patterns',
  correction_pairs: 'pairs',
  dispatches: 'dispatches',
  proposals: 'proposals',
};
const rowsOf = (projection: Projection): Promise<Row[]> => spec.rows(projection, tableOf[projection.name]!);
const chunks = (events: StoredEvent[], size: number) =>
  Array.from({ length: Math.ceil(events.length / size) }, (_, i) => events.slice(i * size, (i + 1) * size));

async function expectAsComputedNaively(): Promise<void> {
  for (const projection of projections) {
    const rows = await rowsOf(projection);
    expect(rows.length).toBeGreaterThan(3);
    expect([projection.name, rows]).toEqual([projection.name, naively[projection.name]!(history.events)]);
    expect(await spec.position(projection.name)).toBe(history.events.at(-1)!.position);
  }
}

describe('the same rows, as computed naively from the whole log', () => {
  test('in one batch', async () => {
    const store = await spec.store(...projections);
    await store.apply(history.events);
    await expectAsComputedNaively();
  });

  test('event by event', async () => {
    const store = await spec.store(...projections);
    for (const event of history.events) await store.apply([event]);
    await expectAsComputedNaively();
  });

  test('every batch twice, and earlier ones again later', async () => {
    const store = await spec.store(...projections);
    for (const batch of chunks(history.events, 7)) {
      await store.apply(batch);
      await store.apply(batch);
    }
    await store.apply(history.events.slice(3, 40));
    await store.apply(history.events);
    await expectAsComputedNaively();
  });

  test('with a restart in the middle, from the position that was kept', async () => {
    const half = Math.floor(history.events.length / 2);
    await (await spec.store(...projections)).apply(history.events.slice(0, half));
    const restarted = await spec.store(...projections);
    expect(await restarted.oldestPosition()).toBe(history.events[half - 1]!.position);
    await restarted.apply(history.events.slice(half - 5));
    await expectAsComputedNaively();
  });

  test('with a crash within a batch: of that batch nothing is kept, and it is taken in whole the next time', async () => {
    const [first, ...rest] = chunks(history.events, 50);
    const store = await spec.store(...projections);
    await store.apply(first!);
    const before = await Promise.all(projections.map((projection) => spec.all(projection)));
    const crashing = await spec.store(...projections, { ...proposals, name: 'crashing' });
    await spec.pool.query('DROP TABLE anvil_read.crashing_proposals');
    await expect(crashing.apply(rest.flat())).rejects.toThrow('does not exist');
    expect(await Promise.all(projections.map((projection) => spec.all(projection)))).toEqual(before);
    expect(await spec.position('dispatches')).toBe(first!.at(-1)!.position);
    await store.apply(rest.flat());
    await expectAsComputedNaively();
  });
});

test('keys that a database cannot hold, or cannot tell apart, are counted as one and stop nothing', async () => {
  const odd = new History();
  const d = odd.open();
  for (const code of ['a\0b', 'a\ud800b', 'a\udc00b', 'a\ufffdb', 'a\0b']) odd.attempt(d, 'fail', { codes: [code] });
  for (const size of [1, 2, 100]) {
    await spec.clear();
    const store = await spec.store(...projections);
    for (const batch of chunks(odd.events, size)) await store.apply(batch);
    expect((await rowsOf(failureHistogram)).map(({ patternKey, attempts }) => [patternKey, attempts])).toEqual([['a\ufffdb', 5]]);
  }
});

describe('versions', () => {
  test('rows of an older version stay and answer until rebuilt ones take their place, and the others go on', async () => {
    await (await spec.store(...projections)).apply(history.events);
    const before = await rowsOf(failureHistogram);
    const next: Projection = {
      ...failureHistogram,
      version: failureHistogram.version + 1,
      tables: {
        patterns: { ...failureHistogram.tables.patterns!, columns: { ...failureHistogram.tables.patterns!.columns, note: 'text' } },
      },
      evolve: (...given) => failureHistogram.evolve(...given).map((change) => ({ ...change, row: { ...change.row, note: 'new' } })),
    };
    const others = projections.filter((projection) => projection !== failureHistogram);
    const upgraded = new ProjectionStore(spec.pool, [next, ...others]);
    expect(await upgraded.prepare()).toEqual([next]);
    const kept = await Promise.all(others.map(rowsOf));
    await upgraded.apply(history.events);
    expect(await rowsOf(failureHistogram)).toEqual(before);

    const rebuilds = new PostgresRebuilds(spec.pool, [next, ...others]);
    await rebuilds.prepare();
    await rebuilds.createUnlessRunning([next.name], '2026-01-01T00:00:00.000Z');
    const [rebuild] = await rebuilds.running();
    const shadow = await rebuilds.shadow(rebuild!);
    await shadow.apply(history.events.slice(0, -1));
    expect(await rebuilds.switchOver(rebuild!, '2026-01-01T00:00:01.000Z')).toBe(false);
    expect(await rowsOf(failureHistogram)).toEqual(before);
    await shadow.apply(history.events);
    expect(await rebuilds.switchOver(rebuild!, '2026-01-01T00:00:01.000Z')).toBe(true);
    expect(await spec.rows(next, 'patterns')).toEqual(naively.failure_histogram!(history.events).map((row) => ({ ...row, note: 'new' })));
    expect(await Promise.all(others.map(rowsOf))).toEqual(kept);
    expect(await upgraded.prepare()).toEqual([]);
    expect((await rebuilds.get(rebuild!.id))?.status).toBe('done');
  });

  test('the same version keeps its rows and its place; a projection that is new starts from the beginning', async () => {
    await (await spec.store(dispatches)).apply(history.events);
    const store = await spec.store(dispatches, proposals);
    expect(await store.oldestPosition()).toBeNull();
    expect(await rowsOf(dispatches)).toEqual(naively.dispatches!(history.events));
    await store.apply(history.events);
    expect(await rowsOf(proposals)).toEqual(naively.proposals!(history.events));
    expect(await rowsOf(dispatches)).toEqual(naively.dispatches!(history.events));
  });

  test('two instances that start at once do not disturb each other', async () => {
    const stores = await Promise.all([1, 2, 3].map(() => spec.store(...projections)));
    await Promise.all(stores.map((store) => store.apply(history.events)));
    await expectAsComputedNaively();
  });
});

test('a comparison waits until live and built rows have seen the same: neither is to differ by what the other has not seen yet', async () => {
  const live = await spec.store(...projections);
  await live.apply(history.events.slice(0, -1));
  const rebuilds = new PostgresRebuilds(spec.pool, projections);
  await rebuilds.prepare();
  const names = projections.map(({ name }) => name);
  const rebuild = await rebuilds.create('compared', names, true, '2026-01-01T00:00:00.000Z');
  await (await rebuilds.shadow(rebuild)).apply(history.events);
  expect(await rebuilds.switchOver(rebuild, '2026-01-01T00:00:01.000Z', true)).toBe(false);
  await live.apply(history.events.slice(-1));
  expect(await rebuilds.switchOver(rebuild, '2026-01-01T00:00:02.000Z', true)).toBe(true);
  expect(await rebuilds.get(rebuild.id)).toMatchObject({ status: 'done', differences: [] });
});
