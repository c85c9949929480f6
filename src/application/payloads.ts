import type { EventData } from '../catalogue/events.js';
import type { StoredText } from '../catalogue/primitives.js';
import { currentVersion } from '../catalogue/versions.js';
import { chainHash } from '../domain/chain.js';
import { payloadStream, sha256, uuidOf } from '../domain/ids.js';
import { type EventLog, WrongRevision } from './ports.js';

const INLINE_BYTES = 2 * 1024;
/** Characters of one chunk. Each may take six bytes as escaped JSON, and one append must stay below the store's limit of 1 MiB. */
const CHUNK_CHARACTERS = 128 * 1024;

/** The texts of one command. */
export interface Texts {
  keep(text: string): StoredText;
  keepOptional(text: string | null | undefined): StoredText | null;
  /** Whether there is anything to write. */
  readonly pending: boolean;
  write(): Promise<void>;
}

/** Long texts: kept once each by their hash, in streams of their own, written before the event that names them. */
export class Payloads {
  constructor(
    private readonly log: EventLog,
    /** Bytes above which only head and tail of a text are kept. */
    private readonly limit: number,
  ) {}

  /** Texts of a command that may still be refused: known at once by what its events will say of them, stored by {@link Texts.write}. */
  collect(): Texts {
    const writes = new Map<string, string>();
    const keep = (text: string): StoredText => {
      const bytes = Buffer.byteLength(text);
      if (bytes <= INLINE_BYTES) return { text };
      const kept = bytes <= this.limit ? text : headAndTail(text, this.limit);
      const payload = contentHash(kept);
      writes.set(payload, kept);
      const whole = kept === text ? {} : { whole: { hash: contentHash(text), bytes } };
      return { payload, bytes: Buffer.byteLength(kept), ...whole };
    };
    return {
      keep,
      keepOptional: (text) => (text == null ? null : keep(text)),
      get pending() {
        return writes.size > 0;
      },
      write: async () => {
        await Promise.all([...writes].map(([hash, text]) => this.write(hash, text)));
        writes.clear();
      },
    };
  }

  /** The text itself. One that was deleted from the store, or is not all there, is said to be so in its place. */
  async load(stored: StoredText): Promise<string> {
    if ('text' in stored) return stored.text;
    const chunks: string[] = [];
    for await (const { event } of this.log.read(payloadStream(stored.payload)))
      if (event.type === 'PayloadStored') chunks.push(event.data.text);
    const text = chunks.join('');
    return contentHash(text) === stored.payload ? text : `[text of ${stored.bytes} bytes, SHA-256 ${stored.payload}: no longer stored]`;
  }

  async loadOptional(stored: StoredText | null): Promise<string | null> {
    return stored === null ? null : this.load(stored);
  }

  private async write(hash: string, text: string): Promise<void> {
    const stream = payloadStream(hash);
    const bytes = Buffer.byteLength(text);
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
  }
}

/**
 * The hash that a long text is known by: SHA-256 of its UTF-8. UTF-8 cannot say half of a surrogate pair and would make one text of
 * several, so a text that holds one is known by a hash that no other text has: what it is of is too short to be stored by its hash.
 */
function contentHash(text: string): string {
  return /\p{Cs}/u.test(text) ? sha256(`json ${sha256(JSON.stringify(text))}`) : sha256(text);
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
