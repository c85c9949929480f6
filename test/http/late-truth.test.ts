import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { FileApi, Json } from '../support/api.js';
import { eventually, freshRepo, Service } from '../support/service.js';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
}, 60_000);
afterAll(() => service.stop());
// An engine that is stopped by a restart may say so.
const ofRestarts = /terminating connection due to administrator command/;
afterEach(() => expect(service.reports.splice(0).filter((report) => !ofRestarts.test(report))).toEqual([]));

const fresh = () => service.api.file(freshRepo('late'), 'src/a.rs');
const correct = (attemptId: string, body: Json, headers: Record<string, string> = {}) =>
  service.api.post(`/v1/attempts/${attemptId}/verdict-corrections`, { reason: 'hidden tests', source: 'ci', ...body }, { headers });
const corrected = (attemptId: string, body: Json): Promise<Json> => service.api.ok(correct(attemptId, body));
const of = (events: Json[], type: string) => events.filter((one) => one.type === type);
const lastCommand = (events: Json[]) => {
  const { $causationId } = events.at(-1).metadata;
  return events.filter(({ metadata }) => metadata.$causationId === $causationId).map(({ type }) => type);
};
const listed = async (file: FileApi, path: string, query: Json = {}): Promise<Json[]> => {
  const { position } = await file.memory();
  return (await file.list(path, { after: position.commit, ...query })).items;
};
const holds = async (repo: string) => {
  const { found, mismatches } = await service.api.ok(service.api.post('/v1/audit/verify', { repo }));
  expect([found, mismatches]).toEqual([0, []]);
};

