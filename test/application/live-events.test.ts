import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { LiveEvents, type ToldEvent } from '../../src/application/live-events.js';
import { freshRepo, Service } from '../support/service.js';

let service: Service;
beforeAll(async () => {
  service = await Service.start({ idleAtFirst: true });
}, 60_000);
afterAll(() => service.stop());

const start = (bounds: Partial<{ listeners: number; events: number; characters: number }> = {}) => {
  const live = new LiveEvents(service.log, () => undefined, { listeners: 2, events: 20, characters: 1_000_000, ...bounds });
  const leave = new AbortController();
  return { live, leave, listen: (after: string | null, quietMs = 200) => live.listen(after, quietMs, leave.signal) };
};
const work = async (repo: string) => {
  const file = service.api.file(repo, 'src/a.rs');
  await file.fail(['E0308', 'E0599', 'E0382', 'E0106', 'E0425', 'E0277', 'E0433']);
  return (await file.events()).map(({ eventId }) => eventId as string);
};
const upTo = async (news: AsyncGenerator<{ events: ToldEvent[] }>, count: number) => {
  const ids: string[] = [];
  while (ids.length < count) ids.push(...(await news.next()).value.events.map(({ json }: ToldEvent) => JSON.parse(json).eventId));
  return ids;
};

test.each([
  ['more events than are kept', { events: 20 }],
  ['more text than is kept', { characters: 5_000 }],
  ['nothing that is kept', { events: 0 }],
])('who is behind by %s gets all of them in order from the log, then the live ones', async (_what, bounds) => {
  const { live, listen } = start(bounds);
  const slow = await listen(null);
  await slow.next();
  const quick = await listen(null);
  const ids = await work(freshRepo('behind'));
  expect(ids.length).toBeGreaterThan(40);
  expect(await upTo(quick, ids.length)).toEqual(ids);
  expect(await upTo(slow, ids.length)).toEqual(ids);
  const more = await work(freshRepo('behind'));
  expect(await upTo(slow, more.length)).toEqual(more);
  await live.close();
});

test('where nothing comes, that is said, with the place up to which all was looked at', async () => {
  const { live, listen } = start();
  await work(freshRepo('quiet'));
  const head = await service.log.head();
  const news = await listen(null, 50);
  for (let times = 0; times < 3; times += 1) expect((await news.next()).value).toEqual({ events: [], position: head });
  await live.close();
  expect(await news.next()).toEqual({ done: true, value: undefined });
});

test('a listener that leaves while it waits has ended at once, and what others wrote is passed over', async () => {
  const { live, leave, listen } = start();
  const news = await listen(null, 60_000);
  await news.next();
  const next = news.next();
  const metadata = { not: 'of Anvil' } as never;
  await service.log.append('policy-somebody', -1, [{ id: crypto.randomUUID(), type: 'PolicyAdopted', data: { a: 1 }, metadata }]);
  expect((await next).value.events).toEqual([]);
  const waiting = news.next();
  leave.abort();
  expect((await waiting).done).toBe(true);
  await live.close();
});
