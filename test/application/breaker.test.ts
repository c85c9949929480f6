import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import type { StoredEvent } from '../../src/application/ports.js';
import { breaker } from '../../src/application/saga/breaker.js';
import type { Json } from '../support/api.js';
import { streamOf } from '../support/foreign.js';
import { eventually, freshRepo, Service } from '../support/service.js';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
}, 60_000);
afterAll(() => service.stop());
afterEach(() => expect(service.reports.splice(0)).toEqual([]));

const stream = async (repo: string): Promise<StoredEvent[]> => {
  const events: StoredEvent[] = [];
  for await (const event of service.log.read(`infra-${repo}`)) events.push(event);
  return events;
};
const types = async (repo: string) => (await stream(repo)).map(({ event }) => event.type);
const block = async (file: Json): Promise<Json> => file.attempt((await file.open()).dispatchId, 'blocked', [], { infraKind: 'dns' });
/** A repo that three files of were blocked, with a cooldown of so many seconds. */
async function down(seconds: number) {
  const repo = freshRepo('breaker');
  await service.api.ok(
    service.api.call('PUT', `/v1/policy?repo=${repo}`, { infraCooldown: { after: 2, seconds: {}, otherSeconds: seconds } }),
  );
  const file = (name: string) => service.api.file(repo, name);
  for (const name of ['a.rs', 'b.rs', 'c.rs']) await block(file(name));
  await eventually(async () => (await types(repo)).includes('InfraBreakerOpened'), 'the breaker opens');
  return { repo, file, verified: () => service.api.ok(service.api.post('/v1/audit/verify', { repo })) };
}

test('three files blocked by one kind stop all files of the repo, and of no other; force goes on; the audit agrees', async () => {
  const { repo, file, verified } = await down(900);
  const stopped = await file('d.rs').open();
  expect(stopped).toMatchObject({ dispatchId: null, next: { step: 'stop', reason: { rule: 'infra_breaker' } } });
  expect(stopped.next.reason.retryAfterSeconds).toBeGreaterThan(890);
  expect(stopped.next.reason.basedOn.at(-1)).toEqual({ stream: `infra-${repo}`, revision: 3 });
  expect((await file('d.rs').memory()).skip).toMatchObject({ rule: 'infra_breaker' });
  expect((await service.api.file(freshRepo('other'), 'd.rs').open()).next.step).toBe('attempt');
  const forced = await file('d.rs').open('t', { force: true });
  expect(forced.next.step).toBe('attempt');
  expect(await verified()).toMatchObject({ found: 0, streams: 6 });
  // What is not blocked shows that it works again.
  await file('d.rs').attempt(forced.dispatchId, 'fail', ['E0308']);
  await eventually(async () => (await types(repo)).includes('InfraBreakerClosed'), 'the breaker closes');
  expect((await file('e.rs').open()).next.step).toBe('attempt');
  expect((await file('d.rs').memory()).skip).toBeNull();
  const past = await file('d.rs').list('/v1/audit/state', { revision: 1 });
  expect(past.skip).toMatchObject({ rule: 'infra_breaker' });
  expect(await verified()).toMatchObject({ found: 0 });
});

test('after the cooldown one of many who come at once is let through; blocked, it holds all up again; passed, all go on', async () => {
  const { repo, file, verified } = await down(1);
  const names = ['d.rs', 'e.rs', 'f.rs', 'g.rs', 'h.rs', 'i.rs'];
  const all = async () => {
    const answers = await Promise.all(names.map(async (name) => [name, await file(name).open('t', { leaseSeconds: 30 })] as const));
    const opened = answers.filter(([, { dispatchId }]) => dispatchId !== null);
    const rules = answers.flatMap(([, { dispatchId, next }]) => (dispatchId === null ? [next.reason.rule] : []));
    return { opened, rules };
  };
  const later = () => new Promise((resolve) => setTimeout(resolve, 1_050));
  await later();
  const first = await all();
  expect([first.opened.length, first.rules]).toEqual([1, Array(5).fill('infra_breaker')]);
  const [name, { dispatchId }] = first.opened[0]!;
  await file(name).attempt(dispatchId, 'blocked', [], { infraKind: 'dns' });
  await eventually(async () => (await types(repo)).filter((type) => type === 'InfraBreakerOpened').length === 2, 'it opens again');
  await later();
  const second = await all();
  expect(second.opened).toHaveLength(1);
  const [again, probe] = second.opened[0]!;
  await file(again).attempt(probe.dispatchId, 'pass');
  await eventually(async () => (await types(repo)).at(-1) === 'InfraBreakerClosed', 'it closes');
  const { opened } = await all();
  expect(opened.length).toBeGreaterThanOrEqual(5);
  expect((await types(repo)).filter((type) => type === 'InfraProbeStarted')).toHaveLength(2);
  expect(await verified()).toMatchObject({ found: 0 });
}, 30_000);

test('whoever sees it, and however often: what the infrastructure was said to be stays as it is', async () => {
  const { repo, file } = await down(900);
  const forced = await file('d.rs').open('t', { force: true });
  await file('d.rs').attempt(forced.dispatchId, 'pass');
  await eventually(async () => (await types(repo)).includes('InfraBreakerClosed'), 'it closes');
  for (const name of ['a.rs', 'b.rs', 'c.rs']) {
    const { dispatchId } = await file(name).open('again', { force: true });
    await file(name).attempt(dispatchId, 'blocked', [], { infraKind: 'dns' });
  }
  await eventually(async () => (await types(repo)).length === 9, 'it opens again');
  const before = await stream(repo);
  const verdicts: StoredEvent[] = [];
  for (const name of ['a.rs', 'b.rs', 'c.rs', 'd.rs'])
    for await (const event of service.log.read(streamOf({ repo, targetFile: name }))) verdicts.push(event);
  const sagas = [1, 2, 3].map(() => breaker(service.infrastructure, service.infraCommands, service.policies));
  await Promise.all(
    sagas.map(async (saga) => {
      for (const verdict of verdicts) await saga(verdict);
    }),
  );
  expect(await stream(repo)).toEqual(before);
});
