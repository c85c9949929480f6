import { fork } from 'node:child_process';

const STOP_WITHIN_MS = 30_000;

/**
 * Starts one of bench/processes and waits until it says that it is ready. Its functions are called by name; what they do costs no other
 * process time of its thread.
 */
export async function startChild(name, { args = [], execArgv = [] } = {}) {
  const child = fork(new URL(`../processes/${name}.mjs`, import.meta.url), args, { execArgv, serialization: 'advanced' });
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
    for (const { reject } of waiting.values()) reject(new Error(`the process ${name} ended with ${code}`));
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
    async stop() {
      if (child.connected) child.disconnect();
      const killer = setTimeout(() => child.kill('SIGKILL'), STOP_WITHIN_MS);
      await exited;
      clearTimeout(killer);
    },
  };
}
