import type { Clock, WhatIf, WhatIfStore } from './ports.js';
import { type Progress, type ReplayParts, replayWhatIf } from './replay-what-if.js';
import { keepGoing, pause } from './timing.js';

const LOOK_EVERY_MS = 500;
const TELL_EVERY_MS = 500;

interface Parts extends ReplayParts {
  whatIfs: WhatIfStore;
  clock: Clock;
  report: (message: string, level?: 'info') => void;
}

/** Somebody cancelled it. */
class Cancelled extends Error {}

/** Works on what-ifs, one after the other, until `signal` aborts. One that a crash left half done begins again: it has changed nothing. */
export async function runWhatIfs(parts: Parts, signal: AbortSignal): Promise<void> {
  await keepGoing('the what-ifs', signal, parts.report, async () => {
    while (!signal.aborted) {
      for (const whatIf of await parts.whatIfs.running()) if (!signal.aborted) await work(parts, whatIf, signal);
      await pause(LOOK_EVERY_MS, signal);
    }
  });
}

async function work(parts: Parts, { id, asked }: WhatIf, signal: AbortSignal): Promise<void> {
  const { whatIfs, clock, report } = parts;
  const over = new AbortController();
  let latest: Progress = { fraction: 0, files: 0, attempts: 0 };
  const telling = setInterval(() => {
    whatIfs.progress(id, latest).then(
      (goesOn) => goesOn || over.abort(new Cancelled()),
      () => {},
    );
  }, TELL_EVERY_MS);
  try {
    if (!(await whatIfs.progress(id, latest))) return;
    const result = await replayWhatIf(parts, asked, AbortSignal.any([signal, over.signal]), (progress) => {
      latest = progress;
    });
    await whatIfs.finish(id, { status: 'done', result, error: null }, clock.now());
  } catch (error) {
    if (signal.aborted || error instanceof Cancelled) return;
    const message = error instanceof Error ? error.message : String(error);
    report(`the what-if ${id} failed: ${message}`);
    await whatIfs.finish(id, { status: 'failed', result: null, error: message }, clock.now());
  } finally {
    clearInterval(telling);
  }
}
