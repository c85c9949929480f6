import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { NewEvent } from '../../src/application/ports.js';
import type { AnvilEvent } from '../../src/catalogue/events.js';
import { currentVersion, readEvent } from '../../src/catalogue/versions.js';
import type { FileApi, Json } from '../support/api.js';
import { appendForeign, importedAttempt, streamOf } from '../support/foreign.js';
import { eventually, freshRepo, Service } from '../support/service.js';

/** A later Anvil: it knows what this one does not. */
const laterReader = (type: string, version: number, data: unknown): AnvilEvent => {
  if (type !== 'VerdictReached' || version !== currentVersion(type) + 1) return readEvent(type, version, data);
  const { judgement: verdict, ...rest } = data as { judgement: string };
  return readEvent(type, version - 1, { ...rest, verdict });
};

let service: Service;
let reader = readEvent;
const repo = freshRepo('parked');
const [poisoned, healthy, foreign] = ['src/poisoned.rs', 'src/healthy.rs', 'src/foreign.rs'];
const file = (targetFile: string): FileApi => service.api.file(repo, targetFile);
beforeAll(async () => {
  service = await Service.start({ readEvent: (...given) => reader(...given) });
}, 60_000);
afterAll(() => service.stop());

const parked = async (query: Json = {}) => (await service.api.get('/v1/parked-events', query)).body.items as Json[];
const ready = async () => (await service.api.get('/health/ready')).body;
const raised = async (targetFile: string) => {
  const types = [];
  for await (const { type } of service.log.readWritten(streamOf({ repo, targetFile }))) types.push(type);
  return types.includes('CalibrationSignalRaised');
};
const imported = (targetFile: string, unique: string) =>
  appendForeign(service.log, { repo, targetFile }, importedAttempt({ repo, targetFile }, { code: 'E0369', unique }));
/** Straight into the store, as any client of it could. */
async function append(targetFile: string, change: (events: { type: string; data: Json; metadata: Json }[]) => void): Promise<string> {
  const place = { repo, targetFile };
  let revision = -1;
  for await (const event of service.log.readWritten(streamOf(place))) ({ revision } = event);
  const metadata = { $correlationId: 'c', $causationId: randomUUID(), actor: 'other', schemaVersion: 1, hash: 'h', previousHash: null };
  const events = importedAttempt(place, { code: 'E0369', unique: randomUUID() }).map((event) => ({ ...event, metadata: { ...metadata } }));
  change(events);
  const written = events.map((event): NewEvent => ({ ...event, id: randomUUID() }));
  return (await service.log.append(streamOf(place), revision, written)).position;
}

test('an event that cannot be read is parked, in plain sight, and the other files go on', async () => {
  expect(await ready()).toMatchObject({ status: 'ok', parkedEvents: {} });
  await imported(poisoned, '1');
  await append(poisoned, ([, reached]) => {
    const { verdict: judgement, ...rest } = reached!.data;
    Object.assign(reached!, {
      data: { ...rest, judgement },
      metadata: { ...reached!.metadata, schemaVersion: currentVersion('VerdictReached') + 1 },
    });
  });
  await append(poisoned, () => {});
  for (const unique of ['1', '2', '3']) await imported(healthy, unique);

  await eventually(() => raised(healthy), 'the saga goes on with other files');
  const { position } = await file(healthy).memory();
  const [row] = (await file(healthy).list('/v1/histograms', { after: position.commit })).items;
  expect(row.attempts).toBe(3);
  expect((await file(poisoned).list('/v1/histograms')).items.map(({ attempts }: Json) => attempts)).toEqual([1]);

  const body = await ready();
  const followers = Object.keys(body.parkedEvents);
  expect(followers).toEqual(expect.arrayContaining(['calibration_saga', 'captures', 'failure_histogram', 'files', 'patterns']));
  expect(followers).not.toEqual(expect.arrayContaining(['proposals']));
  expect(body).toMatchObject({ status: 'degraded', parkedEvents: Object.fromEntries(followers.map((name) => [name, 1])) });
  expect((await service.api.get('/health/ready')).status).toBe(200);
  expect((await service.api.get('/metrics')).text).toContain('anvil_parked_events{follower="calibration_saga"} 1');
  const one = (await parked({ follower: 'captures' }))[0];
  expect(one).toMatchObject({ stream: streamOf({ repo, targetFile: poisoned }), revision: 3, type: 'VerdictReached', tries: 1 });
  expect(one).toMatchObject({ reason: expect.stringContaining('newer Anvil'), heldBack: { upToRevision: 5 } });
  const paged = await service.api.get('/v1/parked-events', { limit: 2 });
  expect([paged.body.items.length, (await parked({ limit: 20, cursor: paged.body.nextCursor })).length]).toEqual([2, followers.length - 2]);
});

