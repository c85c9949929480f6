import { isDeepStrictEqual } from 'node:util';
import type { ProjectedEvent, Projection, Row, RowKey } from '../../projections/projection.js';
import type { FileEvent } from '../../src/catalogue/events.js';

/** An event with its place in the log: checkpoints count places. */
export interface LoggedEvent extends ProjectedEvent {
  position: number;
  event: FileEvent;
}

/**
 * Runs a projection as its contract says, and no kinder: rows are loaded for a whole batch before any of its events, an event sees only
 * rows that some event of the batch named, rows cannot be changed in place, a stored row has exactly the columns of its table, and
 * events up to the checkpoint do not count again.
 */
export class InMemoryProjection {
  private readonly stored = new Map<string, { table: string; row: Row }>();
  private checkpoint = -1;

  constructor(private readonly projection: Projection) {}

  apply(events: LoggedEvent[]): this {
    const fresh = events.filter(({ position }) => position > this.checkpoint);
    const handled = fresh.filter(({ event }) => this.projection.handles.includes(event.type));
    const known = new Map(
      handled.flatMap((event) => this.projection.needs(event)).map((key) => [idOf(key), this.stored.get(idOf(key))?.row]),
    );
    for (;;) {
      const rows = (table: string, ...key: string[]) => known.get(idOf({ table, key }));
      const further = handled.flatMap((event) => this.projection.needsNext?.(rows, event) ?? []).filter((key) => !known.has(idOf(key)));
      if (further.length === 0) break;
      for (const key of further) known.set(idOf(key), this.stored.get(idOf(key))?.row);
    }
    for (const event of handled) {
      const needed = new Set(known.keys());
      const changes = this.projection.evolve((table, ...key) => {
        const id = idOf({ table, key });
        if (!needed.has(id)) throw new Error(`${event.event.type} reads ${id}, which no event of the batch needs`);
        return known.get(id);
      }, deepFreeze(event));
      for (const { table, key, row } of changes) {
        this.check(table, key, row);
        known.set(idOf({ table, key }), row === null ? undefined : deepFreeze(row));
        if (row === null) this.stored.delete(idOf({ table, key }));
        else this.stored.set(idOf({ table, key }), { table, row: deepFreeze(row) });
      }
    }
    this.checkpoint = Math.max(this.checkpoint, ...fresh.map(({ position }) => position));
    return this;
  }

  /** The rows of a table, in the order of their keys. */
  rows(table: string): Row[] {
    const own = [...this.stored].filter(([, stored]) => stored.table === table);
    return own.sort(([a], [b]) => (a < b ? -1 : 1)).map(([, { row }]) => row);
  }

  private check(name: string, key: string[], row: Row | null): void {
    const table = this.projection.tables[name]!;
    if (row === null) return;
    const columns = Object.keys(table.columns).sort();
    if (!isDeepStrictEqual(Object.keys(row).sort(), columns)) throw new Error(`${name}: ${Object.keys(row)} are not its columns`);
    for (const column of columns) if (row[column] === undefined) throw new Error(`${name}.${column} is undefined`);
    const told = table.key.map((column) => row[column]);
    if (!isDeepStrictEqual(told, key)) throw new Error(`${name}: a row of ${told} is stored under ${key}`);
  }
}

/**
 * The same events delivered in one batch, one by one, in batches that cut commands in two, and a second time: the rows must be the same
 * each time, and are handed back.
 */
export function projected(projection: Projection, events: LoggedEvent[], table: string): Row[] {
  const rows = new InMemoryProjection(projection).apply(events).rows(table);
  const oneByOne = new InMemoryProjection(projection);
  for (const event of events) oneByOne.apply([event]);
  expect(oneByOne.rows(table)).toEqual(rows);
  const inPieces = new InMemoryProjection(projection);
  // Each piece comes again with the next one, as after a restart whose last batch was not remembered.
  for (let start = 0; start < events.length; start += 7) inPieces.apply(events.slice(Math.max(0, start - 7), start + 7));
  expect(inPieces.rows(table)).toEqual(rows);
  expect(inPieces.apply(events).rows(table)).toEqual(rows);
  return rows;
}

function idOf({ table, key }: RowKey): string {
  return JSON.stringify([table, ...key]);
}

function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  for (const inner of Object.values(value)) deepFreeze(inner);
  return Object.freeze(value);
}
