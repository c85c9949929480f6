import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { chown, lstat, mkdir, open, readFile, realpath, rename, rm, stat } from 'node:fs/promises';
import { platform, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { lockDataDir } from './data-dir-lock.js';
import { findPostgresPackage, makeOpenDir, preparePostgresBinaries, SERVER_ENV, SYSTEM_DIR } from './postgres-binaries.js';
import { type ClusterPlace, ensureCluster, POSTGRES_NAME, placeCluster, stopOrphan, stopPostmaster } from './postgres-cluster.js';

const READY_WITHIN_MS = 30_000;
/** A server that says it is recovering makes progress; stopping it would only make it begin again at the next start. */
const RECOVERED_WITHIN_MS = 300_000;
const LOCK_GONE_WITHIN_MS = 10_000;
const MAX_LOG_BYTES = 1_000_000;
/** The system's limit for a socket's path is 104 (macOS) to 108 bytes. */
const MAX_SOCKET_PATH_BYTES = 100;
const PORT = 5432;

const SETTINGS = {
  listen_addresses: '',
  port: PORT,
  unix_socket_permissions: '0700',
  max_connections: 50,
  shared_buffers: '128MB',
  huge_pages: 'off',
  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_destination: 'stderr',
  logging_collector: 'off',
  log_checkpoints: 'off',
};

/** A PostgreSQL that Anvil runs for itself. */
export interface EmbeddedPostgres {
  /** For `pg`; goes through a Unix socket that only this user (and root) can open. */
  connectionString: string;
  /** Where the cluster really is. */
  dataDir: string;
  /** What whoever starts Anvil should be told, such as why the cluster does not lie below the directory that was asked for. */
  notice: string | null;
  /** Stops the server and frees the data directory. End the pools first. May be called more than once. */
  stop(): Promise<void>;
  /** Resolves with the reason when the server ended without having been stopped: nobody else will start it again. */
  failed: Promise<Error>;
}

/** Starts the PostgreSQL of a data directory, making it first if there is none, and returns once it answers queries. */
export async function startPostgres(options: { dataDir: string; log?: (line: string) => void }): Promise<EmbeddedPostgres> {
  const log = options.log ?? console.error;
  if (platform() === 'win32') {
    throw new Error('The embedded PostgreSQL needs Unix sockets that Node.js can open, which Windows lacks. Set DATABASE_URL.');
  }
  const packageDir = findPostgresPackage();
  const { dataDir, unlock } = await claimDataDir(options.dataDir);
  try {
    const place = await placeCluster(dataDir);
    const copyBelow = place.user ? SYSTEM_DIR : dataDir;
    const binDir = await preparePostgresBinaries({ packageDir, copyBelow, user: place.user });
    await stopOrphan(place.clusterDir, log);
    await ensureCluster(place, binDir);
    const server = await startServer(place, binDir, log);

    let stopped: Promise<void> | undefined;
    const stop = async () => {
      await server.stop();
      await unlock();
    };
    return {
      connectionString: server.connectionString,
      dataDir: place.clusterDir,
      notice: place.notice,
      failed: server.failed,
      stop: () => {
        stopped ??= stop();
        return stopped;
      },
    };
  } catch (error) {
    await unlock();
    throw error;
  }
}

async function claimDataDir(asked: string): Promise<{ dataDir: string; unlock: () => Promise<void> }> {
  try {
    await mkdir(asked, { recursive: true });
    // One directory has one lock and one cluster, by whatever path it was named.
    const dataDir = await realpath(asked);
    return { dataDir, unlock: await lockDataDir(dataDir) };
  } catch (error) {
    if (!(error as NodeJS.ErrnoException).code) throw error;
    throw new Error(
      `Anvil cannot write to its data directory ${asked} (${(error as Error).message}). ` +
        'Make it writable, give Anvil another ANVIL_DATA_DIR, or set DATABASE_URL.',
    );
  }
}

interface Server {
  connectionString: string;
  stop(): Promise<void>;
  failed: Promise<Error>;
}

async function startServer(place: ClusterPlace, binDir: string, log: (line: string) => void): Promise<Server> {
  const logFile = join(dirname(place.clusterDir), 'postgres-server.log');
  const socketDir = await makeSocketDir(place);
  const args = [
    '-D',
    place.clusterDir,
    '-k',
    socketDir,
    ...Object.entries(SETTINGS).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
  ];

  for (const lockDeadline = performance.now() + LOCK_GONE_WITHIN_MS; ; await sleep(250)) {
    const { child, logStart } = await spawnServer(place, join(binDir, 'postgres'), args, logFile);
    const isGone = () => child.exitCode !== null || child.signalCode !== null || child.pid === undefined;
    const stop = async () => {
      if (!isGone()) await stopPostmaster((signal) => child.kill(signal), isGone);
      if (socketDir !== place.clusterDir) await rm(socketDir, { recursive: true, force: true });
    };
    try {
      await waitUntilReady(socketDir, isGone, log);
      await createDatabase(socketDir);
    } catch (error) {
      const lastWords = (await readFile(logFile)).subarray(logStart).toString().slice(-2_000).trim();
      // The processes of a server that was killed take a moment to notice.
      const isLocked = isGone() && /FATAL: {2}(lock file|pre-existing shared memory)|another postmaster/.test(lastWords);
      if (isLocked && performance.now() < lockDeadline) continue;
      await stop();
      throw new Error(
        `The embedded PostgreSQL in ${place.clusterDir} did not start: ${(error as Error).message}. Its log, ${logFile}, ends:\n${lastWords}`,
      );
    }

    let stopping = false;
    const failed = new Promise<Error>((resolve) => {
      child.on('exit', (code, signal) => {
        if (stopping) return;
        const reason = `The embedded PostgreSQL in ${place.clusterDir} ended by itself (${signal ?? `code ${code}`}); see ${logFile}`;
        log(reason);
        resolve(new Error(reason));
      });
    });
    return {
      failed,
      connectionString: connectionString(socketDir, POSTGRES_NAME),
      stop: () => {
        stopping = true;
        return stop();
      },
    };
  }
}

async function spawnServer(
  place: ClusterPlace,
  file: string,
  args: string[],
  logFile: string,
): Promise<{ child: ChildProcess; logStart: number }> {
  if (((await stat(logFile).catch(() => null))?.size ?? 0) > MAX_LOG_BYTES) await rename(logFile, `${logFile}.1`);
  // A file and not a pipe: the server outlives us if we are killed, and must not break over its log then.
  const { O_WRONLY, O_CREAT, O_APPEND, O_NOFOLLOW } = constants;
  const logHandle = await open(logFile, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW, 0o600);
  try {
    const logStart = (await logHandle.stat()).size;
    if (place.user) await logHandle.chown(place.user.uid, place.user.gid);
    // Detached: Ctrl-C in the terminal reaches Anvil only, which ends its pools before it stops the server.
    const child = spawn(file, args, {
      ...place.user,
      cwd: '/',
      env: SERVER_ENV,
      detached: true,
      stdio: ['ignore', logHandle.fd, logHandle.fd],
    });
    // A program that cannot be started has no pid, which is what is looked at.
    child.on('error', () => {});
    return { child, logStart };
  } finally {
    await logHandle.close();
  }
}

/** The cluster itself is closed to everybody else, so the socket lies there; only where that makes too long a path, in a short place as closed. */
async function makeSocketDir({ clusterDir, user }: ClusterPlace): Promise<string> {
  if (Buffer.byteLength(join(clusterDir, `.s.PGSQL.${PORT}`)) <= MAX_SOCKET_PATH_BYTES) return clusterDir;
  const parent = user ? SYSTEM_DIR : tmpdir();
  if (user) await makeOpenDir(parent);
  const directory = join(parent, `anvil-${createHash('sha256').update(clusterDir).digest('hex').slice(0, 12)}`);
  await mkdir(directory, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  const found = await lstat(directory);
  const [self, owner] = [process.getuid?.() ?? found.uid, user?.uid ?? found.uid];
  // The name can be guessed, and the temporary directory is everybody's.
  if (!found.isDirectory() || ![self, owner].includes(found.uid) || found.mode & 0o077) {
    throw new Error(`${directory}, needed for PostgreSQL's socket, is not ours; remove it, or give Anvil a shorter ANVIL_DATA_DIR.`);
  }
  if (user) await chown(directory, user.uid, user.gid);
  return directory;
}

function connectionString(socketDir: string, database: string): string {
  // Port and ssl are said, or `pg` would take them from PGPORT and PGSSLMODE.
  return `postgresql:///${database}?host=${encodeURIComponent(socketDir)}&port=${PORT}&user=${POSTGRES_NAME}&ssl=0`;
}

async function waitUntilReady(socketDir: string, isGone: () => boolean, log: (line: string) => void): Promise<void> {
  const start = performance.now();
  let said = false;
  for (let pauseMs = 25; ; await sleep(pauseMs)) {
    try {
      await withClient(socketDir, (client) => client.query('SELECT 1'));
      return;
    } catch (error) {
      if (isGone()) throw new Error('the server ended');
      const isRecovering = (error as { code?: string }).code === '57P03';
      const waitedMs = performance.now() - start;
      if (waitedMs > (isRecovering ? RECOVERED_WITHIN_MS : READY_WITHIN_MS)) {
        throw new Error(`no answer within ${Math.round(waitedMs / 1_000)} s: ${(error as Error).message}`);
      }
      if (isRecovering && !said && waitedMs > 5_000) {
        log('PostgreSQL is recovering from a crash; waiting for it');
        said = true;
      }
      // The server logs every connection that it turns away.
      if (isRecovering) pauseMs = 250;
    }
  }
}

async function createDatabase(socketDir: string): Promise<void> {
  await withClient(socketDir, async (client) => {
    const { rowCount } = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [POSTGRES_NAME]);
    if (rowCount === 0) await client.query(`CREATE DATABASE ${POSTGRES_NAME}`);
  });
}

async function withClient(socketDir: string, use: (client: pg.Client) => Promise<unknown>): Promise<void> {
  const client = new pg.Client({ connectionString: connectionString(socketDir, 'postgres'), connectionTimeoutMillis: 5_000 });
  // A connection that breaks while idle would otherwise end the process.
  client.on('error', () => {});
  try {
    await client.connect();
    await use(client);
  } finally {
    await client.end().catch(() => {});
  }
}
