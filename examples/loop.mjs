// The whole loop in one file: a model writes code, tsc judges it, the workspace is reverted, and Anvil says what comes next.
//
//   npm start                  in one terminal
//   node examples/loop.mjs     in another (ANVIL_URL, when Anvil listens elsewhere)
//
// The two models are scripted, so that everybody sees the same run. All else is real: files, compiler, diffs, revert, service.

import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const anvil = (process.env.ANVIL_URL ?? 'http://127.0.0.1:7302').replace(/\/+$/, '');
const tsc = join(dirname(fileURLToPath(import.meta.resolve('typescript/package.json'))), 'bin/tsc');
const say = (text = '') => console.log(text);

// ---- the task: a file to write, and beside it a file that uses it, which no model may touch

const repo = `loop-example-${Date.now().toString(36)}`; // a fresh one for each run
const targetFile = 'src/lru-cache.ts';
const task = { id: 'lru-cache', description: 'LruCache<K, V>: set() evicts the least recently used entry, get() refreshes one.' };

const workspace = mkdtempSync(join(tmpdir(), 'anvil-loop-'));
const target = join(workspace, targetFile);
mkdirSync(dirname(target));
writeFileSync(target, 'export class LruCache<K, V> {}\n');
writeFileSync(
  join(workspace, 'src/main.ts'),
  `import { LruCache } from './lru-cache.js';
const cache = new LruCache<string, number>(2);
cache.set('a', 1);
export const found: number | undefined = cache.get('a');
`,
);
writeFileSync(
  join(workspace, 'tsconfig.json'),
  JSON.stringify({
    compilerOptions: { strict: true, noEmit: true, target: 'es2022', lib: ['es2022'], module: 'nodenext', types: [] },
    include: ['src'],
  }),
);

// ---- the models: what a real loop asks a model for, with the prompt that it gets here

const classWith = (get, evict) => `export class LruCache<K, V> {
  private readonly entries = new Map<K, V>();
  constructor(private readonly capacity: number) {}
${get}
  set(key: K, value: V): void {
    this.entries.delete(key);
    this.entries.set(key, value);
${evict}
  }
}
`;
const forgetsUndefined = '  get(key: K): V {\n    return this.entries.get(key);\n  }';
const forgetsUndefinedAgain = '  get(key: K): V {\n    const value = this.entries.get(key);\n    return value;\n  }';
const right = `  get(key: K): V | undefined {
    const value = this.entries.get(key);
    if (value !== undefined) this.set(key, value);
    return value;
  }`;
const takesTheFirst =
  '    const oldest: K = this.entries.keys().next().value;\n    if (this.entries.size > this.capacity) this.entries.delete(oldest);';
const looksForOne = `    for (const oldest of this.entries.keys()) {
      if (this.entries.size <= this.capacity) break;
      this.entries.delete(oldest);
    }`;

const weakAnswers = [classWith(forgetsUndefined, ''), classWith(forgetsUndefinedAgain, ''), classWith(right, takesTheFirst)];
let asked = 0;
const weak = { name: 'weak-model', write: (_prompt) => weakAnswers[asked++ % weakAnswers.length] };
const strong = { name: 'strong-model', write: (_prompt) => classWith(right, looksForOne) };

// ---- the workspace: write, verify, take the diff, revert

function tryOut(output) {
  const before = readFileSync(target, 'utf8');
  writeFileSync(target, output);
  const began = Date.now();
  const run = spawnSync(process.execPath, [tsc, '--noEmit', '--pretty', 'false'], { cwd: workspace, encoding: 'utf8' });
  const diff = unifiedDiff(before, readFileSync(target, 'utf8'));
  writeFileSync(target, before); // reverted: the next attempt starts from the same file, and only Anvil remembers this one
  const { status: exitCode, signal, stdout, stderr } = run;
  return { diff, verifier: { tool: 'tsc', command: 'tsc --noEmit', exitCode, signal, stdout, stderr, durationMs: Date.now() - began } };
}

/** One hunk over the whole file, where `git diff` would say it shorter: this example needs nothing but Node. */
function unifiedDiff(before, after) {
  const [old, now] = [before, after].map((text) => text.replace(/\n$/, '').split('\n'));
  const head = [`--- a/${targetFile}`, `+++ b/${targetFile}`, `@@ -1,${old.length} +1,${now.length} @@`];
  return [...head, ...old.map((line) => `-${line}`), ...now.map((line) => `+${line}`), ''].join('\n');
}

