import { cargo } from './cargo.js';
import { commandWords, ecosystemsOf } from './command.js';
import { ctest } from './ctest.js';
import { dotnet } from './dotnet.js';
import { againstDiff } from './edited-inputs.js';
import { excerptOf, sourceExcerptOf } from './excerpt.js';
import { gcc } from './gcc.js';
import { git } from './git.js';
import { gradle } from './gradle.js';
import { java } from './java.js';
import { javac } from './javac.js';
import { junit } from './junit.js';
import { ld } from './ld.js';
import { make } from './make.js';
import { maven } from './maven.js';
import { nativeCrash } from './native-crash.js';
import { nextest } from './nextest.js';
import { toLines } from './normalise.js';
import { php } from './php.js';
import { ruby } from './ruby.js';
import { scriptTools } from './script-tools.js';
import { shell } from './shell.js';
import { classifierVersion, failureSignature, infraSignature, signedBy } from './signature.js';
import { swift } from './swift.js';
import { system } from './system.js';
import { tsc } from './tsc.js';
import {
  type Classification,
  type ErrorPattern,
  type Evidence,
  emptyReading,
  type Finding,
  type Reading,
  type ToolFamily,
  type VerifierInput,
  type VerifierRun,
} from './types.js';
import { type Judgement, judge } from './verdict.js';

export { classifierVersion } from './signature.js';
export type { Classification, ErrorPattern, Evidence, VerifierInput, VerifierRun } from './types.js';

/** Each reads the segments that are its own; a segment may have several (make calling gcc, npm running tsc). */
const FAMILIES: readonly ToolFamily[] = [
  nextest,
  scriptTools,
  cargo,
  tsc,
  gcc,
  ld,
  make,
  nativeCrash,
  ctest,
  javac,
  java,
  junit,
  maven,
  gradle,
  dotnet,
  ruby,
  php,
  swift,
  shell,
  system,
  git,
];

const MOST_PATTERNS = 100;
const MOST_EVIDENCE = 100;

interface Step {
  index: number;
  run: VerifierRun;
  words: ReadonlySet<string>;
  lines: string[];
  reading: Reading;
}

const ACTIVITY_RANK = { build: 1, network: 2, lock: 3, program: 4, test: 5 } as const;
const rank = (reading: Reading): number => (reading.activity === null ? 0 : ACTIVITY_RANK[reading.activity]);

/** Readings of the segments of one step, laid together; `offset` moves the line numbers of the second behind the first's. */
const merge = (into: Reading, from: Reading, offset: number): Reading => ({
  tool: into.tool ?? from.tool,
  findings: [...into.findings, ...from.findings.map((finding) => ({ ...finding, at: finding.at + offset }))],
  infra: [...into.infra, ...from.infra],
  activity: rank(from) > rank(into) ? from.activity : into.activity,
  runningTest: into.runningTest ?? from.runningTest,
  summary: into.summary === 'failed' || from.summary === 'failed' ? 'failed' : (into.summary ?? from.summary),
  quoted: [],
});

/** Which lines are in any of the ranges: the ranges of one family do not nest, but many may start on hostile text. */
const linesOf = (ranges: Reading['quoted'], length: number): Uint8Array => {
  const marked = new Uint8Array(length);
  let end = 0;
  for (const [from, to] of ranges) {
    marked.fill(1, Math.max(from, Math.min(end, to)), to);
    end = Math.max(end, to);
  }
  return marked;
};

/** What a family read on lines that another knows as a test's or a program's words is a quotation. */
const withoutQuotations = (readings: readonly Reading[], length: number): Reading[] => {
  const quoting = readings.filter(({ quoted }) => quoted.length > 0).map((by) => ({ by, marked: linesOf(by.quoted, length) }));
  if (quoting.length === 0) return [...readings];
  return readings.map((reading) => {
    const others = quoting.filter(({ by }) => by !== reading);
    const isOwn = (at: number | undefined) => at === undefined || !others.some(({ marked }) => marked[at] === 1);
    return { ...reading, findings: reading.findings.filter(({ at }) => isOwn(at)), infra: reading.infra.filter(({ at }) => isOwn(at)) };
  });
};

