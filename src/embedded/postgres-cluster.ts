import { createHash } from 'node:crypto';
import { chown, lchown, mkdtemp, open, readdir, readFile, readlink, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { processStart } from './data-dir-lock.js';
import { canTraverse, makeOpenDir, runAs, type ServerUser, SYSTEM_DIR } from './postgres-binaries.js';

/** `nobody` on every Linux; PostgreSQL needs an id that is not root's, not an account. */
const NOBODY = { uid: 65534, gid: 65534 };
const DRAFT_PREFIX = 'postgres.initdb-';

/** The role and the database that Anvil uses. */
export const POSTGRES_NAME = 'anvil';

/** Where the cluster lies, and who runs it. */
export interface ClusterPlace {
  clusterDir: string;
  user: ServerUser;
  notice: string | null;
}

/**
 * Decides where the cluster of a data directory lies. That is `<dataDir>/postgres`, unless we are root and the unprivileged server could not enter
 * it (a checkout in root's home). A cluster that exists is always preferred to a new one: permissions may change, data must not seem to vanish.
 */
export async function placeCluster(dataDir: string): Promise<ClusterPlace> {
  const clusterDir = join(dataDir, 'postgres');
  const existing = await stat(clusterDir).catch(() => null);
  if (process.getuid?.() !== 0) {
    if (existing && existing.uid !== process.getuid?.()) {
      throw new Error(
        `The embedded PostgreSQL in ${clusterDir} belongs to uid ${existing.uid}: Anvil ran there as another user. ` +
          'Run it as that user, give it another ANVIL_DATA_DIR, or set DATABASE_URL.',
      );
    }
    return { clusterDir, user: null, notice: null };
  }

  // A cluster that Anvil made when run by an ordinary user stays that user's.
  const user = existing?.uid ? { uid: existing.uid, gid: existing.gid } : NOBODY;
  const reachable = await canTraverse(dataDir, user);
  if (await isCluster(clusterDir)) {
    if (reachable) return { clusterDir, user, notice: null };
    throw new Error(
      `The embedded PostgreSQL in ${clusterDir} cannot run: as root it runs as uid ${user.uid}, which may not enter that directory. ` +
        'Allow it on the directories above (chmod o+x), move the data directory, or set DATABASE_URL.',
    );
  }
  const elsewhere = join(SYSTEM_DIR, createHash('sha256').update(dataDir).digest('hex').slice(0, 16), 'postgres');
  if (reachable && !(await isCluster(elsewhere))) return { clusterDir, user, notice: null };
  return {
    clusterDir: elsewhere,
    user: NOBODY,
    notice:
      `PostgreSQL's data lies in ${elsewhere} and not below ${dataDir}: as root, Anvil runs PostgreSQL as the unprivileged uid ${NOBODY.uid}, ` +
      'which could not enter that directory when the data was first made.',
  };
}

/** Makes the cluster unless it is there, and clears away what an interrupted attempt left. Call with the data directory locked. */
export async function ensureCluster(place: ClusterPlace, binDir: string): Promise<void> {
  const { clusterDir, user } = place;
  const parent = dirname(clusterDir);
  await makeOpenDir(parent);
  for (const name of await readdir(parent)) {
    if (name.startsWith(DRAFT_PREFIX)) await rm(join(parent, name), { recursive: true, force: true, maxRetries: 5 });
  }
  if (await isCluster(clusterDir)) {
    // Restored by root, say: PostgreSQL wants every file to be its own.
    if (user && (await stat(clusterDir)).uid === 0) await chownTree(clusterDir, user);
    return;
  }
  const draft = await mkdtemp(join(parent, DRAFT_PREFIX));
  try {
    if (user) await chown(draft, user.uid, user.gid);
    const made = await runAs(user, join(binDir, 'initdb'), [
      `--pgdata=${draft}`,
      `--username=${POSTGRES_NAME}`,
      '--encoding=UTF8',
      '--locale=C',
      // Whoever can open the socket is the directory's owner or root, and could read the files anyway. There is no other way in.
      '--auth-local=trust',
      '--auth-host=reject',
    ]);
    if (made.code !== 0) {
      throw new Error(
        `A PostgreSQL cluster could not be made in ${clusterDir}; give Anvil another ANVIL_DATA_DIR, or set DATABASE_URL. ` +
          `What initdb said last:\n${made.output.slice(-1_000)}`,
      );
    }
    await rename(draft, clusterDir);
    await syncDirectory(parent);
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOTEMPTY' || code === 'EEXIST' || code === 'ENOTDIR') {
      throw new Error(`${clusterDir} exists and is not a PostgreSQL cluster; move it away, or give Anvil another ANVIL_DATA_DIR.`);
    }
    throw error;
  }
}

