import type { Change, Projection, Row, RowKey, Rows } from '../../../projections/projection.js';
import { type FollowedEvent, isUnread, type StoredEvent } from '../../application/ports.js';
import { isEventType } from '../../catalogue/events.js';
import { hold, park } from './parked-events.js';
import type { Statements } from './pool.js';
import { asText, byKeys, fromDatabase, upsert } from './tables.js';

/** Rows of one statement: they travel at once. */
const ROWS_AT_ONCE = 2_000;

/** What of a projection's streams is parked: from which revision on each is held back. */
export type Held = Map<string, number>;

interface Target {
  client: Statements;
  schema: string;
  projection: Projection;
}

/**
 * Takes a projection over events in order, in the caller's transaction. An event that cannot be read or that the projection cannot take
 * is parked, and holds back the later ones of its stream; `held` says which were held back before, and tells afterwards.
 */
export async function takeBatch(target: Target, events: FollowedEvent[], held: Held, inParts = false): Promise<void> {
  const handles = new Set<string>(target.projection.handles);
  const parked = new Parked(held);
  const own: FollowedEvent[] = [];
  const readable: StoredEvent[] = [];
  for (const event of events) {
    if (!concerns(handles, event)) continue;
    own.push(event);
    if (isUnread(event)) parked.park(event, event.unreadable);
    else readable.push(event);
  }
  if (inParts) await inHalves(target, readable, parked);
  else await project(target, readable, parked);
  await parked.store(target, own);
}

/** An event of an unknown type may be anybody's: every projection waits for it to be understood. */
function concerns(handles: Set<string>, event: FollowedEvent): boolean {
  return isUnread(event) ? handles.has(event.type) || !isEventType(event.type) : handles.has(event.event.type);
}

class Parked {
  private readonly found = new Map<string, { event: FollowedEvent; reason: string }>();

  constructor(private readonly held: Held) {}

  holds(event: { stream: string; revision: number }): boolean {
    return this.held.size > 0 && event.revision >= (this.held.get(event.stream) ?? Number.POSITIVE_INFINITY);
  }

  park(event: FollowedEvent, reason: string): void {
    if (this.holds(event)) return;
    this.held.set(event.stream, event.revision);
    this.found.set(event.stream, { event, reason });
  }

  async store({ client, schema, projection }: Target, events: FollowedEvent[]): Promise<void> {
    for (const { event, reason } of this.found.values()) {
      const type = isUnread(event) ? event.type : event.event.type;
      await park(client, schema, projection.name, { ...event, type }, reason, event.revision);
    }
    if (this.held.size === 0) return;
    const upTo = new Map(events.filter((event) => this.holds(event)).map(({ stream, revision }) => [stream, revision]));
    if (upTo.size > 0) await hold(client, schema, projection.name, upTo);
  }
}

/** PostgreSQL's classes for values that it refuses: out of range, breaking a constraint, too large for an index. */
export function refusesValues(error: unknown): boolean {
  return /^(22|23|54)/.test(String((error as { code?: unknown } | null)?.code));
}

/** Finds, by halving, the events whose rows the database refuses, and parks them. */
async function inHalves(target: Target, events: StoredEvent[], parked: Parked): Promise<void> {
  const { client } = target;
  await client.query('SAVEPOINT part');
  try {
    await project(target, events, parked);
    await client.query('RELEASE SAVEPOINT part');
    return;
  } catch (error) {
    if (!refusesValues(error)) throw error;
    await client.query('ROLLBACK TO SAVEPOINT part; RELEASE SAVEPOINT part');
    if (events.length === 1) return parked.park(events[0]!, messageOf(error));
  }
  const half = events.length >> 1;
  await inHalves(target, events.slice(0, half), parked);
  await inHalves(target, events.slice(half), parked);
}

async function project(target: Target, events: StoredEvent[], parked: Parked): Promise<void> {
  const { projection } = target;
  /** What the projection says to each event that is not held back; one that it throws at is parked. */
  const ask = <T>(say: (event: StoredEvent) => T[], hear: (said: T) => void) => {
    for (const event of events) {
      if (parked.holds(event)) continue;
      try {
        for (const said of say(event)) hear(said);
      } catch (error) {
        parked.park(event, messageOf(error));
      }
    }
  };
  const known = new KnownRows();
  const rows: Rows = (table, ...key) => known.row(table, key);
  await load(target, known, (wanted) => ask((event) => projection.needs(event), wanted));
  const needsNext = projection.needsNext?.bind(projection);
  while (needsNext !== undefined && (await load(target, known, (wanted) => ask((event) => needsNext(rows, event), wanted))));
  ask(
    (event) => projection.evolve(rows, event),
    (change) => known.change(change),
  );
  await store(target, known);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** A row as this batch knows it; `stored`: whether the database has one of its key, undefined where it was not asked. */
interface KnownRow {
  key: string[];
  row: Row | undefined;
  stored: boolean | undefined;
  changed: boolean;
}

/** What a batch knows of the rows of a projection, by table and key. Keys that the database cannot tell apart are one. */
class KnownRows {
  private readonly tables = new Map<string, Map<string, KnownRow>>();

  row(table: string, key: string[]): Row | undefined {
    return this.of(table).get(idOf(key))?.row;
  }

  of(table: string): Map<string, KnownRow> {
    let rows = this.tables.get(table);
    if (rows === undefined) {
      rows = new Map();
      this.tables.set(table, rows);
    }
    return rows;
  }

  change({ table, key, row }: Change): void {
    const id = idOf(key);
    const known = this.of(table).get(id);
    if (known === undefined) this.of(table).set(id, { key, row: row ?? undefined, stored: undefined, changed: true });
    else Object.assign(known, { row: row ?? undefined, changed: true });
  }
}

/** No key holds a NUL as a database stores it. */
function idOf(key: string[]): string {
  return key.length === 1 ? asText(key[0]!) : key.map(asText).join('\0');
}

/** Loads the rows that `ask` names and that are not known yet. False where there were none of those. */
async function load(
  { client, schema, projection }: Target,
  known: KnownRows,
  ask: (wanted: (key: RowKey) => void) => void,
): Promise<boolean> {
  const unknown = new Map<string, string[][]>();
  ask(({ table, key }) => {
    const rows = known.of(table);
    const id = idOf(key);
    if (rows.has(id)) return;
    rows.set(id, { key, row: undefined, stored: false, changed: false });
    const wanted = unknown.get(table);
    if (wanted === undefined) unknown.set(table, [key]);
    else wanted.push(key);
  });
  for (const [name, wanted] of unknown) {
    const table = projection.tables[name]!;
    const rows = known.of(name);
    const found = await client.query(byKeys('SELECT *', schema, projection.name, name, table, wanted));
    for (const row of found.rows)
      Object.assign(rows.get(idOf(table.key.map((column) => String(row[column]))))!, { row: fromDatabase(row), stored: true });
  }
  return unknown.size > 0;
}

async function store({ client, schema, projection }: Target, known: KnownRows): Promise<void> {
  for (const [name, table] of Object.entries(projection.tables)) {
    const changed = [...known.of(name).values()].filter((one) => one.changed);
    const kept = changed.flatMap(({ row }) => (row === undefined ? [] : [row]));
    const removed = changed.filter(({ row, stored }) => row === undefined && stored !== false).map(({ key }) => key);
    for (let start = 0; start < kept.length; start += ROWS_AT_ONCE)
      await client.query(upsert(schema, projection.name, name, table, kept.slice(start, start + ROWS_AT_ONCE)));
    if (removed.length > 0) await client.query(byKeys('DELETE', schema, projection.name, name, table, removed));
  }
}
