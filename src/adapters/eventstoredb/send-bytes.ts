import streams from '@eventstore/db-client/generated/streams_pb.js';

/**
 * The client (6.2.1) hands the JSON of an event to its message as base64 text, which google-protobuf then decodes character by
 * character, twice: nearly half of all CPU when 9 KB events are appended. A bytes field takes bytes as well, with the same meaning, and
 * Node decodes base64 natively.
 */
export function sendBytes(): void {
  for (const message of [streams.BatchAppendReq.ProposedMessage, streams.AppendReq.ProposedMessage]) {
    const { setData, setCustomMetadata } = message.prototype;
    message.prototype.setData = function (value) {
      return setData.call(this, bytesOf(value));
    };
    message.prototype.setCustomMetadata = function (value) {
      return setCustomMetadata.call(this, bytesOf(value));
    };
  }
}

function bytesOf(value: Uint8Array | string): Uint8Array {
  return typeof value === 'string' ? Buffer.from(value, 'base64') : value;
}
