import { setTimeout as sleep } from 'node:timers/promises';
import { eventually, kill, postmasterOf, processesOf } from '../lib/processes.mjs';
import { Setting } from '../lib/setting.mjs';

const ROUNDS = [3_000, 15_000, 40_000];
/** An append is given up after ten seconds, and then looked for, which is given up too: whoever asked is told by then. */
const TOLD_WITHIN_MS = 30_000;

/**
 * PostgreSQL stands still under a living service (SIGSTOP: connections stay open, nobody answers), for less and for more than the service
 * waits. Callers are told, the service says that it is not ready, and goes on when PostgreSQL does.
 */
export async function stalled(given) {
  const { report } = given;
  const setting = await Setting.make(given, 'stalled');
  const { service, world } = setting;
  await setting.begin();
  for (const ms of ROUNDS) {
    const cluster = `${service.dataDir}/postgres`;
    const postgres = [postmasterOf(service.dataDir), ...processesOf(cluster)];
    const unavailable = world.client.unavailable;
    for (const pid of postgres) kill(pid, 'SIGSTOP');
    const began = performance.now();
    let ready = true;
    if (ms > TOLD_WITHIN_MS) {
      await eventually(async () => world.client.unavailable > unavailable, 'a caller is told that the store is away', TOLD_WITHIN_MS / 50);
      ready = await readyNow(service);
    }
    await sleep(Math.max(0, ms - (performance.now() - began)));
    for (const pid of postgres) kill(pid, 'SIGCONT');
    if (ms > TOLD_WITHIN_MS) report.check(`stalled for ${ms / 1000} s: callers are told, and it is not ready`, !ready, 'it said it was');
    await eventually(() => readyNow(service), 'the service is ready again', 1_200);
    await setting.progress(60);
    report.check(
      `stalled for ${ms / 1000} s: it goes on, and nobody saw an error but 503`,
      world.ledger.wrong.length === 0,
      world.ledger.wrong.slice(0, 3),
    );
  }
  await setting.end();
}

async function readyNow(service) {
  return fetch(`${service.url}/health/ready`, { signal: AbortSignal.timeout(8_000) }).then(
    async (answer) => (await answer.text()) !== '' && answer.ok,
    () => false,
  );
}
