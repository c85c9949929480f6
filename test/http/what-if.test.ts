import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { attemptIdOf, dispatchIdOf, fileIdOf } from '../../src/domain/ids.js';
import { classifierVersion } from '../../src/verifier/signature.js';
import type { Json } from '../support/api.js';
import { appendForeign, event } from '../support/foreign.js';
import { eventually, freshRepo, Service } from '../support/service.js';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
}, 60_000);
afterAll(() => service.stop());
afterEach(() => expect(service.reports.splice(0)).toEqual([]));

const start = (asked: Json) => service.api.post('/v1/measurements/what-if', asked);
const ended = (id: string): Promise<Json> =>
  eventually(async () => {
    const { body } = await service.api.get(`/v1/measurements/what-if/${id}`);
    return body.status === 'running' ? null : body;
  }, `the what-if ${id} ends`);
async function whatIf(asked: Json): Promise<Json> {
  const { status, body } = await start(asked);
  expect([status, body.status, body.result]).toEqual([202, 'running', null]);
  const { result, ...end } = await ended(body.id);
  expect(end).toMatchObject({ status: 'done', error: null, progress: { fraction: 1, files: result.files, attempts: result.attempts } });
  return result;
}

/** A file that one builder failed, each time with a pattern and another one that never comes again, and perhaps passed then. */
async function fails(repo: string, path: string, codes: string[], passes = false) {
  const file = service.api.file(repo, path);
  const { dispatchId } = await file.open('t', { budget: 9 });
  for (const [i, code] of codes.entries()) await file.attempt(dispatchId, 'fail', [code, `never_again_${i}`]);
  if (passes) await file.attempt(dispatchId, 'pass');
  return { file, dispatchId };
}

test('a lower threshold, side by side with what was decided; nothing is appended', async () => {
  const repo = freshRepo();
  const { dispatchId } = await fails(repo, 'src/a.rs', ['E0369', 'E0308', 'E0369', 'E0277'], true);
  await fails(repo, 'src/b.rs', ['E0369', 'E0369', 'E0369']);
  await fails(freshRepo('another'), 'src/a.rs', ['E0369', 'E0369']);
  const head = await service.log.head();
  const result = await whatIf({ repo, policy: { perPattern: 2 } });
  expect(await service.log.head()).toBe(head);
  expect(result).toMatchObject({ upTo: head, files: 2, dispatches: 2, attempts: 8, decisions: 10, cutShort: 0, unreadable: 0 });
  expect(result.recorded).toMatchObject({
    signals: { raised: 1, overcome: 0, live: 1, files: 1 },
    escalations: { dispatches: 1, saved: 0, wrong: { count: 0, of: 1 }, atAttempt: { 3: 1 } },
    byRule: { per_pattern: 1 },
  });
  expect(result.other).toMatchObject({
    signals: { raised: 2, overcome: 1, live: 1, files: 2, filesOvercome: 1 },
    escalations: { dispatches: 2, saved: 3, wrong: { count: 1, of: 2, rate: 0.5 }, atAttempt: { 2: 1, 3: 1 } },
  });
  const [first] = result.differences.items.filter((item: Json) => item.dispatchId === dispatchId);
  expect(first).toMatchObject({
    ...{ repo, targetFile: 'src/a.rs' },
    recorded: { step: 'retry', rule: 'within_budget', evidence: [] },
    other: { step: 'escalate', rule: 'per_pattern', evidence: [expect.stringMatching(/-1$/), expect.stringMatching(/-3$/)] },
  });
  expect(result.differences.decisions).toBe(3);
});

test('without anything, a replay comes out as it was decided, also where policy and discounts changed on the way', async () => {
  const repo = freshRepo();
  await fails(repo, 'src/a.rs', ['E0369', 'E0369']);
  await service.api.ok(service.api.call('PUT', `/v1/policy?repo=${repo}`, { perPattern: 2 }));
  await fails(repo, 'src/b.rs', ['E0369', 'E0369'], true);
  const { file, dispatchId } = await fails(repo, 'src/c.rs', ['E0369', 'E0369']);
  await file.frontierOutcome(dispatchId, 'pass');
  await service.api.ok(service.api.call('PUT', `/v1/policy?repo=${repo}`, { perPattern: 5 }));
  await fails(repo, 'src/d.rs', ['E0369', 'E0369', 'E0369']);
  const discount = { repo, selector: { targetFile: 'src/c.rs' }, reason: 'the profile was wrong' };
  await service.api.ok(service.api.post('/v1/evidence/discounts', discount));
  await eventually(async () => (await file.eventTypes()).includes('CalibrationSignalCleared'), 'the saga withdraws the signal');
  const same = await whatIf({ repo });
  expect(same.differences).toEqual({ decisions: 0, items: [] });
  expect(same.other).toEqual(same.recorded);
  expect(same.recorded).toMatchObject({
    signals: { raised: 2, overcome: 1, clearedOtherwise: 1, live: 0 },
    escalations: { dispatches: 2 },
  });
  // One field alone is another: all others are as they were then.
  expect((await whatIf({ repo, policy: { perPattern: 3 } })).other).toMatchObject({
    signals: { raised: 1 },
    byRule: { per_pattern: 1 },
  });
});

