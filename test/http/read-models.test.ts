import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { FileApi, Json } from '../support/api.js';
import { freshRepo, Service } from '../support/service.js';

let service: Service;
let file: FileApi;
let commit: string;
let escalated: Json;
let fixed: Json;
const strong = `fn strong() { ${'line; '.repeat(600)} }`;

beforeAll(async () => {
  service = await Service.start();
  file = service.api.file(freshRepo('lists'), 'src/a.rs');
  escalated = await file.open('hard', {
    arm: 'a',
    batch: 'b-1',
    task: { id: 'hard', description: 'make it generic', prompt: 'the task prompt' },
  });
  for (const output of ['weak 1', 'weak 2', 'weak 3']) await file.attempt(escalated.dispatchId, 'fail', ['E0369', 'E0277'], { output });
  await file.frontierOutcome(escalated.dispatchId, 'pass', { output: strong, prompt: 'what the frontier was given' });
  fixed = await file.open('easy', { arm: 'b', batch: 'b-1' });
  await file.attempt(fixed.dispatchId, 'fail', ['E0308'], { output: 'wrong' });
  await file.attempt(fixed.dispatchId, 'pass', [], { output: 'right' });
  file.model = 'other-14b';
  const { position } = (await file.fail(['E0369'], 'elsewhere'))[0];
  file.model = 'builder-9b';
  commit = position.commit;
}, 60_000);
afterAll(() => service.stop());

test('histograms: failing attempts by pattern, seat and model, with when', async () => {
  const { items } = await file.list('/v1/histograms', { after: commit });
  expect(items.map(({ code, seat, model, attempts }: Json) => [code, seat, model, attempts])).toEqual([
    ['E0277', 'builder', 'builder-9b', 3],
    ['E0308', 'builder', 'builder-9b', 1],
    ['E0369', 'builder', 'builder-9b', 3],
    ['E0369', 'builder', 'other-14b', 1],
  ]);
  expect(items[2]).toEqual({
    ...{ repo: file.repo, targetFile: 'src/a.rs', pattern: expect.stringMatching(/^e0369_/), code: 'E0369', category: expect.any(String) },
    ...{ seat: 'builder', model: 'builder-9b', attempts: 3, firstSeen: expect.any(String), lastSeen: expect.any(String) },
  });
  expect(items[2].firstSeen < items[2].lastSeen).toBe(true);
  const most = await file.list('/v1/histograms', { order: 'attempts', model: 'builder-9b' });
  expect(most.items.map(({ attempts }: Json) => attempts)).toEqual([3, 3, 1]);
});

test('correction pairs: what passed, what failed before it, and what it was asked', async () => {
  const { items } = await file.list('/v1/correction-pairs', { after: commit });
  expect(items).toHaveLength(2);
  expect(items[0]).toMatchObject({ kind: 'single_pattern', prompt: 'what the frontier was given', chosen: strong, rejected: 'weak 3' });
  expect(items[1]).toMatchObject({
    kind: 'self_correction',
    prompt: 'do easy',
    chosen: 'right',
    rejected: 'wrong',
    dispatchId: fixed.dispatchId,
  });
  const events = await file.events();
  const idOf = (attemptId: string) => events.find(({ type, data }) => type === 'VerdictReached' && data.attemptId === attemptId).eventId;
  for (const item of items) {
    expect(item.chosenVerdictEventId).toBe(idOf(item.chosenAttemptId));
    expect(item.rejectedVerdictEventId).toBe(idOf(item.rejectedAttemptId));
  }
  const own = await file.list('/v1/correction-pairs', { kind: 'self_correction' });
  expect(own.items.map(({ chosen }: Json) => chosen)).toEqual(['right']);
});

test('correction pairs as ndjson: a line is a pair, or the two training formats', async () => {
  const { repo } = file;
  const lines = async (query: Json, headers: Record<string, string> = {}) => {
    const { status, headers: got, text } = await file.api.get('/v1/correction-pairs', { repo, ...query }, { headers });
    expect([status, got.get('content-type')?.split(';')[0]]).toEqual([200, 'application/x-ndjson']);
    expect(text.endsWith('\n')).toBe(true);
    return text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
  };
  expect(await lines({ format: 'trl' })).toEqual([
    { prompt: 'what the frontier was given', chosen: strong, rejected: 'weak 3' },
    { prompt: 'do easy', chosen: 'right', rejected: 'wrong' },
  ]);
  expect((await lines({ format: 'trl-conversational' }))[1]).toEqual({
    prompt: [{ role: 'user', content: 'do easy' }],
    chosen: [{ role: 'assistant', content: 'right' }],
    rejected: [{ role: 'assistant', content: 'wrong' }],
  });
  const { items } = await file.list('/v1/correction-pairs');
  expect(await lines({}, { accept: 'application/x-ndjson' })).toEqual(items);
  const page = await file.api.get('/v1/correction-pairs', { repo, format: 'trl', limit: 1 });
  const next = /^<([^>]+)>; rel="next"$/.exec(page.headers.get('link') ?? '')?.[1];
  const rest = await file.api.get(next ?? '/never');
  expect(
    `${page.text}${rest.text}`
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).chosen),
  ).toEqual([strong, 'right']);
});

test('dispatches: newest first, filtered by what they are', async () => {
  const { items } = await file.list('/v1/dispatches', { after: commit, batch: 'b-1' });
  expect(
    items.map(({ dispatchId, arm, status, outcome, attempts, cold }: Json) => [dispatchId, arm, status, outcome, attempts, cold]),
  ).toEqual([
    [fixed.dispatchId, 'b', 'closed', 'passed', 2, false],
    [escalated.dispatchId, 'a', 'closed', 'escalated_passed', 3, true],
  ]);
  const running = await file.open('running');
  const open = await file.list('/v1/dispatches', { status: 'open', after: running.position.commit });
  expect(open.items.map(({ dispatchId }: Json) => dispatchId)).toEqual([running.dispatchId]);
  const byArm = await file.list('/v1/dispatches', { arm: 'a' });
  expect(byArm.items.map(({ dispatchId }: Json) => dispatchId)).toEqual([escalated.dispatchId]);
  const none = await service.api.ok(service.api.get('/v1/dispatches', { repo: freshRepo('nobody') }));
  expect(none).toEqual({ items: [], nextCursor: null });
});

test('pages: every row once, in order, whatever the page size', async () => {
  for (const [path, query] of [
    ['/v1/histograms', {}],
    ['/v1/histograms', { order: 'attempts' }],
    ['/v1/dispatches', {}],
    ['/v1/proposals', {}],
    ['/v1/correction-pairs', {}],
  ] as const) {
    const whole = await file.list(path, { ...query, after: commit });
    const paged: Json[] = [];
    for (let cursor: string | undefined; ; ) {
      const page = await file.list(path, { ...query, limit: 1, cursor });
      expect(page.items).toHaveLength(1);
      paged.push(...page.items);
      if (page.nextCursor === null) break;
      cursor = page.nextCursor;
    }
    expect(paged).toEqual(whole.items);
  }
});
