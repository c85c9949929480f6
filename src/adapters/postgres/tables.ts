import type { ColumnType, Projection, Row, Table } from '../../../projections/projection.js';

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
  return Object.entries(projection.tables).flatMap(([name, table]) => {
    const columns = Object.entries(table.columns).map(([column, type]) => `${quoted(column)} ${SQL_TYPE[type]}`);
    const full = tableName(schema, projection.name, name);
    return [
      `CREATE TABLE IF NOT EXISTS ${full} (${columns.join(', ')}, PRIMARY KEY (${table.key.map(quoted).join(', ')}))`,
      ...(table.indexes ?? []).map((index) => {
        const indexName = quoted(`${projection.name}_${name}_${index.join('_')}`.slice(0, 63));
        return `CREATE INDEX IF NOT EXISTS ${indexName} ON ${full} (${index.map(quoted).join(', ')})`;
      }),
    ];
  });
}

export function dropStatements(schema: string, projection: Projection): string[] {
  return Object.keys(projection.tables).map((name) => `DROP TABLE IF EXISTS ${tableName(schema, projection.name, name)}`);
}

/** Rows out of the database: times become ISO 8601 again. */
export function fromDatabase(row: Row): Row {
  return Object.fromEntries(Object.entries(row).map(([column, value]) => [column, value instanceof Date ? value.toISOString() : value]));
}

/** A statement about all rows of the given keys, with its parameters: one text array for each key column. */
export function byKeys(
  verb: 'SELECT *' | 'DELETE',
  schema: string,
  projection: string,
  name: string,
  table: Table,
  keys: string[][],
): { text: string; values: unknown[] } {
  const columns = table.key.map(quoted).join(', ');
  return {
    text: `${verb} FROM ${tableName(schema, projection, name)} WHERE (${columns}) IN (SELECT * FROM ${unnest(table.key.length)})`,
    values: columnsOf(
      keys.map((key) => key.map(asText)),
      table.key.length,
    ),
  };
}

/** One statement for any number of rows: each column travels as a text array and is cast to its type. */
export function upsert(schema: string, projection: string, name: string, table: Table, rows: Row[]): { text: string; values: unknown[] } {
  const columns = Object.keys(table.columns);
  const casts = columns.map((column, i) => `c${i}::${SQL_TYPE[table.columns[column]!]}`);
  const others = columns.filter((column) => !table.key.includes(column));
  const update = others.map((column) => `${quoted(column)} = EXCLUDED.${quoted(column)}`);
  return {
    text: `INSERT INTO ${tableName(schema, projection, name)} (${columns.map(quoted).join(', ')}) SELECT ${casts.join(', ')} FROM ${unnest(columns.length)}
      ON CONFLICT (${table.key.map(quoted).join(', ')}) DO ${update.length > 0 ? `UPDATE SET ${update.join(', ')}` : 'NOTHING'}`,
    values: columnsOf(
      rows.map((row) => columns.map((column) => toText(row[column], table.columns[column]!))),
      columns.length,
    ),
  };
}

function unnest(columns: number): string {
  const numbers = Array.from({ length: columns }, (_, i) => i);
  return `unnest(${numbers.map((i) => `$${i + 1}::text[]`).join(', ')}) AS u(${numbers.map((i) => `c${i}`).join(', ')})`;
}

function columnsOf<T>(rows: T[][], columns: number): T[][] {
  return Array.from({ length: columns }, (_, i) => rows.map((row) => row[i]!));
}

/**
 * A text column cannot hold NUL or half of a surrogate pair: a replacement character stands for them, so that no event can stop a
 * projection.
 */
export function asText(value: string): string {
  return value.replaceAll(/[\0\p{Cs}]/gu, '\ufffd');
}

function toText(value: unknown, type: ColumnType): string | null {
  if (value === null || value === undefined) return null;
  return type === 'json' ? JSON.stringify(value) : asText(String(value));
}
