#!/usr/bin/env node
// Runs the suites that speak to servers once more, with both servers in processes of their own: PostgreSQL, and the event store node as
// `npm run eventstore` starts it. With TEST_DATABASE_URL and TEST_EVENTSTORE_URL already set, those servers are used (a real EventStoreDB,
// for one). Needs `npm run build` before it. Further arguments go to jest.
import { spawn } from 'node:child_process';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const SUITES = ['test/http', 'test/application', 'test/projections', 'test/adapters', 'test/embedded/node/contract'];
/** What is about a whole log, or writes into it what nobody can read, needs one that no other suite has used. */
const NEED_A_LOG_OF_THEIR_OWN = ['export-import', 'parked-events', 'what-if'].map((suite) => `/http/${suite}\\.test`);
/** What kills its servers has its own, whatever is given: once is enough. */
const HAVE_SERVERS_OF_THEIR_OWN = ['/application/rebuild-database-killed\\.test'];
/** Each suite begins with read models of its own, and so with all that the suites before it wrote: short logs keep that short. */
const SHARDS = 4;
/** As many as there are cores to be expected; each on servers of its own, or they would take the lead from each other. */
const AT_ONCE = 2;

/** Starts the node over an embedded PostgreSQL, and answers what it prints of itself: NAME=value a line. */
async function startServers(dataDir) {
  const child = spawn(process.execPath, ['dist/src/embedded/eventstore.js'], {
    env: { ...process.env, ANVIL_DATA_DIR: dataDir, ANVIL_EVENTSTORE_PORT: '0', DATABASE_URL: '', EVENTSTORE_URL: '' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const said = {};
  for await (const line of createInterface({ input: child.stdout })) {
    const [, name, value] = /^([A-Z_]+)='?(.*?)'?$/.exec(line) ?? [];
    if (name) said[name] = value;
    if (said.EVENTSTORE_URL && said.DATABASE_URL) return { child, said };
  }
  throw new Error('the servers did not start');
}

const ended = (child) => new Promise((resolve) => child.once('exit', (code) => resolve(code ?? 1)));

/** One suite after the other. */
function runTests({ DATABASE_URL, EVENTSTORE_URL }, args) {
  const env = { ...process.env, TEST_DATABASE_URL: DATABASE_URL, TEST_EVENTSTORE_URL: EVENTSTORE_URL };
  const jest = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning', 'node_modules/jest/bin/jest.js', '--runInBand'];
  return ended(spawn(process.execPath, [...jest, ...args], { env, stdio: 'inherit' }));
}

async function onServersOfItsOwn(args) {
  const dataDir = await mkdtemp(join(tmpdir(), 'anvil-servers-'));
  await chmod(dataDir, 0o755);
  let servers;
  try {
    servers = await startServers(dataDir);
    return await runTests(servers.said, args);
  } finally {
    if (servers) {
      const gone = ended(servers.child);
      servers.child.kill('SIGTERM');
      await gone;
    }
    await rm(dataDir, { recursive: true, force: true });
  }
}

/** Runs all, some at a time, and answers with what the worst of them ended with. */
async function all(groups) {
  const codes = [];
  const worker = async () => {
    for (let args = groups.shift(); args !== undefined; args = groups.shift()) codes.push(await onServersOfItsOwn(args));
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return Math.max(...codes);
}

const asked = process.argv.slice(2);
const left = [...NEED_A_LOG_OF_THEIR_OWN, ...HAVE_SERVERS_OF_THEIR_OWN];
const shared = [...SUITES, ...left.flatMap((pattern) => ['--testPathIgnorePatterns', pattern])];
const { TEST_DATABASE_URL, TEST_EVENTSTORE_URL } = process.env;
const given = TEST_DATABASE_URL && TEST_EVENTSTORE_URL && { DATABASE_URL: TEST_DATABASE_URL, EVENTSTORE_URL: TEST_EVENTSTORE_URL };
const shards = Array.from({ length: SHARDS }, (_, i) => [...shared, `--shard=${i + 1}/${SHARDS}`]);
const alone = NEED_A_LOG_OF_THEIR_OWN.map((pattern) => [pattern]);

if (given) process.exit(await runTests(given, asked.length > 0 ? asked : shared));
process.exit(await all(asked.length > 0 ? [asked] : [...shards, ...alone]));
