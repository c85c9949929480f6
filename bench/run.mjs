import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startChild } from './lib/child.mjs';
import { readOptions, USAGE } from './lib/options.mjs';
import { heading } from './lib/report.mjs';
import { measureClassify } from './sections/classify.mjs';
import { fillFiles, measureDeciding } from './sections/decide.mjs';
import { measureFirstTouch } from './sections/first-touch.mjs';
import { measureHistogram } from './sections/histogram.mjs';
import { measureRebuild } from './sections/rebuild.mjs';
import { measureRecording } from './sections/record.mjs';
import { measureSimulated } from './sections/simulate.mjs';

const options = readOptions(process.argv.slice(2));
if (options.help) {
  console.log(USAGE);
  process.exit(0);
}
const stops = [];
const stopAll = async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
};
process.once('SIGINT', () => void stopAll().then(() => process.exit(130)));
process.once('SIGTERM', () => void stopAll().then(() => process.exit(143)));

/** A service with its engines and data in a directory, and its callers. */
async function startAll(directory) {
  const execArgv = options.cpuProf === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${options.cpuProf}`];
  const service = await startChild('service', { args: [join(directory, 'data')], execArgv, logFile: join(directory, 'service.log') });
  stops.push(service.stop);
  const { url, databaseUrl, eventStoreUrl } = await service.call('addresses');
  const load = await startChild('load', { args: [url, databaseUrl, eventStoreUrl] });
  stops.push(load.stop);
  return { options, service, load };
}

/** Run by root, PostgreSQL is another user and has to get there. */
async function openDirectory() {
  const directory = await mkdtemp(join(tmpdir(), 'anvil-bench-'));
  stops.push(() => rm(directory, { recursive: true, force: true }));
  await chmod(directory, 0o755);
  return directory;
}

async function record() {
  const parts = await startAll(await openDirectory());
  console.log(await measureRecording(parts));
  await stopAll();
}

async function rebuild() {
  const { running, restart } = await restartable();
  console.log(await measureRebuild({ ...running(), restart }));
  await stopAll();
}

/** A service on data that last longer than it. */
async function restartable() {
  const directory = await openDirectory();
  const ours = stops.length;
  let parts = await startAll(directory);
  const restart = async () => {
    for (const stop of stops.splice(ours).reverse()) await stop();
    parts = await startAll(directory);
    await parts.service.call('run');
    return parts;
  };
  return { running: () => parts, restart };
}

async function decideAndHistogram() {
  const { running, restart } = await restartable();
  const parts = running();
  const lengths = options.sections.includes('decide') ? await fillFiles(parts) : [];
  await parts.service.call('run');
  if (lengths.length > 0) {
    console.log(await measureDeciding(running(), lengths));
    console.log(await measureFirstTouch({ ...running(), restart }, lengths.at(-1)));
  }
  if (options.sections.includes('histogram')) console.log(await measureHistogram(running()));
  await stopAll();
}

try {
  if (options.sections.some((section) => section !== 'simulate')) console.log(heading(options));
  if (options.sections.includes('classify')) console.log(await measureClassify());
  if (options.sections.includes('simulate')) console.log(await measureSimulated(options));
  if (options.sections.includes('record')) await record();
  if (options.sections.includes('rebuild')) await rebuild();
  if (options.sections.includes('decide') || options.sections.includes('histogram')) await decideAndHistogram();
} finally {
  await stopAll();
}
