import { fork } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';

const STOP_WITHIN_MS = 30_000;
const LINES_SHOWN = 20;

/**
 * Starts one of bench/processes and waits until it says that it is ready. Its functions are called by name; what they do costs no other
 * process time of its thread. What it says goes to `logFile`, if there is one; the end of that is shown when the process fails.
 */
export async function startChild(name, { args = [], execArgv = [], logFile } = {}) {
  const errors = logFile === undefined ? 'inherit' : openSync(logFile, 'a');
  const stdio = ['ignore', 'inherit', errors, 'ipc'];
  const child = fork(new URL(`../processes/${name}.mjs`, import.meta.url), args, { execArgv, stdio, serialization: 'advanced' });
  if (logFile !== undefined) closeSync(errors);
  const waiting = new Map();
  const exited = new Promise((resolve) => child.once('exit', resolve));
  let calls = 0;
  const answer = (id) =>
    new Promise((resolve, reject) => {
      waiting.set(id, { resolve, reject });
    });
  child.on('message', ({ id, result, error }) => {
    const { resolve, reject } = waiting.get(id);
    waiting.delete(id);
    if (error === undefined) resolve(result);
    else reject(new Error(`${name}: ${error}`));
  });
  void exited.then((code) => {
    const said =
      logFile !== undefined && waiting.size > 0 ? `\n${readFileSync(logFile, 'utf8').split('\n').slice(-LINES_SHOWN).join('\n')}` : '';
    for (const { reject } of waiting.values()) reject(new Error(`the process ${name} ended with ${code}${said}`));
  });
  const ready = answer(0);
  await ready;
  return {
    call(called, input) {
      calls += 1;
      const answered = answer(calls);
      if (child.connected) child.send({ id: calls, called, input });
      else waiting.get(calls).reject(new Error(`the process ${name} has ended`));
      return answered;
    },
    /** As a machine that fails: nothing is put in order. */
    kill() {
      child.kill('SIGKILL');
    },
    async stop() {
      if (child.connected) child.disconnect();
      const killer = setTimeout(() => child.kill('SIGKILL'), STOP_WITHIN_MS);
      await exited;
      clearTimeout(killer);
    },
  };
}
