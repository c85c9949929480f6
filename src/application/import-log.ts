import { type AnvilEvent, isFileEvent } from '../catalogue/events.js';
import type { Metadata } from '../catalogue/metadata.js';
import { type ExportedEvent, exportEnd, exportedEvent, exportHeader } from '../catalogue/transfer.js';
import type { ImportAnswer } from '../catalogue/upkeep-answers.js';
import { readWritten } from '../catalogue/versions.js';
import { chainHash } from '../domain/chain.js';
import { fileIdOf, fileStream, INFRA_STREAMS, payloadStream, policyStream } from '../domain/ids.js';
import { appendResolved } from './append-resolved.js';
import type { Imports } from './imports.js';
import { BadLine, jsonOf, linesOf, parseLine } from './lines.js';
import { type EventLog, type NewEvent, WrongRevision } from './ports.js';

const NOT_EMPTY = 'The store is not empty, and an export goes into an empty one, or on where an earlier import of it was cut off.';

/** Commands that are on their way into the log at once, and the characters of their lines: of one alone they may be more. */
const UNDER_WAY = { commands: 32, characters: 8_000_000 };

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
  characters: number;
}

/** A command on its way: whether it was there already, or whether it has just been stored. */
interface UnderWay {
  group: Group;
  outcome: Promise<boolean>;
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
      const first = await work.end(error);
      if (first instanceof BadLine) first.stored = first.conflict ? NOT_EMPTY : work.stored();
      throw first;
    }
  }
}

/**
 * Several commands are under way at once, begun and counted in their order. The store takes what it is sent in that order; where it did
 * not, what belongs behind another command of its stream is sent again after it.
 */
class Work {
  /** Of each stream, where it stands: what is to come has to follow on it. Texts that are all there are left out. */
  private readonly heads = new Map<string, { revision: number; hash: string | null }>();
  private group: Group | null = null;
  private last: Pick<Group, 'line' | 'commit'> | null = null;
  private lines = 0;
  private events = 0;
  private added = 0;
  private ended: string | null | undefined;
  private begun = false;
  private readonly looked: UnderWay[] = [];
  private readonly appending: UnderWay[] = [];
  /** Goes through what is looked for, in order, until nothing is left of it. */
  private looks: Promise<void> | null = null;
  private failure: { error: unknown } | null = null;
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
      await this.drain();
      this.ended = await this.imports.finish(this.events);
      return;
    }
    await this.takeEvent(line, parseLine(line, exportedEvent));
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

  /** After an error: lets end what is under way, and answers what went wrong first in the order of the export. */
  async end(error: unknown): Promise<unknown> {
    if (this.failure === null) await this.drain().catch(() => {});
    await Promise.allSettled(this.appending.map(({ outcome }) => outcome));
    return this.failure === null ? error : this.failure.error;
  }

  stored(): string {
    if (this.last === null) return 'Nothing was stored.';
    return (
      `Stored are lines 1 to ${this.last.line}, which end at the export's commit ${this.last.commit}; ` +
      'the same export may be sent again, and goes on there.'
    );
  }

  private async takeEvent({ number, text }: Line, line: ExportedEvent): Promise<void> {
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
    this.group ??= { stream, cause: metadata.$causationId, events: [], line: number, commit: line.commit, characters: 0 };
    this.group.events.push({ id: line.id, type: line.type, data: line.data, metadata, revision });
    this.group.line = number;
    this.group.characters += text.length;
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
    this.group = null;
    const full = this.looked.length >= UNDER_WAY.commands;
    if (this.looks !== null && (full || !this.looking)) await this.looks;
    if (!this.looking) return this.store(group);
    this.looked.push(begun(group, this.isThere(group)));
    this.look();
  }

  private look(): void {
    this.looks ??= this.goThroughLooks().finally(() => {
      this.looks = null;
    });
    // Who comes to wait for it meets its failure.
    this.looks.catch(() => {});
  }

  /** What was looked for behind the first command that is not there is stored after it. */
  private async goThroughLooks(): Promise<void> {
    for (let [first] = this.looked; first !== undefined; [first] = this.looked)
      if (await this.settled(first.outcome)) {
        this.last = first.group;
        this.looked.shift();
      } else {
        await this.settled(this.mayWrite(first.group));
        this.looking = false;
        for (const { group } of this.looked.splice(0)) await this.store(group);
      }
  }

  private async store(group: Group): Promise<void> {
    while (this.appending.length > 0 && !this.hasRoom(group)) await this.settleAppend();
    const before = this.appending.findLast((other) => other.group.stream === group.stream)?.outcome ?? null;
    this.appending.push(begun(group, this.append(group, before)));
  }

  private hasRoom({ characters }: Group): boolean {
    const held = this.appending.reduce((sum, { group }) => sum + group.characters, 0);
    return this.appending.length < UNDER_WAY.commands && held + characters <= UNDER_WAY.characters;
  }

  private async settleAppend(): Promise<void> {
    const { group, outcome } = this.appending.shift()!;
    if (await this.settled(outcome)) this.added += group.events.length;
    this.last = group;
  }

  private async settled<T>(outcome: Promise<T>): Promise<T> {
    try {
      return await outcome;
    } catch (error) {
      this.failure ??= { error };
      throw error;
    }
  }

  private async drain(): Promise<void> {
    if (this.looked.length > 0) this.look();
    await this.looks;
    while (this.appending.length > 0) await this.settleAppend();
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

  /** False where it was there already. `before` is the command of its stream that is still under way, if one is. */
  private async append(group: Group, before: Promise<unknown> | null): Promise<boolean> {
    const revision = group.events[0]!.revision - 1;
    for (let last = before === null; ; last = true)
      try {
        await appendResolved(this.log, group.stream, revision, group.events);
        return true;
      } catch (error) {
        if (!(error instanceof WrongRevision)) throw error;
        if (await this.isThere(group)) return false;
        if (last) throw new BadLine(group.line, `${group.stream} is not at revision ${revision}`, true);
        await before;
      }
  }
}

/** Its failure is met when its turn comes. */
function begun(group: Group, outcome: Promise<boolean>): UnderWay {
  outcome.catch(() => {});
  return { group, outcome };
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