describe('a verdict that turned out wrong', () => {
  test('to pass: it overcomes as a pass would, in the same append, and the last step is repeated', async () => {
    const file = fresh();
    const { dispatchId } = await file.open('t', { budget: 9 });
    await file.attempt(dispatchId, 'fail', ['E0308']);
    const second = await file.attempt(dispatchId, 'fail', ['E0308']);
    const third = await file.attempt(dispatchId, 'fail', ['E0308']);
    expect(third.next.step).toBe('escalate');
    const answer = await correct(third.attemptId, { verdict: 'pass' });
    expect(answer.status).toBe(201);
    expect(answer.body).toMatchObject({
      ...{ attemptId: third.attemptId, changed: true, verdict: 'pass', patterns: [], before: { verdict: 'fail' } },
      signals: { raised: [], cleared: [{ configuration: file.model, kind: 'per_pattern', pattern: 'e0308_type_mismatch' }] },
      ...{ next: third.next, dispatch: { dispatchId, status: 'open', attempts: 3 } },
    });
    const events = await file.events();
    expect(lastCommand(events)).toEqual(['VerdictCorrected', 'CalibrationSignalCleared']);
    expect(events.at(-1).data.reason).toBe('corrected');
    expect(answer.body.position.revision).toBe(events.at(-1).revision);
    expect(await file.memory({ taskId: 't' })).toMatchObject({
      ...{ passed: 1, failed: 2, signals: [], hint: { previouslyPassed: { attempts: 3 } } },
    });
    expect(await listed(file, '/v1/histograms')).toMatchObject([{ code: 'E0308', attempts: 2 }]);
    expect(await listed(file, '/v1/files')).toMatchObject([{ passed: 1, failed: 2, liveSignals: 0 }]);
    expect(await listed(file, '/v1/signals')).toMatchObject([{ live: false, reason: 'corrected' }]);
    const captures = await listed(file, '/v1/captures', { verdict: 'pass' });
    expect(captures).toMatchObject([{ attemptId: third.attemptId, correction: { first: { verdict: 'fail' }, source: 'ci' } }]);
    const [pattern] = (await service.api.ok(service.api.get('/v1/patterns', { repo: file.repo }))).items;
    expect([pattern.failed, pattern.overcome.count]).toEqual([2, 2]);
    const attempt = await service.api.ok(service.api.get(`/v1/attempts/${third.attemptId}`));
    expect(attempt).toMatchObject({ verdict: 'pass', patterns: [], corrections: [{ verdict: 'pass', reason: 'hidden tests' }] });
    expect(second.attemptId).not.toBe(third.attemptId);
    await holds(file.repo);
  });

  test('to fail: what it overcame counts again, its proposal is rejected, and the task can be built again', async () => {
    const file = fresh();
    await file.fail(['E0599', 'E0599', 'E0599'], 't');
    const { dispatchId } = await file.open('t');
    const passed = await file.attempt(dispatchId, 'pass');
    expect((await file.memory()).signals).toEqual([]);
    const answer = await corrected(passed.attemptId, { verdict: 'fail', patterns: ['e0599'] });
    expect(answer).toMatchObject({
      patterns: [{ pattern: 'e0599_method_not_found', code: 'E0599' }],
      signals: { raised: [{ kind: 'per_pattern' }] },
    });
    expect(lastCommand(await file.events())).toEqual(['VerdictCorrected', 'CalibrationSignalRaised', 'ProposalResolved']);
    expect((await file.memory()).signals).toMatchObject([{ code: 'E0599', occurrences: 4 }]);
    expect(await listed(file, '/v1/proposals')).toMatchObject([{ proposalId: passed.proposal.proposalId, status: 'rejected' }]);
    expect((await file.open('t')).next.step).toBe('attempt');
    await holds(file.repo);
  });

  test('of a frontier: its outcome is classified anew, back and forth', async () => {
    const file = fresh();
    const { dispatchId } = await file.open('t', { budget: 9 });
    for (let i = 0; i < 3; i += 1) await file.attempt(dispatchId, 'fail', ['E0369']);
    const outcome = await file.frontierOutcome(dispatchId, 'pass');
    expect(outcome.classification).toBe('capacity');
    const map = async () => {
      const { commit } = (await file.memory()).position;
      const { items } = await service.api.ok(service.api.get('/v1/patterns', { repo: file.repo, after: commit }));
      return items.map(({ classification }: Json) => classification);
    };
    await corrected(outcome.attemptId, { verdict: 'fail', patterns: ['E0369'] });
    expect((await file.memory()).frontier).toMatchObject([{ classification: 'task_hardness', verdict: 'fail' }]);
    expect(await map()).toEqual([{ capacity: 0, taskHardness: 1 }]);
    expect((await file.open('t')).next.reason.rule).toBe('task_hardness');
    await corrected(outcome.attemptId, { verdict: 'pass' });
    expect((await file.memory()).frontier).toMatchObject([{ classification: 'capacity', verdict: 'pass' }]);
    expect(await map()).toEqual([{ capacity: 1, taskHardness: 0 }]);
    expect((await file.open('t')).next.reason.rule).not.toBe('task_hardness');
    await holds(file.repo);
  });

  test('makes no pair, on either side, and takes away one that there is', async () => {
    const file = fresh();
    const pairFrom = async (task: string) => {
      const { dispatchId } = await file.open(task);
      const failed = await file.attempt(dispatchId, 'fail', ['E0308'], { output: `${task} wrong` });
      return { failed, passed: await file.attempt(dispatchId, 'pass', [], { output: `${task} right` }) };
    };
    const [one, two, three] = [await pairFrom('t1'), await pairFrom('t2'), await pairFrom('t3')];
    expect(await listed(file, '/v1/correction-pairs')).toHaveLength(3);
    await corrected(one.passed.attemptId, { verdict: 'fail', patterns: [] });
    await corrected(two.failed.attemptId, { verdict: 'pass' });
    const left = await listed(file, '/v1/correction-pairs');
    expect(left.map(({ pairId }) => pairId)).toEqual([three.passed.attemptId]);
    // The failure that was none is not what a later pass of the task is held against either.
    const { dispatchId } = await file.open('t4');
    const wrong = await file.attempt(dispatchId, 'fail', ['E0308'], { output: 'first' });
    await corrected((await file.attempt(dispatchId, 'fail', ['E0308'], { output: 'second' })).attemptId, { verdict: 'blocked' });
    await file.attempt(dispatchId, 'pass', [], { output: 'third' });
    const added = (await listed(file, '/v1/correction-pairs')).at(-1);
    expect([added.rejectedAttemptId, added.rejected, added.chosen]).toEqual([wrong.attemptId, 'first', 'third']);
  });

  test('said again changes nothing: 200 without a key, the first answer with one; another verdict is another correction', async () => {
    const file = fresh();
    const [failed] = await file.fail(['E0308']);
    const key = { 'idempotency-key': 'k' };
    const first = await correct(failed.attemptId, { verdict: 'blocked' }, key);
    expect(await correct(failed.attemptId, { verdict: 'blocked' })).toMatchObject({
      status: 200,
      body: { changed: false, verdict: 'blocked' },
    });
    const back = await correct(failed.attemptId, { verdict: 'fail', patterns: ['E0308'] });
    expect([back.status, back.body.before.verdict]).toEqual([201, 'blocked']);
    expect(await correct(failed.attemptId, { verdict: 'blocked' }, key)).toMatchObject({ status: 201, body: first.body });
    expect((await correct(failed.attemptId, { verdict: 'pass' }, key)).status).toBe(422);
    expect(of(await file.events(), 'VerdictCorrected')).toHaveLength(2);
    expect(await file.memory()).toMatchObject({ failed: 1, blocked: 0, histogram: [{ code: 'E0308', attempts: 1 }] });
  });

  test('also of an attempt that decisions have long forgotten', async () => {
    const file = fresh();
    const [oldest] = await file.fail(['E0106', ...Array<string>(80).fill('E0433')], 't');
    expect(await corrected(oldest.attemptId, { verdict: 'pass' })).toMatchObject({ changed: true, before: { verdict: 'fail' } });
    expect(await file.memory()).toMatchObject({ passed: 1, failed: 80 });
    expect((await file.memory()).signals).toMatchObject([{ code: 'E0433', occurrences: 80 }]);
    await service.restart();
    const again = service.api.file(file.repo, file.targetFile);
    expect((await again.memory()).signals).toMatchObject([{ code: 'E0433', occurrences: 80 }]);
  }, 60_000);

  test.each<[string, Json, string]>([
    ['no verdict', { verdict: undefined }, 'verdict'],
    ['an unknown verdict', { verdict: 'perhaps' }, 'verdict'],
    ['no reason', { reason: '' }, 'reason'],
    ['no source', { source: undefined }, 'source'],
    ['patterns of a pass', { patterns: ['E0308'] }, 'patterns'],
    ['an unknown field', { why: 'x' }, 'why'],
  ])('%s: refused, and the field is named', async (_what, body, path) => {
    const file = fresh();
    const [failed] = await file.fail(['E0308']);
    const before = await file.events();
    const answer = await correct(failed.attemptId, { verdict: 'pass', ...body });
    expect([answer.status, answer.body.errors.map((one: Json) => one.path)]).toEqual([400, [path]]);
    expect(await file.events()).toEqual(before);
  });

  test('an attempt that nobody knows: 404', async () => {
    const [failed] = await fresh().fail(['E0308']);
    for (const id of ['x', `${failed.attemptId}0`, failed.attemptId.replace(/^a-[0-9a-f]{4}/, 'a-0000')])
      expect((await correct(id, { verdict: 'pass' })).status).toBe(404);
  });
});

