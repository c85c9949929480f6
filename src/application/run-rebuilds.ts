import { FOLLOWED_STREAMS } from '../domain/ids.js';
import { isDatabaseAway } from './database-away.js';
import { type Clock, type EventLog, type ProjectionRows, type Rebuild, type RebuildStore, StoreUnavailable } from './ports.js';
import { readAhead } from './read-ahead.js';
import { keepGoing, pause } from './timing.js';

const LOOK_EVERY_MS = 500;
const SWITCH_EVERY_MS = 200;
/** So often a rebuild that is compared waits for the moment at which live and built rows have seen the same. */
const EXACT_TRIES = 50;
/** Events of a batch: many change the same rows, which are then written once. */
const BATCH = 1_500;
const READ_AT_ONCE = 500;
const PATIENCE_MS = 150;

interface Parts {
  log: EventLog;
  rebuilds: RebuildStore;
  clock: Clock;
  report: (message: string, level?: 'info') => void;
}

/**
 * Looks for rebuilds until `signal` aborts, and has them worked off: those that were asked for, and those that a crash left half done,
 * which go on from where their rows stand.
 */
export async function runRebuilds(
  { rebuilds, report, workOff }: Pick<Parts, 'rebuilds' | 'report'> & { workOff: (signal: AbortSignal) => Promise<void> },
  signal: AbortSignal,
): Promise<void> {
  await keepGoing('the rebuilds', signal, report, async () => {
    while (!signal.aborted) {
      if ((await rebuilds.running()).length > 0) await workOff(signal);
      await pause(LOOK_EVERY_MS, signal);
    }
  });
}

/** Works on the rebuilds that there are, one after the other. */
export async function workOffRebuilds(parts: Parts, signal: AbortSignal): Promise<void> {
  for (const rebuild of await parts.rebuilds.running()) await work(parts, rebuild, signal);
}

async function work(parts: Parts, rebuild: Rebuild, signal: AbortSignal): Promise<void> {
  const { rebuilds, clock, report } = parts;
  const over = new AbortController();
  const either = AbortSignal.any([signal, over.signal]);
  // Whichever ends first, by a switch or by a failure, ends the other.
  const ends = (part: Promise<void>) => part.finally(() => over.abort());
  const ended = () => report(`the rebuild ${rebuild.id} of ${rebuild.projections.join(', ')} has ended`, 'info');
  try {
    const rows = await rebuilds.shadow(rebuild);
    await Promise.all([ends(fill(parts, rebuild, rows, either)), ends(switchWhenCaughtUp(parts, rebuild, either))]);
    if (!signal.aborted) ended();
  } catch (error) {
    if (signal.aborted) return;
    // What was away comes back, and the rows are where they were: whoever looks for rebuilds begins again.
    if (isDatabaseAway(error) || error instanceof StoreUnavailable) throw error;
    // A batch that waited while the rows were switched, or dropped, finds its tables gone.
    if ((await rebuilds.get(rebuild.id))?.status !== 'running') return ended();
    const message = error instanceof Error ? error.message : String(error);
    report(`the rebuild ${rebuild.id} failed: ${message}`);
    await rebuilds.finish(rebuild.id, 'failed', message, clock.now());
  }
}

/** Takes the rebuild's rows over the log, from where they stand. */
async function fill({ log, rebuilds }: Parts, rebuild: Rebuild, rows: ProjectionRows, signal: AbortSignal): Promise<void> {
  const end = BigInt((await log.head()) ?? 0);
  const read = log.follow(FOLLOWED_STREAMS, await rows.oldestPosition(), signal, READ_AT_ONCE);
  for await (const batch of readAhead(read, BATCH, PATIENCE_MS)) {
    if (signal.aborted) return;
    await rows.apply(batch);
    const place = BigInt(batch.at(-1)!.position);
    await rebuilds.progress(rebuild.id, batch.length, place >= end ? 1 : Number((place * 10_000n) / end) / 10_000);
  }
}

/**
 * Ends when the rebuild's rows have taken the live ones' place, or when somebody cancelled it. Rows are compared where both have seen the same
 * of the log; on one that grows too fast for that, where the built ones are a little ahead.
 */
async function switchWhenCaughtUp({ rebuilds, clock }: Parts, rebuild: Rebuild, signal: AbortSignal): Promise<void> {
  let indexed = false;
  for (let patience = EXACT_TRIES; !signal.aborted; ) {
    await pause(SWITCH_EVERY_MS, signal);
    const now = await rebuilds.get(rebuild.id);
    if (now?.status !== 'running') return;
    indexed ||= await rebuilds.index(rebuild);
    if (!indexed) continue;
    if (await rebuilds.switchOver(rebuild, clock.now(), rebuild.compare && patience > 0)) return;
    if (now.fraction === 1) patience -= 1;
  }
}
