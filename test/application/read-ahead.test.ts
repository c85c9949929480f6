import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { readAhead } from '../../src/application/read-ahead.js';

const LONG_MS = 60_000;

async function* inBatches(sizes: number[]): AsyncIterable<number[]> {
  let next = 0;
  for (const size of sizes) {
    await sleep(size % 2);
    yield Array.from({ length: size }, () => next++);
  }
}

test('hands out everything once and in order, in batches that are full but for the last', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 9 }), { maxLength: 12 }), fc.integer({ min: 1, max: 20 }), async (sizes, most) => {
      const batches: number[][] = [];
      for await (const batch of readAhead(inBatches(sizes), most, LONG_MS)) batches.push(batch);
      const all = sizes.reduce((sum, size) => sum + size, 0);
      expect(batches.flat()).toEqual(Array.from({ length: all }, (_, i) => i));
      for (const batch of batches.slice(0, -1)) expect(batch.length).toBeGreaterThanOrEqual(most);
    }),
    { numRuns: 40 },
  );
});

test('reads on while a batch is worked on, and no further than one more', async () => {
  let read = 0;
  async function* endless() {
    for (;;) {
      read += 1;
      yield [read];
      await sleep(0);
    }
  }
  for await (const batch of readAhead(endless(), 10, LONG_MS)) {
    expect(batch).toHaveLength(10);
    await sleep(100);
    expect(read).toBe(20);
    break;
  }
});

test('what came is not kept waiting for more', async () => {
  async function* slow() {
    yield ['first'];
    await sleep(LONG_MS, undefined, { ref: false });
  }
  for await (const batch of readAhead(slow(), 10, 20)) {
    expect(batch).toEqual(['first']);
    break;
  }
});

test('a failure comes after what was read before it', async () => {
  async function* broken() {
    yield ['one'];
    throw new Error('gone');
  }
  const seen: string[] = [];
  const all = async () => {
    for await (const batch of readAhead(broken(), 10, LONG_MS)) seen.push(...batch);
  };
  await expect(all()).rejects.toThrow('gone');
  expect(seen).toEqual(['one']);
});
