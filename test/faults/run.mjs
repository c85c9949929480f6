import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readOptions } from './lib/options.mjs';
import { killAllOf, processesOf } from './lib/processes.mjs';
import { Random } from './lib/random.mjs';
import { Report } from './lib/report.mjs';
import { clock } from './variants/clock.mjs';
import { disk, unmount } from './variants/disk.mjs';
import { instances } from './variants/instances.mjs';
import { kills } from './variants/kills.mjs';
import { postmaster } from './variants/postmaster.mjs';
import { sigterm } from './variants/sigterm.mjs';
import { stalled } from './variants/stalled.mjs';

// The fault suite: drives the built service with builders that keep trying, kills it and what it stands on, and holds what is left
// against a ledger of what was acknowledged.
const PARTS = { kills, sigterm, clock, postmaster, stalled, disk, instances };

const options = readOptions(process.argv.slice(2));
const report = new Report();
const directory = await mkdtemp(join(tmpdir(), 'anvil-faults-'));
// Run by root, PostgreSQL is another user and has to get there.
await chmod(directory, 0o755);
let interrupted = false;
for (const signal of ['SIGINT', 'SIGTERM'])
  process.once(signal, async () => {
    interrupted = true;
    await cleanUp();
    process.exit(130);
  });

for (const [name, part] of Object.entries(PARTS)) {
  if (options.only !== null && !options.only.includes(name)) continue;
  report.part(name);
  try {
    await part({ report, directory, dist: options.dist, kills: options.kills, seed: options.seed, random: new Random(options.seed) });
  } catch (error) {
    if (!interrupted) report.check(`${name} runs to its end`, false, error.stack);
  }
  report.check(`${name} leaves nothing running`, processesOf(directory).length === 0, processesOf(directory).join(' '));
  await killAllOf(directory);
}
await cleanUp();
report.end();
process.exit(report.failed === 0 ? 0 : 1);

async function cleanUp() {
  await killAllOf(directory);
  await unmount(directory);
  if (options.keep) console.log(`data and logs are in ${directory}`);
  else await rm(directory, { recursive: true, force: true });
}