test('after a number of failures, in the place of signals and repeated signatures', async () => {
  const repo = freshRepo();
  await fails(repo, 'src/a.rs', ['E0001', 'E0002', 'E0003', 'E0004'], true);
  const { recorded, other } = await whatIf({ repo, escalation: { afterFailures: 3 } });
  expect(recorded.escalations.dispatches).toBe(0);
  expect(other).toMatchObject({
    escalations: { dispatches: 1, saved: 2, wrong: { count: 1 }, atAttempt: { 3: 1 } },
    byRule: { after_failures: 1 },
  });
});

test('texts that an older classifier read are classified anew, and what is regrouped is told', async () => {
  const repo = freshRepo();
  const place = { repo, targetFile: 'src/a.rs' };
  const stderr = `error[E0382]: borrow of moved value: \`a\`\n --> src/a.rs:1:1\n${' |\n'.repeat(1_000)}`;
  const verifier = { tool: 'cargo', command: 'cargo check', exitCode: 101, stdout: '', stderr };
  const { file, dispatchId } = await fails(repo, 'src/a.rs', []);
  await file.attempt(dispatchId, 'fail', [], { verifier });
  await file.attempt(dispatchId, 'pass', [], { verifier, output: 'judged against the text' });
  // As an older classifier would have recorded the same text: its long text lies in the log already.
  const [recorded] = (await file.events()).filter(({ type }) => type === 'AttemptRecorded');
  for (const unique of ['old1', 'old2', 'old3']) {
    const id = dispatchIdOf(fileIdOf(repo, 'src/a.rs'), unique);
    const common = { dispatchId: id, attemptId: attemptIdOf(id, 1), attempt: 1, taskId: unique, imported: true };
    const pattern = { pattern: `old_${unique}`, code: null, category: 'unknown', file: null };
    const [verdict] = (await file.events()).filter(({ type }) => type === 'VerdictReached');
    await appendForeign(service.log, place, [
      event('AttemptRecorded', { ...recorded.data, ...common }),
      event('VerdictReached', { ...verdict.data, ...common, patterns: [pattern], classifierVersion: '0', disagreement: null }),
    ]);
  }
  expect((await whatIf({ repo })).regrouped).toEqual({ attempts: 0, verdicts: 0, items: [] });
  const { other, recorded: before, regrouped } = await whatIf({ repo, classifierVersion });
  expect(regrouped).toMatchObject({ attempts: 3, verdicts: 0 });
  expect(regrouped.items[0]).toEqual({
    attempts: 1,
    from: { verdict: 'fail', patterns: ['old_old1'] },
    to: { verdict: 'fail', patterns: ['e0382_use_after_move'] },
  });
  expect([before.signals.raised, other.signals.raised]).toEqual([0, 1]);
});

test('a running one can be cancelled, and goes on after a restart; an ended one cannot be cancelled', async () => {
  const { body } = await start({});
  const cancelled = await service.api.call('DELETE', `/v1/measurements/what-if/${body.id}`);
  expect([cancelled.status, cancelled.body.status]).toEqual([200, 'cancelled']);
  expect(await ended(body.id)).toMatchObject({ status: 'cancelled', result: null });
  const { body: second } = await start({});
  await service.restart();
  // An engine that stops in the middle of a read may say so.
  service.reports.splice(0);
  expect(await ended(second.id)).toMatchObject({ status: 'done' });
  expect((await service.api.call('DELETE', `/v1/measurements/what-if/${second.id}`)).status).toBe(409);
  expect((await service.api.get('/v1/measurements/what-if/none')).status).toBe(404);
});

test.each([
  ['policy.perPattern', { policy: { perPattern: 0 } }],
  ['policy.perPatern', { policy: { perPatern: 2 } }],
  ['policy.perFile.patterns', { policy: { perFile: { failures: 2 } } }],
  ['escalation.afterFailures', { escalation: {} }],
  ['patterns', { patterns: 'first' }],
  ['classifierVersion', { classifierVersion: '0' }],
  ['repo', { repo: '' }],
])('a bad %s is refused by name', async (path, asked) => {
  const { status, body } = await start(asked);
  expect([status, ...new Set(body.errors.map((error: Json) => error.path))]).toEqual([400, path]);
});