describe('evidence that no longer counts', () => {
  const discount = (repo: string, selector: Json, more: Json = {}) =>
    service.api.post('/v1/evidence/discounts', { repo, selector, reason: 'the harness was broken', ...more });
  const cleared = (file: FileApi) =>
    eventually(async () => of(await file.events(), 'CalibrationSignalCleared')[0], 'the saga clears the signal');

  test('decisions leave it out at once, and the saga clears its signals, once, on every file', async () => {
    const repo = freshRepo('late');
    const [a, b] = [service.api.file(repo, 'src/a.rs'), service.api.file(repo, 'src/b.rs')];
    for (const file of [a, b]) await file.fail(['E0308', 'E0308', 'E0308'], 'old');
    const answer = await discount(repo, { model: a.model });
    expect(answer.status).toBe(201);
    expect(answer.body).toMatchObject({
      ...{ repo, selector: { model: a.model, before: expect.any(String) }, next: null, dispatch: null },
      position: { stream: `policy-${repo}`, revision: 1 },
    });
    const { dispatchId } = await a.open('new', { budget: 9 });
    await a.attempt(dispatchId, 'fail', ['E0308']);
    const next = (await a.attempt(dispatchId, 'fail', ['E0308'])).next;
    expect([next.reason.rule, next.reason.basedOn[1]]).toEqual(['repeated_signature', { stream: `policy-${repo}`, revision: 1 }]);
    for (const file of [a, b]) {
      expect((await cleared(file)).data).toMatchObject({ code: 'E0308', reason: 'discounted' });
      expect((await file.memory()).signals).toEqual([]);
      // Histograms count everything, always.
      expect((await file.memory()).histogram[0].attempts).toBe(file === a ? 5 : 3);
    }
    expect((await a.attempt(dispatchId, 'fail', ['E0308'])).next.reason).toMatchObject({ rule: 'per_pattern', occurrences: 3 });
    await holds(repo);
    await service.sql("DELETE FROM anvil_read.checkpoints WHERE name = 'calibration_saga'");
    const told = [await a.events(), await b.events()];
    await service.restart();
    const marker = service.api.file(freshRepo('late'), 'x');
    const { position } = (await marker.fail(['E0308']))[0];
    await eventually(async () => BigInt((await service.readModels.load('calibration_saga')) ?? -1) >= BigInt(position.commit), 'seen');
    expect([await service.api.file(repo, 'src/a.rs').events(), await service.api.file(repo, 'src/b.rs').events()]).toEqual(told);
  }, 60_000);

  test.each<[string, (file: FileApi) => Json, boolean]>([
    ['the model', ({ model }) => ({ model }), true],
    ['another model', () => ({ model: 'another' }), false],
    ['the pattern, as a bare code', () => ({ pattern: 'e0308' }), true],
    ['another pattern', () => ({ pattern: 'e0599_no_method' }), false],
    ['the profile', () => ({ profile: 'cold-v1' }), true],
    ['another profile', () => ({ profile: 'cold-v2' }), false],
    ['the file', ({ targetFile }) => ({ targetFile: `./${targetFile}` }), true],
    ['another file', () => ({ targetFile: 'src/b.rs' }), false],
    ['a time after it', () => ({ before: '2999-01-01T00:00:00Z' }), true],
    ['a time before it', () => ({ before: '2020-01-01T00:00:00Z' }), false],
    ['several parts, of which one does not fit', ({ model }) => ({ model, profile: 'cold-v2' }), false],
  ])('selected by %s', async (_what, selector, fits) => {
    const file = fresh();
    for (let i = 0; i < 3; i += 1) {
      const { dispatchId } = await file.open('t', { budget: 1, frontier: null, profile: 'cold-v1' });
      await file.attempt(dispatchId, 'fail', ['E0308']);
    }
    expect((await discount(file.repo, selector(file))).status).toBe(201);
    expect((await file.memory()).signals).toHaveLength(fits ? 0 : 1);
    if (fits) await cleared(file);
  });

  test('an audit tells the file as it was before the discount', async () => {
    const file = fresh();
    const [, , third] = await file.fail(['E0308', 'E0308', 'E0308']);
    await new Promise((resolve) => setTimeout(resolve, 5));
    await discount(file.repo, { model: file.model });
    await cleared(file);
    const { repo, targetFile, model } = file;
    const state = (query: Json): Promise<Json> => service.api.ok(service.api.get('/v1/audit/state', { repo, targetFile, model, ...query }));
    expect((await state({ revision: third.position.revision })).signals).toHaveLength(1);
    expect((await state({})).signals).toEqual([]);
    expect((await file.memory()).signals).toEqual([]);
  });

  test.each<[string, Json, Json, string]>([
    ['nothing is selected', {}, {}, 'selector'],
    ['only null is selected', { model: null }, {}, 'selector'],
    ['an unknown part', { modle: 'm', model: 'm' }, {}, 'selector.modle'],
    ['no time', { before: 'yesterday' }, {}, 'selector.before'],
    ['no path', { targetFile: '../x' }, {}, 'selector.targetFile'],
    ['no pattern', { pattern: 'unknown' }, {}, 'selector.pattern'],
    ['no reason', { model: 'm' }, { reason: undefined }, 'reason'],
  ])('%s: refused, and nothing is stored', async (_what, selector, more, path) => {
    const repo = freshRepo('late');
    const { status, body } = await discount(repo, selector, more);
    expect([status, body.errors.map((one: Json) => one.path)]).toEqual([400, [path]]);
    expect((await service.api.get('/v1/policy', { repo })).body.position.revision).toBe(-1);
  });

  test('what another instance appended counts from the next decision on', async () => {
    const file = fresh();
    await service.api.call('PUT', `/v1/policy?repo=${file.repo}`, {});
    await file.fail(['E0308', 'E0308'], 'old');
    const stream = `policy-${file.repo}`;
    const written = [];
    for await (const event of service.log.read(stream)) written.push(event);
    const data = { repo: file.repo, at: new Date().toISOString(), selector: { model: file.model }, reason: 'said elsewhere' };
    const { hash: previousHash } = written.at(-1)!.metadata;
    const metadata = { $correlationId: 'c', $causationId: 'c', actor: 'other', schemaVersion: 1, previousHash, hash: 'h' };
    await service.log.append(stream, written.length - 1, [{ id: crypto.randomUUID(), type: 'EvidenceDiscounted', data, metadata }]);
    const { dispatchId } = await file.open('new');
    const failed = await file.attempt(dispatchId, 'fail', ['E0308']);
    expect(failed.next.reason.basedOn[1]).toEqual({ stream, revision: written.length });
    expect((await file.memory()).signals).toEqual([]);
  });
});

