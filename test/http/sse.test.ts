import { type IncomingMessage, request } from 'node:http';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import Fastify from 'fastify';
import { sendEvents, untilGone } from '../../src/http/sse.js';
import { eventually } from '../support/service.js';

const app = Fastify();
const BIG = 'x'.repeat(100_000);
let pulled = 0;
let over = false;
let gone: AbortSignal | null = null;
async function* endless() {
  try {
    for (;;) {
      pulled += 1;
      await new Promise((resolve) => setImmediate(resolve));
      yield { id: String(pulled), data: BIG };
    }
  } finally {
    over = true;
  }
}
let url = '';
beforeAll(async () => {
  app.get('/:stalledMs', (asked, reply) => {
    gone = untilGone(reply);
    sendEvents(reply, endless(), Number((asked.params as { stalledMs: string }).stalledMs));
  });
  url = await app.listen({ port: 0, host: '127.0.0.1' });
});
afterAll(() => app.close());
beforeEach(() => {
  pulled = 0;
  over = false;
});

const ask = (stalledMs: number) =>
  new Promise<IncomingMessage>((resolve) =>
    request(`${url}/${stalledMs}`, { agent: false }, (response) => resolve(response.on('error', () => undefined))).end(),
  );
const standsStill = () =>
  eventually(async () => {
    const before = pulled;
    await new Promise((resolve) => setTimeout(resolve, 200));
    return pulled > 0 && pulled === before;
  }, 'nothing more is asked for');

test('nothing is asked of the source that the client does not take', async () => {
  const response = await ask(60_000);
  await standsStill();
  const held = pulled;
  // What the sockets of both sides hold, and no more: 1,000 times as much would have come in this time.
  expect(held).toBeLessThan(200);
  let taken = 0;
  response.on('data', (chunk: Buffer) => {
    taken += chunk.length;
  });
  await eventually(async () => taken > held * BIG.length * 2, 'it goes on as it is read');
  response.destroy();
  await eventually(async () => over && gone!.aborted, 'the source ends with its client');
});

test('a client that takes nothing for too long is let go', async () => {
  const response = await ask(500);
  await eventually(async () => over && gone!.aborted, 'the source ends');
  response.resume();
  await eventually(async () => response.destroyed || response.closed, 'so does the answer');
  expect(response.complete).toBe(false);
});
