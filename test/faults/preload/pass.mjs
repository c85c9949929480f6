import { appendFileSync } from 'node:fs';

const { ANVIL_FAULTS_POINT: armed, ANVIL_FAULTS_PASS: nth = '1', ANVIL_FAULTS_HITS: hits } = process.env;
let passes = 0;

/** The process is at a kill point: at the pass it was armed for, it says so in a file and dies, as suddenly as kill -9 from outside. */
export function pass(point, detail = null) {
  if (point !== armed) return;
  passes += 1;
  if (passes !== Number(nth)) return;
  appendFileSync(hits, `${JSON.stringify({ point, pass: passes, pid: process.pid, detail })}\n`);
  process.kill(process.pid, 'SIGKILL');
  // Not a step further until the signal is delivered.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}

/** Puts `around(original)` in the place of a method of a built class; the product itself has no hooks. */
export function wrap(owner, method, around) {
  const original = owner[method];
  if (typeof original !== 'function') throw new Error(`there is no ${method} any more for a kill point to wrap`);
  owner[method] = around(original);
}
