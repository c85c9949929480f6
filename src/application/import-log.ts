import type { ImportAnswer } from '../catalogue/answers.js';
import { type AnvilEvent, isFileEvent } from '../catalogue/events.js';
import type { Metadata } from '../catalogue/metadata.js';
import { type ExportedEvent, exportEnd, exportedEvent, exportHeader } from '../catalogue/transfer.js';
import { readWritten } from '../catalogue/versions.js';
import { chainHash } from '../domain/chain.js';
import { fileIdOf, fileStream, INFRA_STREAMS, payloadStream, policyStream } from '../domain/ids.js';
import { appendResolved } from './append-resolved.js';
import type { Imports } from './imports.js';
import { BadLine, jsonOf, linesOf, parseLine } from './lines.js';
import { type EventLog, type NewEvent, WrongRevision } from './ports.js';

const NOT_EMPTY = 'The store is not empty, and an export goes into an empty one, or on where an earlier import of it was cut off.';

type Line = { number: number; text: string };
type Checked = NewEvent & { revision: number };

/** One command's events, which were one append where they come from, and are one here. */
interface Group {
  stream: string;
  cause: string;
  events: Checked[];
  /** The last line of it, and the commit position that it had. */
  line: number;
  commit: string;
}

/** Takes exports into the log: event by event the same, in the order in which they were committed. */
export class LogImport {
  constructor(
    private readonly log: EventLog,
    private readonly imports: Imports,
  ) {}

  /**
   * Into an empty store, or on where an earlier import of the same events ended: an event that is there already is passed over, one
   * that does not fit is refused. Every event is read by the catalogue and held against its stream's hash chain; a command is stored
   * whole or not at all. Throws {@link BadLine}, which says what was stored.
   */
  async take(chunks: AsyncIterable<Uint8Array>): Promise<ImportAnswer> {
    const work = new Work(this.log, this.imports);
    try {
      for await (const line of linesOf(chunks)) await work.take(line);
      return work.answer();
    } catch (error) {
      if (error instanceof BadLine) error.stored = error.conflict ? NOT_EMPTY : work.stored();
      throw error;
    }
  }
}

class Work {
  /** Of each stream, where it stands: what is to come has to follow on it. Texts that are all there are left out. */
  private readonly heads = new Map<string, { revision: number; hash: string | null }>();
  private group: Group | null = null;
  private last: { line: number; commit: string } | null = null;
  private lines = 0;
  private events = 0;
  private added = 0;
  private ended: string | null | undefined;
  private begun = false;
  /** True until the first command that is not there yet: only an import that goes on finds any there. */
  private looking = true;

  constructor(
    private readonly log: EventLog,
    private readonly imports: Imports,
  ) {}

  async take(line: Line): Promise<void> {
    this.lines = line.number;
    const value = jsonOf(line) as { anvil?: unknown } | null;
    const kind = value?.anvil;
    if (kind === 'export') {
      parseLine(line, exportHeader);
      this.begun = true;
      return;
    }
    if (!this.begun) throw new BadLine(line.number, 'anvil: an export begins with a line {"anvil":"export","version":…}');
    if (kind === 'end') {
      parseLine(line, exportEnd);
      await this.flush();
      this.ended = await this.imports.finish(this.events);
      return;
    }
    await this.takeEvent(line.number, parseLine(line, exportedEvent));
  }

  /** Throws where the export has no end. */
  answer(): ImportAnswer {
    if (this.ended === undefined) throw new BadLine(this.lines + 1, 'is missing: the export was cut off before its end');
    return {
      format: 'export',
      lines: this.lines,
      read: this.events,
      stored: this.added,
      found: this.events - this.added,
      commit: this.ended,
    };
  }

  stored(): string {
    if (this.last === null) return 'Nothing was stored.';
    return (
      `Stored are lines 1 to ${this.last.line}, which end at the export's commit ${this.last.commit}; ` +
      'the same export may be sent again, and goes on there.'
    );
  }

