import { rm } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type EmbeddedPostgres, startPostgres } from '../../src/embedded/postgres.js';
import { makeFolder } from '../support/folder.js';
import { TestNode } from '../support/node.js';
import { eventually, freshRepo, Service } from '../support/service.js';

let node: TestNode;
let dataDir: string;
let database: EmbeddedPostgres;
let service: Service;
const start = () => startPostgres({ dataDir, log: () => undefined });

beforeAll(async () => {
  node = await TestNode.start();
  dataDir = await makeFolder('anvil-test-read');
  database = await start();
  service = await Service.start({ eventStoreUrl: node.url, databaseUrl: database.connectionString });
}, 60_000);
afterAll(async () => {
  await service.stop();
  await database.stop();
  await rm(dataDir, { recursive: true, force: true });
  await node.end();
});

test('commands do not need the database of the read models; lists say that it is away, and catch up when it is back', async () => {
  const file = service.api.file(freshRepo('db'), 'src/a.rs');
  await file.fail(['E0308'], 't');
  await database.stop();
  const ready = await service.api.get('/health/ready');
  expect([ready.status, ready.body.eventStore.ok, ready.body.database.ok]).toEqual([503, true, false]);
  const [failed] = await file.fail(['E0308'], 't');
  expect((await file.memory()).failed).toBe(2);
  for (const path of ['/v1/histograms', '/v1/dispatches', '/v1/proposals', '/v1/correction-pairs']) {
    const { status, headers } = await service.api.get(path, { repo: file.repo });
    expect([status, headers.get('content-type')?.split(';')[0]]).toEqual([503, 'application/problem+json']);
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
  }

  database = await start();
  await eventually(async () => (await service.api.get('/health/ready')).status === 200, 'ready again');
  const after = failed.position.commit;
  await eventually(async () => (await service.api.get('/v1/histograms', { repo: file.repo, after })).status === 200, 'caught up');
  expect((await file.list('/v1/histograms', { after })).items.map(({ attempts }: { attempts: number }) => attempts)).toEqual([2]);
}, 90_000);
