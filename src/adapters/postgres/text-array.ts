const OID_TEXT = 25;
const HEADER_BYTES = 20;
const NULL_LENGTH = -1;

/**
 * A `text[]` in PostgreSQL's binary form, which `pg` sends as it is: nothing in it is escaped here, nor looked through there. Whatever is no
 * string travels as JavaScript writes it.
 */
export function textArray(values: readonly unknown[]): Buffer {
  const texts = values.map((value) => (value == null ? null : String(value)));
  let bytes = HEADER_BYTES;
  for (const text of texts) bytes += 4 + (text === null ? 0 : Buffer.byteLength(text));
  const buffer = Buffer.allocUnsafe(bytes);
  // One dimension, that may hold nulls, from 1 on.
  for (const [i, field] of [1, 1, OID_TEXT, texts.length, 1].entries()) buffer.writeInt32BE(field, 4 * i);
  let offset = HEADER_BYTES;
  for (const text of texts) {
    const length = text === null ? NULL_LENGTH : buffer.write(text, offset + 4);
    buffer.writeInt32BE(length, offset);
    offset += 4 + Math.max(0, length);
  }
  return buffer;
}
