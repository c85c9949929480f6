import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { sha256 } from '../../src/domain/ids.js';
import type { FileApi, Json } from '../support/api.js';
import { freshRepo, Service } from '../support/service.js';

const LIMIT = 64 * 1024;
let service: Service;
beforeAll(async () => {
  service = await Service.start({ payloadLimit: LIMIT });
}, 60_000);
afterAll(() => service.stop());
afterEach(() => expect(service.reports.splice(0)).toEqual([]));

async function kept(file: FileApi, more: Json): Promise<{ attempt: Json; recorded: Json; commit: string }> {
  const { dispatchId } = await file.open(freshRepo('task'), { force: true, budget: 100 });
  const { attemptId, position } = await file.attempt(dispatchId, 'fail', [], more);
  const recorded = (await file.events()).find(({ type, data }) => type === 'AttemptRecorded' && data.attemptId === attemptId);
  return { attempt: await file.api.ok(file.api.get(`/v1/attempts/${attemptId}`)), recorded: recorded.data, commit: position.commit };
}

describe('any text comes back as it was sent, and no projection stops over it', () => {
  test.each([
    ['empty', ''],
    ['NUL', 'a\0b\0'],
    ['a lone high surrogate', 'a\ud800b'],
    ['a lone low surrogate', '\udfff'],
    ['other planes and combining marks', '𝒳 e\u0301 \u{10ffff} 🧑‍🚒'],
    ['a replacement character', '\ufffd'],
    ['control characters', '\u0001\u001b[31m\r\n\u2028\u007f'],
    ['what looks like JSON, SQL and HTML', `{"__proto__":1}'; DROP TABLE x; --<script>`],
  ])('%s: short and long', async (_what, text) => {
    const file = service.api.file(freshRepo('texts'), 'src/a.rs');
    for (const sent of [text, `${text}${'x'.repeat(3000)}${text}`]) {
      const description = `${sent} described`;
      const { dispatchId } = await file.open('t', { task: { id: 'text', description, prompt: sent }, force: true });
      const verifier = { exitCode: 1, stdout: sent, stderr: `error: ${text}\n`, steps: [{ exitCode: 1, output: sent }] };
      const failed = await file.api.ok(
        file.api.post(`/v1/dispatches/${dispatchId}/attempts`, { output: sent, prompt: sent, diff: sent, verifier }),
      );
      const attempt = await file.api.ok(file.api.get(`/v1/attempts/${failed.attemptId}`));
      expect([attempt.output, attempt.prompt, attempt.diff, attempt.verifier.stdout]).toEqual([sent, sent, sent, sent]);
      expect(attempt.verifier.steps[0].output).toBe(sent);
      const passed = await file.attempt(dispatchId, 'pass', [], { output: `better ${sent}` });
      expect(passed.proposal.output).toBe(`better ${sent}`);
      const pairs = await file.list('/v1/correction-pairs', { after: passed.position.commit });
      expect(pairs.items.at(-1)).toMatchObject({ chosen: `better ${sent}`, rejected: sent, prompt: sent });
      const proposals = await file.list('/v1/proposals', { after: passed.position.commit });
      expect(proposals.items.at(-1).output).toBe(`better ${sent}`);
    }
  });

  test('texts that differ only in what UTF-8 cannot say are two texts', async () => {
    const file = service.api.file(freshRepo('texts'), 'src/a.rs');
    const tail = 'x'.repeat(3000);
    for (const sent of [`\ud800${tail}`, `\ud801${tail}`, `\ufffd${tail}`])
      expect((await kept(file, { output: sent })).attempt.output).toBe(sent);
  });

  test('errors without a code, whose message holds anything, are counted and do not stop the histogram', async () => {
    const file = service.api.file(freshRepo('texts'), 'src/a.rs');
    const { dispatchId } = await file.open('t', { budget: 20 });
    const messages = ['odd \0 thing', 'odd \ud800 thing', 'odd \ud801 thing', 'odd \ufffd thing', `long ${'é'.repeat(5000)}`];
    let last: Json;
    for (const message of messages) {
      const stderr = `error: ${message}\n --> src/a.rs:1:1\n\nerror: could not compile \`x\` (lib) due to 1 previous error\n`;
      const verifier = { tool: 'cargo', exitCode: 101, stderr };
      last = await file.api.ok(file.api.post(`/v1/dispatches/${dispatchId}/attempts`, { output: message, verifier }));
    }
    const { items } = await file.list('/v1/histograms', { after: last.position.commit });
    expect(items.reduce((sum: number, { attempts }: Json) => sum + attempts, 0)).toBe(messages.length);
  });

  test('failing tests whose names hold anything are counted too', async () => {
    const file = service.api.file(freshRepo('texts'), 'src/a.rs');
    const { dispatchId } = await file.open('t', { budget: 20 });
    const names = ['a\0b', 'a\ud800b', 'a\udfffb', 'a\ufffdb'];
    const lines = names.map((name) => `test tests::${name} ... FAILED`).join('\n');
    const stdout = `running 4 tests\n${lines}\n\nfailures:\n    ${names.map((name) => `tests::${name}`).join('\n    ')}\n\ntest result: FAILED. 0 passed; 4 failed\n`;
    let last: Json;
    for (const output of ['one', 'two']) {
      const verifier = { tool: 'cargo', command: 'cargo test', exitCode: 101, stdout };
      last = await file.api.ok(file.api.post(`/v1/dispatches/${dispatchId}/attempts`, { output, verifier }));
    }
    expect(last.patterns.length).toBeGreaterThan(0);
    const { items } = await file.list('/v1/histograms', { after: last.position.commit });
    for (const { attempts } of items) expect(attempts).toBeGreaterThanOrEqual(2);
  });

  test('the longest names and path there can be do not stop a projection', async () => {
    const random = (bytes: number) =>
      Array.from({ length: Math.floor(bytes / 3) }, () => String.fromCodePoint(0x4e00 + Math.floor(Math.random() * 0x5000))).join('');
    const file = service.api.file(random(400), random(1024));
    file.model = random(400);
    const { dispatchId } = await file.open(random(400), { arm: random(400), batch: random(400), frontier: random(400) });
    const { position } = await file.attempt(dispatchId, 'fail', [random(400)], { output: 'x' });
    await file.attempt(dispatchId, 'pass', [], { output: 'y' });
    expect((await file.list('/v1/histograms', { after: position.commit })).items).toHaveLength(1);
    const tooLong = await file.api.post('/v1/dispatches', { ...file.opening('t'), repo: '字'.repeat(150), targetFile: '字'.repeat(400) });
    expect([tooLong.status, tooLong.body.errors.map(({ path }: Json) => path)]).toEqual([400, ['repo', 'targetFile']]);
  });
});

