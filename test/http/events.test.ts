import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import type { Json } from '../support/api.js';
import { Listener } from '../support/listener.js';
import { eventually, freshRepo, Service } from '../support/service.js';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
}, 60_000);
afterAll(() => service.stop());

const open: Listener[] = [];
afterEach(() => {
  for (const listener of open.splice(0)) listener.close();
});
const listen = async (query: Record<string, string> = {}, lastId?: string | null) => {
  const listener = await Listener.open(`${service.url}/v1/events?${new URLSearchParams(query)}`, lastId);
  open.push(listener);
  return listener;
};
/** Lets all that was committed so far be heard: a marker that comes behind it. */
const settle = async (listener: Listener, repo: string) => {
  const { position } = await service.api.file(repo, 'marker.rs').open('marker', { force: true });
  await eventually(async () => BigInt(listener.lastId ?? 0) >= BigInt(position.commit), 'the marker is heard');
  return listener.heard.filter(({ data }) => data.data.targetFile !== 'marker.rs');
};

test('what is committed from now on is told, in the order and the words of the audit', async () => {
  const repo = freshRepo('live');
  const file = service.api.file(repo, 'src/a.rs');
  await file.fail(['E0308']);
  const before = (await file.events()).length;
  const listener = await listen();
  expect(listener.headers['content-type']).toBe('text/event-stream');
  await file.fail(['E0599', 'E0308']);
  const heard = await settle(listener, repo);
  const since = (await file.events()).slice(before);
  expect(since.length).toBeGreaterThan(8);
  expect(heard.map(({ data: { stream: _stream, commit: _commit, ...told } }) => told)).toEqual(since);
  expect(heard.map(({ event, id }) => [event, id])).toEqual(heard.map(({ data }) => [data.type, data.commit]));
});

test('whoever was cut off goes on after the last event that it saw: none is lost, none comes twice', async () => {
  const repo = freshRepo('resumed');
  const heard: Json[] = [];
  let lastId = (await listen({ repo })).lastId;
  let working = true;
  const work = Promise.all(
    [1, 2, 3].map((n) => service.api.file(repo, `src/${n}.rs`).fail(['E0308', 'E0599', 'E0382', 'E0106', 'E0425', 'E0277'])),
  ).finally(() => {
    working = false;
  });
  for (let cut = 1; working; cut += 1) {
    const listener = await listen({ repo }, lastId);
    await eventually(async () => listener.heard.length > cut % 5 || !working, 'something is heard or all is done');
    listener.close();
    heard.push(...listener.heard);
    lastId = listener.lastId;
  }
  await work;
  const last = await listen({ repo }, lastId);
  heard.push(...(await settle(last, repo)));
  for (const n of [1, 2, 3]) {
    const own = heard.filter(({ data }) => data.data.targetFile === `src/${n}.rs`);
    expect(own.map(({ data }) => data.eventId)).toEqual(
      (await service.api.file(repo, `src/${n}.rs`).events()).map(({ eventId }) => eventId),
    );
  }
  const positions = heard.map(({ id }) => BigInt(id));
  expect(positions).toEqual([...positions].sort((a, b) => (a < b ? -1 : 1)));
});

test('the whole past can be asked for', async () => {
  const repo = freshRepo('past');
  const file = service.api.file(repo, 'src/a.rs');
  await file.attempt((await file.open()).dispatchId, 'fail', ['E0308'], { output: 'x'.repeat(100_000) });
  const listener = await listen({ repo }, '0');
  expect((await settle(listener, repo)).map(({ data }) => data.eventId)).toEqual((await file.events()).map(({ eventId }) => eventId));
});

test('filters leave out what was not asked for, and the place goes on all the same', async () => {
  const [repo, other] = [freshRepo('filtered'), freshRepo('other')];
  const byRepo = await listen({ repo });
  const byType = await Listener.open(`${service.url}/v1/events?repo=${repo}&type=VerdictReached,DispatchClosed&type=ProposalStaged`);
  open.push(byType);
  await service.api.file(other, 'src/a.rs').fail(['E0308']);
  const file = service.api.file(repo, 'src/a.rs');
  await file.attempt((await file.open()).dispatchId, 'pass');
  const all = (await settle(byRepo, repo)).map(({ event }) => event);
  expect(all).toEqual(await file.eventTypes());
  await byType.untilHeard(3);
  expect(byType.heard.map(({ event }) => event)).toEqual(['VerdictReached', 'ProposalStaged', 'DispatchClosed']);
  const resumed = await listen({ repo, type: 'DispatchSkipped' }, byRepo.heard[0]!.id);
  expect(resumed.heard).toEqual([]);
});

