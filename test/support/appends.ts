import type { EventLog, NewEvent } from '../../src/application/ports.js';

export interface Append {
  stream: string;
  events: NewEvent[];
}

/** Notes every append that the service makes for a caller from here on, payloads included; what the saga does by itself is not one. */
export function watchAppends(log: EventLog): Append[] {
  const seen: Append[] = [];
  const append = log.append.bind(log);
  log.append = (stream, expectedRevision, events) => {
    if (events[0]?.metadata.actor !== 'calibration-saga') seen.push({ stream, events });
    return append(stream, expectedRevision, events);
  };
  return seen;
}