/** All that a segment holds, by whichever tools wrote it; findings in the order of the text. */
const readSegment = (segment: readonly string[], words: ReadonlySet<string>, ecosystems: ReturnType<typeof ecosystemsOf>): Reading => {
  const readings: Reading[] = [];
  for (const family of FAMILIES) {
    const foreign = ecosystems !== null && family.ecosystem !== undefined && !ecosystems.has(family.ecosystem);
    if (family.owns(words, foreign ? [] : segment)) readings.push(family.read(segment, words));
  }
  const read = withoutQuotations(readings, segment.length).reduce((all, reading) => merge(all, reading, 0), emptyReading(null));
  return { ...read, findings: read.findings.sort((a, b) => a.at - b.at) };
};

/** Streams are read apart, so that a test run that never ends on one does not swallow the compiler's words on the other. */
const readStep = (run: VerifierRun, tool: string | undefined, index: number): Step => {
  const words = commandWords(tool, run.command);
  const ecosystems = ecosystemsOf(tool, run.command);
  const printed = (run.output !== undefined ? [run.output] : [run.stdout ?? '', run.stderr ?? '']).filter((text) => text !== '');
  // A run that printed nothing is read too: its family knows what the tool was doing when the deadline came.
  const texts = printed.length > 0 ? printed : [''];
  let reading = emptyReading(null);
  const lines: string[] = [];
  for (const text of texts) {
    const segment = toLines(text);
    reading = merge(reading, readSegment(segment, words, ecosystems), lines.length);
    for (const line of segment) lines.push(line);
  }
  return { index, run, words, lines, reading };
};

const hasExit = (run: VerifierRun): boolean => (run.exitCode ?? null) !== null || !!run.signal || run.timedOut === true;

/** The harness's own steps; the whole run counts as one more only where it failed and none of them did. */
const runsOf = (input: VerifierInput): VerifierRun[] => {
  if (input.steps === undefined || input.steps.length === 0) return [input];
  const failed = hasExit(input) && (input.exitCode !== 0 || !!input.signal || input.timedOut === true);
  const anyFailed = input.steps.some((step) => step.timedOut === true || !!step.signal || (step.exitCode ?? 0) !== 0);
  return failed && !anyFailed ? [...input.steps, input] : input.steps;
};

/** One diagnostic that was printed for two targets, or on both streams, is one. */
const distinct = (findings: readonly Finding[]): Finding[] => {
  const seen = new Map<string, Finding>();
  for (const finding of findings) {
    const key = JSON.stringify([finding.pattern, finding.place, finding.identity, finding.owner]);
    if (!seen.has(key)) seen.set(key, finding);
  }
  return [...seen.values()];
};

/** One entry for a pattern in a file: where a pattern is in two files, attribution needs both. */
const patternsOf = (findings: readonly Finding[]): ErrorPattern[] => {
  const patterns = new Map<string, ErrorPattern>();
  for (const { pattern, code, category, file } of findings) {
    const key = JSON.stringify([pattern, file]);
    const known = patterns.get(key);
    if (known !== undefined) known.count += 1;
    else if (patterns.size < MOST_PATTERNS) patterns.set(key, { pattern, code, category, file, count: 1 });
  }
  return [...patterns.values()];
};

/** Errors about a package that could not be fetched are the fetch's, not the model's (taxonomy, section 5.6). */
const consequenceOf = (missing: ReadonlySet<string>) => {
  const quoted = [...missing].map((name) => `\`${name}`);
  return (finding: Finding): boolean => {
    if (finding.needs !== undefined && missing.has(finding.needs)) return true;
    if (missing.size === 0 || finding.code === null || !['E0432', 'E0433', 'E0463'].includes(finding.code)) return false;
    return quoted.some((name) => finding.identity.includes(`${name}\``) || finding.identity.includes(`${name}::`));
  };
};