describe('a correction pair that nobody should train on', () => {
  const withdraw = (pairId: string, body: Json = { reason: 'leaks the answer' }) =>
    service.api.post(`/v1/correction-pairs/${pairId}/withdraw`, body);

  test('is gone from the list and from exports; asked again, the first answer', async () => {
    const file = fresh();
    const { dispatchId } = await file.open('t');
    const failed = await file.attempt(dispatchId, 'fail', ['E0308'], { output: 'wrong' });
    const passed = await file.attempt(dispatchId, 'pass', [], { output: 'right' });
    const [pair] = await listed(file, '/v1/correction-pairs');
    expect([pair.pairId, pair.rejectedAttemptId]).toEqual([passed.attemptId, failed.attemptId]);
    const first = await withdraw(pair.pairId);
    expect(first).toMatchObject({ status: 200, body: { pairId: pair.pairId, status: 'withdrawn', next: passed.next } });
    expect(await listed(file, '/v1/correction-pairs')).toEqual([]);
    expect((await withdraw(pair.pairId, { reason: 'another' })).body).toEqual(first.body);
    expect(of(await file.events(), 'CorrectionPairWithdrawn')).toHaveLength(1);
  });

  test('where there is none: 404; without a reason: 400; and nothing is stored', async () => {
    const file = fresh();
    const { dispatchId } = await file.open('t');
    const passed = await file.attempt(dispatchId, 'pass');
    for (const id of ['x', passed.attemptId]) expect((await withdraw(id)).status).toBe(404);
    const nameless = await withdraw(passed.attemptId, {});
    expect([nameless.status, nameless.body.errors[0].path]).toEqual([400, 'reason']);
    expect(of(await file.events(), 'CorrectionPairWithdrawn')).toEqual([]);
  });
});