// ---- the loop: do what `next.step` says until it is terminal

async function build() {
  let answer = await post('/v1/dispatches', { repo, targetFile, task, model: weak.name, frontier: strong.name, budget: 4 });
  const { dispatchId, hint } = answer;
  say(`  hint      ${hint.text || '(none: nothing is known of this file yet)'}`);
  let prompt = [task.description, hint.text].filter(Boolean).join('\n\n');
  for (;;) {
    const { step, reason } = answer.next;
    say(`  next      ${step}: ${reason.detail} [${reason.rule}]`);
    switch (step) {
      case 'attempt':
      case 'retry':
        answer = await attempt(weak, `/v1/dispatches/${dispatchId}/attempts`, prompt);
        break;
      case 'replan':
        prompt += '\n\nThe last attempts failed in the same way. Say first what you will do differently.';
        answer = await attempt(weak, `/v1/dispatches/${dispatchId}/attempts`, prompt);
        break;
      case 'escalate':
        answer = await attempt(strong, `/v1/dispatches/${dispatchId}/frontier-outcomes`, prompt);
        if (answer.classification) say(`  learned   ${answer.classification}: the task can be done, not by ${weak.name}`);
        break;
      case 'done': // a passing output was staged as a proposal: keep it, and say so
        writeFileSync(target, answer.proposal.output);
        await post(`/v1/proposals/${answer.proposal.proposalId}/resolve`, { resolution: 'accepted' });
        say(`  accepted  the output of the ${answer.proposal.seat} is in the workspace`);
        return answer;
      case 'wait': // somebody else builds this task right now
      case 'stop': // infrastructure is down, or the budget is spent, or nobody is left to ask
      case 'decompose': // too hard for the strong model as well: cut the task into smaller ones
        return answer;
      default:
        throw new Error(`this example does not know the step ${step}`);
    }
  }
}

async function attempt(model, path, prompt) {
  const output = model.write(prompt);
  const answer = await post(path, { output, prompt, ...tryOut(output) });
  const patterns = answer.patterns.map(({ pattern, category }) => `${pattern} (${category})`);
  say(`  attempt   ${model.name}, tsc says ${[answer.verdict, ...patterns].join(' ')}`);
  return answer;
}

// ---- HTTP, with nothing but fetch

const post = (path, body) => call(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
const get = (path, query) => call(`${path}?${new URLSearchParams(query)}`);

async function call(path, init) {
  const response = await fetch(anvil + path, init).catch((error) => {
    const why = error.cause?.code ?? error.cause?.message ?? error.message;
    throw new Error(`No Anvil answers at ${anvil} (${why}). Start one with "npm start", or say where it is with ANVIL_URL.`);
  });
  const answer = await response.json().catch(() => ({ title: 'the answer is not JSON: is this Anvil?' }));
  if (!response.ok) throw new Error(`${path} answered ${response.status}: ${answer.detail ?? answer.title}`);
  return answer;
}

// ---- the story

try {
  say(`1. ${task.id} is built for the first time (repo ${repo})`);
  const first = await build();
  if (first.dispatch.outcome !== 'escalated_passed') throw new Error(`expected the strong model to pass, not ${first.dispatch.outcome}`);

  const seen = { repo, after: first.position.commit }; // read models answer once they have seen the last command
  say('\n2. What is remembered of the file');
  for (const { pattern, model, attempts } of (await get('/v1/histograms', seen)).items)
    say(`  histogram ${pattern}: failed ${attempts} attempts of ${model}`);
  for (const { kind, prompt, chosen, rejected } of (await get('/v1/correction-pairs', seen)).items) {
    say(`  pair      ${kind}, as preference-training data`);
    for (const [name, text] of Object.entries({ prompt, rejected, chosen })) say(`            ${name}: ${text.length} characters`);
  }
  const { items: events } = await get('/v1/audit/events', { repo, targetFile });
  say(`  log       ${events.length} events: ${[...new Set(events.map(({ type }) => type))].join(', ')}`);

  say('\n3. Somebody breaks the file, and the same task is dispatched again');
  writeFileSync(target, 'export class LruCache<K, V> {}\n');
  await build();
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
} finally {
  rmSync(workspace, { recursive: true, force: true });
}
