import type pg from 'pg';
import type { Change, Projection, Row, RowKey, Rows } from '../../../projections/projection.js';
import { type FollowedEvent, isUnread, type StoredEvent } from '../../application/ports.js';
import { isEventType } from '../../catalogue/events.js';
import { hold, park } from './parked-events.js';
import { asText, byKeys, fromDatabase, upsert } from './tables.js';

/** What of a projection's streams is parked: from which revision on each is held back. */
export type Held = Map<string, number>;

interface Target {
  client: pg.PoolClient;
  schema: string;
  projection: Projection;
}

/**
 * Takes a projection over events in order, in the caller's transaction. An event that cannot be read or that the projection cannot take
 * is parked, and holds back the later ones of its stream; `held` says which were held back before, and tells afterwards.
 */
export async function takeBatch(target: Target, events: FollowedEvent[], held: Held, inParts = false): Promise<void> {
  const own = events.filter((event) => concerns(target.projection, event));
  const parked = new Parked(held);
  for (const event of own) if (isUnread(event)) parked.park(event, event.unreadable);
  const readable = own.filter((event): event is StoredEvent => !isUnread(event));
  if (inParts) await inHalves(target, readable, parked);
  else await project(target, readable, parked);
  await parked.store(target, own);
}

/** An event of an unknown type may be anybody's: every projection waits for it to be understood. */
function concerns({ handles }: Projection, event: FollowedEvent): boolean {
  const type = isUnread(event) ? event.type : event.event.type;
  return isEventType(type) ? handles.includes(type) : true;
}

class Parked {
  private readonly found = new Map<string, { event: FollowedEvent; reason: string }>();

  constructor(private readonly held: Held) {}

  holds({ stream, revision }: { stream: string; revision: number }): boolean {
    return revision >= (this.held.get(stream) ?? Number.POSITIVE_INFINITY);
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
  const ask = <T>(say: (event: StoredEvent) => T[]): T[] =>
    events.flatMap((event) => {
      if (parked.holds(event)) return [];
      try {
        return say(event);
      } catch (error) {
        parked.park(event, messageOf(error));
        return [];
      }
    });
  const needed = ask((event) => projection.needs(event));
  const known = await load(target, needed);
  const rows: Rows = (table, ...key) => known.get(idOf({ table, key }));
  const further = ask((event) => projection.needsNext?.(rows, event) ?? []);
  for (const [id, row] of await load(target, further)) known.set(id, row);
  const changed = new Map<string, Change>();
  ask((event) => {
    for (const change of projection.evolve(rows, event)) {
      known.set(idOf(change), change.row ?? undefined);
      changed.set(idOf(change), change);
    }
    return [];
  });
  await store(target, [...changed.values()]);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Keys that the database cannot tell apart are one. */
function idOf({ table, key }: RowKey): string {
  return JSON.stringify([table, ...key.map(asText)]);
}

async function load({ client, schema, projection }: Target, keys: RowKey[]): Promise<Map<string, Row | undefined>> {
  const known = new Map<string, Row | undefined>();
  const distinct = [...new Map(keys.map((key) => [idOf(key), key])).values()];
  for (const [name, table] of Object.entries(projection.tables)) {
    const wanted = distinct.filter((key) => key.table === name).map(({ key }) => key);
    if (wanted.length === 0) continue;
    const { rows } = await client.query(byKeys('SELECT *', schema, projection.name, name, table, wanted));
    for (const row of rows) known.set(idOf({ table: name, key: table.key.map((column) => String(row[column])) }), fromDatabase(row));
  }
  return known;
}

async function store({ client, schema, projection }: Target, changes: Change[]): Promise<void> {
  for (const [name, table] of Object.entries(projection.tables)) {
    const own = changes.filter((change) => change.table === name);
    const kept = own.flatMap(({ row }) => (row === null ? [] : [row]));
    const removed = own.filter(({ row }) => row === null).map(({ key }) => key);
    if (kept.length > 0) await client.query(upsert(schema, projection.name, name, table, kept));
    if (removed.length > 0) await client.query(byKeys('DELETE', schema, projection.name, name, table, removed));
  }
}
