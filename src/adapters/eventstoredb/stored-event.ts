import type { StoredEvent } from '../../application/ports.js';
import { metadata } from '../../catalogue/metadata.js';
import { readEvent, UnreadableEvent } from '../../catalogue/versions.js';

/** A recorded event as the client hands it out. */
export interface RawEvent {
  id: string;
  streamId: string;
  revision: bigint;
  type: string;
  created: Date;
  data: unknown;
  metadata: unknown;
  position?: { commit: bigint };
}

/** Parsed on the way out of the store, never cast. Throws {@link UnreadableEvent}. */
export function storedEvent(raw: RawEvent): StoredEvent {
  const parsed = metadata.safeParse(raw.metadata);
  if (!parsed.success) throw new UnreadableEvent(raw.type, 0, `its metadata is not Anvil's: ${parsed.error.issues[0]?.message}`);
  return {
    id: raw.id,
    stream: raw.streamId,
    revision: Number(raw.revision),
    position: String(raw.position?.commit ?? ''),
    created: raw.created,
    written: { type: raw.type, data: raw.data },
    metadata: parsed.data,
    event: readEvent(raw.type, parsed.data.schemaVersion, raw.data),
  };
}
