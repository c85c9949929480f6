import { randomUUID } from 'node:crypto';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import { DELETED_REVISION, type LogEvent } from './log-event.js';

/**
 * Answers to reads, as bytes. Events are encoded by hand: the generated code builds half a dozen objects for each and writes byte by byte, which
 * is most of what a read would cost. The fields are those of `ReadResp` in streams.proto; everything rare goes through the generated code.
 */
const VARINT = 0;
const BYTES = 2;
const tag = (field: number, type: number) => (field << 3) | type;

const RESP_EVENT = tag(1, BYTES);
const READ_EVENT = tag(1, BYTES);
const READ_COMMIT_POSITION = tag(3, VARINT);
const RECORDED_ID = tag(1, BYTES);
const RECORDED_STREAM = tag(2, BYTES);
const RECORDED_REVISION = tag(3, VARINT);
const RECORDED_PREPARE = tag(4, VARINT);
const RECORDED_COMMIT = tag(5, VARINT);
const RECORDED_METADATA = tag(6, BYTES);
const RECORDED_CUSTOM_METADATA = tag(7, BYTES);
const RECORDED_DATA = tag(8, BYTES);
const UUID_STRUCTURED = tag(1, BYTES);
const UUID_STRING = tag(2, BYTES);
const STREAM_NAME = tag(3, BYTES);
const MAP_KEY = tag(1, BYTES);
const MAP_VALUE = tag(2, BYTES);

const JSON_TYPE = 'application/json';
const BINARY_TYPE = 'application/octet-stream';
const DELETED_REVISION_VARINT_BYTES = 9;

const entry = (key: string, valueBytes: number) => 2 + key.length + 1 + varintBytes(valueBytes) + valueBytes;

/** The answer that carries an event. The usual form, with ids as text, is kept with the event: live subscriptions share it. */
export function encodeEvent(event: LogEvent, structuredIds: boolean): Buffer {
  if (!structuredIds) {
    event.wire ??= encode(event, false);
    return event.wire;
  }
  return encode(event, true);
}

function encode(event: LogEvent, structuredIds: boolean): Buffer {
  const idBytes = structuredIds ? 2 + structuredBytes(event.id) : 2 + event.id.length;
  const nameBytes = Buffer.byteLength(event.stream);
  const streamBytes = 1 + varintBytes(nameBytes) + nameBytes;
  const typeBytes = Buffer.byteLength(event.type);
  const contentType = event.isJson ? JSON_TYPE : BINARY_TYPE;
  // Ticks of 100 ns, written as text because their number is beyond what a double counts exactly.
  const created = `${event.createdUs}0`;
  const typeEntry = entry('type', typeBytes);
  const createdEntry = entry('created', created.length);
  const contentTypeEntry = entry('content-type', contentType.length);
  const positionBytes = 1 + varintBytes(event.position);
  const recordedBytes =
    field(idBytes) +
    field(streamBytes) +
    (event.revision === 0 ? 0 : 1 + revisionBytes(event.revision)) +
    2 * positionBytes +
    field(typeEntry) +
    field(createdEntry) +
    field(contentTypeEntry) +
    (event.metadata.length === 0 ? 0 : field(event.metadata.length)) +
    (event.data.length === 0 ? 0 : field(event.data.length));
  const readBytes = field(recordedBytes) + positionBytes;
  const writer = new Writer(field(readBytes));
  writer.open(RESP_EVENT, readBytes);
  writer.open(READ_EVENT, recordedBytes);
  writer.open(RECORDED_ID, idBytes);
  if (structuredIds) writer.structuredId(event.id);
  else writer.text(UUID_STRING, event.id, event.id.length);
  writer.open(RECORDED_STREAM, streamBytes);
  writer.text(STREAM_NAME, event.stream, nameBytes);
  if (event.revision !== 0) writer.revision(RECORDED_REVISION, event.revision);
  writer.number(RECORDED_PREPARE, event.position);
  writer.number(RECORDED_COMMIT, event.position);
  writer.mapEntry(typeEntry, 'type', event.type, typeBytes);
  writer.mapEntry(createdEntry, 'created', created, created.length);
  writer.mapEntry(contentTypeEntry, 'content-type', contentType, contentType.length);
  if (event.metadata.length > 0) writer.bytes(RECORDED_CUSTOM_METADATA, event.metadata);
  if (event.data.length > 0) writer.bytes(RECORDED_DATA, event.data);
  writer.number(READ_COMMIT_POSITION, event.position);
  return writer.buffer;
}

