import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { undecidedEvidence } from '../../src/application/run-saga.js';
import type { FileApi, Json } from '../support/api.js';
import { appendForeign, importedAttempt, streamOf } from '../support/foreign.js';
import { eventually, freshRepo, Service } from '../support/service.js';

let service: Service;
const files: Record<'opened' | 'decided' | 'elsewhere', FileApi> = {} as never;

/** The saga comes late: evidence and the commands that came after it lie before it in one batch. */
beforeAll(async () => {
  service = await Service.start({ idleAtFirst: true });
  for (const name of ['opened', 'decided', 'elsewhere'] as const) {
    const file = service.api.file(freshRepo(name), 'src/a.rs');
    files[name] = file;
    const failures = ['1', '2', '3'].flatMap((unique) => importedAttempt(file, { code: 'E0369', model: 'imported-model', unique }));
    await appendForeign(service.log, file, failures);
  }
  await files.opened.open();
  const { dispatchId } = await files.decided.open('of another builder');
  await files.decided.attempt(dispatchId, 'fail', ['E0308']);
  await service.restart();
}, 60_000);
afterAll(() => service.stop());

const again = ({ repo, targetFile }: FileApi) => service.api.file(repo, targetFile);

async function raised(file: FileApi): Promise<Json[]> {
  const ofFile = async () => (await again(file).events()).filter(({ type }) => type === 'CalibrationSignalRaised');
  await eventually(async () => (await ofFile()).length > 0, 'a signal is raised');
  return ofFile();
}

test.each(['elsewhere', 'opened', 'decided'] as const)('evidence that no decision took in is taken in by the saga: %s', async (name) => {
  const signals = await raised(files[name]);
  expect(signals.map(({ data }) => [data.model, data.code, data.occurrences])).toEqual([['imported-model', 'E0369', 3]]);
});

test.each(['elsewhere', 'opened', 'decided'] as const)('in one batch, or in batches of one event: %s', async (name) => {
  const stored = [];
  for await (const one of service.log.read(streamOf(files[name]))) stored.push(one);
  const stream = streamOf(files[name]);
  const last = stored.findLast(({ event, metadata }) => event.type === 'VerdictReached' && metadata.actor === 'import');
  expect(undecidedEvidence(stored)).toEqual([{ stream, eventId: last?.id, whyCleared: 'overcome' }]);
  const ofOne = stored.flatMap((one) => undecidedEvidence([one]));
  expect(ofOne).toHaveLength(stored.filter(({ event }) => event.type === 'VerdictReached').length);
});
