import { execFileSync } from 'node:child_process';
import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually, killAllOf } from '../lib/processes.mjs';
import { Setting } from '../lib/setting.mjs';

const CHUNK = Buffer.alloc(256 * 1024);

/** The disk is full while builders work: callers are told, nothing that was acknowledged is lost, and with room again it goes on. */
export async function disk(given) {
  const { report, directory } = given;
  const mount = `${directory}/disk`;
  mkdirSync(mount);
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=160m,mode=755', 'tmpfs', mount], { stdio: 'pipe' });
  } catch (error) {
    report.say(`skipped: a small file system cannot be mounted here (${String(error.stderr ?? error.message).trim()})`);
    rmSync(mount, { recursive: true });
    return;
  }
  try {
    await onFullDisk(given, mount, `${mount}/filler`);
  } finally {
    await unmount(directory);
  }
}

/** Also for a run that is interrupted: no mount may outlive it. */
export async function unmount(directory) {
  const mount = `${directory}/disk`;
  if (!readFileSync('/proc/mounts', 'utf8').includes(` ${mount} `)) return;
  await killAllOf(mount);
  execFileSync('umount', [mount]);
}

async function onFullDisk({ report, ...given }, mount, filler) {
  const setting = await Setting.make({ report, ...given, directory: mount }, 'data');
  const { service, world } = setting;
  await setting.begin();
  world.load = 'texts';
  const unavailable = world.client.unavailable;
  let filled = fill(filler);
  report.say(`     full: ${Math.round(filled / 2 ** 20)} MiB were left`);
  let ended = null;
  void service.exited.then((how) => {
    ended = how;
  });
  // What the builders write fills what the filler could not; whatever is freed meanwhile is taken again.
  await eventually(
    () => {
      filled += fill(filler);
      return world.client.unavailable > unavailable || ended !== null;
    },
    'the full disk is felt',
    800,
  );
  report.check(
    'full disk: callers are told 503, or the service ended by itself',
    world.ledger.wrong.length === 0,
    world.ledger.wrong.slice(0, 3),
  );
  const acknowledged = world.ledger.of('acknowledged').length;
  await sleep(1_500);
  rmSync(filler);
  world.load = 'mixed';
  const recovered = async () => ended !== null || world.ledger.of('acknowledged').length > acknowledged + 20;
  await eventually(recovered, 'with room again the service goes on, or has ended', 1_600);
  report.say(
    `     with room again the service ${ended === null ? 'goes on' : `has ended (${JSON.stringify(ended)}) and is started again`}`,
  );
  if (ended !== null) {
    report.check('full disk: it ends with exit code 1', ended.code === 1, ended);
    await service.begin();
  }
  await setting.progress(50);
  await setting.end();
}

/** Takes all the room there is; answers how much that was. */
function fill(filler) {
  const file = openSync(filler, 'a');
  let taken = 0;
  try {
    for (let size = CHUNK.length; size >= 4096; ) {
      try {
        taken += writeSync(file, CHUNK, 0, size);
      } catch (error) {
        if (error.code !== 'ENOSPC') throw error;
        size /= 2;
      }
    }
    fsyncSync(file);
    return taken;
  } finally {
    closeSync(file);
  }
}
