import { Worker } from 'node:worker_threads';

/** Most of what a rebuild makes lives as long as a batch: with room for that, little of it is moved to where garbage is dear. */
const YOUNG_MIB = 64;

/** What the worker of rebuilds is told. */
export interface RebuildPlaces {
  databaseUrl: string;
  eventStoreUrl: string;
}

/** A line for the service's log, from the worker. */
export interface Said {
  message: string;
  level?: 'info';
}

/**
 * Lets `entry`, the compiled rebuild-worker, work off the rebuilds that there are, in a thread of its own, so that whoever is served waits
 * for none of it. Ends with the thread, which any message stops; throws what it broke at.
 */
export async function runInThread(
  entry: URL,
  places: RebuildPlaces,
  report: (message: string, level?: 'info') => void,
  signal: AbortSignal,
): Promise<void> {
  const worker = new Worker(entry, { workerData: places, resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MIB } });
  worker.on('message', ({ message, level }: Said) => report(message, level));
  const stop = () => worker.postMessage('stop');
  signal.addEventListener('abort', stop);
  if (signal.aborted) stop();
  try {
    await new Promise<void>((resolve, reject) => {
      worker.once('error', reject);
      worker.once('exit', (code) => (code === 0 ? resolve() : reject(new Error(`their thread ended with ${code}`))));
    });
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
