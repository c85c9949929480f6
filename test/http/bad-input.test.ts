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
  expect(body).toMatchObject({
    status: expected,
    title: expect.stringMatching(/./),
    detail: expect.stringMatching(/./),
    type: expect.any(String),
  });
  if (paths) expect([...new Set(body.errors.map(({ path }: Json) => path))].sort()).toEqual([...paths].sort());
}

const opening = (more: Json) => ({ ...file.opening('task-1'), ...more });
const attempt = (more: Json) => ({ output: 'x', verdict: 'fail', ...more });
const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);

describe('opening a dispatch', () => {
  const cases: [what: string, change: () => Json, paths: string[]][] = [
    [
      'nothing at all',
      () => ({ repo: undefined, targetFile: undefined, model: undefined, frontier: undefined, task: undefined }),
      ['model', 'task'],
    ],
    ['no file', () => ({ targetFile: undefined }), ['targetFile']],
    ['an unknown field', () => ({ bugdet: 4 }), ['bugdet']],
    ['two unknown fields', () => ({ a: 1, b: 2 }), ['a', 'b']],
    ['an unknown field within', () => ({ task: { id: 't', descripton: 'x' } }), ['task.descripton']],
    ['a number for text', () => ({ model: 9 }), ['model']],
    ['text for a number', () => ({ budget: '4' }), ['budget']],
    ['half an attempt', () => ({ budget: 1.5 }), ['budget']],
    ['no budget', () => ({ budget: 0 }), ['budget']],
    ['an absurd budget', () => ({ budget: 1e300 }), ['budget']],
    ['a negative lease', () => ({ leaseSeconds: -1 }), ['leaseSeconds']],
    ['null where nothing may be', () => ({ model: null }), ['model']],
    ['an unknown carry mode', () => ({ carry: 'all' }), ['carry']],
    ['a task without id and description', () => ({ task: { prompt: 'x' } }), ['task']],
    ['an empty model', () => ({ model: '' }), ['model']],
    ['a very long name', () => ({ repo: 'r'.repeat(201) }), ['repo']],
    ['NUL in a name', () => ({ task: { id: 'a\0b' } }), ['task.id']],
    ['a lone surrogate in a name', () => ({ arm: '\ud800' }), ['arm']],
    ['a line break in a name', () => ({ batch: 'a\nb' }), ['batch']],
    ['a path out of the repo', () => ({ targetFile: 'src/../../etc/passwd' }), ['targetFile']],
    ['a path out of the repo, the other way round', () => ({ targetFile: 'src\\..\\..\\x' }), ['targetFile']],
    ['an absolute path', () => ({ targetFile: '/etc/passwd' }), ['targetFile']],
    ['a drive', () => ({ targetFile: 'C:\\x.rs' }), ['targetFile']],
    ['a directory', () => ({ targetFile: 'src/' }), ['targetFile']],
    ['an empty path', () => ({ targetFile: '' }), ['targetFile']],
    ['NUL in a path', () => ({ targetFile: 'a\0.rs' }), ['targetFile']],
    ['a very long path', () => ({ targetFile: `${'a/'.repeat(600)}x` }), ['targetFile']],
    ['a second path out of the repo', () => ({ targetFiles: ['src/a.rs', '../x'] }), ['targetFiles.1']],
    ['files that do not begin with the home', () => ({ targetFiles: ['src/b.rs'] }), ['targetFiles']],
    ['too many files', () => ({ targetFiles: Array.from({ length: 101 }, (_, i) => `f${i}`), targetFile: undefined }), ['targetFiles']],
  ];
  test.each(cases)('%s: refused, and the field is named', async (_what, change, paths) => {
    expectProblem(await file.api.post('/v1/dispatches', opening(change())), 400, paths);
  });
});

