import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { Answer, Json } from '../support/api.js';
import { watchAppends } from '../support/appends.js';
import { cargoPassed } from '../support/cargo.js';
import { freshRepo, Service } from '../support/service.js';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
}, 60_000);
afterAll(() => service.stop());
afterEach(() => expect(service.reports.splice(0)).toEqual([]));

const keyed = (key: string) => ({ headers: { 'idempotency-key': key } });
const fresh = () => service.api.file(freshRepo('once'), 'src/a.rs');
const send = (path: string, body: Json, key: string) => service.api.post(path, body, keyed(key));
const same = (answer: Answer, first: Answer) => expect([answer.status, answer.body]).toEqual([first.status, first.body]);

describe('the same key with the same body', () => {
  test('gets the first answer, whatever happened since, and is stored once; the order of fields does not matter', async () => {
    const file = fresh();
    const body = file.opening('t', { budget: 4 });
    const first = await send('/v1/dispatches', body, 'open');
    expect(first.status).toBe(201);
    const path = `/v1/dispatches/${first.body.dispatchId}/attempts`;
    const attempt = { output: 'x', verdict: 'fail', patterns: ['E0308'] };
    const recorded = await send(path, attempt, 'k');
    await file.attempt(first.body.dispatchId, 'fail', ['E0277']);
    const outcome = { output: 'good', verifier: cargoPassed };
    const escalated = await send(`/v1/dispatches/${first.body.dispatchId}/frontier-outcomes`, outcome, 'k');
    const resolution = { resolution: 'accepted' };
    const resolvePath = `/v1/proposals/${escalated.body.proposal.proposalId}/resolve`;
    const resolved = await send(resolvePath, resolution, 'k');
    const events = await file.events();
    for (const restart of [false, true]) {
      if (restart) await service.restart();
      same(await send('/v1/dispatches', Object.fromEntries(Object.entries(body).reverse()), 'open'), first);
      same(await send(path, attempt, 'k'), recorded);
      same(await send(`/v1/dispatches/${first.body.dispatchId}/frontier-outcomes`, outcome, 'k'), escalated);
      same(await send(resolvePath, resolution, 'k'), resolved);
      expect(await service.api.file(file.repo, file.targetFile).events()).toEqual(events);
    }
  }, 60_000);

  test('is known after a restart that begins from a snapshot of a long stream', async () => {
    const file = fresh();
    const told: { n: number; answer: Answer }[] = [];
    for (let n = 0; n < 180; n += 1) {
      const answer = await send('/v1/dispatches', file.opening(`t${n % 9}`, { force: true }), `open ${n}`);
      await service.api.ok(service.api.post(`/v1/dispatches/${answer.body.dispatchId}/abandon`, {}));
      if (n % 50 === 0) told.push({ n, answer });
    }
    const events = await file.events();
    await service.restart();
    for (const { n, answer } of told) same(await send('/v1/dispatches', file.opening(`t${n % 9}`, { force: true }), `open ${n}`), answer);
    const fromSnapshot = /^anvil_folds_total\{from="snapshot"\} 1$/m;
    expect((await service.api.get('/metrics')).text).toMatch(fromSnapshot);
    expect(await service.api.file(file.repo, file.targetFile).events()).toEqual(events);
  }, 60_000);

  test('sent by many at once is one command', async () => {
    const file = fresh();
    const answers = await Promise.all(Array.from({ length: 10 }, () => send('/v1/dispatches', file.opening('t'), 'k')));
    for (const answer of answers) same(answer, answers[0]!);
    expect(await file.eventTypes()).toEqual(['DispatchOpened', 'NextStepDecided']);
  });

  test('is another command on another path, and without a key every command counts', async () => {
    const file = fresh();
    const one = await send('/v1/dispatches', file.opening('one'), 'k');
    const other = fresh();
    const two = await send('/v1/dispatches', other.opening('one'), 'k');
    expect(one.body.dispatchId).not.toBe(two.body.dispatchId);
    const body = { output: 'x', verdict: 'fail' };
    const first = await send(`/v1/dispatches/${one.body.dispatchId}/attempts`, body, 'k');
    expect([first.status, first.body.attempt]).toEqual([201, 1]);
    const second = await service.api.post(`/v1/dispatches/${one.body.dispatchId}/attempts`, body);
    expect([second.status, second.body.attempt]).toEqual([201, 2]);
  });
});

test('the same key with another body is refused as 422 and stores nothing, long texts neither', async () => {
  const file = fresh();
  const { dispatchId } = await file.open();
  const path = `/v1/dispatches/${dispatchId}/attempts`;
  await send(path, { output: 'x', verdict: 'fail' }, 'k');
  const appends = watchAppends(service.log);
  const other = await send(path, { output: `${file.repo} ${'y'.repeat(5000)}`, verdict: 'fail' }, 'k');
  expect([other.status, other.headers.get('content-type')?.split(';')[0]]).toEqual([422, 'application/problem+json']);
  const opening = await send('/v1/dispatches', file.opening('a'), 'k');
  expect(opening.status).toBe(201);
  expect((await send('/v1/dispatches', file.opening('b'), 'k')).status).toBe(422);
  expect(appends.map(({ events }) => events[0]?.type)).toEqual(['DispatchOpened']);
});

test('a refusal is not remembered: the same key works once what was in the way is gone', async () => {
  const file = fresh();
  const { dispatchId } = await file.open();
  const path = `/v1/dispatches/${dispatchId}/attempts`;
  const refused = await send(path, { output: 'x', verdict: 'fail', attempt: 2 }, 'k');
  expect(refused.status).toBe(409);
  expect((await send(path, { output: 'x', verdict: 'wrong' }, 'k')).status).toBe(400);
  await file.attempt(dispatchId, 'fail', ['E0308']);
  const accepted = await send(path, { output: 'x', verdict: 'fail', attempt: 2 }, 'k');
  expect([accepted.status, accepted.body.attempt]).toEqual([201, 2]);
});

describe('an attempt that says its number', () => {
  test('equal body: the first answer; another body: 409; a gap: 409; nothing of a refused one is stored', async () => {
    const file = fresh();
    const { dispatchId } = await file.open();
    const path = `/v1/dispatches/${dispatchId}/attempts`;
    const body = { output: 'x', verdict: 'fail', patterns: ['E0308'], attempt: 1 };
    const first = await service.api.post(path, body);
    expect(first.status).toBe(201);
    const appends = watchAppends(service.log);
    same(await service.api.post(path, body), first);
    const long = `${file.repo} ${'y'.repeat(5000)}`;
    expect((await service.api.post(path, { ...body, output: long })).status).toBe(409);
    expect((await service.api.post(path, { ...body, output: long, attempt: 3 })).status).toBe(409);
    expect(appends).toEqual([]);
    const second = await service.api.post(path, { ...body, attempt: 2 });
    expect([second.status, second.body.attempt]).toEqual([201, 2]);
    same(await service.api.post(path, body), first);
  });

  test('nothing of an attempt on a closed dispatch is stored', async () => {
    const file = fresh();
    const { dispatchId } = await file.open();
    await file.attempt(dispatchId, 'pass');
    const appends = watchAppends(service.log);
    const refused = { output: `${file.repo} ${'y'.repeat(5000)}`, verdict: 'fail' };
    for (const what of ['attempts', 'frontier-outcomes'])
      expect((await service.api.post(`/v1/dispatches/${dispatchId}/${what}`, refused)).status).toBe(409);
    expect((await service.api.post(`/v1/dispatches/${dispatchId}/abandon`, {})).status).toBe(409);
    expect(appends).toEqual([]);
  });
});
