import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const fixtures = fileURLToPath(new URL('../../test/verifier/fixtures/', import.meta.url));
const SIZE = 1_000_000;
const ROUNDS = 5;

/** What is classified, by tool: our own fixtures of it, one after the other, until there is a megabyte. */
const TOOLS = [
  ['cargo', 'cargo test', '.', /^(?:e\d{4}\w*|test_\w+)\.txt$/],
  ['tsc', 'tsc -p .', '.', /^ts\w*\.txt$/],
  ['gcc', 'gcc -c a.c', 'outputs', /^gcc_[a-z_]+\.txt$/],
  ['javac', 'javac A.java', 'outputs', /^javac_[a-z_]+\.txt$/],
  ['make', 'make', 'outputs', /^(?:make|ld)_[a-z_.]+\.txt$/],
  ['a script that runs them all', './ci.sh', 'outputs', /\.txt$/],
];

/** Megabytes of output that are classified in a second, the median of some rounds, by tool. */
export async function measureClassify() {
  const { classify } = await import('../../dist/src/verifier/classify.js');
  const lines = TOOLS.map(([tool, command, folder, names]) => {
    const texts = readdirSync(join(fixtures, folder))
      .filter((name) => names.test(name))
      .sort()
      .map((name) => readFileSync(join(fixtures, folder, name), 'utf8'));
    let output = '';
    while (output.length < SIZE) output += texts.join('\n');
    const seconds = Array.from({ length: ROUNDS }, () => {
      const started = performance.now();
      classify({ command, exitCode: 1, output });
      return (performance.now() - started) / 1000;
    }).sort((a, b) => a - b);
    return `  ${tool.padEnd(28)} ${(output.length / 1e6 / seconds[Math.floor(ROUNDS / 2)]).toFixed(1)} MB/s`;
  });
  return ['Classifying verifier text', ...lines].join('\n');
}
