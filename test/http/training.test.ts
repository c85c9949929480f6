import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Json } from '../support/api.js';
import { freshRepo, Service } from '../support/service.js';

let service: Service;
let repo: string;
let after: string;

/** Twelve files: on each the builder fails twice and passes by itself; on four more it fails and is given up. Two of the first are alike. */
beforeAll(async () => {
  service = await Service.start();
  repo = freshRepo();
  let position: Json;
  for (let n = 0; n < 12; n += 1) {
    const file = service.api.file(repo, `src/pair-${n}.rs`);
    const { dispatchId } = await file.open('t', { task: { id: 't', description: `task ${n < 2 ? 0 : n}` } });
    for (const output of ['first wrong', 'second wrong']) await file.attempt(dispatchId, 'fail', ['E0308'], { output });
    ({ position } = await file.attempt(dispatchId, 'pass', [], { output: `right ${'x'.repeat(3_000)}` }));
  }
  for (let n = 0; n < 4; n += 1) {
    const file = service.api.file(repo, `src/alone-${n}.rs`);
    const { dispatchId } = await file.open('t');
    await file.attempt(dispatchId, 'fail', ['E0599'], { output: `alone ${n}` });
    ({ position } = await file.attempt(dispatchId, 'blocked', [], { infraKind: 'dns' }));
  }
  after = position.commit;
}, 60_000);
afterAll(() => service.stop());

const lines = async (path: string, query: Json = {}): Promise<Json[]> => {
  const { status, headers, text } = await service.api.get(`/v1/training/${path}`, { repo, after, ...query });
  expect([status, headers.get('content-type')]).toEqual([200, 'application/x-ndjson']);
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
};
const datasheet = (set: string, query: Json = {}): Promise<Json> =>
  service.api.ok(service.api.get(`/v1/training/${set}/datasheet`, { repo, after, ...query }));

test('pairs come whole, once each, in the format of the trainer', async () => {
  const rows = await lines('pairs');
  expect(rows).toHaveLength(11);
  expect(rows[0]).toEqual({ prompt: 'task 0', chosen: `right ${'x'.repeat(3_000)}`, rejected: 'second wrong' });
  expect(await lines('pairs', { duplicates: 'true' })).toHaveLength(12);
  expect((await lines('pairs', { format: 'axolotl' }))[0].messages).toEqual([{ role: 'user', content: 'task 0' }]);
});

test('both sides of the split make the whole, and no file is on both', async () => {
  const of = (split: string) => lines('pairs', { split, validationShare: '0.4', duplicates: 'true' });
  const [train, validation] = [await of('train'), await of('validation')];
  expect(train.length + validation.length).toBe(12);
  expect(Math.min(train.length, validation.length)).toBeGreaterThan(0);
  const sheet = await datasheet('pairs', { validationShare: '0.4', duplicates: 'true' });
  expect(sheet.bySplit).toEqual({ train: train.length, validation: validation.length });
});

test('labels are the attempts that are in no pair; what was blocked has no label', async () => {
  const rows = await lines('labels');
  expect(rows.filter(({ completion }) => completion.startsWith('alone'))).toHaveLength(4);
  // The first failure of each file is in no pair either; two of them are alike.
  expect(rows.filter(({ completion }) => completion === 'first wrong')).toHaveLength(11);
  expect(rows.map(({ label }) => label)).toEqual(rows.map(() => false));
});

test('a datasheet counts what is in a set, and names the events that each row rests on', async () => {
  const sheet = await datasheet('pairs');
  expect(sheet).toMatchObject({ set: 'pairs', rows: 11, duplicates: 1, byKind: { self_correction: 11 }, byModel: { 'builder-9b': 11 } });
  expect(sheet.provenance).toHaveLength(11);
  const events = await service.api.file(repo, 'src/pair-0.rs').events();
  const verdicts = events.filter(({ type }) => type === 'VerdictReached').map(({ eventId }) => eventId);
  expect(sheet.provenance[0]).toEqual([verdicts[2], verdicts[1]]);
});

test('refused: a format that is none for labels, a share that is none', async () => {
  for (const [path, query, field] of [
    ['labels', { format: 'axolotl' }, 'format'],
    ['pairs', { validationShare: '1.5' }, 'validationShare'],
    ['labels', { kind: 'self_correction' }, 'kind'],
  ] as const) {
    const answer = await service.api.get(`/v1/training/${path}`, query);
    expect([answer.status, answer.body.errors[0].path]).toEqual([400, field]);
  }
});
