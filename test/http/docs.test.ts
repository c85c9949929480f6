import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Json } from '../support/api.js';
import { freshRepo, Service } from '../support/service.js';

let service: Service;
let document: Json;
beforeAll(async () => {
  service = await Service.start();
  document = JSON.parse((await service.api.get('/docs-json')).text);
}, 60_000);
afterAll(() => service.stop());

const operation = (route: string): Json => {
  const [method = '', path = ''] = route.split(' ');
  return document.paths[path]?.[method.toLowerCase()];
};
const bodyOf = (route: string): Json => operation(route).requestBody.content['application/json'].schema;
const queryOf = (route: string): Json[] => operation(route).parameters.filter((one: Json) => one.in === 'query');

test('every route is listed, and nothing else', () => {
  const listed = Object.entries<Json>(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  expect(listed.sort()).toEqual(
    [
      'POST /v1/dispatches',
      'POST /v1/dispatches/{dispatchId}/attempts',
      'POST /v1/dispatches/{dispatchId}/carry-forward',
      'POST /v1/dispatches/{dispatchId}/frontier-outcomes',
      'POST /v1/dispatches/{dispatchId}/heartbeat',
      'POST /v1/dispatches/{dispatchId}/abandon',
      'POST /v1/proposals/{proposalId}/resolve',
      'POST /v1/attempts/{attemptId}/verdict-corrections',
      'POST /v1/evidence/discounts',
      'POST /v1/correction-pairs/{pairId}/withdraw',
      'POST /v1/classify',
      'GET /v1/measurements',
      'GET /v1/measurements/cohorts/{name}',
      'GET /v1/measurements/signals',
      'POST /v1/measurements/what-if',
      'GET /v1/measurements/what-if/{id}',
      'DELETE /v1/measurements/what-if/{id}',
      'GET /v1/memory',
      'GET /v1/dispatches',
      'GET /v1/dispatches/{dispatchId}',
      'GET /v1/attempts/{attemptId}',
      'GET /v1/histograms',
      'GET /v1/correction-pairs',
      'GET /v1/proposals',
      'GET /v1/files',
      'GET /v1/signals',
      'GET /v1/captures',
      'GET /v1/patterns',
      'GET /v1/policy',
      'GET /v1/policy/versions',
      'GET /v1/training/labels',
      'GET /v1/training/labels/datasheet',
      'GET /v1/training/pairs',
      'GET /v1/training/pairs/datasheet',
      'PUT /v1/policy',
      'GET /v1/audit/events',
      'GET /v1/events',
      'GET /v1/export',
      'POST /v1/import',
      'GET /v1/audit/state',
      'GET /v1/audit/dispatches/{dispatchId}',
      'POST /v1/audit/verify',
      'POST /v1/rebuilds',
      'GET /v1/rebuilds/{id}',
      'GET /v1/rebuilds/{id}/progress',
      'DELETE /v1/rebuilds/{id}',
      'GET /v1/parked-events',
      'POST /v1/parked-events/retry',
      'GET /health/live',
      'GET /health/ready',
      'GET /metrics',
    ].sort(),
  );
});

describe('bodies are described by the schema that validates them', () => {
  test.each([
    [
      'POST /v1/dispatches',
      ['task', 'model'],
      ['repo', 'targetFile', 'targetFiles', 'frontier', 'budget', 'carry', 'leaseSeconds', 'force'],
    ],
    ['POST /v1/dispatches/{dispatchId}/attempts', ['output'], ['attempt', 'verifier', 'verdict', 'patterns', 'infraKind', 'diff', 'usage']],
    ['POST /v1/dispatches/{dispatchId}/frontier-outcomes', ['output'], ['model', 'verifier', 'verdict']],
    ['POST /v1/dispatches/{dispatchId}/abandon', [], ['reason']],
    ['POST /v1/proposals/{proposalId}/resolve', ['resolution'], []],
    ['POST /v1/classify', [], ['exitCode', 'stderr', 'steps', 'explain']],
  ])('%s', (route, required, others) => {
    const schema = bodyOf(route);
    expect(schema.required ?? []).toEqual(required);
    expect(Object.keys(schema.properties)).toEqual(expect.arrayContaining([...required, ...others]));
    expect(schema.additionalProperties).toBe(false);
  });

  test('with the bounds that they have', async () => {
    const { maximum } = bodyOf('POST /v1/dispatches').properties.budget;
    const opening = { repo: freshRepo('docs'), targetFile: 'a.rs', model: 'm', task: { id: 't' } };
    expect((await service.api.post('/v1/dispatches', { ...opening, budget: maximum + 1 })).status).toBe(400);
    expect((await service.api.post('/v1/dispatches', { ...opening, budget: maximum })).status).toBe(201);
  });
});

test('queries list their parameters, and say which are required', () => {
  const names = (route: string) => queryOf(route).map(({ name, required }) => `${name}${required ? '' : '?'}`);
  expect(names('GET /v1/memory')).toEqual(['repo?', 'targetFile', 'model?', 'taskId?']);
  expect(names('GET /v1/audit/events')).toEqual(['repo?', 'targetFile', 'from?', 'limit?']);
  expect(names('GET /v1/histograms')).toEqual(
    expect.arrayContaining(['repo?', 'after?', 'limit?', 'cursor?', 'order?', 'model?', 'seat?']),
  );
  expect(names('GET /v1/correction-pairs')).toEqual(expect.arrayContaining(['repo?', 'kind?', 'format?']));
});

test('commands say that they take an idempotency key', () => {
  const header = operation('POST /v1/dispatches').parameters.find((one: Json) => one.in === 'header');
  expect(header).toMatchObject({ name: 'Idempotency-Key', required: false });
});

test('the page at /docs is served from here, with everything that it loads', async () => {
  const page = await service.api.get('/docs');
  expect([page.status, page.headers.get('content-type')?.split(';')[0]]).toEqual([200, 'text/html']);
  const assets = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, url]) => url ?? '');
  expect(assets.length).toBeGreaterThan(2);
  for (const asset of assets) {
    expect(asset).not.toMatch(/^(https?:)?\/\//);
    expect([asset, (await service.api.get(`/docs/${asset.replace(/^\.?\/(docs\/)?/, '')}`)).status]).toEqual([asset, 200]);
  }
});
