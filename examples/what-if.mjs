// What other rules would have made of what is in the log: one line a policy, beside what was decided.
//
//   node examples/what-if.mjs [repo]     (ANVIL_URL, when Anvil listens elsewhere; without a repo: all of them)
//
// fired    dispatches that the rules take from the builder
// wrong    of those, the ones that the builder passed later, had it gone on
// saved    the builder's attempts that were recorded after that
// net 5, 10, 20    saved, less the price of a wrong frontier call in builder attempts

const anvil = (process.env.ANVIL_URL ?? 'http://127.0.0.1:7302').replace(/\/+$/, '');
const [repo] = process.argv.slice(2);

const RULES = [
  ['as it was', {}],
  ['2 per pattern', { policy: { perPattern: 2 } }],
  ['4 per pattern', { policy: { perPattern: 4 } }],
  ['4 per file', { policy: { perFile: { failures: 4, patterns: 2 } } }],
  ['first pattern only', { patterns: 'primary' }],
  ['an hour old at most', { policy: { failureMaxAgeSeconds: 3600 } }],
  ['after 2 failures', { escalation: { afterFailures: 2 } }],
  ['after 3 failures', { escalation: { afterFailures: 3 } }],
  ['after 4 failures', { escalation: { afterFailures: 4 } }],
  ['after 3 of a task', { escalation: { afterFailures: 3, of: 'task' } }],
];

async function call(method, path, body) {
  const response = await fetch(anvil + path, {
    method,
    ...(body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  });
  const answer = await response.json();
  if (!response.ok) throw new Error(`${method} ${path}: ${answer.detail} ${JSON.stringify(answer.errors ?? [])}`);
  return answer;
}

async function whatIf(rules) {
  let job = await call('POST', '/v1/measurements/what-if', { ...rules, ...(repo && { repo }) });
  while (job.status === 'running') {
    await new Promise((resolve) => setTimeout(resolve, 200));
    job = await call('GET', `/v1/measurements/what-if/${job.id}`);
  }
  if (job.status !== 'done') throw new Error(`the what-if ${job.status}: ${job.error}`);
  return job.result;
}

const HEAD = ['files with a signal', 'overcome', 'fired', 'wrong', 'saved', 'net 5', 'net 10', 'net 20', 'other decisions'];
const say = (title, cells) =>
  console.log(`${title.padEnd(30)}${cells.map((cell, i) => String(cell).padStart(HEAD[i].length + 2)).join('')}`);
const line = (title, signals, { dispatches, wrong, saved }, decisions) =>
  say(title, [
    ...[signals.files, signals.filesOvercome, dispatches, wrong.count, saved],
    ...[5, 10, 20].map((price) => saved - price * wrong.count),
    decisions,
  ]);

say('rules', HEAD);
for (const [index, [name, rules]] of RULES.entries()) {
  const { recorded, other, differences } = await whatIf(rules);
  if (index === 0) {
    line('recorded', recorded.signals, recorded.escalations, '-');
    line('recorded, signals alone', recorded.signals, recorded.bySignal, '-');
  }
  line(name, other.signals, other.escalations, differences.decisions);
  if (!rules.escalation) line(`${name}, signals alone`, other.signals, other.bySignal, differences.decisions);
}
