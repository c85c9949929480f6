import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { Answer, FileApi, Json } from '../support/api.js';
import { type Append, watchAppends } from '../support/appends.js';
import { freshRepo, Service } from '../support/service.js';

let service: Service;
let file: FileApi;
let dispatchId: string;
let appends: Append[];

beforeAll(async () => {
  service = await Service.start();
  file = service.api.file(freshRepo('bad'), 'src/a.rs');
  ({ dispatchId } = await file.open());
  appends = watchAppends(service.log);
}, 60_000);
afterAll(() => service.stop());
afterEach(() => {
  expect(appends.splice(0)).toEqual([]);
  expect(service.reports.splice(0).map((report) => report.slice(0, 300))).toEqual([]);
});

function expectProblem({ status, headers, body }: Answer, expected: number, paths?: string[]): void {
  expect([status, headers.get('content-type')?.split(';')[0]]).toEqual([expected, 'application/problem+json']);
  expect(body).toMatchObject({ status: expected, title: expect.stringMatching(/./), detail: expect.stringMatching(/./) });
  if (paths) expect([...new Set(body.errors.map(({ path }: Json) => path))].sort()).toEqual([...paths].sort());
}

describe('ids', () => {
  const nobody = '0'.repeat(20);
  test.each([
    ['a dispatch that nobody opened', () => `/v1/dispatches/d-${nobody}-${'a'.repeat(16)}`],
    ['a dispatch that is not in this stream', () => `/v1/dispatches/${dispatchId.slice(0, -1)}${dispatchId.endsWith('0') ? '1' : '0'}`],
    ['an attempt that was never made', () => `/v1/attempts/a${dispatchId.slice(1)}-7`],
    ['an attempt of an unknown stream', () => `/v1/attempts/a-${nobody}-x-1`],
    ['an id of another kind', () => `/v1/attempts/${dispatchId}`],
    ['no id', () => '/v1/dispatches/..%2f..%2fetc'],
    ['text', () => '/v1/dispatches/hello'],
    ['NUL', () => '/v1/dispatches/d%00'],
    ['a route that does not exist', () => '/v1/nothing'],
  ])('%s: refused as unknown', async (_what, path) => {
    expectProblem(await file.api.get(path()), 404);
  });

  test('a path that cannot be read, or is absurdly long: refused as such', async () => {
    expectProblem(await file.api.get('/v1/dispatches/%E0%A4%A'), 400);
    expectProblem(await file.api.get(`/v1/dispatches/d-${'0'.repeat(3000)}`), 414);
  });

  test('commands on unknown ids store nothing, long texts neither', async () => {
    const body = { output: `${freshRepo()} ${'x'.repeat(5000)}`, verdict: 'fail' };
    for (const id of [`d-${nobody}-x`, `${dispatchId}x`, 'hello', '__proto__'])
      for (const what of ['attempts', 'frontier-outcomes']) expectProblem(await file.api.post(`/v1/dispatches/${id}/${what}`, body), 404);
    expectProblem(await file.api.post(`/v1/dispatches/d-${nobody}-x/abandon`, {}), 404);
    for (const id of [`p-${nobody}-x-1`, `p${dispatchId.slice(1)}-1`, 'hello'])
      expectProblem(await file.api.post(`/v1/proposals/${id}/resolve`, { resolution: 'accepted' }), 404);
  });
});

describe('parameters', () => {
  test.each([
    ['/v1/memory', ['targetFile']],
    ['/v1/memory?targetFile=../x', ['targetFile']],
    ['/v1/memory?targetFile=a&modle=x', ['modle']],
    ['/v1/memory?targetFile=a&targetFile=b', ['targetFile']],
    ['/v1/audit/events?targetFile=a&from=-1', ['from']],
    ['/v1/audit/events?targetFile=a&from=1e3&limit=0', ['from', 'limit']],
    ['/v1/audit/events?targetFile=a&limit=1001', ['limit']],
    ['/v1/histograms?limit=0', ['limit']],
    ['/v1/histograms?limit=1&limit=2', ['limit']],
    ['/v1/histograms?repo[]=x', ['repo[]']],
    ['/v1/histograms?order=name', ['order']],
    ['/v1/histograms?seat=', ['seat']],
    ['/v1/histograms?after=soon', ['after']],
    ['/v1/histograms?after=-1', ['after']],
    ['/v1/dispatches?status=running', ['status']],
    ['/v1/dispatches?repo=%00', ['repo']],
    ['/v1/proposals?status=gone', ['status']],
    ['/v1/correction-pairs?kind=x&format=y', ['format', 'kind']],
  ])('%s: refused, and the parameter is named', async (path, paths) => {
    expectProblem(await file.api.get(path), 400, paths);
  });
});

describe('cursors', () => {
  const of = (values: unknown) => Buffer.from(JSON.stringify(values)).toString('base64url');
  const time = '2026-01-01T00:00:00.000Z';
  test.each([
    ['/v1/dispatches', 'nonsense'],
    ['/v1/dispatches', ''],
    ['/v1/dispatches', of({})],
    ['/v1/dispatches', of([])],
    ['/v1/dispatches', of([time])],
    ['/v1/dispatches', of([time, null])],
    ['/v1/dispatches', of([time, 'x', 'y'])],
    ['/v1/dispatches', of(['not a time', 'x'])],
    ['/v1/dispatches', of([time, '\0'])],
    ['/v1/proposals', of(['tomorrow morning', 'x'])],
    ['/v1/correction-pairs', of(['99999999-99-99', 'x'])],
    ['/v1/histograms?order=attempts', of(['many', 'r', 'f', 'p', 's', 'm'])],
    ['/v1/histograms?order=attempts', of([1e300, 'r', 'f', 'p', 's', 'm'])],
    ['/v1/histograms', of(['\0', 'f', 'p', 's', 'm'])],
  ])('%s with a cursor that no page gave: refused', async (path, cursor) => {
    expectProblem(await file.api.get(`${path}${path.includes('?') ? '&' : '?'}cursor=${encodeURIComponent(cursor)}`), 400, ['cursor']);
  });

  test('a cursor of another list is refused', async () => {
    await file.api.get('/v1/histograms');
    expectProblem(await file.api.get('/v1/proposals', { cursor: of(['r', 'f', 'p', 's', 'm']) }), 400, ['cursor']);
  });
});

test('an idempotency key that is none: refused by name', async () => {
  const sent = { headers: { 'idempotency-key': 'k'.repeat(256) } };
  expectProblem(await file.api.post('/v1/dispatches', file.opening('t'), sent), 400, ['Idempotency-Key']);
});

test('a method that a route does not have is refused', async () => {
  expectProblem(await file.api.call('DELETE', `/v1/dispatches/${dispatchId}`), 404);
  expectProblem(await file.api.call('PUT', '/v1/dispatches', {}), 404);
});
