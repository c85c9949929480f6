import type { Readable } from 'node:stream';

/**
 * What a stream holds, in batches of what is at hand, up to `most`. Nothing is read while a batch is being worked on, so a slow reader
 * slows the stream down. Ends with the stream or when `signal` aborts; throws the stream's error.
 */
export async function* batchesOf<T>(stream: Readable, most: number, signal: AbortSignal): AsyncIterable<T[]> {
  let wake = () => {};
  let failure: unknown;
  let over = false;
  const onEnd = () => {
    over = true;
    wake();
  };
  const onError = (error: unknown) => {
    failure = error;
    onEnd();
  };
  stream.on('readable', () => wake());
  stream.on('end', onEnd);
  stream.on('close', onEnd);
  stream.on('error', onError);
  signal.addEventListener('abort', onEnd, { once: true });
  try {
    for (;;) {
      const readable = new Promise<void>((resolve) => {
        wake = resolve;
      });
      const batch: T[] = [];
      while (batch.length < most && !signal.aborted) {
        const item = stream.read() as T | null;
        if (item === null) break;
        batch.push(item);
      }
      if (batch.length > 0) yield batch;
      else if (failure !== undefined) throw failure;
      else if (over) return;
      else await readable;
    }
  } finally {
    signal.removeEventListener('abort', onEnd);
  }
}
