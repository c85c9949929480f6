#!/usr/bin/env node
// Many builders on the embedded defaults for a while: node bench/soak.mjs [--minutes 10] [--builders 64] (npm run bench:soak). Each goes
// through whole dispatches on files of its own and of others, as fast as it is answered. Any answer that is not a success ends the run.
// Prints what the service's process holds every half minute (RSS, and what was in use after its newest full collection of garbage), and the
// rate and latency over all.
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startChild } from './lib/child.mjs';
import { attemptBody, attemptTexts } from './lib/texts.mjs';
import { ServiceClient } from './loads/service-client.mjs';

const { values } = parseArgs({ options: { minutes: { type: 'string', default: '10' }, builders: { type: 'string', default: '64' } } });
const minutes = Number(values.minutes);
const builders = Number(values.builders);
const FILES = 500;
const SAMPLE_EVERY_MS = 30_000;
/** One dispatch in so many is solved by the builder, at its second attempt. */
const SOLVED = 3;

const dataDir = await mkdtemp(join(tmpdir(), 'anvil-soak-'));
// As root, PostgreSQL is another user, and has to get in.
await chmod(dataDir, 0o755);
const service = await startChild('service', { args: [dataDir] });
const latencies = [];
let dispatches = 0;
let calls = 0;
try {
  const { url } = await service.call('addresses');
  await service.call('run');
  const client = new ServiceClient(url);
  const until = performance.now() + minutes * 60_000;

  const post = async (path, body) => {
    const started = performance.now();
    const answer = await client.post(path, body);
    latencies.push(performance.now() - started);
    calls += 1;
    return answer;
  };

  const dispatch = async (number) => {
    const opening = {
      ...{ repo: 'soak', targetFile: `src/file${number % FILES}.rs`, task: { id: `task-${number % (FILES * 7)}` } },
      ...{ model: `builder-${number % 3}`, frontier: 'frontier', budget: 4, force: true },
    };
    const { dispatchId } = await post('/v1/dispatches', JSON.stringify(opening));
    if (dispatchId === null) return;
    const path = `/v1/dispatches/${dispatchId}`;
    for (let attempt = 1; ; attempt += 1) {
      const solved = number % SOLVED === 0 && attempt === 2;
      const body = solved
        ? JSON.stringify({ output: `solved ${number}`, verdict: 'pass' })
        : attemptBody(attemptTexts(`${number % 40} ${number} ${attempt}`));
      const { next } = await post(`${path}/attempts`, body);
      if (next.terminal) break;
      if (next.step !== 'escalate') continue;
      await post(
        `${path}/frontier-outcomes`,
        JSON.stringify({ output: `frontier ${number}`, verdict: number % 5 === 0 ? 'fail' : 'pass' }),
      );
      break;
    }
    dispatches += 1;
  };

  const sample = async () => {
    const { rssMiB, liveMiB, cpuMs } = await service.call('usage');
    const left = Math.max(0, (until - performance.now()) / 1000);
    console.log(
      `${left.toFixed(0).padStart(5)} s left   ${calls} calls   RSS ${rssMiB.toFixed(0)} MiB, in use ${liveMiB.toFixed(0)}   CPU ${(cpuMs / 1000).toFixed(0)} s`,
    );
  };
  await sample();
  const sampling = setInterval(() => void sample(), SAMPLE_EVERY_MS);
  let number = 0;
  const builder = async () => {
    while (performance.now() < until) {
      number += 1;
      await dispatch(number);
    }
  };
  await Promise.all(Array.from({ length: builders }, builder));
  clearInterval(sampling);
  await sample();
  await client.caughtUp();
  client.close();
  latencies.sort((a, b) => a - b);
  const at = (share) => latencies[Math.floor(latencies.length * share)].toFixed(1);
  console.log(
    `${builders} builders, ${minutes} min: ${dispatches} dispatches, ${calls} calls (${(calls / minutes / 60).toFixed(0)}/s), no error`,
  );
  console.log(`an answer: median ${at(0.5)} ms, p95 ${at(0.95)} ms, p99 ${at(0.99)} ms; the read models caught up`);
} finally {
  await service.stop();
  await rm(dataDir, { recursive: true, force: true });
}
