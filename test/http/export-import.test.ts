import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Api, Json } from '../support/api.js';
import { ChildService } from '../support/child.js';
import { beginImport, filesOf, importInto, readModelsOf } from '../support/everything.js';
import { eventually, freshRepo, Service } from '../support/service.js';

let source: Service;
let target: ChildService;
let exported: string;
let rows: Record<string, Json[]>;
let streams: Json[];
let verified: Json;
beforeAll(async () => {
  source = await Service.start();
  await work(source.api);
  // Somebody else keeps events in the same store, also in streams that are named like Anvil's.
  for (const stream of ['orders-1', 'policy-of-the-shop', `file-${'f'.repeat(20)}`])
    await source.log.append(stream, -1, [
      { id: crypto.randomUUID(), type: 'PolicyAdopted', data: { price: 1 }, metadata: { by: 'them' } as never },
    ]);
  // Until nothing happened between the first look and the last: a lease may run out meanwhile.
  do {
    ({ text: exported } = await source.api.get('/v1/export'));
    rows = settled(await readModelsOf(source.api, lines(exported).at(-1).commit));
    streams = await filesOf(source.api, rows.files!);
    verified = (await source.api.post('/v1/audit/verify', {})).body;
  } while ((await source.api.get('/v1/export')).text !== exported);
  target = await ChildService.start();
}, 240_000);
afterAll(async () => {
  await source?.stop();
  await target?.end();
});

const lines = (text: string): Json[] =>
  text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));

/** A file with a lease that runs out, here or there: what becomes of it is another test's. */
const RUNNING = 'lib/running.ts';
const settled = (lists: Record<string, Json[]>) =>
  Object.fromEntries(Object.entries(lists).map(([list, all]) => [list, all.filter(({ targetFile }) => targetFile !== RUNNING)]));

/** A bit of everything that can be done over HTTP. */
async function work(api: Api): Promise<void> {
  const [repo, other] = [freshRepo('moved'), freshRepo('other')];
  const long = 'fn long() {}\n'.repeat(12_000);
  const stuck = api.file(repo, 'src/stuck.rs');
  for (const task of ['one', 'two']) {
    const { dispatchId } = await stuck.open(task, { profile: 'p', arm: 'hint', batch: 'b' });
    for (let n = 0; n < 3; n += 1)
      await stuck.attempt(dispatchId, 'fail', ['E0308'], { output: `${n} ${long}`, diff: '--- a\n+++ b\n@@ -1 +1 @@\n-a\n+b\n' });
    if (task === 'one') await stuck.frontierOutcome(dispatchId, 'pass', { output: `solved ${long}` });
    else await stuck.frontierOutcome(dispatchId, 'fail');
  }
  await stuck.open('two');
  const solved = api.file(repo, 'src/solved ✓.rs');
  await solved.fail(['E0382', 'E0382', 'E0382'], 'same');
  const { dispatchId } = await solved.open('same');
  await solved.open('same');
  await api.ok(api.post(`/v1/dispatches/${dispatchId}/heartbeat`, {}, { headers: { 'idempotency-key': 'beat' } }));
  const { proposal } = await solved.attempt(dispatchId, 'pass');
  await solved.open('same');
  await api.ok(api.post(`/v1/proposals/${proposal.proposalId}/resolve`, { resolution: 'accepted' }));
  const thrashing = api.file(other, 'lib/thrash.ts');
  await thrashing.fail(['TS2322', 'TS2345', 'TS7006', 'TS2304', 'TS2322', 'TS2345'], 'many');
  const down = api.file(other, 'lib/down.ts');
  for (let n = 0; n < 2; n += 1) await down.attempt((await down.open()).dispatchId, 'blocked', [], { infraKind: 'dns' });
  await down.open();
  const given = await down.open('given up', { force: true });
  await api.ok(api.post(`/v1/dispatches/${given.dispatchId}/abandon`, { reason: 'no use' }));
  const late = api.file(other, 'lib/late.ts');
  const lost = await late.open('late', { leaseSeconds: 1 });
  await eventually(async () => (await late.eventTypes()).includes('DispatchClosed'), 'the lease is lost');
  await late.attempt(lost.dispatchId, 'pass');
  await api.file(other, RUNNING).open('running', { leaseSeconds: 5 });
  const both = { targetFiles: ['lib/home.ts', 'lib/shared.ts'] };
  const shared = await api.ok(api.post('/v1/dispatches', { repo, ...both, model: 'builder-9b', task: { id: 'both' }, budget: 1 }));
  await api.file(repo, 'lib/home.ts').attempt(shared.dispatchId, 'fail', ['E0308']);
  const { attemptId } = (await stuck.fail(['E0599'], 'corrected'))[0];
  await api.ok(api.post(`/v1/attempts/${attemptId}/verdict-corrections`, { verdict: 'pass', reason: 'flaky', source: 'person' }));
  await api.ok(api.post('/v1/evidence/discounts', { repo, selector: { targetFile: 'lib/home.ts' }, reason: 'harness bug' }));
  const { body: policy } = await api.get('/v1/policy', { repo: other });
  await api.call('PUT', `/v1/policy?repo=${other}`, { ...policy.policy, perPattern: 2 });
  await thrashing.fail(['TS2322'], 'after the policy');
}