class Writer {
  readonly buffer: Buffer;
  private at = 0;

  constructor(bytes: number) {
    this.buffer = Buffer.allocUnsafe(bytes);
  }

  open(fieldTag: number, bytes: number): void {
    this.buffer[this.at++] = fieldTag;
    this.varint(bytes);
  }

  number(fieldTag: number, value: number): void {
    this.buffer[this.at++] = fieldTag;
    this.varint(value);
  }

  revision(fieldTag: number, revision: number): void {
    if (revision !== DELETED_REVISION) {
      this.number(fieldTag, revision);
      return;
    }
    this.buffer[this.at++] = fieldTag;
    this.buffer.fill(0xff, this.at, this.at + DELETED_REVISION_VARINT_BYTES - 1);
    this.at += DELETED_REVISION_VARINT_BYTES;
    this.buffer[this.at - 1] = 0x7f;
  }

  text(fieldTag: number, value: string, bytes: number): void {
    this.open(fieldTag, bytes);
    this.at += this.buffer.write(value, this.at, bytes, 'utf8');
  }

  bytes(fieldTag: number, value: Uint8Array): void {
    this.open(fieldTag, value.length);
    this.buffer.set(value, this.at);
    this.at += value.length;
  }

  mapEntry(bytes: number, key: string, value: string, valueBytes: number): void {
    this.open(RECORDED_METADATA, bytes);
    this.text(MAP_KEY, key, key.length);
    this.text(MAP_VALUE, value, valueBytes);
  }

  structuredId(id: string): void {
    const encoded = structured(id).serializeBinary();
    this.bytes(UUID_STRUCTURED, encoded);
  }

  private varint(value: number): void {
    let rest = value;
    while (rest > 0x7f) {
      this.buffer[this.at++] = (rest % 128) | 0x80;
      rest = Math.floor(rest / 128);
    }
    this.buffer[this.at++] = rest;
  }
}

function varintBytes(value: number): number {
  let bytes = 1;
  for (let rest = value; rest > 0x7f; rest = Math.floor(rest / 128)) bytes += 1;
  return bytes;
}

function revisionBytes(revision: number): number {
  return revision === DELETED_REVISION ? DELETED_REVISION_VARINT_BYTES : varintBytes(revision);
}

/** A length-delimited field with a one-byte tag. */
function field(bytes: number): number {
  return 1 + varintBytes(bytes) + bytes;
}

function structured(id: string): shared.UUID.Structured {
  const bytes = Buffer.from(id.replaceAll('-', ''), 'hex');
  const message = new shared.UUID.Structured();
  message.setMostSignificantBits(bytes.readBigInt64BE(0).toString());
  message.setLeastSignificantBits(bytes.readBigInt64BE(8).toString());
  return message;
}

function structuredBytes(id: string): number {
  return structured(id).serializeBinary().length;
}

function toBuffer(message: streams.ReadResp): Buffer {
  return Buffer.from(message.serializeBinary());
}

export function encodeConfirmation(): Buffer {
  const confirmation = new streams.ReadResp.SubscriptionConfirmation();
  confirmation.setSubscriptionId(randomUUID());
  const response = new streams.ReadResp();
  response.setConfirmation(confirmation);
  return toBuffer(response);
}

export function encodeCheckpoint(position: number): Buffer {
  const checkpoint = new streams.ReadResp.Checkpoint();
  checkpoint.setCommitPosition(String(position));
  checkpoint.setPreparePosition(String(position));
  const response = new streams.ReadResp();
  response.setCheckpoint(checkpoint);
  return toBuffer(response);
}

export function encodeStreamNotFound(stream: string): Buffer {
  const identifier = new shared.StreamIdentifier();
  identifier.setStreamName(Buffer.from(stream));
  const notFound = new streams.ReadResp.StreamNotFound();
  notFound.setStreamIdentifier(identifier);
  const response = new streams.ReadResp();
  response.setStreamNotFound(notFound);
  return toBuffer(response);
}

function caughtUp(): Buffer {
  const response = new streams.ReadResp();
  response.setCaughtUp(new streams.ReadResp.CaughtUp());
  return toBuffer(response);
}

function fellBehind(): Buffer {
  const response = new streams.ReadResp();
  response.setFellBehind(new streams.ReadResp.FellBehind());
  return toBuffer(response);
}

export const CAUGHT_UP = caughtUp();
export const FELL_BEHIND = fellBehind();
