import type { AnvilEvent, EventType } from '../src/catalogue/events.js';

export type ColumnType = 'text' | 'integer' | 'time' | 'boolean' | 'json';
export type Row = Record<string, unknown>;

export interface Table {
  columns: Record<string, ColumnType>;
  key: string[];
  /** Column lists that queries filter or sort by. */
  indexes?: string[][];
}

export interface ProjectedEvent {
  id: string;
  stream: string;
  revision: number;
  event: AnvilEvent;
}

/** A row by its table and the values of its key, in the order of `key`. */
export interface RowKey {
  table: string;
  key: string[];
}

/** The rows as they stand: undefined where there is none. Whoever runs a projection has loaded those that `needs` named. */
export type Rows = (table: string, ...key: string[]) => Row | undefined;

/** A row to be stored (it replaces the one of its key), or null to remove it. */
export interface Change extends RowKey {
  row: Row | null;
}

/**
 * A read model: what its tables look like, and how one event changes its rows. Pure: it neither knows where rows live nor reads a
 * clock, so that the same log always gives the same rows. The events of one stream come in their order; a row that several streams
 * change must not depend on the order among those, since a stream may come late as a whole. A new `version` is built from the start of the log.
 */
export interface Projection {
  name: string;
  version: number;
  tables: Record<string, Table>;
  handles: readonly EventType[];
  /** The rows that {@link Projection.evolve} will look at for this event. */
  needs(event: ProjectedEvent): RowKey[];
  /**
   * Further rows for this event, which only those that are loaded by now can tell: asked again until it names nothing new, before any of
   * the batch's events is evolved: so a row may only name here what the events that made it so have named in `needs` themselves.
   */
  needsNext?(rows: Rows, event: ProjectedEvent): RowKey[];
  evolve(rows: Rows, event: ProjectedEvent): Change[];
}