test('an export names its form, holds the log in order, and ends with its end', () => {
  const all = lines(exported);
  const events = all.slice(1, -1);
  expect(all[0]).toMatchObject({ anvil: 'export', version: 1, after: null });
  expect(all.at(-1)).toEqual({ anvil: 'end', events: events.length, commit: events.at(-1).commit });
  const commits = events.map(({ commit }) => Number(commit));
  expect(commits).toEqual([...commits].sort((a, b) => a - b));
  expect(new Set(events.map(({ stream }) => stream.split('-')[0]))).toEqual(new Set(['file', 'policy', 'infra', 'payload']));
  expect(JSON.stringify(events)).not.toContain('them');
});

test('an export goes on after a position: the parts are the whole', async () => {
  const events = lines(exported).slice(1, -1);
  for (const cut of [0, 7, Math.floor(events.length / 2), events.length - 1]) {
    const { text } = await source.api.get('/v1/export', { after: events[cut].commit });
    // Something may have come behind it since.
    expect(lines(text).slice(1, events.length - cut)).toEqual(events.slice(cut + 1));
  }
  expect((await source.api.get('/v1/export', { after: '99999999999' })).body.errors[0].path).toBe('after');
  expect((await source.api.get('/v1/export', { after: 'x' })).status).toBe(400);
});

