import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Json } from '../support/api.js';
import { importInto } from '../support/everything.js';
import { freshRepo, Service } from '../support/service.js';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
}, 60_000);
afterAll(() => service.stop());

const claim = (more: Json = {}): Json => ({
  ...{ target_file: 'src/a.rs', task: 'task-1', final_verdict: 'fail', attempts: 3, error_pattern: 'E0308', root_cause: 'type' },
  ...{ infra_error: false, frontier_verdict: null, frontier_error_pattern: null, ...more },
});
const send = (repo: string, claims: Json[], query: Json = {}) =>
  importInto(
    service.api,
    claims.map((one) => `${JSON.stringify(one)}\n`).join(''),
    `?${new URLSearchParams({ format: 'claims', model: 'builder-9b', repo, ...query })}`,
  );

test('a claim is one dispatch with its attempts, marked, and makes its signal in the same command', async () => {
  const repo = freshRepo('claims');
  expect((await send(repo, [claim()])).body).toMatchObject({ format: 'claims', read: 1, stored: 1, found: 0 });
  const file = service.api.file(repo, 'src/a.rs');
  const events = await file.events();
  expect(events.map(({ type }) => type)).toEqual([
    ...['DispatchOpened', 'AttemptRecorded', 'VerdictReached', 'AttemptRecorded', 'VerdictReached', 'AttemptRecorded', 'VerdictReached'],
    ...['CalibrationSignalRaised', 'DispatchClosed'],
  ]);
  expect(new Set(events.map(({ metadata }) => metadata.$causationId)).size).toBe(1);
  for (const { data } of events.filter(({ type }) => type === 'AttemptRecorded'))
    expect(data).toMatchObject({ imported: true, seat: 'builder' });
  expect(await file.memory()).toMatchObject({
    failed: 3,
    signals: [{ kind: 'per_pattern', pattern: 'e0308_type_mismatch', occurrences: 3 }],
  });
  const next = await file.open('task-2');
  expect(next).toMatchObject({ coldStart: false, next: { reason: { rule: 'history' } } });
  expect(next.hint.text).toContain('E0308');
});

test('sent again, and again in part, each claim is there once; the same said twice is two', async () => {
  const repo = freshRepo('again');
  const claims = [claim(), claim({ task: 'task-2' }), claim(), claim({ target_file: './src//b.rs', attempts: 1, final_verdict: 'pass' })];
  expect((await send(repo, claims.slice(0, 2))).body).toMatchObject({ stored: 2, found: 0 });
  expect((await send(repo, claims)).body).toMatchObject({ read: 4, stored: 2, found: 2 });
  const before = await service.api.file(repo, 'src/a.rs').events();
  expect((await send(repo, claims)).body).toMatchObject({ stored: 0, found: 4 });
  await service.restart();
  expect((await send(repo, claims)).body).toMatchObject({ stored: 0, found: 4 });
  expect(await service.api.file(repo, 'src/a.rs').events()).toEqual(before);
  expect(await service.api.file(repo, 'src/a.rs').memory()).toMatchObject({ failed: 9 });
  expect(await service.api.file(repo, 'src/b.rs').memory()).toMatchObject({ passed: 1 });
});

test('what the frontier did becomes its outcome: capacity where a signal stood, task hardness where it failed', async () => {
  const repo = freshRepo('frontier');
  const { status } = await send(
    repo,
    [
      claim({ frontier_verdict: 'pass' }),
      claim({ target_file: 'src/b.rs', attempts: 2, frontier_verdict: 'fail', frontier_error_pattern: 'E0599' }),
    ],
    { frontier: 'frontier-1' },
  );
  expect(status).toBe(200);
  expect((await service.api.file(repo, 'src/a.rs').memory()).frontier).toEqual([
    { pattern: 'e0308_type_mismatch', kind: 'per_pattern', verdict: 'pass', classification: 'capacity' },
  ]);
  const hard = service.api.file(repo, 'src/b.rs');
  expect(await hard.eventTypes()).toEqual(expect.arrayContaining(['FrontierOutcomeRecorded', 'TaskFlaggedForDecomposition']));
  expect((await hard.open('task-1', { task: { id: 'task-1', description: 'task-1' } })).next.step).toBe('decompose');
});