describe('long texts', () => {
  test('over the limit: head and tail with a visible mark, and hash and size of the whole', async () => {
    const file = service.api.file(freshRepo('texts'), 'src/a.rs');
    const sent = `HEAD${'é'.repeat(LIMIT)}TAIL`;
    const { attempt, recorded } = await kept(file, { output: sent });
    expect(recorded.output.whole).toEqual({ hash: sha256(sent), bytes: Buffer.byteLength(sent) });
    expect(recorded.output.bytes).toBeLessThanOrEqual(LIMIT);
    const mark = /\n\[… (\d+) bytes left out …\]\n/.exec(attempt.output);
    const [head = '', tail = ''] = attempt.output.split(mark?.[0]);
    expect([sent.startsWith(head), sent.endsWith(tail)]).toEqual([true, true]);
    expect(head.length).toBeGreaterThan(1000);
    expect(Number(mark?.[1])).toBe(Buffer.byteLength(sent) - Buffer.byteLength(head) - Buffer.byteLength(tail));
  });

  test('at the limit: whole', async () => {
    const file = service.api.file(freshRepo('texts'), 'src/a.rs');
    const sent = 'y'.repeat(LIMIT);
    const { attempt, recorded } = await kept(file, { output: sent });
    expect([attempt.output === sent, recorded.output]).toEqual([true, { payload: sha256(sent), bytes: LIMIT }]);
  });

  test('an equal text is stored once; one stored half is completed', async () => {
    const file = service.api.file(freshRepo('texts'), 'src/a.rs');
    const sent = `${file.repo} ${'z'.repeat(5000)}`;
    for (const output of [sent, sent]) expect((await kept(file, { output })).attempt.output).toBe(sent);
    const stored = [];
    for await (const { event } of service.log.read(`payload-${sha256(sent)}`)) stored.push(event.data);
    expect(stored).toEqual([{ hash: sha256(sent), index: 0, chunks: 1, bytes: sent.length, text: sent }]);
  });

  test('more short texts than one append can hold: 413 and nothing stored, never a store that seems to be away', async () => {
    const file = service.api.file(freshRepo('texts'), 'src/a.rs');
    const { dispatchId } = await file.open();
    const before = await file.events();
    const steps = Array.from({ length: 100 }, () => ({ exitCode: 1, stdout: '\0'.repeat(2000), stderr: '\0'.repeat(2000) }));
    const answer = await file.api.post(`/v1/dispatches/${dispatchId}/attempts`, { output: 'x', verifier: { steps } });
    expect([answer.status, answer.headers.get('content-type')?.split(';')[0]]).toEqual([413, 'application/problem+json']);
    expect(await file.events()).toEqual(before);
    expect((await file.attempt(dispatchId, 'fail', ['E0308'])).attempt).toBe(1);
  });
});
