import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Json } from '../support/api.js';
import { freshRepo, Service } from '../support/service.js';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
}, 60_000);
afterAll(() => service.stop());

const measure = async (repo: string, more: Record<string, string> = {}): Promise<Json> => {
  const { position } = await service.api.file(repo, 'src/marker.rs').open('marker', { batch: 'marker' });
  return service.api.ok(service.api.get('/v1/measurements', { repo, after: position.commit, ...more }));
};

test('dispatches are measured from their first verdict on; abandoned, blocked and unfinished ones are counted apart', async () => {
  const repo = freshRepo();
  const open = (n: number, more: Json = {}) => service.api.file(repo, `src/m${n}.rs`).open('t', { batch: 'b', ...more });
  const file = service.api.file(repo, 'src/m1.rs');
  const usage = { promptTokens: 100, completionTokens: 20, costUsd: 0.25 };
  await file.attempt((await open(1)).dispatchId, 'pass', [], { usage });
  const second = await open(2);
  await file.attempt(second.dispatchId, 'fail', ['E0308'], { usage });
  await file.attempt(second.dispatchId, 'pass');
  await service.api.ok(service.api.post(`/v1/dispatches/${(await open(3)).dispatchId}/abandon`, {}));
  await file.attempt((await open(4, { budget: 3 })).dispatchId, 'blocked', [], { infraKind: 'dns' });
  await open(5);
  const { all, cold, history } = await measure(repo, { batch: 'b' });
  expect(all).toMatchObject({
    ...{ dispatches: 2, attempts: 3, tokens: 240, costUsd: 0.5, unfinished: 1, budgetSavedByBlocking: 3 },
    ...{ apart: { abandoned: 1, blocked: 1 }, injections: { events: 0, dispatches: 0 } },
    firstTryPass: { count: 1, of: 2, rate: 0.5 },
    passedWithinBudget: { count: 2, of: 2, rate: 1 },
  });
  expect([cold.dispatches, history.dispatches, history.firstTryPass.rate]).toEqual([2, 0, null]);
});

test('an escalation spares the attempts that the budget still held', async () => {
  const repo = freshRepo();
  const file = service.api.file(repo, 'src/a.rs');
  const before = await file.open('t');
  for (const _ of [1, 2]) await file.attempt(before.dispatchId, 'fail', ['E0369']);
  await service.api.ok(service.api.post(`/v1/dispatches/${before.dispatchId}/abandon`, {}));
  const { dispatchId } = await file.open('t', { budget: 5, batch: 'b' });
  await file.attempt(dispatchId, 'fail', ['E0369']);
  expect((await file.attempt(dispatchId, 'fail', ['E0369'])).next.step).toBe('escalate');
  await file.frontierOutcome(dispatchId, 'pass');
  const { history } = await measure(repo, { batch: 'b' });
  expect(history).toMatchObject({ dispatches: 1, escalations: 1, sparedAttempts: 3, frontierPasses: 1, frontierFails: 0 });
});

test('arms are compared with an interval and exact tests, and a person is told whether anything was shown', async () => {
  const repo = freshRepo();
  const run = async (arm: string, task: number, passes: boolean) => {
    const file = service.api.file(repo, `src/${task}.rs`);
    const { dispatchId } = await file.open(`t${task}`, { arm, force: true });
    await file.attempt(dispatchId, passes ? 'pass' : 'fail', passes ? [] : ['E0308']);
    if (!passes) await service.api.ok(service.api.post(`/v1/dispatches/${dispatchId}/abandon`, {}));
  };
  for (let task = 0; task < 6; task += 1) await run('with', task, task < 5);
  for (let task = 0; task < 6; task += 1) await run('without', task, task < 1);
  const { arms, comparisons, notes } = await measure(repo);
  expect(arms.map(({ arm, dispatches }: Json) => [arm, dispatches])).toEqual([
    ['with', 6],
    ['without', 6],
    [null, 0],
  ]);
  const [firstTry] = comparisons;
  expect(firstTry).toMatchObject({ metric: 'firstTryPass', arms: ['with', 'without'], shown: true });
  expect(firstTry.paired).toEqual({ tasks: 6, onlyA: 4, onlyB: 0, pValue: 0.125 });
  expect(firstTry.difference).toBeCloseTo(4 / 6, 10);
  expect(firstTry.sentence).toMatch(
    /^with − without: \+67 points, 95% interval \+\d+ to \+\d+, n = 12 \(chance did not decide the arms\)$/,
  );
  expect(notes.join(' ')).toMatch(/selection/);
});

