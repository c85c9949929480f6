import { isDeepStrictEqual } from 'node:util';
import { naiveFold } from './naive-fold.mjs';

const PAGE = 200;

/** All events of the files through the service's own audit: what a caller can read is what lies in the log. */
export async function readAudit(client, files) {
  const audited = new Map();
  for (const file of files) {
    const events = [];
    for (;;) {
      const page = await client.query('/v1/audit/events', { ...file, from: events.length, limit: 1_000 });
      if (page === null) throw new Error('the audit cannot be read');
      events.push(...page.items);
      if (page.items.length < 1_000) break;
    }
    audited.set(file, events);
  }
  return audited;
}

/** The read models, read page by page, against a fold that knows nothing of them. */
export async function checkReadModels(report, client, { audited, repo, texts, after }) {
  const models = [...audited].map(([file, events]) => naiveFold(file, events));
  const of = (part) => models.flatMap((model) => [...model[part].values()]);
  const read = (path) => client.all(path, { repo, limit: PAGE, after });
  const whole = (row, columns) => ({ ...row, ...Object.fromEntries(columns.map((column) => [column, textOf(row[column], texts)])) });
  compare(report, '/v1/histograms', await read('/v1/histograms'), of('histogram'), ({ targetFile, pattern, code, seat, model }) =>
    JSON.stringify([targetFile, code ?? pattern, seat, model]),
  );
  compare(report, '/v1/dispatches', await read('/v1/dispatches'), of('dispatches'), ({ dispatchId }) => dispatchId);
  const proposals = of('proposals').map((row) => whole(row, ['output', 'diff']));
  compare(report, '/v1/proposals', await read('/v1/proposals'), proposals, ({ proposalId }) => proposalId);
  const pairs = of('pairs').map((row) => whole(row, ['chosen', 'rejected', 'prompt']));
  compare(report, '/v1/correction-pairs', await read('/v1/correction-pairs'), pairs, ({ chosenAttemptId }) => chosenAttemptId);
}

/** Rows that are missing, too many, or other than they should be in what the fold knows of them. */
function compare(report, what, rows, expected, keyOf) {
  const found = new Map(rows.map((row) => [keyOf(row), row]));
  const wrong = [];
  if (found.size !== rows.length) wrong.push(`${rows.length - found.size} rows twice`);
  for (const row of expected) {
    const other = found.get(keyOf(row));
    found.delete(keyOf(row));
    if (other === undefined) wrong.push(`missing ${keyOf(row)}`);
    else
      for (const [column, value] of Object.entries(row))
        if (!isDeepStrictEqual(other[column], value))
          wrong.push(`${keyOf(row)}: ${column} is ${short(other[column])}, not ${short(value)}`);
  }
  wrong.push(...[...found.keys()].map((key) => `too many ${key}`));
  report.none(`${what} equals a fresh fold of the log`, wrong, `${expected.length} rows`);
}

function textOf(stored, texts) {
  if (stored === null || stored === undefined) return null;
  return stored.text ?? texts.get(stored.payload);
}

function short(value) {
  return JSON.stringify(value)?.slice(0, 120);
}