describe('into an empty store,', () => {
  test('what is no export is refused by its line, and nothing is stored', async () => {
    const [header, first, ...rest] = exported.split('\n') as [string, string, ...string[]];
    const changed = (change: (event: Json) => void) => {
      const event = JSON.parse(first);
      change(event);
      return `${header}\n${JSON.stringify(event)}\n`;
    };
    const bad: [string, string, string][] = [
      [first, 'line 1', 'begins with a line'],
      [`${header}\nhello\n`, 'line 2', 'is not JSON'],
      [`{"anvil":"export","version":2,"after":null,"upTo":null}\n`, 'line 1', 'version'],
      [changed((event) => Object.assign(event, { extra: 1 })), 'line 2', 'extra'],
      [changed((event) => Object.assign(event.data, { extra: 1 })), 'line 2', 'extra'],
      [changed((event) => Object.assign(event.data, { at: '2020-01-01T00:00:00.000Z', text: 'other' })), 'line 2', ''],
      [changed((event) => Object.assign(event, { type: 'Unheard' })), 'line 2', 'unknown'],
      [changed((event) => Object.assign(event, { stream: 'file-00000000000000000000' })), 'line 2', 'stream'],
      [changed((event) => Object.assign(event.metadata, { previousHash: 'x' })), 'line 2', 'hash'],
      [
        `${header}\n${rest[0]!.includes('"revision":0') ? rest.find((line) => line.includes('"revision":3'))! : rest[0]!}\n`,
        'line 2',
        'before it are missing',
      ],
      [`${header}\n${first.slice(0, 40)}`, 'line 2', 'is not JSON'],
      [`${header}\n`, 'line 2', 'cut off'],
      [`${header}\n${'x'.repeat(9 * 1024 * 1024)}`, 'line 2', 'longer'],
    ];
    for (const [text, path, message] of bad) {
      const { status, body } = await importInto(target.api, text);
      expect([status, body.errors?.[0].path]).toEqual([400, path]);
      expect(body.detail).toContain(message);
      expect(body.detail).toContain('Nothing was stored.');
    }
    expect(lines((await target.api.get('/v1/export')).text)).toHaveLength(2);
  });

  test('killed at any moment and sent again, it ends as if nothing had happened', async () => {
    const known = new Set(lines(exported).map(({ id }) => id));
    const stored = async () => lines((await target.api.get('/v1/export')).text).slice(1, -1);
    const all = exported.split('\n');
    // In the middle of the work, wherever that is, and at its rest when all has come that is whole; cut off in the middle of a line.
    for (const [sent, atLeast] of [
      [all.length - 2, 1],
      [60, 20],
      [all.length - 2, 60],
      [120, 80],
      [140, 0],
    ] as const) {
      const text = [...all.slice(0, sent), all[sent]!.slice(0, 50)].join('\n');
      const lost = beginImport(target.api, text);
      await eventually(async () => (await stored()).length >= atLeast, `${atLeast} events have come`).finally(() => target.kill());
      await lost;
      await target.begin();
      const partly = await stored();
      // Nothing has come to it that was not in the export: no lease was ended, nothing was decided.
      expect(partly.filter(({ id }) => !known.has(id))).toEqual([]);
      expect(partly.length).toBeGreaterThanOrEqual(atLeast);
    }
    const refused = await target.api.post('/v1/dispatches', { targetFile: 'a.rs', task: { id: 't' }, model: 'm' });
    expect([refused.status, refused.body.detail]).toEqual([503, expect.stringContaining('import is not finished')]);
    const whole = lines(exported).length;
    const { status, body } = await importInto(target.api, exported);
    expect(status).toBe(200);
    expect(body).toMatchObject({ format: 'export', lines: whole, read: whole - 2 });
    expect(body.found).toBeGreaterThan(0);
    expect(body.stored + body.found).toBe(body.read);
    const came = settled(await readModelsOf(target.api, body.commit));
    expect(came).toEqual(rows);
    expect(Object.values(rows).every((list) => list.length > 0)).toBe(true);
    expect(await filesOf(target.api, came.files!)).toEqual(streams);
  }, 240_000);

  test('decisions and chains hold there as where they come from', async () => {
    const there = (await target.api.post('/v1/audit/verify', {})).body;
    expect(verified.checked).toBeGreaterThan(20);
    expect(there).toEqual({ ...verified, mismatches: [], found: 0, streams: there.streams, events: there.events });
    expect(there.checked).toBe(verified.checked);
  });

  test('sent once more, nothing is stored twice; another export is refused, and says why', async () => {
    const again = await importInto(target.api, exported);
    expect([again.status, again.body.stored]).toEqual([200, 0]);
    await source.api.file(freshRepo('newer'), 'src/a.rs').fail(['E0308']);
    const { text } = await source.api.get('/v1/export');
    const { status, body } = await importInto(target.api, text);
    expect([status, body.type]).toEqual([409, 'urn:anvil:problem:conflict']);
    expect(body.detail).toContain('not empty');
  });

  test('then time goes on: what was running there is overdue here, and an idempotency key is still known', async () => {
    const running = (await target.api.get('/v1/dispatches', { targetFile: RUNNING })).body.items[0];
    await eventually(async () => (await target.api.get(`/v1/dispatches/${running.dispatchId}`)).body.status === 'closed', 'its lease ends');
    const solved = rows.dispatches!.find(
      ({ targetFile, attempts, outcome }) => targetFile.startsWith('src/solved') && outcome === 'passed' && attempts === 1,
    );
    const call = (body: Json) =>
      target.api.post(`/v1/dispatches/${solved.dispatchId}/heartbeat`, body, { headers: { 'idempotency-key': 'beat' } });
    expect((await call({})).status).toBe(200);
  });
});

test('a body that is no ndjson is refused, and ndjson elsewhere', async () => {
  expect((await source.api.post('/v1/import', {})).status).toBe(400);
  const elsewhere = await fetch(`${source.url}/v1/dispatches`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-ndjson' },
    body: '{}\n',
  });
  expect(elsewhere.status).toBe(415);
});