  private async takeEvent(number: number, line: ExportedEvent): Promise<void> {
    const { event, metadata } = readable(number, line);
    const { stream } = line;
    if (!placesOf(event).includes(stream)) throw new BadLine(number, `stream: ${stream} is not where this event belongs`);
    if (chainHash(line.type, line.data, metadata) !== metadata.hash) throw new BadLine(number, 'metadata.hash: is not that of the content');
    // A text that was deleted and stored again goes on where it ended; here it begins.
    const revision = event.type === 'PayloadStored' ? event.data.index : line.revision;
    if (this.group !== null && (this.group.stream !== stream || this.group.cause !== metadata.$causationId)) await this.flush();
    const head = this.heads.get(stream) ?? (await this.headOf(number, stream, revision));
    if (revision !== head.revision + 1)
      throw new BadLine(number, `revision: is ${revision}, where ${stream} goes on with ${head.revision + 1}`);
    if (metadata.previousHash !== head.hash)
      throw new BadLine(number, 'metadata.previousHash: does not follow on the event before it in its stream');
    if (event.type === 'PayloadStored' && event.data.index === event.data.chunks - 1) this.heads.delete(stream);
    else this.heads.set(stream, { revision, hash: metadata.hash });
    this.group ??= { stream, cause: metadata.$causationId, events: [], line: number, commit: line.commit };
    this.group.events.push({ id: line.id, type: line.type, data: line.data, metadata, revision });
    this.group.line = number;
    this.group.commit = line.commit;
    this.events += 1;
  }

  /** What a stream has to stand at for its first event here: nothing, or what an earlier import brought. */
  private async headOf(number: number, stream: string, revision: number): Promise<{ revision: number; hash: string | null }> {
    if (revision === 0) return { revision: -1, hash: null };
    for await (const { metadata } of this.log.read(stream, revision - 1, 1)) return { revision: revision - 1, hash: metadata.hash };
    throw new BadLine(number, `revision: is ${revision}, and the events of ${stream} before it are missing`);
  }

  private async flush(): Promise<void> {
    const { group } = this;
    if (group === null) return;
    if (!this.looking || !(await this.isThere(group))) {
      if (this.looking) await this.mayWrite(group);
      this.looking = false;
      if (await this.append(group)) this.added += group.events.length;
    }
    this.group = null;
    this.last = { line: group.line, commit: group.commit };
  }

  private async mayWrite({ line, events }: Group): Promise<void> {
    if (!(await this.imports.look()) && !(await this.imports.isEmpty()))
      throw new BadLine(line - events.length + 1, 'is not in this store', true);
    await this.imports.start();
  }

  /** Throws where something else is at its place. */
  private async isThere({ stream, events, line }: Group): Promise<boolean> {
    let there = 0;
    for await (const { id, metadata } of this.log.read(stream, events[0]!.revision, events.length)) {
      const one = events[there]!;
      if (id !== one.id || metadata.hash !== one.metadata.hash)
        throw new BadLine(line, `${stream} holds another event at revision ${one.revision}`, true);
      there += 1;
    }
    if (there > 0 && there < events.length) throw new BadLine(line, `${stream} holds a part of this command only`, true);
    return there > 0;
  }

  /** False where it was there already. */
  private async append(group: Group): Promise<boolean> {
    const before = group.events[0]!.revision - 1;
    try {
      await appendResolved(this.log, group.stream, before, group.events);
      return true;
    } catch (error) {
      if (!(error instanceof WrongRevision)) throw error;
      if (await this.isThere(group)) return false;
      throw new BadLine(group.line, `${group.stream} is not at revision ${before}`, true);
    }
  }
}

function readable(number: number, { type, data, metadata }: ExportedEvent): { event: AnvilEvent; metadata: Metadata } {
  try {
    return readWritten(type, data, metadata);
  } catch (error) {
    throw new BadLine(number, error instanceof Error ? error.message : String(error));
  }
}

/** The streams that an event may be in: by what it says. */
function placesOf(event: AnvilEvent): string[] {
  if (event.type === 'PayloadStored') return [payloadStream(event.data.hash)];
  if (isFileEvent(event)) return [fileStream(fileIdOf(event.data.repo, event.data.targetFile))];
  return 'repo' in event.data ? [policyStream(event.data.repo), `${INFRA_STREAMS}${event.data.repo}`] : [];
}
