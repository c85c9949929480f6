import { setTimeout as sleep } from 'node:timers/promises';
import type { ImportEvent } from '../catalogue/events.js';
import { readWritten } from '../catalogue/versions.js';
import { canonicalJson } from '../domain/chain.js';
import { EXPORTED_STREAMS, IMPORT_STREAM, sha256, uuidOf } from '../domain/ids.js';
import { chained } from './command-events.js';
import { NoRoom } from './errors.js';
import type { Call } from './file-command.js';
import { type Clock, type EventLog, type FollowedEvent, isUnread, type StoredEvent, WrongRevision } from './ports.js';
import type { Follower } from './run-followers.js';
import { keepGoing } from './timing.js';

/** After an import was announced and before its first event: until all instances have heard, and what they were doing is done. */
const HEARD_AFTER_MS = 500;
const CALL: Call = { actor: 'import', bodyHash: sha256(canonicalJson({})) };

/**
 * Whether the log is being filled from an export. It is said in the log itself, before the first event that is imported and after the
 * last, so that a crash and other instances do not lose it: meanwhile nothing else may write, or what is still to come would not fit.
 */
export class Imports {
  unfinished = false;

  constructor(
    private readonly log: EventLog,
    private readonly clock: Clock,
  ) {}

  /** Looks up where the log stands. */
  async look(): Promise<boolean> {
    this.unfinished = (await this.markers()).at(-1)?.event.type === 'ImportStarted';
    return this.unfinished;
  }

  /** Throws {@link NoRoom} while an import is not finished. */
  refuse(): void {
    if (this.unfinished) throw new NoRoom('an import is not finished: send all of it (again), or begin with an empty store');
  }

  /** Keeps knowing of the imports that other instances take, until `signal` aborts. */
  async follow(signal: AbortSignal, report: (message: string) => void): Promise<void> {
    await keepGoing('the look for imports', signal, report, async () => {
      const head = await this.log.head();
      await this.look();
      for await (const _ of this.log.follow([IMPORT_STREAM], head, signal)) await this.look();
    });
  }

  async start(): Promise<void> {
    const goesOn = await this.look();
    this.unfinished = true;
    if (goesOn) return;
    await this.append({ type: 'ImportStarted', data: { at: this.clock.now() } });
    await sleep(HEARD_AFTER_MS);
    this.unfinished = true;
  }

  /** Answers the position that read models have to have seen, to show all that was imported. */
  async finish(events: number): Promise<string | null> {
    if (await this.look()) await this.append({ type: 'ImportFinished', data: { at: this.clock.now(), events } });
    this.unfinished = false;
    return this.log.head();
  }

  /** Whether the store holds nothing of Anvil's. */
  async isEmpty(): Promise<boolean> {
    for (const prefix of EXPORTED_STREAMS)
      for await (const stream of this.log.streams(prefix))
        for await (const { type, data, metadata } of this.log.readWritten(stream)) if (isReadable(type, data, metadata)) return false;
    return true;
  }

  private async markers(): Promise<StoredEvent[]> {
    const markers: StoredEvent[] = [];
    for await (const marker of this.log.read(IMPORT_STREAM)) markers.push(marker);
    return markers;
  }

  /** Two imports that say the same at once have said it. */
  private async append(event: ImportEvent): Promise<void> {
    const last = (await this.markers()).at(-1);
    const revision = last?.revision ?? -1;
    const commandId = uuidOf(IMPORT_STREAM, String(revision + 1), event.data.at);
    await this.log.append(IMPORT_STREAM, revision, chained(last?.metadata, [event], commandId, null, CALL)).catch((error: unknown) => {
      if (!(error instanceof WrongRevision)) throw error;
    });
  }
}

function isReadable(type: string, data: unknown, metadata: unknown): boolean {
  try {
    return readWritten(type, data, metadata) !== null;
  } catch {
    return false;
  }
}

/** Thrown so that followers begin again from their checkpoints. */
class ImportOver extends Error {}

/**
 * A follower that acts on what it sees, held still while an import is not finished: what it would do is in the export already. Its
 * checkpoint stays before the import; when that is over it goes through all of it.
 */
export class StillWhileImporting implements Follower {
  private holding = false;

  constructor(
    private readonly inner: Follower,
    private readonly imports: Imports,
  ) {}

  position(): Promise<string | null> {
    this.holding = false;
    return this.inner.position();
  }

  async take(events: FollowedEvent[]): Promise<void> {
    const free: FollowedEvent[] = [];
    for (const event of events) {
      const type = isUnread(event) ? event.type : event.event.type;
      if (type === 'ImportStarted') {
        // At once, before anybody sees rows of what follows; whether it has ended meanwhile shows then.
        this.imports.unfinished = true;
        this.holding = await this.imports.look();
      } else if (type === 'ImportFinished' && this.holding) {
        this.imports.unfinished = false;
        throw new ImportOver('an import is finished, and gone through from its start');
      } else if (!this.holding) free.push(event);
    }
    if (free.length > 0) await this.inner.take(free);
  }
}
