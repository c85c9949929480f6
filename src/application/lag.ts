import { FILE_STREAMS } from '../domain/ids.js';
import type { EventLog, ProjectionRows } from './ports.js';

/** Events that are looked at to say how far behind the read models are. */
const MOST_LOOKED_AT = 1_000;

/** How far the read models are behind the log: `events` of files (counted up to 1,000), `seconds` since the oldest of them. */
export async function projectionLag(log: EventLog, rows: ProjectionRows, now: number): Promise<{ events: number; seconds: number }> {
  const { events, oldest } = await log.behind(FILE_STREAMS, await rows.oldestPosition(), MOST_LOOKED_AT);
  return { events, seconds: oldest === null ? 0 : Math.max(0, (now - oldest.getTime()) / 1000) };
}