/**
 * Stops a postmaster that still runs on the cluster because the Anvil that started it was killed. Its pid file may outlive it and name whatever
 * program has that pid today: only a PostgreSQL that works in this very directory is signalled.
 */
export async function stopOrphan(clusterDir: string, log: (line: string) => void): Promise<void> {
  const pidFile = join(clusterDir, 'postmaster.pid');
  const pid = Number((await readFile(pidFile, 'utf8').catch(() => '')).split('\n')[0]);
  if (Number.isSafeInteger(pid) && pid > 1 && (await processStart(pid)) !== null) {
    if (await isPostmasterOf(pid, clusterDir)) {
      log(`PostgreSQL (pid ${pid}) was left running in ${clusterDir} by an Anvil that was killed; stopping it`);
      await stopPostmaster(
        (signal) => process.kill(pid, signal),
        async () => !(await isPostmasterOf(pid, clusterDir)),
      );
    } else {
      // PostgreSQL would take the stranger for a rival and refuse to start. It still detects a real one, by its shared memory.
      await rm(pidFile, { force: true });
    }
  }
  // Their lock files name pids too, with the same trap.
  for (const name of ['.s.PGSQL.5432', '.s.PGSQL.5432.lock']) await rm(join(clusterDir, name), { force: true });
}

/** Fast shutdown; harsher only if it takes very long, which costs a recovery at the next start but no data. */
export async function stopPostmaster(send: (signal: NodeJS.Signals) => void, isGone: () => boolean | Promise<boolean>): Promise<void> {
  for (const [signal, patienceMs] of [
    ['SIGINT', 30_000],
    ['SIGQUIT', 10_000],
    ['SIGKILL', 5_000],
  ] as const) {
    try {
      send(signal);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
    for (const deadline = performance.now() + patienceMs; performance.now() < deadline; await sleep(10)) {
      if (await isGone()) return;
    }
  }
  throw new Error('PostgreSQL does not stop');
}

async function isPostmasterOf(pid: number, clusterDir: string): Promise<boolean> {
  if ((await processStart(pid)) === null) return false;
  let args: string[];
  try {
    args = (await readFile(`/proc/${pid}/cmdline`, 'utf8')).split('\0');
  } catch {
    // No /proc: macOS and the BSDs. Paths with spaces still match, since the whole line is compared.
    const { output } = await runAs(null, 'ps', ['-o', 'command=', '-p', String(pid)]);
    return /(^|\/)postgres /.test(output) && output.includes(`-D ${clusterDir} `);
  }
  if (basename(args[0] ?? '') !== 'postgres') return false;
  // The working directory follows when the data directory is moved under a running server; the arguments do not.
  const workingDir = await readlink(`/proc/${pid}/cwd`).catch(() => null);
  return workingDir === null ? args[args.indexOf('-D') + 1] === clusterDir : workingDir === clusterDir;
}

async function isCluster(directory: string): Promise<boolean> {
  const parts = ['PG_VERSION', 'global/pg_control'].map((name) => stat(join(directory, name)));
  return Promise.all(parts).then(
    () => true,
    () => false,
  );
}

async function chownTree(path: string, user: { uid: number; gid: number }): Promise<void> {
  for (const entry of await readdir(path, { withFileTypes: true })) {
    const child = join(path, entry.name);
    if (entry.isDirectory()) await chownTree(child, user);
    else await lchown(child, user.uid, user.gid);
  }
  await lchown(path, user.uid, user.gid);
}

/** A rename is on disk only when its directory is. */
async function syncDirectory(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