test('an infrastructure error blocks the last attempt, counts as no failure, and makes nobody wait now', async () => {
  const repo = freshRepo('infra');
  await send(repo, [
    claim({ infra_error: 'dns', attempts: 2 }),
    claim({ infra_error: true, attempts: 1, task: 'task-2' }),
    claim({ infra_error: true, attempts: 1, task: 'task-3' }),
  ]);
  const file = service.api.file(repo, 'src/a.rs');
  expect(await file.memory()).toMatchObject({ failed: 1, blocked: 3, skip: null, histogram: [{ attempts: 1 }] });
  expect((await file.open('task-9')).next.step).toBe('attempt');
});

test('claims go beside what is known of a file; the read models and an audit agree', async () => {
  const repo = freshRepo('beside');
  const file = service.api.file(repo, 'src/a.rs');
  await file.fail(['E0308', 'E0308']);
  const { body } = await send(repo, [claim({ attempts: 1, task: 'old' })]);
  expect((await file.memory()).signals).toMatchObject([{ occurrences: 3 }]);
  const { items } = await file.list('/v1/histograms', { after: body.commit });
  expect(items.map(({ attempts }: Json) => attempts)).toEqual([3]);
  expect((await service.api.post('/v1/audit/verify', { repo })).body).toMatchObject({ found: 0, mismatches: [] });
});

test('a policy that leaves imported attempts out raises nothing for them', async () => {
  const repo = freshRepo('left-out');
  const { body } = await service.api.get('/v1/policy', { repo });
  await service.api.ok(service.api.call('PUT', `/v1/policy?repo=${repo}`, { ...body.policy, importedCount: false }));
  await send(repo, [claim()]);
  const file = service.api.file(repo, 'src/a.rs');
  expect(await file.eventTypes()).not.toContain('CalibrationSignalRaised');
  expect(await file.memory()).toMatchObject({ failed: 3, signals: [] });
});

test('more than a body may hold is taken as it comes', async () => {
  const repo = freshRepo('large');
  const claims = Array.from({ length: 190 }, (_, n) => claim({ target_file: `src/${n}.rs`, task: `${n} ${'long '.repeat(19_000)}` }));
  expect(JSON.stringify(claims).length).toBeGreaterThan(17 * 1024 * 1024);
  expect((await send(repo, claims)).body).toMatchObject({ read: 190, stored: 190 });
}, 90_000);

test.each([
  ['a file that leads out of the repo', claim({ target_file: '../a' }), 'target_file'],
  ['no task', claim({ task: '' }), 'task'],
  ['a verdict that is none', claim({ final_verdict: 'maybe' }), 'final_verdict'],
  ['no attempt', claim({ attempts: 0 }), 'attempts'],
  ['more attempts than an append holds', claim({ attempts: 301 }), 'attempts'],
  ['a field that is not known', claim({ attemps: 1 }), 'attemps'],
  ['a pattern with a control character', claim({ error_pattern: 'a\u0007' }), 'error_pattern'],
])('%s is refused by its line, and what came before it is said to be stored', async (_what, bad, field) => {
  const repo = freshRepo('bad');
  const { status, body } = await send(repo, [claim(), bad, claim({ task: 'after' })]);
  expect([status, body.errors[0].path]).toEqual([400, 'line 2']);
  expect(body.errors[0].message).toContain(field);
  expect(body.detail).toContain('1 were stored');
  expect((await service.api.file(repo, 'src/a.rs').memory()).failed).toBe(3);
});

test.each([
  ['claims without a model', '?format=claims', 'model'],
  ['a format that there is not', '?format=csv', 'format'],
  ['a model for an export', '?model=m', 'model'],
])('%s are refused', async (_what, query, path) => {
  const { status, body } = await importInto(service.api, `${JSON.stringify(claim())}\n`, query);
  expect([status, body.errors[0].path]).toEqual([400, path]);
});

test('a frontier verdict needs to be told whose it is', async () => {
  const { status, body } = await send(freshRepo('whose'), [claim({ frontier_verdict: 'pass' })]);
  expect([status, body.errors[0].path]).toEqual([400, 'frontier']);
});
