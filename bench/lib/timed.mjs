import { quantile } from './statistics.mjs';

/** Makes all calls, `concurrency` at a time, in order, and times each. */
export async function timed(calls, concurrency) {
  const latencies = new Float64Array(calls.length);
  let next = 0;
  const began = performance.now();
  const caller = async () => {
    while (next < calls.length) {
      const mine = next;
      next += 1;
      const start = performance.now();
      await calls[mine]();
      latencies[mine] = performance.now() - start;
    }
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, calls.length) }, caller));
  const seconds = (performance.now() - began) / 1000;
  return { rate: calls.length / seconds, p50: quantile(latencies, 0.5), p99: quantile(latencies, 0.99) };
}
