import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { Json } from '../support/api.js';
import { watchAppends } from '../support/appends.js';
import { cargoFailed, traitBound } from '../support/cargo.js';
import { freshRepo, Service } from '../support/service.js';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
}, 60_000);
afterAll(() => service.stop());
afterEach(() => expect(service.reports.splice(0)).toEqual([]));

const fresh = () => service.api.file(freshRepo('many'), 'src/a.rs');
const times = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, index) => make(index));

describe('many callers at once', () => {
  test('twenty callers ask for one task: one gets the dispatch, nineteen are told to wait for it', async () => {
    const file = fresh();
    const answers = await Promise.all(times(20, () => service.api.post('/v1/dispatches', file.opening('same'))));
    const opened = answers.filter(({ status }) => status === 201);
    expect(opened).toHaveLength(1);
    for (const { status, body } of answers.filter((answer) => answer !== opened[0]))
      expect([status, body.next.step, body.dispatchId, body.runningDispatchId]).toEqual([200, 'wait', null, opened[0]?.body.dispatchId]);
    expect((await file.eventTypes()).filter((type) => type === 'DispatchOpened')).toHaveLength(1);
  });

  test('ten writers on one file: every attempt is recorded, each signal raised once, nobody meets a conflict', async () => {
    const file = fresh();
    const dispatches = await Promise.all(times(10, (index) => file.open(`task-${index}`)));
    const answers = await Promise.all(
      dispatches.flatMap(({ dispatchId }: Json) =>
        times(2, () => service.api.post(`/v1/dispatches/${dispatchId}/attempts`, { output: 'x', verifier: cargoFailed(traitBound()) })),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual(times(20, () => 201));
    const events = await file.events();
    expect(events.map(({ revision }) => revision)).toEqual(events.map((_, index) => index));
    expect(events.filter(({ type }) => type === 'AttemptRecorded')).toHaveLength(20);
    expect(events.filter(({ type }) => type === 'CalibrationSignalRaised').map(({ data }) => data.occurrences)).toEqual([3]);
    expect(new Set(answers.map(({ body }) => body.position.revision)).size).toBe(20);
    for (const { dispatchId } of dispatches) {
      const own = events.filter(({ type, data }) => type === 'AttemptRecorded' && data.dispatchId === dispatchId);
      expect(own.map(({ data }) => data.attempt)).toEqual([1, 2]);
    }
    expect((await file.memory()).failed).toBe(20);
    const { items } = await file.list('/v1/histograms', {
      after: String(Math.max(...answers.map(({ body }) => Number(body.position.commit)))),
    });
    expect(items.map(({ attempts }: Json) => attempts)).toEqual([20]);
  });

  test('commands of one instance on one file take turns: none of them meets a conflict in the store', async () => {
    const file = fresh();
    const { dispatchId } = await file.open('t', { budget: 100 });
    const appends = watchAppends(service.log);
    await Promise.all(times(60, () => file.attempt(dispatchId, 'fail')));
    expect(appends).toHaveLength(60);
    expect((await file.memory()).failed).toBe(60);
  });

  test('the same long text from many at once is stored once, and everybody can read it', async () => {
    const files = times(8, fresh);
    const output = `${freshRepo()} ${'long '.repeat(2000)}`;
    const attempts = await Promise.all(
      files.map(async (file) => file.attempt((await file.open()).dispatchId, 'fail', ['E0308'], { output })),
    );
    for (const { attemptId } of attempts) expect((await service.api.ok(service.api.get(`/v1/attempts/${attemptId}`))).output).toBe(output);
  });
});

describe('reading what was just written', () => {
  test('a signal is there in the very next read of the memory', async () => {
    const file = fresh();
    const { dispatchId } = await file.open('t', { budget: 10 });
    for (let n = 1; n <= 5; n += 1) {
      await file.attempt(dispatchId, 'fail', ['E0308']);
      const memory = await file.memory();
      expect([memory.failed, memory.signals.length, memory.openDispatches[0].attempts]).toEqual([n, n >= 3 ? 1 : 0, n]);
      if (n >= 3) expect(memory.signals[0]).toMatchObject({ kind: 'per_pattern', code: 'E0308', occurrences: n });
    }
    await file.attempt(dispatchId, 'pass');
    expect(await file.memory()).toMatchObject({ passed: 1, failed: 5, signals: [], openDispatches: [] });
  });

  test('a list that is asked for a position has seen it', async () => {
    const file = fresh();
    for (let n = 1; n <= 10; n += 1) {
      const [failed] = await file.fail(['E0308'], `task-${n}`);
      const after = failed.position.commit;
      const [histogram, dispatches] = await Promise.all([file.list('/v1/histograms', { after }), file.list('/v1/dispatches', { after })]);
      expect([histogram.items[0].attempts, dispatches.items.length]).toEqual([n, n]);
    }
  });

  test('a position that the log has not reached: 503, to be asked again later', async () => {
    const answers = await Promise.all(
      ['/v1/histograms', '/v1/dispatches', '/v1/proposals', '/v1/correction-pairs'].map((path) =>
        service.api.get(path, { after: '99999999999999' }),
      ),
    );
    for (const { status, headers, body } of answers) {
      expect([status, headers.get('content-type')?.split(';')[0]]).toEqual([503, 'application/problem+json']);
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
      expect(body.title).toBe('Service Unavailable');
    }
    expect(service.reports.splice(0)).toHaveLength(4);
  });
});
