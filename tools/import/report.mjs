/** What the service says of a repo, for a person: its measurements, the most frequent failures, its signals. */
export async function report(service, repo) {
  const [measured, patterns, signals] = await Promise.all([
    service.query('/v1/measurements', { repo }),
    service.query('/v1/patterns', { repo, order: 'failed', limit: 10 }),
    allOf(service, '/v1/signals', { repo }),
  ]);
  return ['', groups(measured), '', failures(patterns.items), '', signalsLine(signals), '', seeAlso(service.base, repo)].join('\n');
}

async function allOf(service, path, parameters) {
  const items = [];
  for (let cursor = null; ; ) {
    const page = await service.query(path, { ...parameters, limit: 1000, ...(cursor && { cursor }) });
    items.push(...page.items);
    cursor = page.nextCursor;
    if (cursor === null) return items;
  }
}

const RATES = [
  ['first try passed', 'firstTryPass'],
  ['passed in budget', 'passedWithinBudget'],
];
const COUNTS = [
  ['attempts', ({ attempts }) => attempts],
  ['escalated', ({ escalations }) => escalations],
  ['frontier passed', ({ frontierPasses, frontierFails }) => countOf(frontierPasses, frontierPasses + frontierFails)],
  ['cost', ({ costUsd }) => (costUsd === 0 ? '-' : `$${costUsd.toFixed(2)}`)],
];

function groups({ all, cold, history, notes }) {
  const head = ['', 'dispatches', ...RATES.map(([title]) => `${title} (95%)`), ...COUNTS.map(([title]) => title)];
  const both = cold.dispatches > 0 && history.dispatches > 0;
  const rows = Object.entries({ all, ...(both && { 'cold files': cold, 'files with history': history }) });
  const cells = ([title, group]) => [
    title,
    group.dispatches,
    ...RATES.map(([, rate]) => rateOf(group[rate])),
    ...COUNTS.map(([, value]) => value(group)),
  ];
  return [table([head, ...rows.map(cells)]), ...(both ? [notes[0]] : [])].join('\n');
}

function rateOf({ count, of, rate, interval }) {
  if (rate === null) return '-';
  return `${countOf(count, of)}: ${percent(rate)} (${percent(interval[0])}–${percent(interval[1])})`;
}

function failures(items) {
  if (items.length === 0) return 'No failure has a pattern.';
  const head = ['fails most often', 'model', 'attempts', 'overcome later', 'signals', 'frontier passed'];
  return table([head, ...items.map(patternRow)]);
}

/** A row without a pattern is about a kind of signal. */
function patternRow({ pattern, kind, model, failed, overcome, signals, frontier }) {
  return [pattern ?? kind, model, failed, overcome.count, signals.raised, countOf(frontier.passed.count, frontier.passed.of)];
}

function signalsLine(signals) {
  const files = (of) => new Set(of.map(({ targetFile }) => targetFile)).size;
  const overcome = signals.filter(({ reason }) => reason === 'overcome');
  return `${signals.length} signals on ${files(signals)} files; ${overcome.length} of them, on ${files(overcome)} files, were overcome later.`;
}

function seeAlso(base, repo) {
  return `More: ${base}/v1/files?repo=${repo}, ${base}/v1/measurements?repo=${repo}, node examples/what-if.mjs ${repo}`;
}

const countOf = (count, of) => (of === 0 ? '-' : `${count} of ${of}`);
const percent = (share) => `${Math.round(share * 100)}%`;

/** The first column to the left, the others to the right. */
function table(rows) {
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => String(row[column]).length)));
  return rows
    .map((row) => row.map((cell, i) => (i === 0 ? String(cell).padEnd(widths[i]) : String(cell).padStart(widths[i]))).join('  '))
    .join('\n');
}
