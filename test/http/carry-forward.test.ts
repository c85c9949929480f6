import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { FileApi, Json } from '../support/api.js';
import { watchAppends } from '../support/appends.js';
import { freshRepo, Service } from '../support/service.js';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
}, 60_000);
afterAll(() => service.stop());

const fresh = () => service.api.file(freshRepo(), 'src/a.rs');
const path = (dispatchId: string) => `/v1/dispatches/${dispatchId}/carry-forward`;
const carry = (dispatchId: string, body?: Json, headers = {}) => service.api.ok(service.api.post(path(dispatchId), body, { headers }));
const cargo = (code: string, message: string) => ({
  tool: 'cargo',
  command: 'cargo check',
  exitCode: 101,
  stderr: `error[${code}]: ${message}\n --> src/a.rs:2:9\n  |\n2 |     let secret = generated();\n  |         ^^^^^^ expected \`u32\`\n\nerror: could not compile \`demo\`\n`,
});
const diff = (marker: string) => `--- a/src/a.rs\n+++ b/src/a.rs\n@@ -1 +1 @@\n-old\n+let ${marker} = 1;\n`;

async function failedTwice(file: FileApi, more: Json = {}): Promise<string> {
  const { dispatchId } = await file.open('t', more);
  const send = (body: Json) => service.api.ok(service.api.post(`/v1/dispatches/${dispatchId}/attempts`, { output: 'x', ...body }));
  await send({ verifier: cargo('E0308', 'mismatched types'), diff: diff('first') });
  await send({ verifier: cargo('E0599', 'no method named `pop`'), diff: diff('second'), output: `y${'y'.repeat(5_000)}` });
  return dispatchId;
}

test('a block tells what was tried: messages in hint mode; source lines and diffs only where they are asked for', async () => {
  const dispatchId = await failedTwice(fresh(), { profile: 'cold-start-v2' });
  const hint = await carry(dispatchId);
  expect(hint).toMatchObject({ mode: 'hint', forAttempt: 3, profile: 'cold-start-v2', next: { step: 'retry' }, leftOut: [] });
  expect(hint.text).toContain('mismatched types');
  expect(hint.text).not.toMatch(/secret|let first|let second/);
  const shown = await carry(dispatchId, { mode: 'diff_feedback', maxTokens: 4_000 });
  expect(shown.text).toMatch(/let secret = generated[\s\S]*let first = 1[\s\S]*no method named[\s\S]*let second = 1/);
  expect(shown.records.map(({ attempts, diffIncluded }: Json) => [attempts, diffIncluded])).toEqual([
    [[1], true],
    [[2], true],
  ]);
});

test('a block is an event with its size and hash, renews the lease, and is counted', async () => {
  const file = fresh();
  const dispatchId = await failedTwice(file, { leaseSeconds: 60 });
  const before = (await service.api.ok(service.api.get(`/v1/dispatches/${dispatchId}`))).leaseUntil;
  const block = await carry(dispatchId, { maxTokens: 900 });
  const injected = (await file.events()).filter(({ type }) => type === 'HistoryInjected');
  expect(injected.map(({ data }) => data)).toMatchObject([
    {
      ...{ dispatchId, forAttempt: 3, mode: 'hint', source: 'carry_forward', records: 2, leftOut: [] },
      ...{ contentHash: block.hash, characters: block.text.length, tokens: block.tokens },
    },
  ]);
  expect(block.dispatch.leaseUntil > before).toBe(true);
});

test('none, and a dispatch without attempts, carry nothing and store nothing', async () => {
  const file = fresh();
  const { dispatchId } = await file.open('t');
  const appends = watchAppends(service.log);
  expect(await carry(dispatchId)).toMatchObject({ text: '', hash: null, tokens: 0, records: [], forAttempt: 1 });
  await file.attempt(dispatchId, 'fail', ['E0308']);
  expect(await carry(dispatchId, { mode: 'none' })).toMatchObject({ text: '', mode: 'none', forAttempt: 2 });
  expect(appends.flatMap(({ events }) => events.map(({ type }) => type))).not.toContain('HistoryInjected');
});

test('the same key gets the same block again, also when more was tried since, and counts once', async () => {
  const file = fresh();
  const dispatchId = await failedTwice(file);
  const first = await carry(dispatchId, { mode: 'diff_feedback' }, { 'idempotency-key': 'k' });
  await file.attempt(dispatchId, 'fail', ['E0277']);
  expect(await carry(dispatchId, { mode: 'diff_feedback' }, { 'idempotency-key': 'k' })).toEqual(first);
  expect((await file.events()).filter(({ type }) => type === 'HistoryInjected')).toHaveLength(1);
  const other = await service.api.post(path(dispatchId), { mode: 'hint' }, { headers: { 'idempotency-key': 'k' } });
  expect(other.status).toBe(422);
});

test('refused: a closed dispatch, an unknown one, a bound that is none', async () => {
  const file = fresh();
  const dispatchId = await failedTwice(file);
  for (const [body, field] of [
    [{ maxTokens: 0 }, 'maxTokens'],
    [{ mode: 'all' }, 'mode'],
  ] as const) {
    const answer = await service.api.post(path(dispatchId), body);
    expect([answer.status, answer.body.errors[0].path]).toEqual([400, field]);
  }
  await service.api.ok(service.api.post(`/v1/dispatches/${dispatchId}/abandon`, {}));
  expect((await service.api.post(path(dispatchId), {})).status).toBe(409);
  expect((await service.api.post(path(`${dispatchId}0`), {})).status).toBe(404);
});

test('texts that look like control tokens of a model are text', async () => {
  const file = fresh();
  const { dispatchId } = await file.open('t');
  await file.attempt(dispatchId, 'fail', ['E0308'], { diff: `${diff('<|endoftext|>')}+<|im_start|>\n` });
  const { text, tokens } = await carry(dispatchId, { mode: 'diff_feedback' });
  expect(text).toContain('<|endoftext|>');
  expect(tokens).toBeGreaterThan(30);
});

test('a prompt that comes back shows what became of the block', async () => {
  const file = fresh();
  const dispatchId = await failedTwice(file, { budget: 8 });
  const answered = async (promptOf: (text: string) => string | undefined) => {
    const { text } = await carry(dispatchId);
    return (await file.attempt(dispatchId, 'fail', ['E0277'], { prompt: promptOf(text) })).historyInPrompt;
  };
  expect(await answered((text) => `Do it.\n\n${text}\n\nNow.`)).toBe('whole');
  expect(await answered((text) => `Do it.\n\n${text.replace('E0308', 'E0000')}`)).toBe('altered');
  expect(await answered(() => 'Do it.')).toBe('missing');
  expect(await answered(() => undefined)).toBe(null);
  const attempt = await file.attempt(dispatchId, 'fail', ['E0277'], { prompt: 'no block was asked for' });
  expect(attempt.historyInPrompt).toBe(null);
  const { position } = attempt;
  const report = await service.api.ok(service.api.get('/v1/measurements', { repo: file.repo, after: position.commit }));
  expect(report.all.blocksInPrompts).toEqual({ whole: 1, altered: 1, missing: 1 });
});
