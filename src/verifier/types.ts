import type { Category } from './categories.js';

/** What one run of a verifier left behind. Only an exit (`exitCode`, `signal` or `timedOut`) or `steps` is needed. */
export interface VerifierRun {
  command?: string;
  exitCode?: number | null;
  signal?: string | null;
  timedOut?: boolean;
  stdout?: string;
  stderr?: string;
  /** Both streams as interleaved, instead of the two. */
  output?: string;
}

export interface VerifierInput extends VerifierRun {
  tool?: string;
  steps?: VerifierRun[];
  /** Paths that the attempt's diff changes, where it is known: an input that the model edited is the model's. */
  filesTouched?: readonly string[];
}

/** Whose tools belong together: `cargo test` calls no javac. */
export type Ecosystem = 'rust' | 'c' | 'jvm' | 'js' | 'python' | 'go' | 'ruby' | 'php' | 'dotnet' | 'swift';

export interface ErrorPattern {
  /** `<code lowercased>_<slug>`, or `<tool>_<slug>` of a message without a code; a failing test's pattern ends in `:<test name>`. */
  pattern: string;
  code: string | null;
  category: string;
  /** The path that the diagnostic points at, as printed, with forward slashes. */
  file: string | null;
  /** Unique diagnostics of this pattern in this output. */
  count: number;
}

export interface Evidence {
  pattern?: string;
  line: string;
  step?: number;
  /** What the failure signature knows it by: code, normalised message, owner. */
  signed?: string;
}

export interface Classification {
  verdict: 'pass' | 'fail' | 'blocked';
  confidence: 'high' | 'low';
  tool: string | null;
  patterns: ErrorPattern[];
  signature: string | null;
  infraKind: string | null;
  /** Messages and places, no source line: fit for a prompt that must not show a model its own code. */
  excerpt: string;
  /** The same with source lines, as the tool printed them. */
  sourceExcerpt?: string;
  classifierVersion: string;
  evidence: Evidence[];
}

/** One diagnostic or one failing test, as a tool family read it. */
export interface Finding {
  tool: string;
  pattern: string;
  code: string | null;
  category: Category;
  file: string | null;
  /** Where it is, as printed: only to tell repetitions (one diagnostic, two targets) from two diagnostics. */
  place: string;
  /** What the signature knows it by, before normalisation: message, primary labels, operands. */
  identity: string;
  /** Who it belongs to in the signature: a test's name; otherwise the file's base name is used. */
  owner: string | null;
  /** Lines for the excerpt; the first is the evidence line. None of them is source code. */
  messages: string[];
  /** Index into the lines of its segment, for the excerpt with source. */
  at: number;
  /** Only a trace of the diagnostic was left (a summary that names the code). */
  recovered?: boolean;
  /** What it misses, as `InfraEvidence.missing` names it: where that could not be fetched, this is no fault of the code. */
  needs?: string;
}

/** A line that says that something around the tool failed. `sure` is false where the text cannot tell it from the model's doing. */
export interface InfraEvidence {
  kind: InfraKind;
  tool: string;
  line: string;
  sure: boolean;
  /** Packages that are missing because of it: errors about them are its consequences. `npm:*` is every package that npm was to bring. */
  missing?: string[];
  /** Index into the lines of its segment. */
  at?: number;
}

export type InfraKind =
  | 'dns'
  | 'connect'
  | 'tls'
  | 'auth'
  | 'rate_limit'
  | 'registry'
  | 'net_timeout'
  | 'offline'
  | 'disk'
  | 'memory'
  | 'killed'
  | 'lock'
  | 'toolchain'
  | 'permission';

/** What a tool was doing when its text ends: a deadline is judged by it. */
export type Activity = 'lock' | 'network' | 'build' | 'test' | 'program';

/** What a family read out of one segment (one stream of one step). */
export interface Reading {
  tool: string | null;
  findings: Finding[];
  infra: InfraEvidence[];
  activity: Activity | null;
  /** The test that was reported as still running, when the activity is `test`. */
  runningTest: string | null;
  /** The tool's own closing words: did it say that it failed, or that all is well? */
  summary: 'failed' | 'passed' | null;
  /**
   * Ranges of lines (`[from, to)`) that are a test's or a program's own words: no other family takes evidence from them. What a family
   * reads in its own ranges stands.
   */
  quoted: (readonly [number, number])[];
}

export interface ToolFamily {
  /** Where the command calls only tools of other ecosystems, the family is not told from the text. */
  ecosystem?: Ecosystem;
  /** Does this family read the segment? `words` are the command's, lower case, with the caller's tool; `lines` are normalised. */
  owns(words: ReadonlySet<string>, lines: readonly string[]): boolean;
  read(lines: readonly string[], words: ReadonlySet<string>): Reading;
}

export const emptyReading = (tool: string | null): Reading => ({
  tool,
  findings: [],
  infra: [],
  activity: null,
  runningTest: null,
  summary: null,
  quoted: [],
});

type Known = Pick<Finding, 'tool' | 'pattern' | 'category' | 'identity' | 'messages' | 'at'>;

/** A finding without a code, a place or an owner, but for what is given. */
export const findingWith = (known: Known & Partial<Finding>): Finding => ({ code: null, file: null, place: '', owner: null, ...known });
