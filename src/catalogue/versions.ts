import { type AnvilEvent, type EventType, eventSchemas, isEventType } from './events.js';
import { type Metadata, metadata } from './metadata.js';

type Upcaster = (data: unknown) => unknown;

/**
 * How older shapes become the newest: the n-th entry lifts version n to n + 1. A type without an entry is at version 1. A type never
 * changes its meaning: a new shape is a new version, with an upcaster here and a golden example of every version in the tests.
 */
const upcasters: { [T in EventType]?: Upcaster[] } = {
  AttemptRecorded: [lacking({ history: null })],
  DispatchOpened: [lacking({ assigned: null })],
  SnapshotDiffCaptured: [lacking({ renames: [] })],
  // Version 2 names what was judged. Version 1 kept no trace of it: such a verdict contradicts none.
  VerdictReached: [lacking({ trial: null })],
  // Version 2 says what it corrects.
  VerdictCorrected: [lacking({ corrects: null })],
  // Version 2 can say which failures a pass overcame.
  AttributionWithdrawn: [lacking({ attempts: null })],
  DispatchClosed: [lacking({ otherFiles: [] })],
};

/** Lifts a shape that only lacked fields: what they would have said then. What is no object stays so: the schema says what is wrong with it. */
function lacking(added: object): Upcaster {
  return (data) => (typeof data === 'object' && data !== null && !Array.isArray(data) ? { ...data, ...added } : data);
}

/** The version that events of a type are written in. */
export function currentVersion(type: EventType): number {
  return (upcasters[type]?.length ?? 0) + 1;
}

/** What a stored event that this code cannot read is answered with: never a cast. */
export class UnreadableEvent extends Error {
  constructor(type: string, version: number, why: string) {
    super(`cannot read ${type} of schema version ${version}: ${why}`);
    this.name = 'UnreadableEvent';
  }
}

/** A stored event, lifted to the newest shape and parsed. Throws {@link UnreadableEvent}. */
export function readEvent(type: string, version: number, data: unknown): AnvilEvent {
  if (!isEventType(type)) throw new UnreadableEvent(type, version, 'the type is unknown');
  if (version > currentVersion(type)) throw new UnreadableEvent(type, version, 'it was written by a newer Anvil');
  const lifted = (upcasters[type] ?? []).slice(version - 1).reduce((shape, lift) => lift(shape), data);
  const parsed = eventSchemas[type].safeParse(lifted);
  if (!parsed.success)
    throw new UnreadableEvent(type, version, parsed.error.issues.map((i) => `${i.path.join('.')}: ${i.message}`).join('; '));
  return { type, data: parsed.data } as AnvilEvent;
}

/** An event and its metadata as they were stored, both parsed. Throws {@link UnreadableEvent}, also where somebody else wrote it. */
export function readWritten(type: string, data: unknown, said: unknown): { metadata: Metadata; event: AnvilEvent } {
  const parsed = metadata.safeParse(said);
  if (!parsed.success) throw new UnreadableEvent(type, 0, `its metadata is not Anvil's: ${parsed.error.issues[0]?.message}`);
  return { metadata: parsed.data, event: readEvent(type, parsed.data.schemaVersion, data) };
}

/** An event that is about to be written, checked against its schema: a bug here must not reach the log. */
export function checkEvent(event: AnvilEvent): AnvilEvent {
  return readEvent(event.type, currentVersion(event.type), event.data);
}
