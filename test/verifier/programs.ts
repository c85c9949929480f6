import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type Classification, classify, type VerifierInput } from '../../src/verifier/classify.js';

/** Outputs of the small programs under fixtures/programs (made by fixtures/make-programs.mjs), and those under fixtures/hand, by hand. */
const here = (name: string): string => fileURLToPath(new URL(`./fixtures/${name}`, import.meta.url));
type Runs = Record<string, { command: string; exitCode: number }>;
const made: Runs = JSON.parse(readFileSync(here('programs.json'), 'utf8'));
const byHand: Runs = JSON.parse(readFileSync(here('hand/index.json'), 'utf8'));
export const runs: Runs = { ...byHand, ...made };

export const outputOf = (name: string): string => {
  const path = here(`outputs/${name}.txt`);
  return readFileSync(existsSync(path) ? path : here(`hand/${name}.txt`), 'utf8');
};

export const judgedRun = (
  name: string,
  change: (text: string) => string = (same) => same,
  more: Partial<VerifierInput> = {},
): Classification => {
  const run = runs[name];
  if (run === undefined) throw new Error(`no run ${name}: see fixtures/make-programs.mjs`);
  return classify({ command: run.command, exitCode: run.exitCode, output: change(outputOf(name)), ...more });
};

/** `pattern (category) file`, one a line of the answer's patterns. */
export const told = (name: string): string[] =>
  judgedRun(name).patterns.map(({ pattern, category, file }) => `${pattern} (${category})${file === null ? '' : ` ${file}`}`);
