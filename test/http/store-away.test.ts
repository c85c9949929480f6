import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Answer, FileApi } from '../support/api.js';
import { Listener } from '../support/listener.js';
import { TestNode } from '../support/node.js';
import { eventually, freshRepo, Service } from '../support/service.js';

let node: TestNode;
let service: Service;
beforeAll(async () => {
  node = await TestNode.start();
  service = await Service.start({ eventStoreUrl: node.url });
}, 60_000);
afterAll(async () => {
  await service.stop();
  await node.end();
});

function expectAway({ status, headers, body }: Answer): void {
  expect([status, headers.get('content-type')?.split(';')[0]]).toEqual([503, 'application/problem+json']);
  expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
  expect(body).toMatchObject({ title: 'Service Unavailable', detail: expect.stringMatching(/./) });
}

test('while the event store is away every command says so; when it is back everything goes on', async () => {
  const file: FileApi = service.api.file(freshRepo('away'), 'src/a.rs');
  const { dispatchId } = await file.open('t');
  await file.attempt(dispatchId, 'fail', ['E0308']);
  expect((await service.api.get('/health/ready')).status).toBe(200);
  for (const round of [1, 2]) {
    await node.stop();
    const ready = await service.api.get('/health/ready');
    expect([ready.status, ready.body.status, ready.body.eventStore.ok, ready.body.database.ok]).toEqual([503, 'unavailable', false, true]);
    expect((await service.api.get('/health/live')).status).toBe(200);
    const attempt = { output: 'x', verdict: 'fail', patterns: ['E0277'], attempt: round + 1 };
    expectAway(await service.api.post('/v1/dispatches', file.opening('other')));
    expectAway(await service.api.post(`/v1/dispatches/${dispatchId}/attempts`, attempt));
    expectAway(await service.api.get('/v1/memory', { repo: file.repo, targetFile: file.targetFile }));
    expectAway(await service.api.get(`/v1/dispatches/${dispatchId}`));
    expect((await service.api.get('/v1/dispatches', { repo: file.repo })).status).toBe(200);

    await node.startAgain();
    await eventually(async () => (await service.api.get('/health/ready')).status === 200, 'ready again');
    const recorded = await service.api.ok(service.api.post(`/v1/dispatches/${dispatchId}/attempts`, attempt));
    expect(recorded.attempt).toBe(round + 1);
    const after = recorded.position.commit;
    await eventually(async () => (await service.api.get('/v1/histograms', { repo: file.repo, after })).status === 200, 'caught up');
    const { items } = await file.list('/v1/dispatches', { after });
    expect(items.map(({ attempts }: { attempts: number }) => attempts)).toEqual([round + 1]);
  }
  const dead = service.api.file(freshRepo('away'), 'src/b.rs');
  await dead.open('t', { leaseSeconds: 1 });
  await eventually(async () => (await dead.eventTypes()).includes('DispatchClosed'), 'the saga works again');
}, 90_000);

test('who listens hears of what is committed after the store was away, once, without having asked again', async () => {
  const file = service.api.file(freshRepo('heard'), 'src/c.rs');
  const listener = await Listener.open(`${service.url}/v1/events?repo=${file.repo}`);
  await file.fail(['E0308']);
  await node.stop();
  await node.startAgain();
  await eventually(async () => (await service.api.get('/health/ready')).status === 200, 'ready again');
  await file.fail(['E0599']);
  const events = await file.events();
  await listener.untilHeard(events.length);
  expect(listener.heard.map(({ data }) => data.eventId)).toEqual(events.map(({ eventId }) => eventId));
  listener.close();
}, 90_000);
