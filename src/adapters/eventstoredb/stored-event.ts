import { type FollowedEvent, isUnread, type LogEntry, type StoredEvent, UnreadableStream } from '../../application/ports.js';
import { metadata } from '../../catalogue/metadata.js';
import { type readEvent, UnreadableEvent } from '../../catalogue/versions.js';

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

/** Parsed on the way out of the store, never cast. One that `read` cannot read, or whose metadata is not Anvil's, says why. */
export function followedEvent(raw: RawEvent, read: typeof readEvent): FollowedEvent {
  const place = { id: raw.id, stream: raw.streamId, revision: Number(raw.revision), position: String(raw.position?.commit ?? '') };
  try {
    const parsed = metadata.safeParse(raw.metadata);
    if (!parsed.success) throw new UnreadableEvent(raw.type, 0, `its metadata is not Anvil's: ${parsed.error.issues[0]?.message}`);
    return {
      ...place,
      created: raw.created,
      written: { type: raw.type, data: raw.data },
      metadata: parsed.data,
      event: read(raw.type, parsed.data.schemaVersion, raw.data),
    };
  } catch (error) {
    return { ...place, type: raw.type, unreadable: error instanceof Error ? error.message : String(error) };
  }
}

/** For who needs every event of a stream. Throws {@link UnreadableStream}. */
export function storedEvent(raw: RawEvent, read: typeof readEvent): StoredEvent {
  const event = followedEvent(raw, read);
  if (isUnread(event)) throw new UnreadableStream(event);
  return event;
}

/** Not parsed at all. */
export function logEntry({ id, streamId, revision, position, created, type, data, metadata: said }: RawEvent): LogEntry {
  const place = { id, stream: streamId, revision: Number(revision), position: String(position?.commit ?? ''), created };
  return { ...place, type, data, metadata: said };
}
