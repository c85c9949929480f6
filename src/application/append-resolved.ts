import { type EventLog, type NewEvent, StoreUnavailable } from './ports.js';

/** How often an append whose outcome is unknown is made, with the same event ids, to learn it. */
const TRIES = 3;

/** An append without an answer is made again with the same ids at the same revision: it counts once, and its outcome is learned. */
export async function appendResolved(log: EventLog, stream: string, revision: number, events: NewEvent[]): Promise<{ position: string }> {
  for (let tried = 1; ; tried += 1) {
    try {
      return await log.append(stream, revision, events);
    } catch (error) {
      if (!(error instanceof StoreUnavailable) || tried === TRIES) throw error;
    }
  }
}
