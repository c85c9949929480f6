import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** The processes that work in a directory or below it, or were started for it by name. Only ever asked of directories that this run made. */
export function processesOf(directory) {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => pid !== process.pid && isRunning(pid) && belongsTo(pid, directory));
}

function belongsTo(pid, directory) {
  try {
    if (`${readlinkSync(`/proc/${pid}/cwd`)}/`.startsWith(`${directory}/`)) return true;
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(`${directory}/`);
  } catch {
    return false;
  }
}

/** A zombie does not run. */
export function isRunning(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return !'ZX'.includes(stat.slice(stat.lastIndexOf(')') + 2)[0]);
  } catch {
    return false;
  }
}

/** The postmaster of a data directory, if it runs there. */
export function postmasterOf(dataDir) {
  const cluster = join(dataDir, 'postgres');
  try {
    const pid = Number(readFileSync(join(cluster, 'postmaster.pid'), 'utf8').split('\n')[0]);
    return readlinkSync(`/proc/${pid}/cwd`) === cluster ? pid : null;
  } catch {
    return null;
  }
}

/** Kills, by pid, everything of a directory. */
export async function killAllOf(directory) {
  for (let tries = 0; tries < 100; tries += 1) {
    const pids = processesOf(directory);
    if (pids.length === 0) return;
    for (const pid of pids) kill(pid, 'SIGKILL');
    await sleep(50);
  }
  throw new Error(`processes of ${directory} do not end: ${processesOf(directory)}`);
}

export function kill(pid, signal) {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (error.code !== 'ESRCH') throw error;
  }
}

/** Asks, again and again, for something that must become true; what never does fails by the number of tries. */
export async function eventually(ask, what, tries = 600, pauseMs = 50) {
  for (let tried = 0; tried < tries; tried += 1) {
    const answer = await ask();
    if (answer) return answer;
    await sleep(pauseMs);
  }
  throw new Error(`never happened: ${what}`);
}
