import { parseArgs } from 'node:util';
import { report } from './report.mjs';
import { Service } from './service.mjs';

/**
 * Imports a log and says what came of it; ends the process with 1 where that fails.
 *
 * `read` gives from a path the tasks of the log, in its order: `{ key, opening, attempts, frontier }`. `opening` is the body that opens the
 * dispatch, less its repo; each of `attempts` is the body of an attempt, with `corrected` where its verdict turned out wrong later;
 * `frontier` is the body of a frontier outcome, sent where the last step was to escalate, or null.
 */
export async function runImport(name, { options = {}, usage, read }) {
  try {
    const { values } = parseArgs({ options: { ...COMMON, ...options, repo: { type: 'string', default: name } } });
    if (values.help || values.data === undefined) {
      console.log(usage);
      process.exitCode = values.help ? 0 : 1;
      return;
    }
    const service = new Service(values.base, `import ${name} ${values.repo}`);
    await service.ready();
    const tasks = read(values.data, values);
    if (tasks.length === 0) throw new Error(`${values.data} has no attempts`);
    const began = performance.now();
    const done = await importAll(service, values.repo, tasks, width(values.concurrency));
    const seconds = ((performance.now() - began) / 1000).toFixed(1);
    console.log(`${done.attempts} attempts of ${tasks.length} tasks are in the repo ${values.repo} (${seconds} s).${apart(done)}`);
    console.log(await report(service, values.repo));
  } catch (error) {
    console.error(error.message);
    process.exitCode = 1;
  }
}

const COMMON = {
  data: { type: 'string' },
  base: { type: 'string', default: process.env.ANVIL_URL ?? 'http://127.0.0.1:7302' },
  concurrency: { type: 'string', default: '8' },
  help: { type: 'boolean', default: false },
};

/**
 * Several files at a time, the tasks of one file one after the other: what a task finds known of its file is then the same in every run.
 */
async function importAll(service, repo, tasks, concurrency) {
  const done = { tasks: 0, attempts: 0, afterPass: 0, corrected: 0 };
  const files = new Map();
  for (const task of tasks) files.set(task.opening.targetFile, [...(files.get(task.opening.targetFile) ?? []), task]);
  const waiting = [...files.values()].values();
  const worker = async () => {
    for (const ofFile of waiting)
      for (const task of ofFile) {
        await importTask(service, repo, task, done);
        done.tasks += 1;
        progress(done, tasks.length);
      }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  return done;
}

async function importTask(service, repo, { key, opening, attempts, frontier }, done) {
  // A day's lease: an import that was cut short goes on where it ended. `force`: the log's own loop asked nobody whether to build.
  const opened = await service.command('/v1/dispatches', `${key} open`, { repo, ...opening, leaseSeconds: 86_400, force: true });
  const { dispatchId } = opened;
  if (dispatchId === null) throw new Error(`${key} could not be opened in ${repo}: ${opened.next.reason.detail}`);
  const corrections = [];
  let last = opened;
  for (const [i, { corrected, ...body }] of attempts.entries()) {
    last = await service.command(`/v1/dispatches/${dispatchId}/attempts`, `${key} ${i + 1}`, { attempt: i + 1, ...body });
    done.attempts += 1;
    if (corrected !== undefined) corrections.push([last.attemptId, corrected]);
    if (last.next.terminal) {
      // A dispatch is over with its first pass; some loops went on all the same.
      done.afterPass += attempts.length - 1 - i;
      break;
    }
  }
  if (last.next.step === 'escalate' && frontier !== null)
    last = await service.command(`/v1/dispatches/${dispatchId}/frontier-outcomes`, `${key} frontier`, frontier);
  if (!last.next.terminal) await service.command(`/v1/dispatches/${dispatchId}/abandon`, `${key} end`, { reason: 'the log ends here' });
  for (const [attemptId, corrected] of corrections) {
    await service.command(`/v1/attempts/${attemptId}/verdict-corrections`, `${key} corrected ${attemptId}`, corrected);
    done.corrected += 1;
  }
}

function progress({ tasks, attempts }, total) {
  if (process.stderr.isTTY) process.stderr.write(`\r${tasks} of ${total} tasks, ${attempts} attempts${tasks === total ? '\n' : ''}`);
}

function apart({ afterPass, corrected }) {
  return [
    afterPass > 0 ? ` ${afterPass} more were made after a pass and are left out.` : '',
    corrected > 0 ? ` ${corrected} verdicts were corrected.` : '',
  ].join('');
}

function width(text) {
  if (!/^([1-9]|[1-5]\d|6[0-4])$/.test(text)) throw new Error(`--concurrency is from 1 to 64, not ${text}`);
  return Number(text);
}
