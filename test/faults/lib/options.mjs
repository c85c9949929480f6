import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const REPOSITORY = join(dirname(fileURLToPath(import.meta.url)), '../../..');

const HELP = `npm run test:faults -- [--kills 20] [--seed 1] [--only kills,sigterm,…] [--dist dist] [--keep]

  --kills  how often the service is killed at a named point; each point is struck at least once
  --seed   of all chance: which calls are made, which pass is struck
  --only   some parts of the suite; a part that is left out is not counted
  --dist   the build that is tried, another than this repository's
  --keep   leaves the directory with data and logs behind`;

export function readOptions(args) {
  const options = { kills: 20, seed: 1, only: null, dist: join(REPOSITORY, 'dist'), keep: false };
  const rest = [...args];
  while (rest.length > 0) {
    const name = rest.shift();
    if (name === '--keep') options.keep = true;
    else if (name === '--kills' || name === '--seed') options[name.slice(2)] = wholeNumber(name, rest.shift());
    else if (name === '--only') options.only = rest.shift()?.split(',') ?? [];
    else if (name === '--dist') options.dist = resolve(rest.shift() ?? '');
    else {
      console.log(HELP);
      process.exit(name === '--help' ? 0 : 2);
    }
  }
  return options;
}

function wholeNumber(name, text) {
  if (!/^\d+$/.test(text ?? '')) throw new Error(`${name} must be a whole number`);
  return Number(text);
}