test('a small difference is said not to be shown', async () => {
  const repo = freshRepo();
  for (const arm of ['a', 'b']) {
    const file = service.api.file(repo, `src/${arm}.rs`);
    await file.attempt((await file.open('t', { arm })).dispatchId, arm === 'a' ? 'pass' : 'fail', arm === 'a' ? [] : ['E0308']);
  }
  const { comparisons } = await measure(repo);
  expect(comparisons[0]).toMatchObject({ shown: false, paired: null, pValue: 1 });
  expect(comparisons[0].sentence).toMatch(/^no difference shown: a − b \+100 points/);
});

test('an experiment assigns arms by chance, keeps to them, and makes the comparison causal', async () => {
  const repo = freshRepo();
  const arms = [
    { arm: 'shown', weight: 1, carry: 'hint' },
    { arm: 'bare', weight: 1, carry: 'none' },
  ];
  const policy = await service.api.call('PUT', `/v1/policy?repo=${repo}`, { experiment: { name: 'hint or none', arms } });
  expect(policy.status).toBe(200);
  const open = (task: number, more: Json = {}) => service.api.file(repo, `src/${task}.rs`).open(`t${task}`, { ...more, batch: 'b' });
  const seen = new Set<string>();
  for (let task = 0; task < 12; task += 1) {
    const opened = await open(task);
    const carry = opened.arm === 'shown' ? 'hint' : 'none';
    expect(opened).toMatchObject({ carry, assigned: { experiment: 'hint or none', stratum: 'cold', propensity: 0.5 } });
    seen.add(opened.arm);
    const file = service.api.file(repo, `src/${task}.rs`);
    await file.attempt(opened.dispatchId, task % 2 === 0 ? 'pass' : 'fail', task % 2 === 0 ? [] : ['E0308']);
  }
  expect(seen).toEqual(new Set(['shown', 'bare']));
  const { all, comparisons } = await measure(repo, { experiment: 'hint or none' });
  expect(all.dispatches).toBe(12);
  expect(comparisons.map(({ arms: of, causal }: Json) => [of, causal])).toEqual([
    [['bare', 'shown'], true],
    [['bare', 'shown'], true],
  ]);
  expect(await open(50, { arm: 'mine' })).toMatchObject({ arm: 'mine', carry: 'hint', assigned: null });
  expect(await open(51, { carry: 'none' })).toMatchObject({ arm: null, carry: 'none', assigned: null });
});

test('an experiment that cannot be run is refused by the field that is wrong', async () => {
  const arm = { arm: 'a', weight: 1, carry: 'hint' };
  for (const [arms, path] of [
    [[arm], 'experiment.arms'],
    [[arm, arm], 'experiment.arms'],
    [[arm, { ...arm, arm: 'b', weight: 0 }], 'experiment.arms.1.weight'],
  ] as const) {
    const answer = await service.api.call('PUT', `/v1/policy?repo=${freshRepo()}`, { experiment: { name: 'e', arms } });
    expect([answer.status, answer.body.errors[0].path]).toEqual([400, path]);
  }
});

test('where arms ran on cold files and on others, they are compared on each too', async () => {
  const repo = freshRepo();
  for (const arm of ['a', 'b'])
    for (const n of [0, 1]) {
      const file = service.api.file(repo, `src/${arm}${n}.rs`);
      for (const task of n === 0 ? ['t'] : ['before', 't'])
        await file.attempt((await file.open(task, { arm: task === 't' ? arm : null, force: true })).dispatchId, 'pass');
    }
  const { comparisons } = await measure(repo);
  const firstTries = comparisons.filter(({ metric }: Json) => metric === 'firstTryPass');
  expect(
    firstTries.map(({ stratum, sentence }: Json) => [
      stratum,
      /n = (\d+)( on (?:cold files|files with history))?/.exec(sentence)?.slice(1),
    ]),
  ).toEqual([
    ['all', ['4', undefined]],
    ['cold', ['2', ' on cold files']],
    ['history', ['2', ' on files with history']],
  ]);
});
