// Imports the log of compile attempts of CRUST-bench runs (C projects ported to Rust) into a running Anvil. One dispatch a project: the
// attempts of one model as the builder's, and where those end in an escalation, the last attempt of another model as the frontier's.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { readLines } from './read-lines.mjs';
import { runImport } from './run.mjs';

const USAGE = `npm run import:crust -- --data <path> [--builder kimi_k25] [--frontier gpt54] [--repo crust] [--base http://127.0.0.1:7302] [--concurrency 8]

  --data         the folder src/outputs of github.com/benedikt-schesch/CRUST-bench; or a folder with <run>.attempts.jsonl, a line an attempt:
                 project, iteration, response, errors (null: it compiled); or one such file, then there is no frontier
  --builder      the run whose attempts are the builder's
  --frontier     the run that is asked where those are beyond it; '' for none
  --concurrency  files that are imported at a time`;

function readRun(path, run) {
  if (statSync(path).isFile()) return readLines(path);
  const file = join(path, `${run}.attempts.jsonl`);
  if (existsSync(file)) return readLines(file);
  const folder = basename(path) === run ? path : join(path, run);
  if (!existsSync(folder)) throw new Error(`${path} has neither ${run}.attempts.jsonl nor a folder ${run}`);
  return readdirSync(folder).flatMap((project) => readProject(folder, project));
}

/** A project as the benchmark leaves it: answer k in `initial.txt` or `res_{k-1}.txt`, its errors in `errors_{k}.json` if it had any. */
function readProject(folder, project) {
  const metadata = join(folder, project, 'metadata');
  const rows = [];
  for (let iteration = 0; ; iteration += 1) {
    const response = join(metadata, 'output', iteration === 0 ? 'initial.txt' : `res_${iteration - 1}.txt`);
    if (!existsSync(response)) return rows;
    const errors = join(metadata, `errors_${iteration}.json`);
    rows.push({
      ...{ _run: basename(folder), project, iteration, response: readFileSync(response, 'utf8') },
      errors: existsSync(errors) ? JSON.parse(readFileSync(errors, 'utf8')) : null,
    });
  }
}

function byProject(rows) {
  const projects = new Map();
  for (const row of rows) projects.set(row.project, [...(projects.get(row.project) ?? []), row]);
  for (const attempts of projects.values()) attempts.sort((a, b) => a.iteration - b.iteration);
  return projects;
}

function bodyOf({ response, errors }) {
  return {
    output: response,
    verifier: {
      ...{ tool: 'cargo', command: 'cargo build', exitCode: errors === null ? 0 : 101 },
      stderr: errors === null ? '' : errors.map(diagnostic).join('\n\n'),
    },
  };
}

/** A diagnostic as rustc printed it. The log has it in parts; where it has no code, the code's place may hold how the message began. */
function diagnostic({ error_code: code, error_message: message, file_path: file, row, col, error_snippet: snippet }) {
  const hasCode = /^E\d{4}$/.test(code ?? '');
  const whole = hasCode || !code ? message : `${code}:${message}`.replace(/^[:\s]+/, '');
  return `error${hasCode ? `[${code}]` : ''}: ${whole}\n  --> ${file}:${row}:${col}\n   ${snippet}`;
}

await runImport('crust', {
  usage: USAGE,
  options: { builder: { type: 'string', default: 'kimi_k25' }, frontier: { type: 'string', default: 'gpt54' } },
  read(path, { builder, frontier }) {
    const ofBuilder = byProject(readRun(path, builder));
    const ofFrontier = statSync(path).isFile() || frontier === '' ? new Map() : byProject(readRun(path, frontier));
    // The log does not say the budget of a run. Who did not pass has spent it.
    const budget = Math.max(1, ...[...ofBuilder.values()].map((attempts) => attempts.length));
    return [...ofBuilder].map(([project, attempts]) => {
      const model = attempts[0]._run ?? builder;
      const last = ofFrontier.get(project)?.at(-1);
      return {
        key: `${model} ${project}`,
        opening: {
          targetFile: `${project}/src/lib.rs`,
          task: { id: project, description: `Port the C project ${project} to safe Rust.` },
          // Named, so that a signal asks for an escalation, as the run went on: without a frontier it would end the dispatch.
          frontier: last === undefined ? 'not-in-the-log' : frontier,
          ...{ model, budget, batch: 'crust', carry: 'none' },
        },
        attempts: attempts.map(bodyOf),
        frontier: last === undefined ? null : { model: frontier, ...bodyOf(last) },
      };
    });
  },
});