test('a running builder hears of its own dispatch, and of a signal that another one raises on its file', async () => {
  const repo = freshRepo('builder');
  const file = service.api.file(repo, 'src/a.rs');
  const { dispatchId } = await file.open('mine');
  const listener = await listen({ dispatchId });
  await service.api.file(repo, 'src/elsewhere.rs').fail(['E0308', 'E0308', 'E0308']);
  await file.fail(['E0382', 'E0382', 'E0382'], 'theirs');
  await file.attempt(dispatchId, 'pass');
  const closed = () => listener.heard.some(({ event }) => event === 'DispatchClosed');
  await eventually(async () => closed(), 'its end is heard');
  const heard = listener.heard.map(({ event, data }) => [event, data.data.dispatchId ?? data.data.pattern]);
  expect(heard[0]).toEqual(['CalibrationSignalRaised', 'e0382_use_after_move']);
  expect(new Set(heard.slice(1).map(([, id]) => id))).toEqual(new Set([dispatchId]));
});

test('a breaker that opens and closes is told as it happens, and to whoever asks for it later; not to those of another repo', async () => {
  const [repo, other] = [freshRepo('breaker'), freshRepo('other')];
  const types = 'InfraBreakerOpened,InfraBreakerClosed';
  const byType = await listen({ repo, type: types });
  const byRepo = await listen({ repo: other });
  const blocked = async (name: string, verdict: 'blocked' | 'pass', more: Json) => {
    const file = service.api.file(repo, name);
    return file.attempt((await file.open('t', { force: true })).dispatchId, verdict, [], more);
  };
  for (const name of ['a.rs', 'b.rs', 'c.rs']) await blocked(name, 'blocked', { infraKind: 'dns' });
  await byType.untilHeard(1);
  await blocked('d.rs', 'pass', {});
  await byType.untilHeard(2);
  expect(byType.heard.map(({ event, data }) => [event, data.stream, data.data.infraKind])).toEqual([
    ['InfraBreakerOpened', `infra-${repo}`, 'dns'],
    ['InfraBreakerClosed', `infra-${repo}`, 'dns'],
  ]);
  // The place of what was told is one that a query may ask to be behind.
  await service.api.ok(service.api.get('/v1/files', { repo, after: byType.heard.at(-1)!.id }));
  const later = await listen({ repo, type: types }, '0');
  expect(await later.untilHeard(2)).toEqual(byType.heard);
  const everything = await listen({ repo }, '0');
  expect(new Set((await settle(everything, repo)).map(({ event }) => event))).toEqual(
    new Set([
      ...(await service.api.file(repo, 'a.rs').eventTypes()),
      ...(await service.api.file(repo, 'd.rs').eventTypes()),
      'InfraBlockNoticed',
      ...types.split(','),
    ]),
  );
  expect(byRepo.heard).toEqual([]);
});

test('there is an end to how many may listen; who leaves makes room', async () => {
  const listeners = await Promise.all(Array.from({ length: 200 }, () => listen()));
  expect(listeners.every(({ status }) => status === 200)).toBe(true);
  const { status, headers, body } = await service.api.get('/v1/events');
  expect([status, headers.get('retry-after'), body.type]).toEqual([503, '5', 'urn:anvil:problem:no-room']);
  listeners[0]!.close();
  const next = await eventually(async () => {
    const listener = await listen();
    return listener.status === 200 && listener;
  }, 'there is room again');
  const repo = freshRepo('all');
  await service.api.file(repo, 'src/a.rs').fail(['E0308']);
  const count = (await service.api.file(repo, 'src/a.rs').events()).length;
  for (const listener of [next, ...listeners.slice(1)]) expect(await listener.untilHeard(count)).toHaveLength(count);
});

test('when the service ends, so do the streams, and the next one goes on where they were', async () => {
  const repo = freshRepo('restarted');
  const file = service.api.file(repo, 'src/a.rs');
  const listener = await listen({ repo });
  await file.fail(['E0308']);
  await listener.untilHeard(1);
  await service.restart();
  await eventually(async () => listener.ended, 'the stream ends');
  await service.api.file(repo, 'src/a.rs').fail(['E0599']);
  const next = await listen({ repo }, listener.lastId);
  const heard = [...listener.heard, ...(await settle(next, repo))];
  const events = await service.api.file(repo, 'src/a.rs').events();
  expect(heard.map(({ data }) => data.eventId)).toEqual(events.map(({ eventId }) => eventId));
});

test.each([
  ['a place that is none', { 'last-event-id': 'yesterday' }, '', 400, 'Last-Event-ID'],
  ['a place beyond the log', { 'last-event-id': '999999999999999999' }, '', 400, 'Last-Event-ID'],
  ['a type that there is not', {}, '?type=VerdictReached,Nonsense', 400, 'type.1'],
  ['the texts of payloads', {}, '?type=PayloadStored', 400, 'type.0'],
  ['an unknown field', {}, '?file=a', 400, 'file'],
  ['an unknown dispatch', {}, '?dispatchId=d-5a17e0c93bd4f2610e8f-x', 404, undefined],
])('%s is refused', async (_what, headers, query, status, path) => {
  const answer = await service.api.get(`/v1/events${query}`, {}, { headers });
  expect([answer.status, answer.body.errors?.[0].path]).toEqual([status, path]);
});
