import { z } from 'zod';
import * as attempt from './events/attempt-events.js';
import * as calibration from './events/calibration-events.js';
import * as dispatch from './events/dispatch-events.js';
import * as log from './events/log-events.js';
import * as repo from './events/repo-events.js';
import * as shared from './events/shared-events.js';

/** The events of a file stream, by type. */
export const fileEventSchemas = { ...dispatch, ...attempt, ...calibration, ...shared };
/** The events of the streams of a repo, of payloads, and of the log itself, by type. */
export const otherEventSchemas = { ...repo, ...log };
export const eventSchemas = { ...fileEventSchemas, ...otherEventSchemas };

type Schemas = typeof eventSchemas;
export type EventType = keyof Schemas;
export type EventData<T extends EventType> = z.infer<Schemas[T]>;
type EventOf<T extends EventType> = { [K in T]: { type: K; data: EventData<K> } }[T];

export type FileEventType = keyof typeof fileEventSchemas;
export type FileEvent = EventOf<FileEventType>;
export type PolicyEvent = EventOf<'PolicyAdopted' | 'EvidenceDiscounted'>;
export type InfraEvent = EventOf<'InfraBlockNoticed' | 'InfraBreakerOpened' | 'InfraProbeStarted' | 'InfraBreakerClosed'>;
export type ImportEvent = EventOf<'ImportStarted' | 'ImportFinished'>;
export type AnvilEvent = EventOf<EventType>;

export const fileEventTypes = Object.keys(fileEventSchemas) as FileEventType[];
export function isEventType(type: string): type is EventType {
  return Object.hasOwn(eventSchemas, type);
}

export function isFileEvent(event: AnvilEvent): event is FileEvent {
  return Object.hasOwn(fileEventSchemas, event.type);
}
