import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { defaultPolicy } from '../../src/catalogue/policy.js';
import type { Answer, Json } from '../support/api.js';
import { freshRepo, Service } from '../support/service.js';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
}, 60_000);
afterAll(() => service.stop());
afterEach(() => expect(service.reports.splice(0)).toEqual([]));

const get = (repo: string) => service.api.get('/v1/policy', { repo });
const put = (repo: string, policy: Json, headers: Record<string, string> = {}): Promise<Answer> =>
  service.api.call('PUT', `/v1/policy?repo=${repo}`, policy, { headers });
const stored = async (repo: string) => {
  const events = [];
  for await (const event of service.log.read(`policy-${repo}`)) events.push(event);
  return events;
};
const verify = (repo: string): Promise<Json> => service.api.ok(service.api.post('/v1/audit/verify', { repo }));

test('a repo that never said anything is under the default policy, and nothing is stored for it', async () => {
  const repo = freshRepo('policy');
  const { status, body, headers } = await get(repo);
  expect(status).toBe(200);
  expect(body).toEqual({
    ...{ repo, policy: defaultPolicy, version: 0, hash: expect.stringMatching(/^[0-9a-f]{64}$/), adoptedAt: null, discounts: [] },
    position: { stream: `policy-${repo}`, revision: -1, commit: null },
  });
  expect(headers.get('etag')).toMatch(/^"0-/);
  const file = service.api.file(repo, 'src/a.rs');
  const opened = await file.open();
  expect(opened.next.reason).toMatchObject({ policy: body.hash, basedOn: [{ stream: opened.position.stream, revision: -1 }] });
  expect(await stored(repo)).toEqual([]);
});

test('the first adopted policy is written behind the one that held until then; a later PUT replaces it whole', async () => {
  const repo = freshRepo('policy');
  const first = await put(repo, { perPattern: 2 });
  expect([first.status, first.headers.get('etag')]).toEqual([200, expect.stringMatching(/^"1-/)]);
  expect(first.body).toMatchObject({ repo, version: 1, policy: { ...defaultPolicy, perPattern: 2 }, position: { revision: 1 } });
  expect((await stored(repo)).map(({ event }) => (event.data as Json).policy)).toEqual([
    defaultPolicy,
    { ...defaultPolicy, perPattern: 2 },
  ]);
  const second = await put(repo, { probeRate: 0 });
  expect(second.body).toMatchObject({ version: 2, policy: { ...defaultPolicy, probeRate: 0 } });
  expect((await put(repo, { probeRate: 0 })).body).toEqual(second.body);
  expect((await get(repo)).body).toEqual(second.body);
});

test('If-Match keeps two who change the same policy apart', async () => {
  const repo = freshRepo('policy');
  const tag = (await get(repo)).headers.get('etag')!;
  const [one, other] = await Promise.all([
    put(repo, { perPattern: 4 }, { 'if-match': tag }),
    put(repo, { perPattern: 5 }, { 'if-match': tag }),
  ]);
  expect([one.status, other.status].sort()).toEqual([200, 412]);
  const refused = one.status === 412 ? one : other;
  expect(refused.headers.get('content-type')).toMatch('application/problem+json');
  expect(refused.body).toMatchObject({
    status: 412,
    type: 'urn:anvil:problem:precondition-failed',
    detail: expect.stringMatching(/version 1/),
  });
  const now = (await get(repo)).headers.get('etag')!;
  expect((await put(repo, {}, { 'if-match': `W/${now}` })).status).toBe(412);
  expect((await put(repo, {}, { 'if-match': `"x", ${now}` })).status).toBe(200);
  expect((await put(repo, { perPattern: 9 }, { 'if-match': '*' })).status).toBe(200);
  const malformed = await put(repo, {}, { 'if-match': 'version 1' });
  expect([malformed.status, malformed.body.errors[0].path]).toEqual([400, 'If-Match']);
});

test('the same idempotency key: the first answer again, also after another policy; with another body refused', async () => {
  const repo = freshRepo('policy');
  const key = { 'idempotency-key': 'k' };
  const first = await put(repo, { perPattern: 7 }, key);
  await put(repo, { perPattern: 8 });
  expect((await put(repo, { perPattern: 7 }, key)).body).toEqual(first.body);
  expect((await get(repo)).body.policy.perPattern).toBe(8);
  expect((await put(repo, { perPattern: 6 }, key)).status).toBe(422);
  expect(await stored(repo)).toHaveLength(3);
});

describe('a policy that is none is refused, its fields are named, and nothing is stored', () => {
  test.each<[string, Json, string[]]>([
    ['an unknown threshold', { perPatern: 3 }, ['perPatern']],
    ['no number', { perPattern: 'three' }, ['perPattern']],
    ['half a threshold within', { perFile: { failures: 6.5, patterns: 3 } }, ['perFile.failures']],
    ['a share over 1', { probeRate: 1.1 }, ['probeRate']],
    ['a cooldown of no time', { infraCooldown: { after: 2, seconds: { dns: 0 }, otherSeconds: 9 } }, ['infraCooldown.seconds.dns']],
    ['a list', [], ['']],
  ])('%s', async (_what, policy, paths) => {
    const repo = freshRepo('policy');
    const { status, body } = await put(repo, policy);
    expect([status, body.errors.map(({ path }: Json) => path)]).toEqual([400, paths]);
    expect(await stored(repo)).toEqual([]);
  });

  test('a repo whose name is none', async () => {
    const { status, body } = await put(`a%00b`, {});
    expect([status, body.errors[0].path]).toEqual([400, 'repo']);
  });
});

describe('decisions', () => {
  test('name the policy stream with its revision, follow it from the next command on, and hold when they are made again', async () => {
    const repo = freshRepo('policy');
    const file = service.api.file(repo, 'src/a.rs');
    const before = await file.fail(['E0308', 'E0308'], 'old');
    expect((await file.memory()).signals).toEqual([]);
    const adopted = (await put(repo, { perPattern: 2, defaultBudget: 7, defaultLeaseSeconds: 60 })).body;
    expect((await file.memory()).signals).toMatchObject([{ kind: 'per_pattern', occurrences: 2, threshold: 2 }]);

    const opened = await file.open('new');
    expect(opened.dispatch.attemptsLeft).toBe(7);
    expect(opened.next.reason).toMatchObject({ policy: adopted.hash, basedOn: [{}, { stream: `policy-${repo}`, revision: 1 }] });
    await file.attempt(opened.dispatchId, 'fail', ['E0308']);
    const failed = await file.attempt(opened.dispatchId, 'fail', ['E0308']);
    expect(failed.next).toMatchObject({ step: 'escalate', reason: { rule: 'per_pattern', occurrences: 4, threshold: 2 } });
    expect(before[0].next.reason.policy).not.toBe(adopted.hash);

    await put(repo, { perPattern: 50 });
    expect((await file.memory()).signals).toEqual([]);
    const [, lastBefore] = before;
    const { targetFile, model } = file;
    const then = { repo, targetFile, model, revision: failed.position.revision };
    expect((await service.api.ok(service.api.get('/v1/audit/state', then))).signals).toMatchObject([{ occurrences: 4, threshold: 2 }]);
    const atFirst = { ...then, revision: lastBefore.position.revision };
    expect((await service.api.ok(service.api.get('/v1/audit/state', atFirst))).signals).toEqual([]);
    expect((await service.api.ok(service.api.get('/v1/audit/state', { repo, targetFile, model }))).signals).toEqual([]);
    expect(await verify(repo)).toMatchObject({ checked: 7, streams: 2, found: 0, mismatches: [] });
  });

  test('a call that is repeated is answered under the policy of its time', async () => {
    const repo = freshRepo('policy');
    const file = service.api.file(repo, 'src/a.rs');
    await put(repo, { perPattern: 2 });
    await file.fail(['E0308', 'E0308'], 'old');
    const headers = { 'idempotency-key': 'k' };
    const open = () => service.api.post('/v1/dispatches', file.opening('new'), { headers });
    const first = await open();
    expect(first.body.hint.signals).toHaveLength(1);
    await put(repo, { perPattern: 9 });
    expect(await open()).toMatchObject({ status: 201, body: first.body });
  });

  test('of other repos are none of its business', async () => {
    const [repo, other] = [freshRepo('policy'), freshRepo('policy')];
    await put(repo, { perPattern: 1 });
    const file = service.api.file(other, 'src/a.rs');
    const [failed] = await file.fail(['E0308']);
    expect(failed.next.reason).toMatchObject({ rule: 'budget_exhausted', basedOn: [{ stream: failed.position.stream }] });
  });
});

(process.env.TEST_EVENTSTORE_URL ? describe.skip : describe)('an audit finds', () => {
  const tamper = (repo: string, set: string, revision: number) =>
    service.sql(
      `UPDATE anvil_log.events SET ${set} WHERE revision = ${revision} AND stream_id IN (SELECT stream_id FROM anvil_log.events
       WHERE convert_from(data, 'UTF8')::json->>'repo' = '${repo}' AND type = 'PolicyAdopted')`,
    );

  test('a policy that was changed behind the decisions that it made', async () => {
    const repo = freshRepo('policy');
    const file = service.api.file(repo, 'src/a.rs');
    await put(repo, { perPattern: 2 });
    await file.fail(['E0308', 'E0308']);
    expect((await verify(repo)).found).toBe(0);
    await tamper(repo, `data = convert_to(replace(convert_from(data, 'UTF8'), '"perPattern":2', '"perPattern":4'), 'UTF8')`, 1);
    const { mismatches } = await verify(repo);
    expect(mismatches).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ stream: `policy-${repo}`, revision: 1, what: 'chain' }),
        expect.objectContaining({ stream: `policy-${repo}`, revision: 1, what: 'policy' }),
        expect.objectContaining({ stream: expect.stringMatching(/^file-/), type: 'NextStepDecided', what: 'decision' }),
      ]),
    );
  });
});

test('versions tell what changed from one policy to the next', async () => {
  const repo = freshRepo('policy');
  await put(repo, { perPattern: 2 });
  await put(repo, { perPattern: 2, perFile: { failures: 8, patterns: 3 }, failureMaxAgeSeconds: 60 });
  await put(repo, {});
  const { items } = await service.api.ok(service.api.get('/v1/policy/versions', { repo }));
  expect(items.map(({ version, changes }: Json) => [version, changes])).toEqual([
    [1, [{ path: 'perPattern', from: 3, to: 2 }]],
    [
      2,
      [
        { path: 'failureMaxAgeSeconds', from: null, to: 60 },
        { path: 'perFile.failures', from: 6, to: 8 },
      ],
    ],
    [
      3,
      [
        { path: 'failureMaxAgeSeconds', from: 60, to: null },
        { path: 'perFile.failures', from: 8, to: 6 },
        { path: 'perPattern', from: 2, to: 3 },
      ],
    ],
  ]);
  expect((await service.api.ok(service.api.get('/v1/policy/versions', { repo: freshRepo('policy') }))).items).toEqual([]);
});
