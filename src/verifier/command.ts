import type { Ecosystem } from './types.js';

/** What a shell command gives away: which tools it calls, and whether its exit status can be trusted. */

/** Bounded: a command is a line, not a book. */
const LONGEST = 4_000;

const unquoted = (command: string | undefined): string => (command ?? '').slice(0, LONGEST).replace(/"[^"]*"|'[^']*'/g, ' ');
const programName = (word: string): string => (word.split(/[\\/]/).at(-1) ?? word).toLowerCase().replace(/\.(?:exe|cmd|bat)$/, '');

/** The names of programs in the command, lower case, without folders; with the caller's own word for the tool. */
export const commandWords = (tool: string | undefined, command: string | undefined): ReadonlySet<string> => {
  const words = new Set<string>();
  if (tool !== undefined && tool !== '') words.add(tool.toLowerCase());
  for (const word of unquoted(command).split(/[\s;|&()]+/)) {
    // Assignments (`PATH=…/bin:$PATH`) and options name folders and values, not programs.
    if (word === '' || word.startsWith('-') || /^\w+=/.test(word)) continue;
    words.add(programName(word));
  }
  return words;
};

/** Words before a program that only say how it is run; some take a value (`timeout 60`, `nice -n 5`). */
const RUNNERS = new Set(
  'env sudo time timeout gtimeout nice ionice nohup stdbuf xvfb-run command exec npx bunx pnpx uvx uv poetry pipenv bundle run exec -m'.split(
    ' ',
  ),
);

/** The programs in command position, in order: what follows `;`, `|`, `&&`, `(` or a line's start, less assignments and runners. */
export const programsOf = (command: string | undefined): string[] =>
  unquoted(command)
    .split(/[;|&()\n]+/)
    .flatMap((part) => {
      const words = part.split(/\s+/).filter((word) => word !== '');
      let at = 0;
      if (/^python[\d.]*$/.test(words[0] ?? '') && words[1] === '-m') at = 2;
      while (
        at < words.length &&
        (RUNNERS.has(words[at] ?? '') || /^(?:\w+=|-|\d+(?:\.\d+)?[smhd]?$|(?:SIG)?[A-Z]{3,5}$)/.test(words[at] ?? ''))
      )
        at += 1;
      const word = words[at];
      return word === undefined ? [] : [programName(word)];
    });

/** Shell words that print nothing of a tool's. */
const SILENT = new Set(
  'cd export set unset rm mkdir cp mv ls pwd cat tail head tee grep sed echo printf true : test [ ulimit umask sleep trap exit'.split(' '),
);
/** Programs that call no tool of another ecosystem: what looks like one's words in their output is a quotation. */
const LEAVES: Readonly<Record<string, Ecosystem>> = {
  cargo: 'rust',
  rustc: 'rust',
  rustfmt: 'rust',
  javac: 'jvm',
  tsc: 'js',
  eslint: 'js',
  biome: 'js',
  jest: 'js',
  vitest: 'js',
  mocha: 'js',
  pytest: 'python',
  'py.test': 'python',
  mypy: 'python',
  ruff: 'python',
  rspec: 'ruby',
  phpunit: 'php',
  gcc: 'c',
  'g++': 'c',
  cc: 'c',
  'c++': 'c',
  clang: 'c',
  'clang++': 'c',
  ld: 'c',
};
/** `cargo xtask` runs whatever it likes. */
const RUNS_ANYTHING = /\bcargo\s+(?:\+\S+\s+)?(?:xtask|make|run|r)\b/;

/** The ecosystems whose tools alone can have spoken, or null where any may have (make, npm, a script, a program, an unknown command). */
export const ecosystemsOf = (tool: string | undefined, command: string | undefined): ReadonlySet<Ecosystem> | null => {
  const programs = command === undefined || command.trim() === '' ? [(tool ?? '').toLowerCase()] : programsOf(command);
  if (RUNS_ANYTHING.test(unquoted(command))) return null;
  const found = new Set<Ecosystem>();
  for (const program of programs) {
    if (SILENT.has(program)) continue;
    if (!Object.hasOwn(LEAVES, program)) return null;
    found.add(LEAVES[program]!);
  }
  return found.size === 0 ? null : found;
};

/** Options by which a tool itself is told to call a failure none. */
const IGNORES_FAILURE =
  /-Dmaven\.test\.failure\.ignore(?:=true|\s|$)|\s--?(?:fail-never|fn)(?:\s|$)|\bmake\b[^;|&]{0,200}\s(?:-i|--ignore-errors)(?:\s|$)/;

/** Can the status be 0 although the verifier failed: a pipe without pipefail, `|| true`, a later command after `;`? */
export const masksStatus = (command: string | undefined): boolean => {
  const text = unquoted(command);
  if (/\|\|\s*(?:true|:|echo|exit 0|printf)\b|\|\|\s*:/.test(text)) return true;
  if (IGNORES_FAILURE.test(text)) return true;
  if (/(?:^|[^|>])\|&?(?!\|)/.test(text) && !/pipefail/.test(text)) return true;
  if (/\bset -e/.test(text)) return false;
  return /;\s*[^\s;]|\n\s*\S|[^&>]&\s+\S/.test(text.replace(/^\s*set [^;]*;/, '').trimEnd());
};

/** Is it a script or a target whose text is not seen: does its 0 speak for all that it ran? */
export const isOpaque = (command: string | undefined): boolean =>
  programsOf(command).some(
    (program) => /\.(?:sh|bash|ps1|py|js|mjs)$/.test(program) || /^(?:sh|bash|zsh|dash|make|just|task|npm|yarn|pnpm)$/.test(program),
  );

/** Was a deadline part of the command (`timeout 60 …`)? Then a kill is the deadline, not the memory. */
export const hasDeadline = (words: ReadonlySet<string>): boolean => words.has('timeout') || words.has('gtimeout');
