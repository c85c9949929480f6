import { rm } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Engines, startEngines } from '../../src/embedded/engines.js';
import type { Api, Json } from '../support/api.js';
import { ChildService } from '../support/child.js';
import { beginImport, importInto } from '../support/everything.js';
import { makeFolder } from '../support/folder.js';
import { eventually, freshRepo, Service } from '../support/service.js';

const repo = freshRepo('shared');
let dataDir: string;
let servers: Engines;
let leader: ChildService;
let other: Service;
let exported: string;
beforeAll(async () => {
  const source = await ChildService.start();
  await source.api.file(repo, 'src/a.rs').fail(['E0308', 'E0308']);
  await source.api.file(repo, 'src/b.rs').fail(['E0382', 'E0382', 'E0382']);
  exported = (await source.api.get('/v1/export')).text;
  await source.end();
  dataDir = await makeFolder('anvil-servers');
  servers = await startEngines({ dataDir, databaseUrl: undefined, eventStoreUrl: undefined, log: () => undefined });
  const { databaseUrl, eventStoreUrl } = servers;
  leader = await ChildService.start({ DATABASE_URL: databaseUrl, EVENTSTORE_URL: eventStoreUrl });
  await eventually(async () => /^anvil_leading 1$/m.test((await leader.api.get('/metrics')).text), 'it leads');
  other = await Service.start({ databaseUrl, eventStoreUrl });
}, 240_000);
afterAll(async () => {
  // A test that failed in the middle leaves an import open, which nothing but this ends.
  await leader?.kill();
  await leader?.end();
  await other?.stop();
  await servers?.stop();
  if (dataDir) await rm(dataDir, { recursive: true, force: true });
});

const eventsIn = async (): Promise<Json[]> => {
  const { text } = await other.api.get('/v1/export');
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))
    .slice(1, -1);
};
const open = (api: Api, targetFile: string) => api.post('/v1/dispatches', { repo, targetFile, task: { id: 'late' }, model: 'm' });

test('while one instance takes an import, each refuses commands, those on files that are still to come too; then both go on', async () => {
  const lines = exported.split('\n');
  const events = lines.filter((line) => line.includes('"stream"'));
  // The first file has come, the second has not.
  const cut = lines.findIndex((line) => line.includes('src/b.rs'));
  const lost = beginImport(leader.api, `${lines.slice(0, cut + 1).join('\n')}\n`);
  await eventually(async () => (await eventsIn()).length >= cut - 2, 'a part has come');
  const both = [leader, other];
  const answers = await Promise.all(both.flatMap(({ api }) => ['src/a.rs', 'src/b.rs', 'src/new.rs'].map((file) => open(api, file))));
  expect(answers.map(({ status, body }) => [status, body.type])).toEqual(Array(6).fill([503, 'urn:anvil:problem:no-room']));
  await leader.kill();
  await lost;
  await leader.begin();
  // Whoever has just come knows of it from its start.
  expect((await open(leader.api, 'src/b.rs')).status).toBe(503);
  expect(await importInto(leader.api, exported)).toMatchObject({ status: 200, body: { read: events.length } });
  expect((await eventsIn()).map(({ id }) => id)).toEqual(events.map((line) => JSON.parse(line).id));
  for (const { api } of both) await eventually(async () => (await open(api, 'src/b.rs')).status < 300, 'commands are taken again');
  expect(await other.api.ok(other.api.post('/v1/audit/verify', { repo }))).toMatchObject({ found: 0 });
}, 120_000);
