import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { watchAppends } from '../support/appends.js';
import { appendForeign, event } from '../support/foreign.js';
import { freshRepo, Service } from '../support/service.js';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
}, 60_000);
afterAll(() => service.stop());

test('where another writer has just ended the dispatch, a long result is refused, and its text is not stored', async () => {
  const file = service.api.file(freshRepo(), 'src/a.rs');
  const { dispatchId } = await file.open('t');
  await file.attempt(dispatchId, 'fail', ['E0308']);
  const { repo, targetFile } = file;
  const ended = { repo, targetFile, at: new Date().toISOString(), dispatchId, taskId: 't' };
  await appendForeign(service.log, file, [
    event('DispatchClosed', { ...ended, outcome: 'abandoned', cause: 'caller', note: null, otherFiles: [] }),
  ]);
  const appends = watchAppends(service.log);
  const late = await service.api.post(`/v1/dispatches/${dispatchId}/attempts`, { output: `${repo} ${'y'.repeat(5_000)}`, verdict: 'pass' });
  expect(late.status).toBe(409);
  expect(appends).toEqual([]);
});
