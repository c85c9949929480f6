import { execFile } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { link, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { platform } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

const LOCK_FILE = 'anvil.lock';
/** A process that lives, but whose start time this system does not tell us. */
const UNKNOWN_START = 'unknown';

interface Holder {
  pid: number;
  startedAt: string;
}

/** What is known of a file that says who holds a lock; `text` is unique for every time the lock was taken. */
interface LockFile {
  text: string;
  holder: Holder | null;
}

/**
 * Takes the lock of one data directory for this process, or says who has it. A lock whose process is gone (kill -9, power loss) does not count:
 * the file names pid and start time, so that a reused pid is not taken for the holder.
 *
 * Processes in other containers that share the directory are not visible here, and are not kept out.
 */
export async function lockDataDir(dataDir: string): Promise<() => Promise<void>> {
  const path = join(dataDir, LOCK_FILE);
  const startedAt = (await processStart(process.pid)) ?? UNKNOWN_START;
  const text = `${JSON.stringify({ pid: process.pid, startedAt, id: randomUUID() })}\n`;
  const holder = await acquire(path, text);
  if (holder) {
    throw new Error(
      `another Anvil (pid ${holder.pid}) already runs on ${dataDir}; stop it, give this one another ANVIL_DATA_DIR, ` +
        'or set DATABASE_URL and EVENTSTORE_URL',
    );
  }
  return async () => {
    if ((await readLock(path))?.text === text) await rm(path, { force: true });
  };
}

/**
 * Returns the living holder, or null once the lock is ours. `link` makes the file with its whole content, or fails if there is one.
 *
 * Two starters may find the same dead holder; removing its file is therefore itself guarded, by a lock named after that very file. Whoever has the
 * guard looks again, so that the late one sees the new holder instead of removing it. A guard left by a crash is overcome in the same way.
 */
async function acquire(path: string, text: string): Promise<Holder | null> {
  const draft = `${path}.${randomUUID()}`;
  await writeFile(draft, text);
  try {
    for (;;) {
      if (await linkIfNone(draft, path)) return null;
      const found = await readLock(path);
      if (!found) continue;
      if (found.holder && (await lives(found.holder))) return found.holder;

      const guard = `${path}.${createHash('sha256').update(found.text).digest('hex').slice(0, 12)}`;
      if (await acquire(guard, text)) {
        await sleep(20);
        continue;
      }
      try {
        if ((await readLock(path))?.text === found.text) {
          await rename(draft, path);
          return null;
        }
      } finally {
        await rm(guard, { force: true });
      }
    }
  } finally {
    await rm(draft, { force: true });
  }
}

async function linkIfNone(draft: string, path: string): Promise<boolean> {
  try {
    await link(draft, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

async function readLock(path: string): Promise<LockFile | null> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
  try {
    const { pid, startedAt } = JSON.parse(text) as Partial<Holder>;
    if (Number.isSafeInteger(pid) && typeof startedAt === 'string') return { text, holder: { pid: pid as number, startedAt } };
  } catch {
    // Not JSON: half of a file that a power loss left. Nobody holds it.
  }
  return { text, holder: null };
}

async function lives(holder: Holder): Promise<boolean> {
  const start = await processStart(holder.pid);
  if (start === null) return false;
  return start === holder.startedAt || start === UNKNOWN_START || holder.startedAt === UNKNOWN_START;
}

/** When the process started, as text that is equal for the same process only; null if it does not run. A zombie does not run. */
export async function processStart(pid: number): Promise<string | null> {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return null;
  }
  try {
    if (platform() !== 'linux') {
      return (await promisify(execFile)('ps', ['-o', 'lstart=', '-p', String(pid)])).stdout.trim() || null;
    }
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
    // The second field is the program's name in parentheses and may hold anything, so count from its end: state is field 3, start time field 22.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (fields[0] === 'Z' || fields[0] === 'X') return null;
    const boot = await readFile('/proc/sys/kernel/random/boot_id', 'utf8');
    return `${boot.trim()}/${fields[19]}`;
  } catch {
    return UNKNOWN_START;
  }
}
