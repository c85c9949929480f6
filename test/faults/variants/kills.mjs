import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { endCheck } from '../check/end-check.mjs';
import { databaseOf } from '../check/log-rows.mjs';
import { sendEvidence } from '../lib/evidence.mjs';
import { processesOf } from '../lib/processes.mjs';
import { freePort, Service } from '../lib/service.mjs';
import { World } from '../lib/world.mjs';
import { POINTS, STARTING, UNDER_LOAD } from '../preload/points.mjs';

const BUILDERS = 8;
const HIT_WITHIN_MS = 20_000;
const TRIES = 3;

/** Kills the service at every named point while builders work, starts it again on the same data, and looks at what is left at the end. */
export async function kills({ report, directory, dist, kills: wanted, random, seed }) {
  const service = new Service({
    dist,
    dataDir: `${directory}/kills`,
    port: await freePort(),
    preloads: ['kill-points', 'foreign-evidence'],
  });
  const world = new World({ repo: 'kills', bases: [service.url], seed });
  const tally = new Map(POINTS.map((point) => [point.name, { armed: 0, hit: 0, alone: 0, both: 0, rounds: new Set() }]));
  const stop = world.begin(BUILDERS);
  const importing = sendEvidence(service, world);
  let round = 0;
  for (const point of planned(wanted, random)) {
    round += 1;
    if (round % 6 === 0) world.newFiles();
    await strike(point, { service, world, random, round, tally: tally.get(point.name), report });
  }
  world.load = 'mixed';
  await service.begin();
  await sleep(500);
  await importing.stop();
  await stop();

  report.say(
    `${round} kills, ${world.ledger.calls.length} calls, ${world.ledger.calls.filter((call) => call.cutOff.length > 0).length} of them cut off`,
  );
  const before = await endCheck(report, world, { dist, databaseUrl: databaseOf(service.dataDir) });
  report.say('-- PostgreSQL and node restarted, and once more');
  const { code } = await service.terminate();
  report.check('it ends cleanly', code === 0, `exit code ${code}`);
  report.check('nothing is left running', processesOf(service.dataDir).length === 0, processesOf(service.dataDir));
  await service.begin();
  const after = await endCheck(report, world, { dist, databaseUrl: databaseOf(service.dataDir) });
  const size = (streams) => [...streams.values()].reduce((sum, events) => sum + events.length, 0);
  report.check('a restart adds nothing and loses nothing', size(before) === size(after), `${size(before)} and ${size(after)} events`);
  await service.terminate();
  printTable(report, tally, before, world);
}

/** What happens at a first start comes first and in its order; then every other point, and further ones by chance. */
function planned(wanted, random) {
  const plan = [...STARTING, ...random.shuffled(UNDER_LOAD)];
  while (plan.length < wanted) plan.push(random.pick(UNDER_LOAD));
  return plan;
}

/** One kill: of the service alone, or with its PostgreSQL right behind it. What it was about to answer is unknown to everybody now. */
async function strike(point, { service, world, random, round, tally, report }) {
  world.load = point.load;
  const postmaster = round % 2 === 0;
  for (let tried = 1; tried <= TRIES; tried += 1) {
    const pass = tried === 1 ? random.between(1, point.upTo) : 1;
    tally.armed += 1;
    world.ledger.round = round;
    const hits = linesOf(`${service.dataDir}.hits`).length;
    service.start({ point: point.name, pass });
    const ended = await Promise.race([service.exited, sleep(HIT_WITHIN_MS, null, { ref: false })]);
    await service.kill({ postmaster });
    const hit = linesOf(`${service.dataDir}.hits`).slice(hits)[0];
    if (hit !== undefined) {
      tally.hit += 1;
      tally.rounds.add(round);
      tally[postmaster ? 'both' : 'alone'] += 1;
      return;
    }
    if (ended !== null)
      report.check(`the service lives until it is killed (${point.name})`, false, `${JSON.stringify(ended)}\n${service.lastWords()}`);
  }
}

function linesOf(file) {
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n').filter(Boolean) : [];
}

function printTable(report, tally, streams, { ledger }) {
  const outcomes = cutOff(streams, ledger);
  report.say('');
  report.table(
    ['kill point', 'armed', 'hit', 'alone', 'with postmaster', 'calls cut off', 'of them durable', 'what must hold'],
    POINTS.map(({ name, proves }) => {
      const { armed, hit, alone, both, rounds } = tally.get(name);
      const here = outcomes.filter(({ round }) => rounds.has(round));
      return [name, armed, hit, alone, both, here.length, here.filter(({ durable }) => durable).length, proves];
    }),
  );
  const never = POINTS.filter(({ name }) => tally.get(name).hit === 0).map(({ name }) => name);
  report.none('every kill point was hit', never, `${POINTS.length} points`);
  for (const name of POINTS.filter(({ durable }) => durable).map((point) => point.name)) {
    const there = outcomes.some(({ round, durable }) => durable && tally.get(name).rounds.has(round));
    report.check(`${name}: the call that was cut off is in the log`, there);
  }
}

/** Every asking that a kill left without an answer, and whether that very asking, not a later repetition, wrote the command's events. */
function cutOff(streams, ledger) {
  const writtenBy = new Set();
  for (const events of streams.values()) for (const { metadata } of events) writtenBy.add(metadata.requestId);
  return ledger.calls.flatMap(({ cutOff }) => cutOff.map(({ round, requestId }) => ({ round, durable: writtenBy.has(requestId) })));
}
