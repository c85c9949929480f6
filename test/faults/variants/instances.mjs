import { fileURLToPath } from 'node:url';
import { endCheck } from '../check/end-check.mjs';
import { eventually, processesOf } from '../lib/processes.mjs';
import { freePort, Service } from '../lib/service.mjs';
import { World } from '../lib/world.mjs';

const BUILDERS = 6;
const TAKEOVER_WITHIN_MS = 10_000;

/** Two instances on one node and one database, each of which goes away and comes back while builders work through both. */
export async function instances(given) {
  const { report, dist } = given;
  const parts = await startAll(given);
  const { node, database, services } = parts;
  const world = new World({ repo: 'instances', bases: services.map(({ url }) => url), seed: given.seed });
  const stop = world.begin(BUILDERS);
  const setting = { report, world, ...parts };
  try {
    await progress(world, 150);
    await killLeader(setting);
    await awayAndBack(setting, 'node killed', () => node.kill());
    await awayAndBack(setting, 'node and its PostgreSQL killed', () => node.kill({ postmaster: true }));
    await withoutReadModels(setting, 'PostgreSQL of the read models stopped', () => database.terminate());
    await withoutReadModels(setting, 'PostgreSQL of the read models killed', () => database.kill({ postmaster: true }));
    await progress(world, 60);
  } finally {
    await stop();
  }
  await endCheck(report, world, { dist, databaseUrl: node.said('DATABASE_URL') });
  for (const part of [...services, node, database]) {
    const { code } = await part.terminate();
    report.check(`${part.name} ends with exit code 0`, code === 0, `exit code ${code}`);
    report.none(`${part.name}: nothing is left running`, processesOf(part.dataDir));
  }
}

async function startAll({ directory, dist }) {
  const port = await freePort();
  const program = fileURLToPath(new URL('../programs/database.mjs', import.meta.url));
  const database = new Service({ dist, dataDir: `${directory}/database`, port: 0, program, env: { ANVIL_FAULTS_DIST: dist } });
  const node = new Service({
    ...{ dist, dataDir: `${directory}/node`, port: 0, program: 'src/embedded/eventstore.js' },
    env: { ANVIL_EVENTSTORE_PORT: String(port) },
  });
  for (const part of [database, node]) part.start();
  const databaseUrl = await eventually(() => database.said('DATABASE_URL'), 'the database says its address');
  const eventStoreUrl = await eventually(() => node.said('EVENTSTORE_URL'), 'the node says its address');
  const env = { DATABASE_URL: databaseUrl, EVENTSTORE_URL: eventStoreUrl };
  const services = [];
  for (const name of ['one', 'two']) {
    const service = new Service({ dist, dataDir: `${directory}/${name}`, port: await freePort(), env });
    services.push(service);
    await service.begin();
  }
  return { node, database, services };
}

/** Until so many more calls were acknowledged. */
async function progress({ ledger }, calls) {
  const from = ledger.of('acknowledged').length;
  await eventually(() => ledger.of('acknowledged').length >= from + calls, `${calls} more commands are acknowledged`, 1_200);
}

async function leads(service) {
  if (!service.running) return false;
  const text = await fetch(`${service.url}/metrics`, { signal: AbortSignal.timeout(5_000) }).then(
    (answer) => answer.text(),
    () => '',
  );
  return /^anvil_leading 1$/m.test(text);
}

async function killLeader({ report, world, services }) {
  const leader = await eventually(
    async () => ((await leads(services[0])) ? services[0] : (await leads(services[1])) && services[1]),
    'one leads',
  );
  const other = services.find((service) => service !== leader);
  report.check('one instance leads, not two', !(await leads(other)));
  const began = performance.now();
  await leader.kill();
  await eventually(() => leads(other), 'the other instance leads', 400);
  const took = performance.now() - began;
  report.check('leader killed: the other leads within 10 s', took < TAKEOVER_WITHIN_MS, `${took} ms`);
  report.say(`     the other led after ${Math.round(took)} ms`);
  await progress(world, 40);
  await leader.begin();
  await progress(world, 40);
  report.check('leader killed: it comes back as the one that does not lead', !(await leads(leader)) && (await leads(other)));
}

/** Commands are told that the store is away, and are made later, under the same key. */
async function awayAndBack({ report, world, services, node }, what, go) {
  const { client, ledger } = world;
  const unavailable = client.unavailable;
  await go();
  await eventually(() => client.unavailable > unavailable + BUILDERS, `${what}: commands answer 503`);
  // Builders give some calls up, all that wait now perhaps: what counts is any that was told 503 and was made afterwards.
  const before = new Set(ledger.of('acknowledged'));
  node.start();
  await eventually(
    () => ledger.of('acknowledged').some((call) => call.unanswered > 0 && !before.has(call)),
    `${what}: what was told 503 is made under its key`,
    1_200,
  );
  await progress(world, 100);
  report.check(`${what}: commands were told 503, and nothing else`, ledger.wrong.length === 0, ledger.wrong.slice(0, 3));
  report.check(
    `${what}: both instances live`,
    services.every(({ running }) => running),
  );
  report.say(`     ${client.unavailable - unavailable} answers of 503, then on`);
}

/** Commands need no read model; queries of one say that it is away. */
async function withoutReadModels({ report, world, services, database }, what, go) {
  await go();
  await progress(world, 80);
  report.check(`${what}: commands go on`, world.ledger.wrong.length === 0, world.ledger.wrong.slice(0, 3));
  for (const path of ['/v1/histograms', '/health/ready']) {
    const { status } = await fetch(services[0].url + path, { signal: AbortSignal.timeout(20_000) });
    report.check(`${what}: ${path} answers 503`, status === 503, `${status}`);
  }
  database.start();
  await eventually(async () => (await leads(services[0])) !== (await leads(services[1])), `${what}: one instance leads again`);
  await progress(world, 40);
  report.check(
    `${what}: both instances live`,
    services.every(({ running }) => running),
  );
}
