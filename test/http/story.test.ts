import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { FileApi, Json } from '../support/api.js';
import { eventually, freshRepo, Service } from '../support/service.js';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
}, 60_000);
afterAll(() => service.stop());

const story = async (dispatchId: string, query: Json = {}): Promise<Json> =>
  service.api.ok(service.api.get(`/v1/audit/dispatches/${dispatchId}`, query));
const decisions = (told: Json) => told.steps.flatMap(({ decision }: Json) => decision ?? []);

describe('a dispatch that was escalated', () => {
  let file: FileApi;
  let dispatchId: string;
  let told: Json;
  const attempts: string[] = [];
  const secret = 'fn wrong_code() {}\n'.repeat(500);
  beforeAll(async () => {
    file = service.api.file(freshRepo('story'), 'src/a.rs');
    await file.fail(['E0308'], 'another task');
    ({ dispatchId } = await file.open('task-1', { budget: 6 }));
    await file.open('task-1');
    for (const code of ['E0308', 'E0308']) attempts.push((await file.attempt(dispatchId, 'fail', [code], { output: secret })).attemptId);
    const { proposal } = await file.frontierOutcome(dispatchId, 'pass');
    await file.open('task-1');
    await service.api.ok(service.api.post(`/v1/proposals/${proposal.proposalId}/resolve`, { resolution: 'accepted' }));
    await file.fail(['E0599'], 'a third task');
    told = await story(dispatchId);
  });

  test('is told in the order of its stream, with all of its own events and the revisions that they have', async () => {
    const all = await file.events();
    const own = all.filter(({ data }) => data.dispatchId === dispatchId).map(({ eventId }) => eventId);
    const revisions = told.steps.map(({ event }: Json) => event.revision);
    expect(revisions).toEqual([...revisions].sort((a, b) => a - b));
    expect(told.steps.map(({ event }: Json) => event.eventId)).toEqual(expect.arrayContaining(own));
    for (const { event } of told.steps) expect(all[event.revision]).toMatchObject({ type: event.type, eventId: event.eventId });
    expect(told).toMatchObject({ status: 'closed', outcome: 'escalated_passed', nextCursor: null, taskId: 'task-1' });
  });

  test('says what each decision knew, by which rule, on which evidence, and leads to all of it', async () => {
    expect(decisions(told).map(({ step, rule }: Json) => [step, rule])).toEqual([
      ['attempt', 'history'],
      ['wait', 'already_running'],
      ['retry', 'within_budget'],
      ['escalate', 'per_pattern'],
      ['done', 'frontier_passed'],
      ['done', 'existing_proposal'],
    ]);
    const escalated = told.steps.find(({ decision }: Json) => decision?.step === 'escalate');
    expect(escalated.decision.known).toMatchObject({ failed: 3, passed: 0, attemptsSpent: 2, budget: 6 });
    expect(escalated.decision.known.signals).toEqual([expect.objectContaining({ kind: 'per_pattern', pattern: 'e0308_type_mismatch' })]);
    expect(escalated.decision.evidence).toEqual(expect.arrayContaining(attempts));
    expect(escalated.says).toContain('escalate, by the rule per_pattern (e0308_type_mismatch in 3 attempts (threshold 3))');
    const then = await service.api.ok(service.api.get(escalated.links.known));
    expect(then).toMatchObject({ failed: 3, signals: [expect.objectContaining({ kind: 'per_pattern' })] });
    for (const link of escalated.links.evidence) expect((await service.api.get(link)).status).toBe(200);
    for (const { links, event } of told.steps)
      expect((await service.api.ok(service.api.get(links.event))).items).toMatchObject([{ eventId: event.eventId }]);
  });

  test('has the signal, what the frontier showed, who asked meanwhile, and what became of the proposal, but nothing of another task', () => {
    const types = told.steps.map(({ event }: Json) => event.type);
    for (const type of ['CalibrationSignalRaised', 'CapacityClassified', 'ProposalStaged', 'ProposalResolved'])
      expect(types.filter((one: string) => one === type)).toHaveLength(1);
    expect(types.filter((type: string) => type === 'DuplicateDispatchPrevented')).toHaveLength(2);
    const after = told.steps.filter(({ afterClosing }: Json) => afterClosing).map(({ event }: Json) => event.type);
    expect(after).toEqual(['DuplicateDispatchPrevented', 'NextStepDecided', 'ProposalResolved']);
    expect(JSON.stringify(told)).not.toContain('E0599');
    expect(types.filter((type: string) => type === 'AttemptRecorded')).toHaveLength(3);
  });

  test('names long texts by the streams that hold them, and shows no code', () => {
    expect(JSON.stringify(told)).not.toContain('wrong_code');
    const recorded = told.steps.find(({ event }: Json) => event.type === 'AttemptRecorded');
    expect(recorded.texts).toEqual([{ field: 'output', stream: expect.stringMatching(/^payload-[0-9a-f]{64}$/), bytes: secret.length }]);
    expect(recorded.links.attempt).toBe(`/v1/attempts/${attempts[0]}`);
  });

  test('comes in pages, which together are the whole', async () => {
    const steps: Json[] = [];
    let cursor: string | null = '0';
    while (cursor !== null) {
      const page: Json = await story(dispatchId, { limit: 3, cursor });
      expect(page.steps.length).toBeLessThanOrEqual(3);
      steps.push(...page.steps);
      cursor = page.nextCursor;
    }
    expect(steps).toEqual(told.steps);
  });

  test('reads as text where text is asked for', async () => {
    const answer = await service.api.get(`/v1/audit/dispatches/${dispatchId}`, {}, { headers: { accept: 'text/plain' } });
    expect(answer.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    const lines = answer.text.split('\n').filter((line) => line.startsWith('- '));
    expect(lines).toHaveLength(told.steps.length);
    expect(answer.text).toContain('known at revision');
  });

  test('asking changes nothing', async () => {
    const before = await file.events();
    await story(dispatchId);
    expect(await file.events()).toEqual(before);
  });
});

test('what came late, and what it brought, stands after the closing', async () => {
  const file = service.api.file(freshRepo('late'), 'src/b.rs');
  const { dispatchId } = await file.open('task-1', { leaseSeconds: 1 });
  await eventually(async () => (await story(dispatchId)).status === 'closed', 'the lease is lost');
  await file.attempt(dispatchId, 'pass');
  const { steps } = await story(dispatchId);
  expect(steps.filter(({ afterClosing }: Json) => afterClosing).map(({ event }: Json) => event.type)).toEqual([
    'AttemptRecorded',
    'VerdictReached',
    'NextStepDecided',
    'ProposalStaged',
  ]);
  expect(steps.find(({ event }: Json) => event.type === 'DispatchClosed').says).toBe(
    'The dispatch was closed: abandoned, its lease was lost.',
  );
  expect(steps.find(({ event }: Json) => event.type === 'AttemptRecorded').says).toContain('late');
});

test('a failure of another dispatch that makes a signal of its attempts is told, and so is its end', async () => {
  const file = service.api.file(freshRepo('signals'), 'src/c.rs');
  const first = await file.open('task-1', { budget: 1, frontier: null });
  await file.attempt(first.dispatchId, 'fail', ['E0382']);
  await file.fail(['E0382', 'E0382'], 'task-1');
  const again = await file.open('task-1');
  await file.attempt(again.dispatchId, 'pass');
  const { steps } = await story(first.dispatchId);
  expect(steps.slice(-2).map(({ event }: Json) => event.type)).toEqual(['CalibrationSignalRaised', 'CalibrationSignalCleared']);
  expect(steps.at(-1)).toMatchObject({ afterClosing: true, says: expect.stringContaining('cleared: overcome') });
});

test.each([
  ['an id of no dispatch', '/v1/audit/dispatches/d-00000000000000000000-nothing', 404],
  ['what is no id', '/v1/audit/dispatches/hello', 404],
  ['a limit of none', '/v1/audit/dispatches/d-00000000000000000000-nothing?limit=0', 400],
  ['a field that is not known', '/v1/audit/dispatches/d-00000000000000000000-nothing?deep=1', 400],
])('%s is refused', async (_what, path, status) => {
  expect((await service.api.get(path)).status).toBe(status);
});
