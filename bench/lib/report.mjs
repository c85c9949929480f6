import { cpus, totalmem } from 'node:os';
import { median } from './statistics.mjs';

/** A table as plain text: the first row is its head. */
export function table(title, rows, notes = []) {
  const columns = rows[0].length;
  const widths = Array.from({ length: columns }, (_, column) => Math.max(...rows.map((row) => (row[column] ?? '').length)));
  const line = (row) =>
    widths
      .map((width, column) => (row[column] ?? '').padEnd(width))
      .join('  ')
      .trimEnd();
  const [head, ...body] = rows;
  return [
    '',
    title,
    '',
    line(head),
    widths.map((width) => '-'.repeat(width)).join('  '),
    ...body.map(line),
    ...notes.map((n) => `  ${n}`),
  ].join('\n');
}

/** What a figure should be, and whether the median of its rounds is. */
export function target(values, { atMost, atLeast, unit = '' }) {
  const value = median(values);
  const fits = atMost === undefined ? value >= atLeast : value <= atMost;
  return `${atMost === undefined ? `≥ ${atLeast}` : `≤ ${atMost}`}${unit}: ${fits ? 'met' : 'MISSED'}`;
}

export function heading(options) {
  const { rounds, warmUp, quick } = options;
  return [
    `Anvil, npm run bench${quick ? ' -- --quick (a smoke run: the figures mean little)' : ''}`,
    `Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GiB`,
    `Medians of ${rounds} interleaved rounds (first to third quartile), after ${warmUp.toLocaleString('en-US')} calls of each kind.`,
    'The service, its embedded node and event-store client are one Node process; callers are another; PostgreSQL is the embedded one.',
  ].join('\n');
}
