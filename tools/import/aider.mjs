// Imports aider's log of SWE-bench Lite into a running Anvil. One dispatch an instance; its builder is the pair of models that take turns, each
// on a fresh checkout, up to six times. The home file is the first one that aider put into the chat: what a loop knows before it edits.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { readLines } from './read-lines.mjs';
import { runImport } from './run.mjs';

const USAGE = `npm run import:aider -- --data <path> [--acceptance] [--model gpt-4o+claude-3-opus] [--repo aider] [--base http://127.0.0.1:7302] [--concurrency 8]

  --data         the folder predictions/multi-models--gpt-4o--openrouter-anthropic-claude-3-opus of github.com/paul-gauthier/aider-swe-bench;
                 or a file of attempts (or a folder with attempts.jsonl): the entries of all_results, a line each, with instance_id
  --acceptance   corrects the verdict of each submitted attempt to what the hidden acceptance tests said
  --model        what the builder is called
  --concurrency  files that are imported at a time`;

/** Up to three tries of each of two models. */
const BUDGET = 6;

function readAttempts(path) {
  if (statSync(path).isFile()) return readLines(path);
  const lines = join(path, 'attempts.jsonl');
  if (existsSync(lines)) return readLines(lines);
  return readdirSync(path)
    .filter((file) => file.endsWith('.json'))
    .sort()
    .flatMap((file) => ofInstance(JSON.parse(readFileSync(join(path, file), 'utf8'))));
}

/** The attempts of an instance as aider leaves it; the one that was submitted stands beside them once more, with what came of it. */
function ofInstance({ instance_id, model_patch, try: tried, model, resolved, all_results = [] }) {
  const chosen = all_results.findIndex((row) => row.model_patch === model_patch && row.try === tried && row.model === model);
  return all_results.map((row, i) => ({ ...row, instance_id, _chosen: i === chosen, resolved_of_chosen: resolved === true }));
}

/** Files of all projects are in one repo: the project is the first part of the path. */
function homeOf(instance, attempts) {
  const file = ['added_files', 'edited_files', 'gold_files'].flatMap((list) => attempts.flatMap((row) => row[list] ?? []))[0];
  return `${instance.replace(/-\d+$/, '')}/${file ?? instance}`;
}

/** The gates that an attempt has to pass, in order; the pattern says which one it did not. null: it was not reached. */
const GATES = [
  ['aider_edit_errors', (row) => row.edit_outcome === true],
  ['aider_lint_errors', (row) => row.lint_outcome === true],
  ['aider_test_failures', (row) => row.test_outcome === true],
  ['aider_empty_patch', (row) => Boolean(row.model_patch)],
];

function bodyOf(row) {
  const failed = GATES.find(([, passes]) => !passes(row));
  return {
    output: row.model_patch ?? '',
    ...(row.model_patch && { diff: row.model_patch }),
    ...(row.chat_tail && { verifier: { command: 'aider', exitCode: failed ? 1 : 0, output: row.chat_tail } }),
    ...{ verdict: failed ? 'fail' : 'pass', ...(failed && { patterns: [failed[0]] }) },
    ...(typeof row.cost === 'number' && { usage: { costUsd: row.cost } }),
  };
}

/** Only the submitted attempt met the hidden tests. */
function correctionOf(row) {
  const verdict = row.resolved_of_chosen ? 'pass' : 'fail';
  if (!row._chosen || verdict === bodyOf(row).verdict) return {};
  const patterns = verdict === 'fail' ? { patterns: ['swebench_not_resolved'] } : {};
  return { corrected: { verdict, ...patterns, reason: 'the hidden acceptance tests', source: 'swe-bench' } };
}

await runImport('aider', {
  usage: USAGE,
  options: { acceptance: { type: 'boolean', default: false }, model: { type: 'string', default: 'gpt-4o+claude-3-opus' } },
  read(path, { acceptance, model }) {
    const instances = new Map();
    for (const row of readAttempts(path)) instances.set(row.instance_id, [...(instances.get(row.instance_id) ?? []), row]);
    return [...instances].map(([instance, attempts]) => ({
      key: `${model} ${instance}`,
      opening: {
        targetFile: homeOf(instance, attempts),
        task: { id: instance, description: `Resolve the issue of the SWE-bench instance ${instance}.` },
        // Named, so that a signal asks for an escalation, as the loop went on: without a frontier it would end the dispatch.
        ...{ model, frontier: 'not-in-the-log', budget: BUDGET, batch: 'aider', carry: 'none' },
      },
      attempts: attempts.map((row) => ({ ...bodyOf(row), ...(acceptance && correctionOf(row)) })),
      frontier: null,
    }));
  },
});