test('a command on the file is refused with what is wrong, and stores nothing', async () => {
  const { repo: where, model, frontier } = file(poisoned);
  const opening = { repo: where, targetFile: poisoned, model, frontier, task: { id: 't', description: 'd' } };
  const { status, body } = await service.api.post('/v1/dispatches', opening);
  expect([status, body.type]).toEqual([500, 'urn:anvil:problem:unreadable-event']);
  expect(body.detail).toContain(`${streamOf({ repo, targetFile: poisoned })} at revision 3`);
});

test('a foreign type, and metadata that is not Anvil’s, in a file’s stream; in other streams they are nobody’s', async () => {
  await imported(foreign, '1');
  await append(foreign, (events) => events.splice(0, 2, { type: 'OrderPlaced', data: { amount: 3 }, metadata: {} }));
  const other: NewEvent = { id: randomUUID(), type: 'OrderPlaced', data: {}, metadata: {} as never };
  await service.log.append(`order-${randomUUID()}`, -1, [other]);
  const position = await append(healthy, () => {});
  const followers = await service.sql("SELECT name FROM anvil_read.checkpoints WHERE name <> '(runner)'");
  for (const follower of ['calibration_saga', 'captures'])
    await eventually(async () => BigInt((await service.readModels.load(follower)) ?? 0) >= BigInt(position), `${follower} has passed it`);
  const ofForeign = (await parked()).filter(({ stream }) => stream === streamOf({ repo, targetFile: foreign }));
  expect(ofForeign.map(({ follower }) => follower).sort()).toEqual(followers.map(({ name }) => name).sort());
  expect(new Set((await parked()).map(({ stream }) => stream)).size).toBe(2);
});

test('as long as it cannot be read, a retry counts the tries, and a restart tries too; a rebuild parks the same', async () => {
  const { before, parked: after } = (await service.api.post('/v1/parked-events/retry')).body;
  expect(after).toEqual(before);
  expect((await parked({ follower: 'captures' })).map(({ tries }) => tries)).toEqual([2, 2]);
  await service.restart();
  await eventually(async () => (await parked()).every(({ tries }) => tries === 3), 'all are tried again at the start');
  const { id } = (await service.api.post('/v1/rebuilds?compare=true', { projection: 'all' })).body;
  const rebuilt = await ended(id);
  expect(rebuilt).toMatchObject({ status: 'done', differences: [] });
  expect((await parked({ follower: 'captures' })).map(({ tries }) => tries)).toEqual([1, 1]);
});

async function ended(id: string): Promise<Json> {
  return eventually(async () => {
    const { body } = await service.api.get(`/v1/rebuilds/${id}`);
    return body.status === 'running' ? null : body;
  }, 'the rebuild ends');
}

test('mended, they come in with what they held back: rows as from the start of the log, and the saga decides', async () => {
  reader = laterReader;
  expect(await raised(poisoned)).toBe(false);
  const { parked: left } = (await service.api.post('/v1/parked-events/retry')).body;
  // What is no event of ours stays, and with it its file.
  expect(left).toEqual(Object.fromEntries(Object.keys(left).map((name) => [name, 1])));
  expect(new Set((await parked()).map(({ stream }) => stream))).toEqual(new Set([streamOf({ repo, targetFile: foreign })]));
  expect(await raised(poisoned)).toBe(true);
  const { position } = await file(poisoned).memory();
  const [row] = (await file(poisoned).list('/v1/histograms', { after: position.commit })).items;
  expect(row.attempts).toBe(3);
  const { id } = (await service.api.post('/v1/rebuilds?compare=true', { projection: 'all' })).body;
  expect(await ended(id)).toMatchObject({ status: 'done', differences: [] });

  const { dispatchId } = await file(poisoned).open('again');
  expect(await file(poisoned).attempt(dispatchId, 'pass')).toMatchObject({ next: { step: 'done' } });
  expect(service.reports.filter((report) => !report.includes('could not be answered'))).toEqual([]);
});
