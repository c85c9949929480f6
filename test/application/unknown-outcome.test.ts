import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { StoreUnavailable, WrongRevision } from '../../src/application/ports.js';
import type { Json } from '../support/api.js';
import { appendForeign, importedAttempt, streamOf } from '../support/foreign.js';
import { freshRepo, Service } from '../support/service.js';

let service: Service;
let append: Service['log']['append'];
beforeAll(async () => {
  service = await Service.start();
  append = service.log.append.bind(service.log);
}, 60_000);
afterAll(() => service.stop());
afterEach(() => {
  service.log.append = append;
});

const fresh = () => service.api.file(freshRepo('unknown'), 'src/a.rs');
const lost = () => new StoreUnavailable('the answer was lost');

test('an append that happened, and whose answer was lost, is learned to have happened: answered once, stored once', async () => {
  const file = fresh();
  const { dispatchId } = await file.open();
  let dropped = 0;
  service.log.append = async (...call) => {
    const appended = await append(...call);
    if (call[0] !== streamOf(file) || dropped === 2) return appended;
    dropped += 1;
    throw lost();
  };
  const answer = await file.attempt(dispatchId, 'fail', ['E0308']);
  expect([dropped, answer.attempt, answer.next.step]).toEqual([2, 1, 'retry']);
  const events = await file.events();
  expect(events.filter(({ type }) => type === 'AttemptRecorded')).toHaveLength(1);
  expect(answer.position.revision).toBe(events.length - 1);
});

test('also when another writer got in meanwhile, and the store no longer knows the events by their ids', async () => {
  const file = fresh();
  const { dispatchId } = await file.open();
  let calls = 0;
  service.log.append = async (...call) => {
    if (call[0] !== streamOf(file)) return append(...call);
    calls += 1;
    if (calls > 1) throw new WrongRevision('the stream has moved on');
    await append(...call);
    await appendForeign({ ...service.log, read: service.log.read.bind(service.log), append }, file, importedAttempt(file, { unique: 'x' }));
    throw lost();
  };
  const answer = await file.attempt(dispatchId, 'fail', ['E0308']);
  const events = await file.events();
  expect([calls, answer.attempt, answer.verdict]).toEqual([2, 1, 'fail']);
  const recorded = events.filter(({ type, data }) => type === 'AttemptRecorded' && !data.imported);
  expect(recorded.map(({ data }) => data.attemptId)).toEqual([answer.attemptId]);
  expect(answer.position.revision).toBe(events.findLast(({ data }) => !data.imported).revision);
});

test('an append that never happened is made again', async () => {
  const file = fresh();
  let refused = 0;
  service.log.append = async (...call) => {
    refused += 1;
    if (refused < 3) throw lost();
    return append(...call);
  };
  await file.open();
  expect(await file.eventTypes()).toEqual(['DispatchOpened', 'NextStepDecided']);
});

test('a store that stays away: 503 with Retry-After; the same key later is one command, whether it happened or not', async () => {
  for (const happened of [true, false]) {
    const file = fresh();
    const sent = { headers: { 'idempotency-key': 'k' } };
    service.log.append = async (...call) => {
      if (happened) await append(...call);
      throw lost();
    };
    const away = await file.api.post('/v1/dispatches', file.opening('t'), sent);
    expect([away.status, away.headers.get('content-type')?.split(';')[0]]).toEqual([503, 'application/problem+json']);
    expect(Number(away.headers.get('retry-after'))).toBeGreaterThan(0);
    service.log.append = append;
    const back = await file.api.post('/v1/dispatches', file.opening('t'), sent);
    expect([back.status, back.body.next.step]).toEqual([201, 'attempt']);
    expect(await file.eventTypes()).toEqual(['DispatchOpened', 'NextStepDecided']);
  }
});

test('another instance that was faster is no conflict: read again, decided again, on what it wrote', async () => {
  const file = fresh();
  const { dispatchId } = await file.open('t');
  let rivals = 0;
  service.log.append = async (...call) => {
    if (call[0] === streamOf(file) && rivals < 5) {
      rivals += 1;
      const rival = importedAttempt(file, { code: 'E0308', taskId: 'other', unique: `rival${rivals}` });
      await appendForeign({ ...service.log, read: service.log.read.bind(service.log), append }, file, rival);
    }
    return append(...call);
  };
  const answer = await file.attempt(dispatchId, 'fail', ['E0308']);
  expect([rivals, answer.attempt]).toEqual([5, 1]);
  const events = await file.events();
  expect(events.map(({ revision }) => revision)).toEqual(events.map((_, index) => index));
  const own = events.findIndex(({ data }) => data.attemptId === answer.attemptId);
  expect(events.slice(0, own).filter(({ data }) => data.imported)).toHaveLength(10);
  expect(events.filter(({ type }) => type === 'CalibrationSignalRaised').map(({ data }: Json) => data.occurrences)).toHaveLength(1);
});
