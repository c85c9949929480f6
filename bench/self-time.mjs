import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';

// Where a process spent its time, from a profile of `npm run bench -- --cpu-prof <directory>`: node bench/self-time.mjs <file.cpuprofile>
const [file, most = '40'] = process.argv.slice(2);
const { nodes, samples, timeDeltas } = JSON.parse(await readFile(file, 'utf8'));
const byId = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]));
const functions = new Map();
const packages = new Map();
let busy = 0;
for (const [i, id] of samples.entries()) {
  const { functionName, url, lineNumber } = byId.get(id);
  if (functionName === '(idle)') continue;
  busy += timeDeltas[i];
  const place = url === '' ? '' : ` ${url.split('/node_modules/').at(-1).split('/').slice(-3).join('/')}:${lineNumber + 1}`;
  add(functions, `${functionName || '(anonymous)'}${place}`, timeDeltas[i]);
  add(packages, packageOf(url, functionName), timeDeltas[i]);
}
console.log(`${basename(file)}: ${Math.round(busy / 1000)} ms busy`);
for (const [title, totals, count] of [
  ['by package', packages, 20],
  ['by function', functions, Number(most)],
]) {
  console.log(`\n${title}`);
  for (const [name, time] of [...totals].sort(([, a], [, b]) => b - a).slice(0, count))
    console.log(`${((100 * time) / busy).toFixed(1).padStart(5)} %  ${name}`);
}

function add(totals, name, time) {
  totals.set(name, (totals.get(name) ?? 0) + time);
}

function packageOf(url, functionName) {
  if (url === '') return functionName.startsWith('(') ? functionName : 'native';
  if (url.startsWith('node:')) return 'node';
  const [scope, name] = url.split('/node_modules/').at(-1).split('/');
  if (url.includes('/node_modules/')) return scope.startsWith('@') ? `${scope}/${name}` : scope;
  return url.split('/').slice(-3, -1).join('/');
}
