import { createServer, type ServerHttp2Session, type Settings } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { expect, test } from '@jest/globals';
import { EventStoreDbLog } from '../../src/adapters/eventstoredb/event-log.js';
import { widenWindow } from '../../src/adapters/eventstoredb/wide-window.js';

test('a server may send a widened client more than 64 KB before it has looked', async () => {
  widenWindow();
  const server = createServer();
  const sessions: ServerHttp2Session[] = [];
  const settings = new Promise<Settings>((resolve) =>
    server.on('session', (session) => {
      sessions.push(session);
      session.once('remoteSettings', resolve);
    }),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const log = new EventStoreDbLog(`esdb://127.0.0.1:${port}?tls=false`, () => undefined);
  const answer = log.ping().catch(() => undefined);
  expect((await settings).initialWindowSize).toBe(512 * 1024);
  await log.close();
  for (const session of sessions) session.destroy();
  await answer;
  await new Promise((resolve) => server.close(resolve));
}, 20_000);
