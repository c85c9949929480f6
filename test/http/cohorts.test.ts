import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Json } from '../support/api.js';
import { freshRepo, Service } from '../support/service.js';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
}, 60_000);
afterAll(() => service.stop());

const cohort = (name: string, query: Record<string, string | number>): Promise<Json> =>
  service.api.ok(service.api.get(`/v1/measurements/cohorts/${name}`, query));

/** Files with a failure before; the first try of each task fails under a hint, but for the last. */
async function hintResistant(repo: string, tasks: number): Promise<string> {
  let position: Json;
  for (let n = 0; n <= tasks; n += 1) {
    const file = service.api.file(repo, `src/${n}.rs`);
    const before = await file.open('old');
    await file.attempt(before.dispatchId, 'fail', ['E0308']);
    await service.api.ok(service.api.post(`/v1/dispatches/${before.dispatchId}/abandon`, {}));
    const { dispatchId } = await file.open(`t${n}`, { batch: 'first', profile: 'p-1', budget: 2 });
    ({ position } = await file.attempt(dispatchId, n < tasks ? 'fail' : 'pass', n < tasks ? ['E0599'] : []));
    if (n < tasks) ({ position } = await file.attempt(dispatchId, 'fail', ['E0277']));
  }
  return position.commit;
}

test('tasks that were hint-resistant come back as bodies that open them again, page by page; the second run is laid beside the first', async () => {
  const repo = freshRepo();
  const after = await hintResistant(repo, 3);
  const first = await cohort('hint_resistant', { repo, batch: 'first', after, limit: 2 });
  expect(first.items.map(({ dispatch }: Json) => dispatch.task)).toEqual([
    { id: 't0', description: 'do t0', prompt: null },
    { id: 't1', description: 'do t1', prompt: null },
  ]);
  const rest = await cohort('hint_resistant', { repo, batch: 'first', cursor: first.nextCursor });
  expect([rest.items.length, rest.nextCursor, rest.rerun]).toEqual([1, null, null]);
  let last: Json;
  for (const [n, { dispatch, firstRun }] of [...first.items, ...rest.items].entries()) {
    expect(firstRun).toMatchObject({ carry: 'hint', outcome: 'exhausted', attempts: 2 });
    const { dispatchId } = await service.api.ok(service.api.post('/v1/dispatches', { ...dispatch, batch: 'again' }));
    const file = service.api.file(repo, dispatch.targetFile);
    last = await file.attempt(dispatchId, n < 2 ? 'pass' : 'fail', n < 2 ? [] : ['E0599']);
  }
  const { rerun } = await cohort('hint_resistant', { repo, batch: 'first', rerun: 'again', after: last.position.commit });
  expect(rerun).toMatchObject({ batch: 'again', tasks: 3, onlyRerun: 2, onlyFirst: 0, neither: 1, pValue: 0.5 });
});

test('what speaks against capacity is found in the records', async () => {
  const repo = freshRepo();
  const after = await hintResistant(repo, 1);
  const file = service.api.file(repo, 'src/0.rs');
  const { dispatchId } = await file.open('t9', { batch: 'second', budget: 3, carry: 'diff_feedback', force: true });
  const diff = `--- a/src/0.rs\n+++ b/src/0.rs\n@@ -1 +1,6 @@\n${Array.from({ length: 6 }, (_, i) => `+let wrong_${i} = guess();`).join('\n')}\n`;
  await file.attempt(dispatchId, 'fail', ['E0599'], { diff, output: 'same' });
  await service.api.ok(service.api.post(`/v1/dispatches/${dispatchId}/carry-forward`, {}));
  const { position } = await file.attempt(dispatchId, 'fail', ['E0277'], { diff, output: 'same', prompt: 'the block was lost' });
  const { items } = await cohort('hint_resistant', { repo, batch: 'second', structure: 'true', after: position.commit });
  expect(items[0].structure.map(({ kind, attempts }: Json) => [kind, attempts])).toEqual([
    ['byte_equal_outputs', [1, 2]],
    ['block_not_in_prompt', [2]],
    ['anchored', [2]],
  ]);
  expect((await cohort('hint_resistant', { repo, batch: 'first', after })).items[0].structure).toBeUndefined();
});

test('refused: a cohort that there is not, a cursor of elsewhere', async () => {
  const unknown = await service.api.get('/v1/measurements/cohorts/everybody');
  expect([unknown.status, unknown.body.detail]).toEqual([404, expect.stringContaining('hint_resistant')]);
  expect((await service.api.get('/v1/measurements/cohorts/escalated', { cursor: 'bm8' })).status).toBe(400);
});