/** rustc that ran out of memory loses the standard library first; what it says of it is no error in the code. */
const STARVED =
  /(?:only metadata stub found|cannot resolve a prelude import|can't find crate for `(?:std|core|alloc)`|found invalid metadata files)/;
const withoutStarvation = (reading: Reading): Reading =>
  reading.infra.some(({ kind, tool }) => kind === 'memory' && tool === 'rustc')
    ? { ...reading, findings: reading.findings.filter((finding) => !STARVED.test(finding.messages[0] ?? '')) }
    : reading;

/** The step that decides: an error in the code wherever it is, else the first that did not pass. */
const deciding = (judged: readonly Judgement[]): number => {
  const proven = judged.findIndex(({ verdict, findings }) => verdict === 'fail' && findings.length > 0);
  return proven >= 0 ? proven : judged.findIndex(({ verdict }) => verdict !== 'pass');
};

const FAMILY_OF_TOOL: Readonly<Record<string, string>> = { rustc: 'cargo', rustfmt: 'cargo' };

const toolOf = (input: VerifierInput, step: Step | undefined, judgement: Judgement | undefined): string | null => {
  if (input.tool !== undefined && input.tool !== '') return input.tool;
  const first = judgement?.findings[0]?.tool;
  if (first === undefined || step === undefined) return step?.reading.tool ?? null;
  return step.reading.tool === 'rustc' ? first : (FAMILY_OF_TOOL[first] ?? first);
};

const MOST_OF_A_LINE = 400;

export const classify = (input: VerifierInput): Classification => {
  const steps = runsOf(input).map((run, index) => readStep(run, input.tool, index));
  const missing = new Set(steps.flatMap((step) => step.reading.infra.flatMap((each) => each.missing ?? [])));
  const isConsequence = consequenceOf(missing);
  const judged = steps.map(({ run, reading, words, lines }) => {
    const starved = withoutStarvation(reading);
    const ours = { ...starved, findings: starved.findings.filter((finding) => !isConsequence(finding)) };
    return judge(run, { ...ours, ...againstDiff(ours, input.filesTouched) }, words, lines);
  });
  const at = deciding(judged);
  const step = steps[Math.max(at, 0)];
  const tool = toolOf(input, step, judged[at]);
  const one = judged[at];
  if (one === undefined) {
    const confidence = judged.every((each) => each.confidence === 'high') ? 'high' : 'low';
    return {
      verdict: 'pass',
      confidence,
      tool,
      patterns: [],
      signature: null,
      infraKind: null,
      excerpt: '',
      classifierVersion,
      evidence: [],
    };
  }
  const withSteps = input.steps !== undefined && input.steps.length > 0;
  const evidence: Evidence[] = [];
  let findings: Finding[] = [];
  judged.forEach((each, index) => {
    if (each.verdict === 'pass') return;
    const where = withSteps ? { step: steps[index]?.index } : {};
    if (one.verdict === 'fail') findings = findings.concat(each.findings);
    for (const finding of each.findings.slice(0, MOST_EVIDENCE - evidence.length)) {
      const line = (finding.messages[0] ?? '').slice(0, MOST_OF_A_LINE);
      const signed = signedBy(finding).join(' | ').slice(0, MOST_OF_A_LINE);
      evidence.push({ pattern: finding.pattern, line, ...where, ...(one.verdict === 'fail' ? { signed } : {}) });
    }
    for (const { kind, line } of each.infra)
      if (evidence.length < MOST_EVIDENCE) evidence.push({ pattern: `infra_${kind}`, line: line.slice(0, MOST_OF_A_LINE), ...where });
  });
  const unique = distinct(findings);
  return {
    verdict: one.verdict,
    confidence: one.confidence,
    tool,
    patterns: patternsOf(unique),
    signature: one.verdict === 'blocked' && one.kind !== null ? infraSignature(one.kind, tool) : failureSignature(unique),
    infraKind: one.kind,
    excerpt: excerptOf(unique, one.infra),
    sourceExcerpt: step === undefined ? '' : sourceExcerptOf(step.lines, one.findings[0]?.at ?? 0),
    classifierVersion,
    evidence,
  };
};
