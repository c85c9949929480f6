import { isEventType } from '../catalogue/events.js';
import { metadata } from '../catalogue/metadata.js';
import { EXPORT_VERSION } from '../catalogue/transfer.js';
import { EXPORTED_STREAMS } from '../domain/ids.js';
import { InvalidField, NoRoom } from './errors.js';
import type { EventLog, LogEntry } from './ports.js';

/** Exports at a time: each holds a read of the whole log open. */
const MOST_AT_ONCE = 4;
/** Characters that are handed on at a time. */
const CHUNK = 64 * 1024;

/** The whole log as lines of ndjson, in commit order, as it lies in the store. What others keep in the same store is left out. */
export class LogExport {
  private running = 0;
  private readonly closing = new AbortController();

  constructor(private readonly log: EventLog) {}

  /**
   * What was committed after a position, up to now, in pieces of text; an end that is missing says that it was cut off. Nothing is read
   * that is not asked for. Throws {@link NoRoom}, and {@link InvalidField} for a position beyond the log.
   */
  async lines(after: string | null): Promise<AsyncGenerator<string>> {
    if (this.closing.signal.aborted) throw new NoRoom('the service is about to end');
    if (this.running >= MOST_AT_ONCE) throw new NoRoom(`${MOST_AT_ONCE} exports run already`);
    const upTo = await this.log.head();
    if (after !== null && BigInt(after) > BigInt(upTo ?? 0))
      throw new InvalidField('after', `is beyond the end of the log, which is at ${upTo ?? 0}`);
    return this.write(after, upTo);
  }

  close(): void {
    this.closing.abort();
  }

  private async *write(after: string | null, upTo: string | null): AsyncGenerator<string> {
    this.running += 1;
    try {
      let text = line({ anvil: 'export', version: EXPORT_VERSION, after, upTo });
      let events = 0;
      let commit = after;
      for await (const entry of upTo === null ? [] : this.log.readAll(after)) {
        if (BigInt(entry.position) > BigInt(upTo!)) break;
        if (this.closing.signal.aborted) throw new NoRoom('the service ends');
        if (!isOwn(entry)) continue;
        const { stream, revision, position, created, id, type, data, metadata: said } = entry;
        text += line({ stream, revision, commit: position, created, id, type, data, metadata: said });
        events += 1;
        commit = position;
        if (text.length < CHUNK) continue;
        yield text;
        text = '';
      }
      yield text + line({ anvil: 'end', events, commit });
    } finally {
      this.running -= 1;
    }
  }
}

/** A name alone says nothing: others may call a stream `policy-…` too. */
export function isOwn({ stream, type, metadata: said }: LogEntry): boolean {
  return EXPORTED_STREAMS.some((prefix) => stream.startsWith(prefix)) && isEventType(type) && metadata.safeParse(said).success;
}

function line(value: object): string {
  return `${JSON.stringify(value)}\n`;
}
