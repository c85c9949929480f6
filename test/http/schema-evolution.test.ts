import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { NewEvent } from '../../src/application/ports.js';
import { chainHash } from '../../src/domain/chain.js';
import { attemptIdOf, dispatchIdOf, fileIdOf } from '../../src/domain/ids.js';
import type { FileApi, Json } from '../support/api.js';
import { streamOf } from '../support/foreign.js';
import { eventually, freshRepo, Service } from '../support/service.js';

let service: Service;
let file: FileApi;
beforeAll(async () => {
  service = await Service.start();
  file = service.api.file(freshRepo('evolved'), 'src/a.rs');
  await writtenByVersionOne();
}, 60_000);
afterAll(() => service.stop());

const golden = (name: string): Json => JSON.parse(readFileSync(new URL(`../catalogue/golden/${name}.json`, import.meta.url), 'utf8')).data;

/** Three attempts as an Anvil wrote them that knew only the first version of everything: those bytes, with the chain over them. */
async function writtenByVersionOne(): Promise<void> {
  const { repo, targetFile, model } = file;
  const events: NewEvent[] = [];
  let previousHash: string | null = null;
  for (let n = 1; n <= 3; n += 1) {
    const dispatchId = dispatchIdOf(fileIdOf(repo, targetFile), `old${n}`);
    const of = { repo, targetFile, at: `2026-01-01T00:00:0${n}.000Z`, dispatchId, attemptId: attemptIdOf(dispatchId, 1), taskId: 'old' };
    const attempt = { ...of, attempt: 1, seat: 'builder', model, configuration: model, late: false };
    const patterns = [{ pattern: 'e0308_mismatched_types', code: 'E0308', category: 'type', file: null }];
    for (const [type, data] of [
      ['AttemptRecorded', { ...golden('AttemptRecorded.v1'), ...attempt, output: { text: `old ${n}` }, prompt: null, verifier: null }],
      ['VerdictReached', { ...golden('VerdictReached.v1'), ...attempt, verdict: 'fail', patterns, disagreement: null }],
    ] as const) {
      const unlinked = { $correlationId: dispatchId, $causationId: dispatchId, actor: 'http', schemaVersion: 1, previousHash };
      previousHash = chainHash(type, data, unlinked);
      events.push({ id: randomUUID(), type, data, metadata: { ...unlinked, hash: previousHash } });
    }
  }
  await service.log.append(streamOf(file), -1, events);
}

const stored = async (): Promise<Json[]> => {
  const events = [];
  for await (const event of service.log.readWritten(streamOf(file))) events.push(event);
  return events;
};
const versionsOf = (events: Json[], type: string) =>
  events.filter((one) => one.type === type).map(({ metadata, data }) => [metadata.schemaVersion, 'trial' in data]);

test('a log that holds both versions of an event is folded, projected, decided on and audited, and stays as it was written', async () => {
  await eventually(
    async () => (await file.events()).some(({ type }) => type === 'CalibrationSignalRaised'),
    'old failures raise their signal',
  );
  const before = await stored();
  const { dispatchId } = await file.open('new', { budget: 9 });
  await file.attempt(dispatchId, 'fail', ['E0308'], { output: 'old 1' });
  const failed = await file.attempt(dispatchId, 'fail', ['E0308']);
  expect(failed.next).toMatchObject({ step: 'escalate', reason: { rule: 'per_pattern', occurrences: 5 } });

  const now = await stored();
  expect(now.slice(0, before.length)).toEqual(before);
  expect(versionsOf(now, 'VerdictReached')).toEqual([...Array(3).fill([1, false]), ...Array(2).fill([2, true])]);
  const lifted = (await file.events()).filter(({ type }) => type === 'VerdictReached').map(({ data }) => data.trial);
  expect(lifted).toEqual([null, null, null, expect.stringMatching(/^[0-9a-f]{20}$/), expect.stringMatching(/^[0-9a-f]{20}$/)]);

  const after = failed.position.commit;
  expect((await file.list('/v1/histograms', { after })).items).toMatchObject([{ code: 'E0308', attempts: 5 }]);
  expect((await file.list('/v1/captures', { after })).items).toHaveLength(5);
  const audit = await service.api.ok(service.api.post('/v1/audit/verify', { repo: file.repo }));
  expect(audit).toMatchObject({ checked: 3, streams: 1, events: now.length, found: 0 });
});

test('a correction of an old verdict takes back what it counted', async () => {
  const old = (await stored()).find(({ type }) => type === 'VerdictReached').data.attemptId;
  const body = { verdict: 'blocked', reason: 'the disk was full', source: 'a person' };
  const { position } = await service.api.ok(service.api.post(`/v1/attempts/${old}/verdict-corrections`, body));
  expect(await file.memory()).toMatchObject({ failed: 4, blocked: 1, signals: [{ occurrences: 4 }] });
  expect((await file.list('/v1/histograms', { after: position.commit })).items).toMatchObject([{ attempts: 4 }]);
});
