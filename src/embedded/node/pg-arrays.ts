/**
 * PostgreSQL arrays in their binary form. `pg` would send a `bytea[]` as text, escaped and doubled in size; a Buffer goes out as it is.
 */
const OID_BOOL = 16;
const OID_BYTEA = 17;
const OID_INT8 = 20;
const OID_TEXT = 25;
const OID_UUID = 2950;

const HEADER_BYTES = 20;
const TWO_TO_32 = 2 ** 32;

export function int8Array(values: readonly number[], largest?: { value: number; low: number; high: number }): Buffer {
  const buffer = header(OID_INT8, values.length, values.length * 12);
  let offset = HEADER_BYTES;
  for (const value of values) {
    buffer.writeInt32BE(8, offset);
    const isLargest = largest !== undefined && value === largest.value;
    buffer.writeInt32BE(isLargest ? largest.high : Math.floor(value / TWO_TO_32), offset + 4);
    buffer.writeUInt32BE(isLargest ? largest.low : value % TWO_TO_32, offset + 8);
    offset += 12;
  }
  return buffer;
}

export function boolArray(values: readonly boolean[]): Buffer {
  const buffer = header(OID_BOOL, values.length, values.length * 5);
  let offset = HEADER_BYTES;
  for (const value of values) {
    buffer.writeInt32BE(1, offset);
    buffer[offset + 4] = value ? 1 : 0;
    offset += 5;
  }
  return buffer;
}

export function uuidArray(values: readonly string[]): Buffer {
  const buffer = header(OID_UUID, values.length, values.length * 20);
  let offset = HEADER_BYTES;
  for (const value of values) {
    buffer.writeInt32BE(16, offset);
    buffer.write(value.replaceAll('-', ''), offset + 4, 16, 'hex');
    offset += 20;
  }
  return buffer;
}

export function textArray(values: readonly string[]): Buffer {
  return bytesArray(
    OID_TEXT,
    values.map((value) => Buffer.from(value, 'utf8')),
  );
}

export function byteaArray(values: readonly Uint8Array[]): Buffer {
  return bytesArray(OID_BYTEA, values);
}

function bytesArray(oid: number, values: readonly Uint8Array[]): Buffer {
  let bytes = 0;
  for (const value of values) bytes += 4 + value.length;
  const buffer = header(oid, values.length, bytes);
  let offset = HEADER_BYTES;
  for (const value of values) {
    buffer.writeInt32BE(value.length, offset);
    buffer.set(value, offset + 4);
    offset += 4 + value.length;
  }
  return buffer;
}

/** One dimension, no nulls, lower bound 1. */
function header(oid: number, length: number, bodyBytes: number): Buffer {
  const buffer = Buffer.allocUnsafe(HEADER_BYTES + bodyBytes);
  buffer.writeInt32BE(1, 0);
  buffer.writeInt32BE(0, 4);
  buffer.writeInt32BE(oid, 8);
  buffer.writeInt32BE(length, 12);
  buffer.writeInt32BE(1, 16);
  return buffer;
}
