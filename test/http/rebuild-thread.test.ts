import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Json } from '../support/api.js';
import { ChildService } from '../support/child.js';
import { eventually, freshRepo } from '../support/service.js';

// The service as it is started for real, where rebuilds have a thread of their own.
let service: ChildService;
const repo = freshRepo('thread');
beforeAll(async () => {
  service = await ChildService.start();
}, 60_000);
afterAll(() => service.end());

const ended = (id: string) =>
  eventually(async () => {
    const { body } = await service.api.get(`/v1/rebuilds/${id}`);
    return body.status === 'running' ? null : (body as Json);
  }, 'the rebuild ends');

test('the same rows come from a thread of their own, also where the service was killed meanwhile', async () => {
  const file = service.api.file(repo, 'src/a.rs');
  const { dispatchId } = await file.open('task', { force: true });
  await file.attempt(dispatchId, 'fail', ['E0308']);
  const { position } = await file.attempt(dispatchId, 'pass');
  const lists = ['histograms', 'dispatches', 'files', 'captures', 'correction-pairs'];
  const read = () =>
    Promise.all(
      lists.map(async (list) => (await service.api.get(`/v1/${list}?repo=${repo}&after=${position.commit}&limit=100`)).body.items),
    );
  const before = await read();
  expect(before.map((items) => items.length)).toEqual([1, 1, 1, 2, 1]);
  const { id } = (await service.api.post('/v1/rebuilds?compare=true', { projection: 'all' })).body;
  await service.kill();
  await service.begin();
  expect(await ended(id)).toMatchObject({ status: 'done', error: null, differences: [] });
  const again = (await service.api.post('/v1/rebuilds?compare=true', { projection: 'all' })).body;
  expect(await ended(again.id)).toMatchObject({ status: 'done', differences: [] });
  expect(await read()).toEqual(before);
}, 60_000);

test('a service that is told to stop while one runs stops in order, and goes on with it at its next start', async () => {
  const { id } = (await service.api.post('/v1/rebuilds', { projection: 'all' })).body;
  await service.kill('SIGTERM');
  await service.begin();
  expect(await ended(id)).toMatchObject({ status: 'done', error: null });
}, 60_000);
