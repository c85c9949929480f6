import { eventually, kill, postmasterOf } from '../lib/processes.mjs';
import { Setting } from '../lib/setting.mjs';

/** The embedded PostgreSQL alone is killed under a living service: nothing is claimed, and whoever starts it again finds everything. */
export async function postmaster(given) {
  const { report } = given;
  const setting = await Setting.make(given, 'postmaster');
  const { service, world } = setting;
  await setting.begin();
  const unavailable = world.client.unavailable;
  kill(postmasterOf(service.dataDir), 'SIGKILL');
  let ended = null;
  void service.exited.then((how) => {
    ended = how;
  });
  const back = async () =>
    ended ??
    (await fetch(`${service.url}/health/ready`, { signal: AbortSignal.timeout(5_000) }).then(
      async (answer) => (await answer.text()) && answer.ok,
      () => false,
    ));
  await eventually(async () => world.client.unavailable > unavailable || ended !== null, 'a caller is told that the store is away');
  const outcome = await eventually(back, 'the service ends, or has its database back', 1_600);
  report.say(`     the service ${outcome === true ? 'got its database back' : `ended (${JSON.stringify(outcome)})`}`);
  report.check(
    'PostgreSQL killed: callers were told 503, or the service ended by itself',
    world.ledger.wrong.length === 0,
    world.ledger.wrong.slice(0, 3),
  );
  if (outcome !== true) {
    report.check('PostgreSQL killed: the service says so by its exit code', outcome.code === 1, outcome);
    await service.begin();
  }
  await setting.progress(100);
  await setting.end();
}
