type Fields = Record<string, unknown>;

/**
 * Rows as comma-separated values (RFC 4180), below a line of the columns' names: each is a path (`overcome.rate`, `overcome.interval.0`)
 * into a row, and null is nothing. A text that a spreadsheet would take for a formula gets an apostrophe before it.
 */
export function csvOf(rows: Fields[], columns: readonly string[]): string {
  const lines = [columns.map(cell), ...rows.map((row) => columns.map((column) => cell(at(row, column))))];
  return lines.map((line) => `${line.join(',')}\r\n`).join('');
}

function at(row: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((value, field) => (value as Fields | null | undefined)?.[field], row);
}

function cell(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value !== 'string') return String(value);
  const plain = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
}
