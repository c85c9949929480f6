import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { FileApi, Json } from '../support/api.js';
import { diffOf } from '../support/cargo.js';
import { freshRepo, Service } from '../support/service.js';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
}, 60_000);
afterAll(() => service.stop());

const resolve = (file: FileApi, proposalId: string, resolution: string) =>
  file.api.post(`/v1/proposals/${proposalId}/resolve`, { resolution });

async function passed(file: FileApi, taskId = 'task-1', more: Json = {}): Promise<Json> {
  const { dispatchId } = await file.open(taskId, { force: true, ...more });
  return file.attempt(dispatchId, 'pass', [], { output: `good ${taskId}`, diff: diffOf('src/a.rs', 'a', 'b') });
}

test('a pass stages a proposal with its output and diff, and the next caller gets it instead of a dispatch', async () => {
  const file = service.api.file(freshRepo('queue'), 'src/a.rs');
  const { proposal, position } = await passed(file, 'task-1', { targetFiles: ['src/a.rs', 'src/b.rs'], baseHash: 'base' });
  expect(proposal).toEqual({
    ...{ proposalId: expect.any(String), taskId: 'task-1', targetFile: 'src/a.rs', files: ['src/a.rs', 'src/b.rs'], seat: 'builder' },
    ...{ output: 'good task-1', diff: diffOf('src/a.rs', 'a', 'b'), status: 'pending', stagedAt: expect.any(String), baseHash: 'base' },
  });
  const again = await file.api.post('/v1/dispatches', file.opening('task-1'));
  expect([again.status, again.body.dispatchId, again.body.next.step, again.body.next.reason.rule]).toEqual([
    ...[200, null, 'done', 'existing_proposal'],
  ]);
  expect(again.body.proposal).toEqual(proposal);
  const { items } = await file.list('/v1/proposals', { status: 'pending', after: position.commit });
  expect(items).toHaveLength(1);
  expect(items[0]).toMatchObject(proposal);
});

test('another task on the file, another base, or force does not get it', async () => {
  const file = service.api.file(freshRepo('queue'), 'src/a.rs');
  await passed(file, 'task-1', { baseHash: 'base-1' });
  expect((await file.open('task-2')).next.step).toBe('attempt');
  expect((await file.open('task-1', { baseHash: 'base-2', budget: 1 })).next.step).toBe('attempt');
  const other = service.api.file(freshRepo('queue'), 'src/a.rs');
  await passed(other);
  expect((await other.open('task-1', { force: true })).next.step).toBe('attempt');
});

test('resolving: once, the same again is no change, another resolution is a conflict', async () => {
  const file = service.api.file(freshRepo('queue'), 'src/a.rs');
  const { proposal, dispatch } = await passed(file);
  const accepted = await resolve(file, proposal.proposalId, 'accepted');
  expect([accepted.status, accepted.body.status, accepted.body.dispatch.dispatchId]).toEqual([200, 'accepted', dispatch.dispatchId]);
  const count = (await file.events()).length;
  const repeated = await resolve(file, proposal.proposalId, 'accepted');
  expect([repeated.status, repeated.body.position]).toEqual([200, accepted.body.position]);
  expect((await resolve(file, proposal.proposalId, 'rejected')).status).toBe(409);
  expect((await file.events()).length).toBe(count);
  const { items } = await file.list('/v1/proposals', { after: accepted.body.position.commit });
  expect(items.map(({ status }: Json) => status)).toEqual(['accepted']);
  expect((await file.list('/v1/proposals', { status: 'pending' })).items).toEqual([]);
  expect((await file.open()).next.step).toBe('attempt');
});

test('a newer pass of the task takes the place of one that nobody resolved', async () => {
  const file = service.api.file(freshRepo('queue'), 'src/a.rs');
  const first = await passed(file);
  const second = await passed(file);
  const { items } = await file.list('/v1/proposals', { after: second.position.commit });
  expect(items.map(({ proposalId, status }: Json) => [proposalId, status])).toEqual([
    [first.proposal.proposalId, 'superseded'],
    [second.proposal.proposalId, 'pending'],
  ]);
  expect((await resolve(file, first.proposal.proposalId, 'accepted')).status).toBe(409);
});

test('abandoning closes a dispatch once; after it an attempt is a conflict', async () => {
  const file = service.api.file(freshRepo('queue'), 'src/a.rs');
  const { dispatchId } = await file.open();
  const abandoned = await file.api.post(`/v1/dispatches/${dispatchId}/abandon`, { reason: 'out of time' });
  expect([abandoned.status, abandoned.body.next.step, abandoned.body.next.reason.rule]).toEqual([200, 'stop', 'abandoned']);
  expect(abandoned.body.dispatch).toMatchObject({ status: 'closed', outcome: 'abandoned' });
  const again = await file.api.post(`/v1/dispatches/${dispatchId}/abandon`, {});
  expect([again.status, again.body.position]).toEqual([200, abandoned.body.position]);
  const attempt = await file.api.post(`/v1/dispatches/${dispatchId}/attempts`, { output: 'x', verdict: 'fail' });
  expect(attempt.status).toBe(409);
  const closed = (await file.events()).filter(({ type }) => type === 'DispatchClosed');
  expect(closed.map(({ data }) => [data.cause, data.note])).toEqual([['caller', 'out of time']]);
});
