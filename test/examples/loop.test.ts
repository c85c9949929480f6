import { readdir, rm } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { makeFolder } from '../support/folder.js';
import { Service } from '../support/service.js';
import { type Ended, run } from './run.js';

const loop = (url: string, more?: Record<string, string>): Promise<Ended> =>
  run(process.execPath, ['examples/loop.mjs'], { ANVIL_URL: url, ...more });

let service: Service;
let ended: Ended;
beforeAll(async () => {
  service = await Service.start();
  ended = await loop(service.url);
}, 120_000);
afterAll(() => service.stop());

test('the example goes from a cold file through a signal to the strong model, and knows the second time', () => {
  const { status, stdout, stderr } = ended;
  expect([status, stderr]).toEqual([0, '']);
  const [first, remembered, second] = stdout.split('\n\n') as [string, string, string];

  expect(first.match(/\[\w+\]/g)).toEqual([
    '[cold_start]',
    '[within_budget]',
    '[repeated_signature]',
    '[per_pattern]',
    '[frontier_passed]',
  ]);
  expect(first.match(/next {6}\w+/g)!.map((line) => line.split(/ +/)[1])).toEqual(['attempt', 'retry', 'replan', 'escalate', 'done']);
  expect(first.match(/tsc says fail ts2322_type_mismatch/g)).toHaveLength(3);
  expect(first).toContain('strong-model, tsc says pass');
  expect(first).toContain('learned   capacity');

  expect(remembered).toContain('ts2322_type_mismatch: failed 3 attempts of weak-model');
  expect(remembered).toContain('pair      single_pattern');
  expect(remembered).toContain('CalibrationSignalRaised');

  expect(second).toContain('CALIBRATION SIGNAL — beyond weak-model capacity: TS2322 in 3 attempts. Frontier solved this pattern');
  // One time in ten the builder is tried again first.
  expect(second).toMatch(/next {6}(escalate: .*\[confirmed_capacity\]|attempt: .*\[capacity_probe\])/);
  expect(second).toContain('[frontier_passed]');
});

test('what it sends is what happened: the real text of tsc, and the diff before the revert', async () => {
  const repo = /\(repo (\S+)\)/.exec(ended.stdout)![1]!;
  const { items } = (await (await fetch(`${service.url}/v1/correction-pairs?repo=${repo}`)).json()) as { items: Record<string, string>[] };
  const rejected = (await (await fetch(`${service.url}/v1/attempts/${items[0]!.rejectedAttemptId}`)).json()) as Record<string, never>;
  expect(rejected).toMatchObject({
    verifier: {
      tool: 'tsc',
      exitCode: 2,
      stdout: expect.stringContaining("error TS2322: Type 'K | undefined' is not assignable to type 'K'"),
    },
    diff: expect.stringMatching(
      /^--- a\/src\/lru-cache\.ts\n\+\+\+ b\/src\/lru-cache\.ts\n@@ -1,1 \+1,\d+ @@\n-export class LruCache<K, V> \{\}\n\+/,
    ),
    filesTouched: ['src/lru-cache.ts'],
  });
});

test('it leaves no workspace behind, and says so when no service runs', async () => {
  const TMPDIR = await makeFolder('anvil-test-example');
  try {
    const { status, stderr } = await loop('http://127.0.0.1:9', { TMPDIR });
    expect(status).toBe(1);
    expect(stderr).toMatch(/^No Anvil answers at http:\/\/127\.0\.0\.1:9 \(.+\)\. Start one with "npm start"/);
    expect(await readdir(TMPDIR)).toEqual([]);
  } finally {
    await rm(TMPDIR, { recursive: true });
  }
});
