import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import type { Json } from '../support/api.js';
import { appendForeign, event } from '../support/foreign.js';
import { freshRepo, Service } from '../support/service.js';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
}, 60_000);
afterAll(() => service.stop());
afterEach(() => expect(service.reports.splice(0)).toEqual([]));

const quality = (query: Json): Promise<Json> => service.api.ok(service.api.get('/v1/measurements/signals', query));

/** A dispatch of a fresh file that fails with a code so many times: in three, a signal takes it. */
async function failing(repo: string, path: string, code: string, times: number, model = 'builder-9b') {
  const file = service.api.file(repo, path);
  file.model = model;
  const { dispatchId } = await file.open('t', { budget: 6 });
  let last: Json;
  for (let i = 0; i < times; i += 1) last = await file.attempt(dispatchId, 'fail', [code]);
  return { file, dispatchId, commit: last.position.commit };
}

test('signals overcome, confirmed and live, by pattern and by model', async () => {
  const repo = freshRepo();
  const wrong = await failing(repo, 'src/a.rs', 'E0369', 4);
  await wrong.file.attempt(wrong.dispatchId, 'pass');
  const right = await failing(repo, 'src/b.rs', 'E0369', 3);
  await right.file.frontierOutcome(right.dispatchId, 'pass');
  const hard = await failing(repo, 'src/c.rs', 'E0277', 3, 'builder-14b');
  await hard.file.frontierOutcome(hard.dispatchId, 'fail');
  const { commit } = await failing(repo, 'src/d.rs', 'E0369', 3);
  const { all, models, patterns, leftOut, periods } = await quality({ repo, after: commit, period: 'day' });
  expect(all).toMatchObject({
    signals: { raised: 4, live: 3, withdrawn: 0, overcome: { count: 1, of: 4, rate: 0.25 }, precision: { count: 3, of: 4, rate: 0.75 } },
    dispatches: { fired: 4, wrong: { count: 1, of: 4 }, saved: 2, spared: 6, confirmed: { count: 1, of: 2 } },
  });
  expect(all.signals.precision.interval.map((bound: number) => bound.toFixed(4))).toEqual(['0.3006', '0.9544']);
  expect(models.map(({ model, signals, dispatches }: Json) => [model, signals.raised, dispatches.fired])).toEqual([
    ['builder-14b', 1, 1],
    ['builder-9b', 3, 3],
  ]);
  expect(patterns.map(({ kind, code, model, signals }: Json) => [kind, code, model, signals.overcome.count])).toEqual([
    ['per_pattern', 'E0369', 'builder-9b', 1],
    ['per_pattern', 'E0277', 'builder-14b', 0],
  ]);
  expect([leftOut, periods]).toEqual([0, [{ from: new Date().toISOString().slice(0, 10), ...all }]]);
  expect((await quality({ repo, model: 'builder-14b' })).all.signals.raised).toBe(1);
  expect((await quality({ repo: freshRepo() })).all.signals.precision).toEqual({ count: 0, of: 0, rate: null, interval: null });
});

test('a signal that a correction took back is withdrawn: neither right nor wrong', async () => {
  const repo = freshRepo();
  const { file, dispatchId } = await failing(repo, 'src/a.rs', 'E0369', 3);
  const attemptId = `a${dispatchId.slice(1)}-3`;
  const corrected = await service.api.ok(
    service.api.post(`/v1/attempts/${attemptId}/verdict-corrections`, {
      verdict: 'blocked',
      patterns: [],
      reason: 'no disk',
      source: 'a person',
    }),
  );
  const { all } = await quality({ repo, after: corrected.position.commit });
  expect(all.signals).toMatchObject({ raised: 1, live: 0, withdrawn: 1, precision: { of: 0, rate: null } });
  expect(await file.eventTypes()).toContain('CalibrationSignalCleared');
});

test('over time: by day, and by the Monday of the week, in UTC', async () => {
  const repo = freshRepo();
  const signal = {
    kind: 'per_pattern',
    configuration: 'm',
    model: 'm',
    occurrences: 3,
    distinctPatterns: null,
    threshold: 3,
    evidence: [],
  };
  const raised = (code: string, at: string) => {
    const pattern = { pattern: `${code.toLowerCase()}_x`, code };
    return event('CalibrationSignalRaised', { repo, targetFile: 'src/a.rs', at, ...signal, ...pattern } as Json);
  };
  const days = ['2026-03-01T23:30:00.000Z', '2026-03-02T00:30:00.000Z', '2026-03-02T12:00:00+14:00', '2026-03-08T23:59:59.000Z'];
  const { position: after } = await appendForeign(
    service.log,
    { repo, targetFile: 'src/a.rs' },
    days.map((at, i) => raised(`E000${i}`, at)),
  );
  const by = async (period: string, more: Json = {}) =>
    (await quality({ repo, period, after, ...more })).periods.map(({ from, signals }: Json) => [from, signals.raised]);
  expect(await by('day')).toEqual([
    ['2026-03-01', 2],
    ['2026-03-02', 1],
    ['2026-03-08', 1],
  ]);
  expect(await by('week')).toEqual([
    ['2026-02-23', 2],
    ['2026-03-02', 2],
  ]);
  expect(await by('day', { from: '2026-03-02T00:30:00Z', to: '2026-03-08T23:59:59Z' })).toEqual([['2026-03-02', 1]]);
});

test.each([
  ['period', { period: 'month' }],
  ['from', { from: 'yesterday' }],
  ['batch', { batch: 'b' }],
])('a bad %s is refused by name', async (path, query) => {
  const { status, body } = await service.api.get('/v1/measurements/signals', query);
  expect([status, body.errors.map((error: Json) => error.path)]).toEqual([400, [path]]);
});

test('the capacity map leaves as lines and as a table, page by page', async () => {
  const repo = freshRepo();
  const { file, dispatchId } = await failing(repo, 'src/a.rs', 'E0369', 2);
  const { position } = await file.attempt(dispatchId, 'fail', ['=cmd, "x"']);
  const query = { repo, after: position.commit, limit: 1 };
  const map = await service.api.ok(service.api.get('/v1/patterns', { ...query, limit: 10 }));
  expect(map.items).toHaveLength(2);
  const first = await service.api.get('/v1/patterns', query, { headers: { accept: 'application/x-ndjson' } });
  expect(first.headers.get('content-type')).toMatch(/^application\/x-ndjson/);
  const next = /^<(.*)>; rel="next"$/.exec(first.headers.get('link')!)![1]!;
  const second = await service.api.get(next, {}, { headers: { accept: 'application/x-ndjson' } });
  expect([first, second].map(({ text }) => JSON.parse(text))).toEqual(map.items);
  expect(second.headers.get('link')).toBeNull();

  const table = await service.api.get('/v1/patterns', { ...query, limit: 10 }, { headers: { accept: 'text/csv' } });
  expect(table.headers.get('content-type')).toMatch(/^text\/csv/);
  const [head, ...rows] = table.text.trimEnd().split('\r\n');
  expect(head).toMatch(/^repo,model,kind,pattern,code,category,failed,overcome\.count,overcome\.of,overcome\.rate,overcome\.interval\.0,/);
  expect(rows).toHaveLength(2);
  // A spreadsheet must not take it for a formula.
  expect(rows.find((row) => row.includes('cmd'))).toMatch(new RegExp(`^${repo},builder-9b,pattern,"'=cmd`));
  expect(rows.find((row) => row.includes('E0369'))).toMatch(
    new RegExp(`^${repo},builder-9b,pattern,e0369_[a-z_]+,E0369,trait_bound,2,0,2,0,0,0\\.`),
  );
});
