import type shared from '@eventstore/db-client/generated/shared_pb.js';
import { EXPECT_ANY, EXPECT_NO_STREAM, EXPECT_STREAM_EXISTS } from './append-rules.js';
import { invalidArgument, requiredMetadataMissing } from './errors.js';
import { DELETED_REVISION, type ProposedEvent } from './log-event.js';

const MAX_NAME_BYTES = 1024;
const UUID_TEXT = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const LONE_SURROGATE = /\p{Surrogate}/u;
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The name in a request, checked. Names are indexed and end up in PostgreSQL's text, which bounds their length and forbids NUL. */
export function streamNameOf(identifier: shared.StreamIdentifier | undefined): string {
  const bytes = identifier?.getStreamName_asU8();
  if (bytes === undefined || bytes.length === 0) throw invalidArgument('The stream name is missing.');
  if (bytes.length > MAX_NAME_BYTES) throw invalidArgument(`A stream name has at most ${MAX_NAME_BYTES} bytes.`);
  let name: string;
  try {
    name = utf8.decode(bytes);
  } catch {
    throw invalidArgument('The stream name is not UTF-8.');
  }
  if (name.includes('\0')) throw invalidArgument('A stream name has no NUL.');
  if (name === '$$') throw invalidArgument('"$$" is not a stream name.');
  return name;
}

/** The same for a stream that is to be written: $all is a view of the log, not a stream. */
export function writableStreamNameOf(identifier: shared.StreamIdentifier | undefined): string {
  const name = streamNameOf(identifier);
  if (name === '$all' || name === '$$$all') throw invalidArgument(`${name} cannot be written.`);
  return name;
}

/** A uint64 of the protocol. What a number cannot hold exactly is far beyond any revision, and is taken for the largest one. */
export function toNumber(uint64: string): number {
  const value = Number(uint64);
  if (!Number.isFinite(value) || value < 0) throw invalidArgument(`Not a position: ${uint64}`);
  return Math.min(value, DELETED_REVISION);
}

interface ExpectedOptions {
  hasNoStream(): boolean;
  hasAny(): boolean;
  hasStreamExists(): boolean;
}

/** What a write expects, as a revision or one of the `EXPECT_` numbers. `revision` is null if the request has none. */
export function expectedOf(options: ExpectedOptions, revision: string | null): number {
  if (options.hasNoStream()) return EXPECT_NO_STREAM;
  if (options.hasAny()) return EXPECT_ANY;
  if (options.hasStreamExists()) return EXPECT_STREAM_EXISTS;
  if (revision === null) throw invalidArgument('The expected revision is missing.');
  // No stream ever reaches the tombstone's revision, so nothing can be expected there.
  return Math.min(toNumber(revision), DELETED_REVISION - 1);
}

export function uuidOf(uuid: shared.UUID | undefined): string {
  const parts = uuid?.getStructured();
  if (parts !== undefined) {
    const bytes = Buffer.allocUnsafe(16);
    bytes.writeBigInt64BE(BigInt.asIntN(64, BigInt(parts.getMostSignificantBits())), 0);
    bytes.writeBigInt64BE(BigInt.asIntN(64, BigInt(parts.getLeastSignificantBits())), 8);
    return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
  }
  const text = uuid?.getString() ?? '';
  if (!UUID_TEXT.test(text)) throw invalidArgument('An event id, like a correlation id, must be a UUID.');
  return text.toLowerCase();
}

interface ProposedMessage {
  getId(): shared.UUID | undefined;
  getMetadataMap(): { get(key: string): string | undefined };
  getCustomMetadata_asU8(): Uint8Array;
  getData_asU8(): Uint8Array;
}

/** As on a real node, only "application/json" is JSON and all else is bytes, and JSON is not looked into. */
export function proposedEventOf(message: ProposedMessage): ProposedEvent {
  const metadata = message.getMetadataMap();
  const type = metadata.get('type');
  const contentType = metadata.get('content-type');
  if (type === undefined) throw requiredMetadataMissing('type');
  if (contentType === undefined) throw requiredMetadataMissing('content-type');
  if (type === '' || Buffer.byteLength(type) > MAX_NAME_BYTES || type.includes('\0') || LONE_SURROGATE.test(type)) {
    throw invalidArgument(`An event type is text of 1 to ${MAX_NAME_BYTES} bytes without NUL.`);
  }
  return {
    id: uuidOf(message.getId()),
    type,
    isJson: contentType === 'application/json',
    data: message.getData_asU8(),
    metadata: message.getCustomMetadata_asU8(),
  };
}
