import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Json } from '../support/api.js';
import { eventually, freshRepo, Service } from '../support/service.js';

let service: Service;
const repo = freshRepo('rebuilt');
let commit = '';
beforeAll(async () => {
  service = await Service.start();
  const file = service.api.file(repo, 'src/a.rs');
  for (const code of ['E0308', 'E0599', 'E0308']) {
    const { dispatchId } = await file.open('old', { force: true });
    await file.attempt(dispatchId, 'fail', [code]);
    ({ commit } = (await service.api.post(`/v1/dispatches/${dispatchId}/abandon`, {})).body.position);
  }
}, 60_000);
afterAll(() => service.stop());

const lists = ['histograms', 'dispatches', 'files', 'captures', 'correction-pairs', 'patterns'];
const read = async (after = commit) =>
  Promise.all(lists.map(async (list) => (await service.api.get(`/v1/${list}?repo=${repo}&after=${after}&limit=1000`)).body.items));
const ended = (id: string) =>
  eventually(async () => {
    const { body } = await service.api.get(`/v1/rebuilds/${id}`);
    return body.status === 'running' ? null : (body as Json);
  }, 'the rebuild ends');
const start = async (projection: string, query = '') => (await service.api.post(`/v1/rebuilds${query}`, { projection })).body;

test('from the log, the read models come out the same, and readers never see a half', async () => {
  const before = await read();
  const { id, status } = await start('all');
  expect(status).toBe('running');
  const end = await eventually(async () => {
    expect(await read()).toEqual(before);
    const { body } = await service.api.get(`/v1/rebuilds/${id}`);
    return body.status === 'running' ? null : body;
  }, 'the rebuild ends');
  expect(end).toMatchObject({ status: 'done', fraction: 1, error: null, secondsLeft: null });
  expect(end.events).toBeGreaterThan(0);
  expect(await read()).toEqual(before);
});

test('what is recorded while a rebuild runs is there after it', async () => {
  const { id } = await start('all');
  const { dispatchId } = await service.api.file(repo, 'src/a.rs').open('meanwhile', { force: true });
  const { position } = await service.api.file(repo, 'src/a.rs').attempt(dispatchId, 'fail', ['E0425']);
  expect(await ended(id)).toMatchObject({ status: 'done' });
  const [histogram] = await read(position.commit);
  expect(histogram.map((row: Json) => [row.code, row.attempts])).toEqual([
    ['E0308', 2],
    ['E0425', 1],
    ['E0599', 1],
  ]);
  commit = position.commit;
});

test('rows that were changed behind its back are named by a comparison, and put right', async () => {
  const before = await read();
  await service.sql(`UPDATE anvil_read.failure_histogram_patterns SET attempts = 77 WHERE repo = '${repo}' AND code = 'E0308'`);
  const { id } = await start('failure_histogram', '?compare=true');
  const { differences } = await ended(id);
  expect(differences).toHaveLength(1);
  expect(differences[0]).toMatchObject({
    projection: 'failure_histogram',
    table: 'patterns',
    onlyLive: { rows: 1 },
    onlyBuilt: { rows: 1 },
  });
  expect(differences[0].onlyLive.samples[0]).toMatchObject({ repo, code: 'E0308', attempts: 77 });
  expect(differences[0].onlyBuilt.samples[0]).toMatchObject({ repo, code: 'E0308', attempts: 2 });
  expect(await read()).toEqual(before);
  expect((await ended((await start('all', '?compare=true')).id)).differences).toEqual([]);
});

test('a rebuild that was asked for while nobody leads, or left half done, is taken up at the next start', async () => {
  const before = await read();
  const { id } = await start('all');
  await service.restart();
  expect(await ended(id)).toMatchObject({ status: 'done' });
  expect(await read()).toEqual(before);
});

test('a cancelled one changes nothing; an ended one cannot be cancelled; an unknown one is unknown', async () => {
  const before = await read();
  const { id } = await start('all');
  const cancelled = await service.api.call('DELETE', `/v1/rebuilds/${id}`);
  const { status } = await ended(id);
  expect([cancelled.status, status]).toEqual(cancelled.status === 200 ? [200, 'cancelled'] : [409, 'done']);
  expect(await read()).toEqual(before);
  const done = await start('files');
  await ended(done.id);
  expect((await service.api.call('DELETE', `/v1/rebuilds/${done.id}`)).status).toBe(409);
  expect((await service.api.get('/v1/rebuilds/none')).status).toBe(404);
  const unknown = await service.api.post('/v1/rebuilds', { projection: 'histogrm' });
  expect([unknown.status, unknown.body.errors[0].path]).toEqual([400, 'projection']);
});

test('progress is told as server-sent events until the end', async () => {
  const { id } = await start('files');
  const told = await (await fetch(`${service.url}/v1/rebuilds/${id}/progress`)).text();
  const events = told.split('\n\n').filter((event) => event.includes('data: '));
  const last = JSON.parse(events.at(-1)!.split('data: ')[1]!);
  expect(last).toMatchObject({ id, status: 'done' });
});