describe('a verifier that says yes and no to the same output', () => {
  const same = { output: 'the very same' };

  test('is called flaky: such failures raise no signal, and the answers say so', async () => {
    const file = fresh();
    const { dispatchId } = await file.open('t', { budget: 9 });
    expect(await file.attempt(dispatchId, 'fail', ['E0308'], same)).not.toHaveProperty('warnings');
    const passed = await file.attempt(dispatchId, 'pass', [], same);
    expect(passed.warnings).toMatchObject([{ code: 'flaky_verifier', detail: expect.stringMatching(/./) }]);
    for (let i = 0; i < 4; i += 1) {
      const opened = await file.open('t', { force: true, budget: 1 });
      expect(opened.warnings).toMatchObject([{ code: 'flaky_verifier' }]);
      const failed = await file.attempt(opened.dispatchId, 'fail', ['E0308'], same);
      expect([failed.warnings[0].code, failed.next.reason.rule]).toEqual(['flaky_verifier', 'budget_exhausted']);
    }
    const memory = await file.memory();
    expect(memory).toMatchObject({ failed: 5, signals: [], histogram: [{ attempts: 5 }], warnings: [{ code: 'flaky_verifier' }] });
    await holds(file.repo);
  });

  test('ends a signal whose failures it contradicts, whoever wrote the output that passed', async () => {
    const file = fresh();
    const { dispatchId } = await file.open('t', { budget: 9 });
    for (let i = 0; i < 3; i += 1) await file.attempt(dispatchId, 'fail', ['E0308'], same);
    expect((await file.memory()).signals).toHaveLength(1);
    const outcome = await file.frontierOutcome(dispatchId, 'pass', same);
    expect(outcome.warnings).toMatchObject([{ code: 'flaky_verifier' }]);
    expect(of(await file.events(), 'CalibrationSignalCleared')).toMatchObject([{ data: { reason: 'discounted' } }]);
    expect((await file.memory()).signals).toEqual([]);
  });

  test('is not, where the task, the base or the commands were others', async () => {
    const file = fresh();
    const verifier = (command: string, exitCode: number) => ({ ...same, verifier: { tool: 'cargo', command, exitCode, stderr: '' } });
    const one = await file.open('t', { baseHash: 'h1', budget: 9 });
    await file.attempt(one.dispatchId, 'fail', ['E0308'], verifier('cargo check', 101));
    const checked = await file.attempt(one.dispatchId, 'pass', [], verifier('cargo test', 0));
    const other = await file.attempt((await file.open('u', { baseHash: 'h1' })).dispatchId, 'pass', [], verifier('cargo check', 0));
    const based = await file.attempt(
      (await file.open('t', { baseHash: 'h2', force: true })).dispatchId,
      'pass',
      [],
      verifier('cargo check', 0),
    );
    for (const answer of [checked, other, based]) expect(answer).not.toHaveProperty('warnings');
  });
});
