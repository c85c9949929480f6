import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { watchAppends } from '../support/appends.js';
import { cargoFailed, cargoPassed, traitBound } from '../support/cargo.js';
import { freshRepo, Service } from '../support/service.js';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
}, 60_000);
afterAll(() => service.stop());

describe('classifying without recording', () => {
  test('says verdict, patterns and signature of a text, and stores nothing', async () => {
    const appends = watchAppends(service.log);
    const failed = await service.api.ok(service.api.post('/v1/classify', cargoFailed(traitBound(7))));
    expect(failed).toMatchObject({
      verdict: 'fail',
      infraKind: null,
      signature: expect.stringMatching(/./),
      excerpt: expect.stringContaining('E0369'),
    });
    expect(failed.patterns).toMatchObject([{ code: 'E0369', file: 'src/lru_cache.rs' }]);
    expect(failed.evidence).toBeUndefined();
    const elsewhere = await service.api.ok(service.api.post('/v1/classify', cargoFailed(traitBound(99))));
    expect(elsewhere.signature).toBe(failed.signature);
    const passed = await service.api.ok(service.api.post('/v1/classify', cargoPassed));
    expect([passed.verdict, passed.patterns]).toEqual(['pass', []]);
    expect(appends).toEqual([]);
  });

  test('explains itself where it is asked to', async () => {
    const { evidence } = await service.api.ok(service.api.post('/v1/classify', { ...cargoFailed(traitBound()), explain: true }));
    expect(JSON.stringify(evidence)).toContain('E0369');
  });

  test('infrastructure is told from a failure, and blocks a dispatch without spending its budget', async () => {
    const dns = 'error: failed to download `serde`\n\nCaused by:\n  [6] Could not resolve host: index.crates.io\n';
    const read = await service.api.ok(service.api.post('/v1/classify', cargoFailed(dns)));
    expect([read.verdict, read.infraKind, read.patterns]).toEqual(['blocked', 'dns', []]);
    const file = service.api.file(freshRepo('infra'), 'src/a.rs');
    for (const round of [1, 2]) {
      const { dispatchId } = await file.open(`task-${round}`);
      const verifier = cargoFailed(dns);
      const blocked = await file.api.ok(file.api.post(`/v1/dispatches/${dispatchId}/attempts`, { output: 'x', verifier }));
      expect([blocked.verdict, blocked.infraKind, blocked.next.step, blocked.dispatch.outcome]).toEqual([
        'blocked',
        'dns',
        'stop',
        'blocked',
      ]);
    }
    const cooling = await file.api.post('/v1/dispatches', file.opening('task-3'));
    expect([cooling.status, cooling.body.next.step, cooling.body.next.reason.rule]).toEqual([200, 'stop', 'infra_cooldown']);
    expect(cooling.body.next.reason.retryAfterSeconds).toBeGreaterThan(0);
    expect((await file.memory()).skip).toMatchObject({ rule: 'infra_cooldown' });
    expect((await file.open('task-3', { force: true })).next.step).toBe('attempt');
  });
});

test('a verifier that was killed is asked for once more, on the same output; that spends no budget', async () => {
  const file = service.api.file(freshRepo('reverify'), 'src/a.rs');
  const { dispatchId } = await file.open('task', { budget: 1 });
  const post = (verifier: object) => file.api.ok(file.api.post(`/v1/dispatches/${dispatchId}/attempts`, { output: 'fn a() {}', verifier }));
  const killed = await post({ command: 'cargo check', exitCode: 137, stderr: '   Compiling a v0.1.0 (/w)\n' });
  expect([killed.verdict, killed.infraKind, killed.next.step, killed.next.terminal]).toEqual(['blocked', 'killed', 'reverify', false]);
  expect([killed.dispatch.status, killed.dispatch.attemptsLeft]).toEqual(['open', 1]);
  const again = await post(cargoPassed);
  expect([again.verdict, again.next.step, again.proposal.output, again.dispatch.outcome]).toEqual(['pass', 'done', 'fn a() {}', 'passed']);

  const own = await file.open('other', { force: true });
  const told = { output: 'x', verdict: 'blocked', infraKind: 'killed' };
  const stopped = await file.api.ok(file.api.post(`/v1/dispatches/${own.dispatchId}/attempts`, told));
  expect([stopped.next.step, stopped.next.reason.rule]).toEqual(['stop', 'infra_blocked']);
});

test("a caller's verdict wins; what the text said otherwise is kept beside it", async () => {
  const file = service.api.file(freshRepo('judge'), 'src/a.rs');
  const { dispatchId } = await file.open();
  const sent = { verdict: 'pass', verifier: cargoFailed(traitBound()) } as const;
  const answer = await file.attempt(dispatchId, sent.verdict, [], sent);
  expect([answer.verdict, answer.next.step]).toEqual(['pass', 'done']);
  expect(answer.disagreement).toMatchObject({ verdict: 'fail', patterns: [{ code: 'E0369' }] });
  const reached = (await file.events()).find(({ type }) => type === 'VerdictReached');
  expect(reached.data.disagreement).toEqual(answer.disagreement);
});

test('health: the process lives, and both stores answer', async () => {
  expect((await service.api.get('/health/live')).body).toEqual({ status: 'ok' });
  const ready = await service.api.get('/health/ready');
  const projectionLag = { events: expect.any(Number), seconds: expect.any(Number) };
  const stores = { eventStore: { ok: true }, database: { ok: true } };
  expect([ready.status, ready.body]).toEqual([200, { status: 'ok', ...stores, projectionLag, parkedEvents: {} }]);
});
