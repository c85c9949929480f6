import { readFileSync } from 'node:fs';
import { processesOf } from '../lib/processes.mjs';
import { Setting } from '../lib/setting.mjs';

const ROUNDS = 4;

/** SIGTERM while builders work and one waits for a dispatch to close: what was begun is answered, and nothing is left behind. */
export async function sigterm(given) {
  const { report } = given;
  const setting = await Setting.make(given, 'sigterm', { preloads: ['request-count'], builders: 12 });
  const { service, world } = setting;
  await setting.begin();
  for (let round = 1; round <= ROUNDS; round += 1) {
    const { answered: waiting } = await longPoll(setting);
    await setting.progress(40);
    const { code, signal } = await service.terminate();
    report.check('SIGTERM under load: exit code 0', code === 0, `${code ?? signal}`);
    report.none('SIGTERM under load: nothing is left running', processesOf(service.dataDir));
    const { begun, answered } = JSON.parse(readFileSync(`${service.dataDir}.requests`, 'utf8'));
    report.check('SIGTERM under load: every request that was begun is answered', begun === answered && begun > 0, { begun, answered });
    report.say(`     ${begun} requests begun, ${answered} answered`);
    const status = await waiting;
    report.check('SIGTERM under load: who waited for a dispatch is answered', status === 200, `${status}`);
    await service.begin();
  }
  report.check('SIGTERM under load: builders saw no error but 503', world.ledger.wrong.length === 0, world.ledger.wrong.slice(0, 3));
  await setting.end();
}

/** Somebody waits a minute for a dispatch that nobody closes. */
async function longPoll({ world, service }) {
  const file = { repo: world.repo, targetFile: 'src/waited_for.rs' };
  const body = { ...file, task: { id: 'waited-for' }, model: 'builder-9b', force: true };
  const entry = world.ledger.begin({
    what: 'open',
    kind: 'open',
    method: 'POST',
    path: '/v1/dispatches',
    key: crypto.randomUUID(),
    body,
    file,
  });
  const { body: opened } = await world.client.until(entry);
  const dispatchId = opened.dispatchId ?? opened.runningDispatchId;
  const answered = fetch(`${service.url}/v1/dispatches/${dispatchId}?wait=60`).then(
    ({ status }) => status,
    (error) => String(error),
  );
  // Not the promise itself: whoever awaits this function does not wait for the answer.
  return { answered };
}
