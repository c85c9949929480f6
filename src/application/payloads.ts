import type { EventData } from '../catalogue/events.js';
import type { StoredText } from '../catalogue/primitives.js';
import { currentVersion } from '../catalogue/versions.js';
import { chainHash } from '../domain/chain.js';
import { payloadStream, sha256, uuidOf } from '../domain/ids.js';
import { type EventLog, WrongRevision } from './ports.js';

const INLINE_BYTES = 2 * 1024;
/** Characters of one chunk. Each may take six bytes as escaped JSON, and one append must stay below the store's limit of 1 MiB. */
const CHUNK_CHARACTERS = 128 * 1024;

/** Long texts: kept once each by their hash, in streams of their own, written before the event that names them. */
export class Payloads {
  constructor(
    private readonly log: EventLog,
    /** Bytes above which only head and tail of a text are kept. */
    private readonly limit: number,
  ) {}

  async store(text: string): Promise<StoredText> {
    const bytes = Buffer.byteLength(text);
    if (bytes <= INLINE_BYTES) return { text };
    if (bytes <= this.limit) return this.write(text, bytes);
    const kept = headAndTail(text, this.limit);
    return { ...(await this.write(kept, Buffer.byteLength(kept))), whole: { hash: sha256(text), bytes } };
  }

  async storeOptional(text: string | null | undefined): Promise<StoredText | null> {
    return text == null ? null : this.store(text);
  }

  /** The text itself. One that was deleted from the store, or is not all there, is said to be so in its place. */
  async load(stored: StoredText): Promise<string> {
    if ('text' in stored) return stored.text;
    const chunks: string[] = [];
    for await (const { event } of this.log.read(payloadStream(stored.payload)))
      if (event.type === 'PayloadStored') chunks.push(event.data.text);
    const text = chunks.join('');
    return sha256(text) === stored.payload ? text : `[text of ${stored.bytes} bytes, SHA-256 ${stored.payload}: no longer stored]`;
  }

  async loadOptional(stored: StoredText | null): Promise<string | null> {
    return stored === null ? null : this.load(stored);
  }

  private async write(text: string, bytes: number): Promise<{ payload: string; bytes: number }> {
    const hash = sha256(text);
    const stream = payloadStream(hash);
    const chunks = Math.ceil(text.length / CHUNK_CHARACTERS);
    let previousHash: string | null = null;
    for (let index = 0; index < chunks; index += 1) {
      const chunk = text.slice(index * CHUNK_CHARACTERS, (index + 1) * CHUNK_CHARACTERS);
      const event = chunkEvent({ hash, index, chunks, bytes, text: chunk }, previousHash);
      previousHash = event.metadata.hash;
      // Ids and content follow from the text alone: whoever stored the same text before, wholly or in part, wrote these very events.
      await this.log.append(stream, index - 1, [event]).catch((error: unknown) => {
        if (!(error instanceof WrongRevision)) throw error;
      });
    }
    return { payload: hash, bytes };
  }
}

function chunkEvent(data: EventData<'PayloadStored'>, previousHash: string | null) {
  const id = uuidOf('payload', data.hash, String(data.index));
  const metadata = {
    $correlationId: data.hash,
    $causationId: id,
    actor: 'anvil',
    schemaVersion: currentVersion('PayloadStored'),
    previousHash,
  };
  return { id, type: 'PayloadStored', data, metadata: { ...metadata, hash: chainHash('PayloadStored', data, metadata) } };
}

/** As much of both ends as fits into `limit` bytes, with a mark between them that says what is missing. */
function headAndTail(text: string, limit: number): string {
  const bytes = Buffer.from(text);
  const half = Math.floor((limit - 100) / 2);
  const head = bytes
    .subarray(0, half)
    .toString()
    .replace(/\ufffd+$/, '');
  const tail = bytes
    .subarray(bytes.length - half)
    .toString()
    .replace(/^\ufffd+/, '');
  const missing = bytes.length - Buffer.byteLength(head) - Buffer.byteLength(tail);
  return `${head}\n[… ${missing} bytes left out …]\n${tail}`;
}
