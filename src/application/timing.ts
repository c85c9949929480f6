import { setTimeout as sleep } from 'node:timers/promises';

/** Waits, or returns at once when `signal` aborts. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => {});
}

/** The promise's own result, or an error once `ms` have passed; the promise itself is left to itself. */
export async function withTimeout<T>(promise: Promise<T>, ms: number, what: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} took over ${ms} ms`)), ms);
  });
  try {
    return await Promise.race([promise, limit]);
  } finally {
    clearTimeout(timer);
  }
}

const FIRST_BACKOFF_MS = 100;
const LONGEST_BACKOFF_MS = 5_000;

/** Does long-running work until `signal` aborts: when it fails, says so, waits a while that grows with each failure, and begins again. */
export async function keepGoing(
  what: string,
  signal: AbortSignal,
  report: (message: string) => void,
  work: () => Promise<void>,
): Promise<void> {
  let backoff = FIRST_BACKOFF_MS;
  while (!signal.aborted) {
    const started = performance.now();
    try {
      await work();
    } catch (error) {
      report(`${what} failed and begins again: ${error instanceof Error ? error.message : String(error)}`);
    }
    if (performance.now() - started > LONGEST_BACKOFF_MS) backoff = FIRST_BACKOFF_MS;
    await pause(backoff, signal);
    backoff = Math.min(backoff * 2, LONGEST_BACKOFF_MS);
  }
}
