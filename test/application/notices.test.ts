import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import type { StoredEvent } from '../../src/application/ports.js';
import { notices } from '../../src/application/saga/notices.js';
import { anotherInstance } from '../support/another-instance.js';
import type { Json } from '../support/api.js';
import { appendForeign, importedAttempt, streamOf } from '../support/foreign.js';
import { Listener } from '../support/listener.js';
import { eventually, freshRepo, Service } from '../support/service.js';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
}, 60_000);
afterAll(() => service.stop());
afterEach(() => expect(service.reports.splice(0)).toEqual([]));

const fresh = () => service.api.file(freshRepo('notices'), 'src/a.rs');
const noticed = async (file: Json): Promise<Json[]> => (await file.events()).filter(({ type }: Json) => type === 'SignalNoticed');
/** The saga has taken in all that was appended before. */
async function caughtUp(): Promise<void> {
  const { position } = await service.api.file(freshRepo('marker'), 'm.rs').open();
  await eventually(async () => BigInt((await service.readModels.load('calibration_saga')) ?? -1) >= BigInt(position.commit), 'caught up');
}
test('a running builder hears of a signal that others raised before its next attempt, and finds it in its story with its end', async () => {
  const file = fresh();
  const { dispatchId } = await file.open('mine');
  const listener = await Listener.open(`${service.url}/v1/events?dispatchId=${dispatchId}&type=SignalNoticed`);
  await file.fail(['E0382', 'E0382', 'E0382'], 'theirs');
  await listener.untilHeard(1);
  const told = listener.heard[0]!.data;
  listener.close();
  const raised = (await file.events())[told.data.raisedAtRevision];
  expect(raised).toMatchObject({ type: 'CalibrationSignalRaised', data: { model: 'builder-9b', pattern: 'e0382_use_after_move' } });
  expect(told.data).toMatchObject({ dispatchId, kind: 'per_pattern', pattern: 'e0382_use_after_move' });
  expect(told.metadata).toMatchObject({ actor: 'calibration-saga', $correlationId: dispatchId });

  await file.attempt((await file.open('theirs')).dispatchId, 'pass');
  const { steps } = await service.api.ok(service.api.get(`/v1/audit/dispatches/${dispatchId}`));
  expect(steps.slice(-2).map(({ says }: Json) => says)).toEqual([
    `The running dispatch was told of a signal, e0382_use_after_move (per_pattern), that was raised beside it at revision ${told.data.raisedAtRevision}.`,
    'The signal of e0382_use_after_move (per_pattern) for builder-9b was cleared: overcome.',
  ]);
  expect(await service.api.ok(service.api.post('/v1/audit/verify', { repo: file.repo }))).toMatchObject({ found: 0 });
});

test('whose own attempt raised it is not told, nor is another file; whose attempt a correction made its evidence is told', async () => {
  const file = fresh();
  const elsewhere = service.api.file(file.repo, 'src/elsewhere.rs');
  await elsewhere.open('elsewhere', { targetFiles: ['src/elsewhere.rs', file.targetFile] });
  const own = await file.open('own', { budget: 9 });
  for (let n = 0; n < 3; n += 1) await file.attempt(own.dispatchId, 'fail', ['E0308']);
  await caughtUp();
  expect([await noticed(file), await noticed(elsewhere)]).toEqual([[], []]);
  const { attemptId } = await file.attempt(own.dispatchId, 'fail', []);
  await file.fail(['E0382', 'E0382'], 'theirs');
  const correction = { verdict: 'fail', patterns: ['E0382'], reason: 'read again', source: 'a person' };
  await service.api.ok(service.api.post(`/v1/attempts/${attemptId}/verdict-corrections`, correction));
  const [told] = await eventually(async () => (await noticed(file)).length > 0 && noticed(file), 'it is told');
  expect(told!.data).toMatchObject({ dispatchId: own.dispatchId, pattern: 'e0382_use_after_move' });
});

test('what the saga itself raises, of evidence that came without a decision, is told too', async () => {
  const file = fresh();
  const { dispatchId } = await file.open('mine');
  const failures = ['1', '2', '3'].flatMap((unique) => importedAttempt(file, { code: 'E0369', unique }));
  await eventually(() => appendForeign(service.log, file, failures).catch(() => null), 'they are in the log');
  const [told] = await eventually(async () => (await noticed(file)).length > 0 && noticed(file), 'it is told');
  expect(told!.data).toMatchObject({ dispatchId, kind: 'per_pattern' });
});

test('once, also when the saga goes through the whole log again, and when another instance does that saw none of it', async () => {
  const file = fresh();
  const other = anotherInstance(service.log);
  await Promise.all(['first', 'second'].map((task) => file.open(task)));
  await file.fail(['E0382', 'E0382', 'E0382'], 'theirs');
  // In memory there as it was before anybody was told.
  await other.histories.look(streamOf(file as never), () => undefined);
  await eventually(async () => (await noticed(file)).length === 2, 'both are told');
  const before = await file.events();
  for await (const event of service.log.read(streamOf(file as never))) await notices(other.handling, other.histories, service.log)(event);
  expect(await file.events()).toEqual(before);
  await service.sql("DELETE FROM anvil_read.checkpoints WHERE name = 'calibration_saga'");
  await service.restart();
  await caughtUp();
  expect(await service.api.file(file.repo, file.targetFile).events()).toEqual(before);
}, 60_000);

test('by two instances at once: each dispatch once', async () => {
  for (let round = 0; round < 5; round += 1) {
    const file = fresh();
    const [one, two] = [anotherInstance(service.log), anotherInstance(service.log)];
    const { position } = await file.open('running');
    await file.fail(['E0382', 'E0382', 'E0382'], 'theirs');
    const raised: StoredEvent[] = [];
    for await (const event of service.log.read(streamOf(file as never), position.revision)) raised.push(event);
    await Promise.all(
      [one, two].map(async ({ handling, histories }) => {
        for (const event of raised) await notices(handling, histories, service.log)(event);
      }),
    );
    await caughtUp();
    expect(await noticed(file)).toHaveLength(1);
  }
});
