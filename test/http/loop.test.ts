import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { sha256 } from '../../src/domain/ids.js';
import type { FileApi, Json } from '../support/api.js';
import { cargoError, cargoFailed, cargoPassed, diffOf, traitBound } from '../support/cargo.js';
import { freshRepo, Service } from '../support/service.js';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
}, 60_000);
afterAll(() => service.stop());

/** One task through three ways of the same failure, and the frontier's pass. */
describe('the loop, from a cold file to a correction pair', () => {
  const weak = `fn get() { ${'a == b; '.repeat(400)} }`;
  let file: FileApi;
  let opened: Json;
  const answers: Json[] = [];
  let outcome: Json;

  beforeAll(async () => {
    file = service.api.file(freshRepo('loop'), 'src/lru_cache.rs');
    opened = await file.open('task-12', { budget: 5, arm: 'hint', batch: 'b-1', profile: 'cold-start-v2', baseHash: 'base-1' });
    for (const line of [12, 40, 41]) {
      const diff = diffOf('src/lru_cache.rs', 'struct L;', `struct L<K>; // ${line}`);
      const more = { diff, prompt: `the prompt, line ${line}`, toolSteps: [{ name: 'apply_patch', ok: true }] };
      answers.push(
        await file.api.ok(
          file.api.post(`/v1/dispatches/${opened.dispatchId}/attempts`, {
            output: `${weak}${line}`,
            verifier: cargoFailed(traitBound(line)),
            usage: { promptTokens: 2100, completionTokens: 800, costUsd: 0.5 },
            ...more,
          }),
        ),
      );
    }
    outcome = await file.api.ok(
      file.api.post(`/v1/dispatches/${opened.dispatchId}/frontier-outcomes`, {
        output: 'fn get() where K: PartialEq {}',
        model: 'frontier-1',
        verifier: cargoPassed,
        diff: diffOf('src/lru_cache.rs', 'struct L;', 'struct L<K: PartialEq>;'),
      }),
    );
  });

  test('a cold file is opened without a hint, with its profile, at a place that can be fetched', async () => {
    expect(opened).toMatchObject({ coldStart: true, hint: { text: '', total: 0 }, proposal: null, runningDispatchId: null });
    expect(opened.next).toMatchObject({ step: 'attempt', terminal: false, reason: { rule: 'cold_start' } });
    expect(opened.dispatch).toMatchObject({ status: 'open', outcome: null, attempts: 0, attemptsLeft: 5 });
    expect(opened.profile).toBe('cold-start-v2');
    const again = await file.api.post('/v1/dispatches', file.opening('another'));
    expect([again.status, again.headers.get('location')]).toEqual([201, `/v1/dispatches/${again.body.dispatchId}`]);
  });

  test('raw cargo text is judged: the same failure on other lines is a retry, a replan, then a signal and an escalation', () => {
    expect(answers.map(({ attempt, verdict, late }) => [attempt, verdict, late])).toEqual([
      [1, 'fail', false],
      [2, 'fail', false],
      [3, 'fail', false],
    ]);
    for (const { patterns } of answers)
      expect(patterns).toEqual([
        { pattern: expect.stringMatching(/^e0369_/), code: 'E0369', category: expect.any(String), file: file.targetFile },
      ]);
    expect(new Set(answers.map(({ signature }) => signature)).size).toBe(1);
    expect(answers.map(({ next }) => [next.step, next.reason.rule])).toEqual([
      ['retry', 'within_budget'],
      ['replan', 'repeated_signature'],
      ['escalate', 'per_pattern'],
    ]);
    expect(answers[2].next.reason).toMatchObject({ occurrences: 3, threshold: 3, evidence: answers.map(({ attemptId }) => attemptId) });
    expect(answers[2].dispatch).toMatchObject({ attempts: 3, attemptsLeft: 2, status: 'open' });
  });

  test('a decision says what it rests on: the stream up to the event before it', () => {
    const { next, position } = answers[2];
    expect(next.reason.basedOn).toEqual([{ stream: position.stream, revision: position.revision - 1 }]);
    expect(next.reason.policy).toMatch(/^[0-9a-f]{64}$/);
    expect(position.commit).toMatch(/^\d+$/);
  });

  test("the frontier's pass ends the dispatch, confirms capacity and stages a proposal", async () => {
    expect(outcome).toMatchObject({ attempt: 4, verdict: 'pass', classification: 'capacity', solicited: true });
    expect(outcome.next).toMatchObject({ step: 'done', terminal: true, reason: { rule: 'frontier_passed' } });
    expect(outcome.dispatch).toMatchObject({ status: 'closed', outcome: 'escalated_passed', attemptsLeft: 0, attempts: 3 });
    expect(outcome.proposal).toMatchObject({ seat: 'frontier', status: 'pending', baseHash: 'base-1', taskId: 'task-12' });
    expect(outcome.proposal.output).toBe('fn get() where K: PartialEq {}');
    const later = await file.api.post(`/v1/dispatches/${opened.dispatchId}/attempts`, { output: 'x', verdict: 'pass' });
    expect(later.status).toBe(409);
  });

  test('a dispatch and its attempts can be fetched by id, texts whole', async () => {
    const dispatch = await file.api.ok(file.api.get(`/v1/dispatches/${opened.dispatchId}`));
    expect(dispatch).toMatchObject({ status: 'closed', outcome: 'escalated_passed', taskId: 'task-12', attempts: 3 });
    expect(dispatch.next).toEqual(outcome.next);
    expect(dispatch.attemptList.map(({ attempt, seat, verdict }: Json) => [attempt, seat, verdict])).toEqual([
      [1, 'builder', 'fail'],
      [2, 'builder', 'fail'],
      [3, 'builder', 'fail'],
      [4, 'frontier', 'pass'],
    ]);
    const attempt = await file.api.ok(file.api.get(`/v1/attempts/${answers[1].attemptId}`));
    expect(attempt).toMatchObject({
      output: `${weak}40`,
      prompt: 'the prompt, line 40',
      diff: diffOf('src/lru_cache.rs', 'struct L;', 'struct L<K>; // 40'),
      verifier: { tool: 'cargo', exitCode: 101, stderr: traitBound(40), stdout: '', output: null, durationMs: 4100 },
      filesTouched: ['src/lru_cache.rs'],
      toolSteps: [{ name: 'apply_patch', ok: true }],
      usage: { promptTokens: 2100, completionTokens: 800, costUsd: 0.5 },
    });
  });

  test('a long text stands in the log by its hash, not in the event', async () => {
    const recorded = (await file.events()).find(({ type }) => type === 'AttemptRecorded');
    expect(recorded.data.output).toEqual({ payload: sha256(`${weak}12`), bytes: Buffer.byteLength(`${weak}12`) });
    expect(recorded.data.prompt).toEqual({ text: 'the prompt, line 12' });
  });

  test('the next dispatch of the file is told all of it', async () => {
    const next = await file.open('task-13');
    expect(next.coldStart).toBe(false);
    expect(next.hint).toMatchObject({ total: 3, passed: 0, failed: 3, blocked: 0 });
    expect(next.hint.text).toMatch(
      /^This file has 3 prior attempts: 0 passed, 3 failed\. Known failure patterns: E0369 \([a-z ]+, 3 occurrences\)/,
    );
    expect(next.hint.text).toMatch(/CALIBRATION SIGNAL — beyond builder-9b capacity: E0369 in 3 attempts/);
    expect(next.hint.text).toMatch(/Frontier solved this pattern: e0369_/);
    expect(next.next.reason.rule).toBe('history');
    const none = await file.open('task-14', { carry: 'none' });
    expect(none.hint.text).toBe('');
  });
});

test('a failure of another kind each time spends the budget; without a frontier a signal stops', async () => {
  const file = service.api.file(freshRepo('loop'), 'src/other.rs');
  const { dispatchId } = await file.open('t', { budget: 3 });
  const steps: string[] = [];
  for (const code of ['E0308', 'E0599', 'E0277']) {
    const verifier = cargoFailed(cargoError(code, `something ${code}`));
    const { next } = await file.api.ok(file.api.post(`/v1/dispatches/${dispatchId}/attempts`, { output: code, verifier }));
    steps.push(`${next.step} ${next.reason.rule}`);
  }
  expect(steps).toEqual(['retry within_budget', 'retry within_budget', 'stop budget_exhausted']);
  await file.fail(['E0308', 'E0308']);
  const alone = await file.open('alone', { frontier: null });
  await file.attempt(alone.dispatchId, 'fail', ['E0308']);
  const futile = await file.attempt(alone.dispatchId, 'fail', ['E0308']);
  expect([futile.next.step, futile.next.reason.rule, futile.dispatch.outcome]).toEqual(['stop', 'per_pattern', 'futile']);
});
