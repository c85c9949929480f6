import type { ColumnType, Projection, Row, Table } from '../../../projections/projection.js';
import { textArray } from './text-array.js';

/** The schema of the rows that queries see. A rebuild fills tables of the same names in a schema of its own. */
export const SCHEMA = 'anvil_read';

const SQL_TYPE: Record<ColumnType, string> = {
  text: 'text',
  integer: 'bigint',
  time: 'timestamptz',
  boolean: 'boolean',
  // Not jsonb: that refuses the escaped NUL which a model's output may hold.
  json: 'json',
};

export function quoted(identifier: string): string {
  return `"${identifier.replaceAll('"', '""')}"`;
}

export function tableName(schema: string, projection: string, table: string): string {
  return `${quoted(schema)}.${quoted(`${projection}_${table}`)}`;
}

export function createStatements(schema: string, projection: Projection): string[] {
  return Object.entries(projection.tables).map(([name, { columns, key }]) => {
    const typed = Object.entries(columns).map(([column, type]) => `${quoted(column)} ${SQL_TYPE[type]}`);
    const full = tableName(schema, projection.name, name);
    return `CREATE TABLE IF NOT EXISTS ${full} (${typed.join(', ')}, PRIMARY KEY (${key.map(quoted).join(', ')}))`;
  });
}

/** Apart from the tables: whoever fills one from nothing does it faster without them. */
export function indexStatements(schema: string, projection: Projection): string[] {
  return Object.entries(projection.tables).flatMap(([name, { indexes = [] }]) =>
    indexes.map((index) => {
      const indexName = quoted(`${projection.name}_${name}_${index.join('_')}`.slice(0, 63));
      return `CREATE INDEX IF NOT EXISTS ${indexName} ON ${tableName(schema, projection.name, name)} (${index.map(quoted).join(', ')})`;
    }),
  );
}

export function dropStatements(schema: string, projection: Projection): string[] {
  return Object.keys(projection.tables).map((name) => `DROP TABLE IF EXISTS ${tableName(schema, projection.name, name)}`);
}

/** Rows out of the database: times become ISO 8601 again. */
export function fromDatabase(row: Row): Row {
  return Object.fromEntries(Object.entries(row).map(([column, value]) => [column, value instanceof Date ? value.toISOString() : value]));
}

/** A statement about all rows of the given keys; each column of them travels as one array. */
export function byKeys(
  verb: 'SELECT *' | 'DELETE',
  schema: string,
  projection: string,
  name: string,
  { key }: Table,
  keys: string[][],
): { text: string; values: Buffer[] } {
  const columns = key.map(quoted).join(', ');
  return {
    text: `${verb} FROM ${tableName(schema, projection, name)} WHERE (${columns}) IN (SELECT ${unnested(key)})`,
    values: key.map((_, i) => textArray(keys.map((values) => asText(values[i]!)))),
  };
}

/** One statement for any number of rows: each column travels as one array of texts, which get the column's type there. */
export function upsert(schema: string, projection: string, name: string, table: Table, rows: Row[]): { text: string; values: Buffer[] } {
  const columns = Object.keys(table.columns);
  const cast = columns.map((column) => `${quoted(column)}::${SQL_TYPE[table.columns[column]!]}`);
  const others = columns.filter((column) => !table.key.includes(column));
  const update = others.map((column) => `${quoted(column)} = EXCLUDED.${quoted(column)}`);
  return {
    text: `INSERT INTO ${tableName(schema, projection, name)} (${columns.map(quoted).join(', ')})
      SELECT ${cast.join(', ')} FROM (SELECT ${unnested(columns)}) AS given
      ON CONFLICT (${table.key.map(quoted).join(', ')}) DO ${update.length > 0 ? `UPDATE SET ${update.join(', ')}` : 'NOTHING'}`,
    values: columns.map((column) => textArray(rows.map((row) => storable(row[column], table.columns[column]!)))),
  };
}

/** Side by side in a list of columns, arrays are gone through together and row by row: as a table they would first be written out. */
function unnested(columns: string[]): string {
  return columns.map((column, i) => `unnest($${i + 1}::text[]) AS ${quoted(column)}`).join(', ');
}

/** The value, or one like it that the column can store. */
function storable(value: unknown, type: ColumnType): unknown {
  if (value == null) return null;
  if (type === 'json') return JSON.stringify(value);
  return typeof value === 'string' ? asText(value) : value;
}

/** NUL, and halves of surrogate pairs also where they are whole: quickly looked for. */
const SUSPECT = /[\0\ud800-\udfff]/;

/**
 * A text column cannot hold NUL or half of a surrogate pair: a replacement character stands for them, so that no event can stop a
 * projection.
 */
export function asText(value: string): string {
  return SUSPECT.test(value) ? value.replaceAll(/[\0\p{Cs}]/gu, '\ufffd') : value;
}