describe('recording an attempt', () => {
  const cases: [what: string, body: Json, paths: string[]][] = [
    ['no output', { output: undefined }, ['output']],
    ['neither verdict nor verifier', { verdict: undefined }, ['verdict']],
    ['an unknown verdict', { verdict: 'maybe' }, ['verdict']],
    ['patterns without a verdict', { verdict: undefined, verifier: { exitCode: 1 }, patterns: ['E0308'] }, ['patterns']],
    ['an infrastructure kind with a fail', { infraKind: 'dns' }, ['infraKind']],
    ['a verifier that does not say how it ended', { verifier: { stderr: 'x' } }, ['verifier.exitCode']],
    ['an exit code as text', { verifier: { exitCode: '101' } }, ['verifier.exitCode']],
    ['an unknown field in a step', { verifier: { steps: [{ exitCode: 0, exit: 1 }] } }, ['verifier.steps.0.exit']],
    ['a negative number of tokens', { usage: { promptTokens: -1 } }, ['usage.promptTokens']],
    ['a time that is none', { startedAt: 'yesterday' }, ['startedAt']],
    ['too many patterns', { patterns: Array(501).fill('E0308') }, ['patterns']],
    ['NUL in a pattern', { patterns: ['E0308\0'] }, ['patterns.0']],
    ['attempt zero', { attempt: 0 }, ['attempt']],
    ['a tool step without a result', { toolSteps: [{ name: 'x' }] }, ['toolSteps.0.ok']],
  ];
  test.each(cases)('%s: refused, and the field is named', async (_what, change, paths) => {
    expectProblem(await file.api.post(`/v1/dispatches/${dispatchId}/attempts`, attempt(change)), 400, paths);
  });

  test('other commands name theirs too', async () => {
    expectProblem(await file.api.post(`/v1/dispatches/${dispatchId}/abandon`, { reason: 5 }), 400, ['reason']);
    expectProblem(await file.api.post(`/v1/proposals/p-${'0'.repeat(20)}-x-1/resolve`, { resolution: 'maybe' }), 400, ['resolution']);
    expectProblem(await file.api.post('/v1/classify', { exitCode: 1, explian: true }), 400, ['explian']);
    const alone = await service.api.file(file.repo, 'src/alone.rs').open('t', { frontier: null });
    appends.length = 0;
    expectProblem(await file.api.post(`/v1/dispatches/${alone.dispatchId}/frontier-outcomes`, attempt({})), 400, ['model']);
  });
});

describe('what is no JSON object', () => {
  const raw: [what: string, body: string, status: number][] = [
    ['malformed JSON', '{"repo": ', 400],
    ['nothing', '', 400],
    ['an array', '[]', 400],
    ['null', 'null', 400],
    ['text', '"x"', 400],
    ['a million levels of nesting', nested(1_000_000), 400],
    ['a task of 100,000 levels', `{"targetFile":"a.rs","model":"m","task":${nested(100_000)}}`, 400],
    ['__proto__', '{"targetFile":"a.rs","model":"m","task":{"id":"t"},"__proto__":{"force":true}}', 400],
    ['__proto__ within', '{"targetFile":"a.rs","model":"m","task":{"id":"t","__proto__":{"prompt":"x"}}}', 400],
    ['constructor.prototype', '{"targetFile":"a.rs","model":"m","task":{"id":"t"},"constructor":{"prototype":{"x":1}}}', 400],
  ];
  test.each(raw)('%s: refused', async (_what, body, status) => {
    expectProblem(await file.api.post('/v1/dispatches', undefined, { raw: body }), status);
  });

  test.each(['text/plain', 'application/xml', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x'])(
    '%s: refused',
    async (type) => {
      const sent = { raw: 'reason=x', headers: { 'content-type': type } };
      expectProblem(await file.api.post(`/v1/dispatches/${dispatchId}/abandon`, undefined, sent), 415);
    },
  );

  test('no body and no content type: refused', async () => {
    expectProblem(await file.api.post('/v1/dispatches'), 400);
  });

  test('over 16 MiB: 413, a little below it is read', async () => {
    const body = (bytes: number) => JSON.stringify({ exitCode: 1, stderr: 'x'.repeat(bytes) });
    expectProblem(await file.api.post('/v1/classify', undefined, { raw: body(16 * 1024 * 1024) }), 413);
    expect((await file.api.post('/v1/classify', undefined, { raw: body(16 * 1024 * 1024 - 100) })).status).toBe(200);
  });
});
