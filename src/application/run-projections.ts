import { FILE_STREAMS } from '../domain/ids.js';
import type { EventLog, ProjectionRows } from './ports.js';
import { keepGoing } from './timing.js';

/** Keeps the read models up with the log until `signal` aborts. */
export async function runProjections(
  log: EventLog,
  rows: ProjectionRows,
  signal: AbortSignal,
  report: (message: string) => void,
): Promise<void> {
  await keepGoing('the projections', signal, report, async () => {
    for await (const batch of log.follow(FILE_STREAMS, await rows.oldestPosition(), signal)) await rows.apply(batch);
  });
}
