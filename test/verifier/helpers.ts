import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type Classification, classify } from '../../src/verifier/classify.js';

const here = (name: string): string => fileURLToPath(new URL(`./fixtures/${name}`, import.meta.url));

export const index: Record<string, { command: string; exitCode: number }> = JSON.parse(readFileSync(here('index.json'), 'utf8'));
export const text = (name: string): string => readFileSync(here(`${name}.txt`), 'utf8');

/** A fixture, judged as it was run; `change` is what happened to its text on the way. */
export const judged = (name: string, change: (text: string) => string = (same) => same): Classification => {
  const run = index[name];
  if (run === undefined) throw new Error(`no fixture ${name}: run fixtures/make.mjs`);
  return classify({ command: run.command, exitCode: run.exitCode, output: change(text(name)) });
};
export const names = (name: string): string[] => judged(name).patterns.map((each) => each.pattern);

const scripts: Record<string, { command: string; exitCode: number }> = JSON.parse(
  readFileSync(fileURLToPath(new URL('./fixtures/script/index.json', import.meta.url)), 'utf8'),
);
export const scriptNames: readonly string[] = Object.keys(scripts);
export const scriptText = (name: string): string => text(`script/${name}`);

/** The same for the tools of fixtures/make-scripts.mjs. */
export const scripted = (name: string, change: (text: string) => string = (same) => same): Classification => {
  const run = scripts[name];
  if (run === undefined) throw new Error(`no fixture ${name}: run fixtures/make-scripts.mjs`);
  return classify({ command: run.command, exitCode: run.exitCode, output: change(scriptText(name)) });
};
