import { emptyReading, type Finding, type InfraEvidence, type Reading, type ToolFamily } from './types.js';

/**
 * Several tools write into one output (npm runs jest runs node). Each line belongs to the first grammar that begins there, and so does
 * the block that follows: what a test printed is then never taken for a tool's own words.
 */

export interface Scan {
  readonly lines: readonly string[];
  readonly words: ReadonlySet<string>;
  readonly reading: Reading;
  /** `goesOn`: what printed it may have gone on (a program that logs an exception), so that it is no word of how the run ended. */
  add(finding: Finding, goesOn?: boolean): void;
  infra(evidence: InfraEvidence): void;
}

/** Reads the block that begins at a line: the index after it, or null where the line is not this grammar's. */
export type ReadBlock = (at: number) => number | null;

export interface Grammar {
  tool: string;
  /** Programs whose call in the command says that this tool's output is to be expected. */
  words: readonly string[];
  /** A line that no other tool writes: makes the output the tool's own where the command does not name it. */
  telltale: (line: string) => boolean;
  /** What the tool does as long as nothing else is known. */
  activity?: Reading['activity'];
  start(scan: Scan): { read: ReadBlock; end?: () => void };
}

const INSTALLERS = ['npm', 'npx', 'pnpm', 'yarn', 'pip', 'pip3', 'uv', 'poetry', 'go'];
const RUN_ONLY = ['node', 'python', 'python3', 'pytest', 'jest', 'vitest', 'mocha', 'eslint', 'biome', 'mypy', 'ruff', 'tsc'];
/** Where the command runs programs and installs nothing, an installer's words are a program's: nothing is missing because of them. */
const mayInstall = (words: ReadonlySet<string>): boolean =>
  INSTALLERS.some((word) => words.has(word)) || !RUN_ONLY.some((word) => words.has(word));

const scanOf = (lines: readonly string[], words: ReadonlySet<string>): Scan => {
  const reading = emptyReading(null);
  const tests = new Set<string>();
  return {
    lines,
    words,
    reading,
    add: (finding, goesOn = false) => {
      if (!goesOn) reading.summary = 'failed';
      // A test that failed is often told twice: where it failed and in the summary, or as text and in a report.
      if (finding.owner !== null) {
        const key = JSON.stringify([finding.pattern, finding.owner, finding.identity]);
        if (tests.has(key)) return;
        tests.add(key);
      }
      reading.findings.push(finding);
    },
    infra: (evidence) => {
      const { missing, ...alone } = evidence;
      reading.infra.push({
        ...alone,
        ...(missing !== undefined && mayInstall(words) ? { missing } : {}),
        line: evidence.line.trim().slice(0, 400),
      });
      reading.summary = 'failed';
    },
  };
};

/** A family out of grammars, in the order in which they may claim a line. `foreign` are tools that print such lines without running them. */
export const familyOf = (grammars: readonly Grammar[], foreign: readonly string[]): ToolFamily => {
  const named = (words: ReadonlySet<string>): Grammar[] => grammars.filter((grammar) => grammar.words.some((word) => words.has(word)));
  return {
    owns: (words, lines) =>
      named(words).length > 0 ||
      (!foreign.some((word) => words.has(word)) && lines.some((line) => grammars.some(({ telltale }) => telltale(line)))),
    read: (lines, words) => {
      const scan = scanOf(lines, words);
      const { reading } = scan;
      const claimed: [number, number][] = [];
      const called = named(words)[0];
      // In the company of another build system, only what is seen counts.
      reading.activity = foreign.some((word) => words.has(word)) ? null : (called?.activity ?? null);
      const started = grammars.map((grammar) => grammar.start(scan));
      for (let at = 0; at < lines.length; ) {
        let next: number | null = null;
        if (lines[at] !== '')
          for (const { read } of started) {
            next = read(at);
            if (next !== null) break;
          }
        const end = next === null ? at + 1 : Math.max(next, at + 1);
        const last = claimed.at(-1);
        if (next !== null && last !== undefined && last[1] === at) last[1] = end;
        else if (next !== null) claimed.push([at, end]);
        at = end;
      }
      for (const { end } of started) end?.();
      reading.tool = reading.findings[0]?.tool ?? reading.infra[0]?.tool ?? called?.tool ?? null;
      return { ...reading, quoted: claimed };
    },
  };
};
