import type { RecordAttemptBody, RecordedVerifier, RecordFrontierOutcomeBody, VerifierBody } from '../catalogue/commands.js';
import { type ErrorPattern, patternKey } from '../catalogue/primitives.js';
import { canonicalJson } from '../domain/chain.js';
import { diffStatistics } from '../domain/diff.js';
import { sha256 } from '../domain/ids.js';
import type { AttemptFacts } from '../domain/record-attempt.js';
import { type Classification, classify, type VerifierInput } from '../verifier/classify.js';
import { patternFromCaller } from '../verifier/patterns.js';
import type { Texts } from './payloads.js';

type Body = Omit<RecordAttemptBody, 'attempt'> | Omit<RecordFrontierOutcomeBody, 'model'>;
type Judgement = AttemptFacts['verdict'];

/** Makes of a call's body what an attempt's events say: long texts are kept by their hash, verifier text is classified. */
export function attemptFacts(body: Body, texts: Texts): AttemptFacts {
  const statistics = body.diff == null ? null : diffStatistics(body.diff);
  const diff = texts.keepOptional(body.diff);
  return {
    attempt: {
      output: texts.keep(body.output),
      prompt: texts.keepOptional(body.prompt),
      verifier: body.verifier == null ? null : keptVerifier(body.verifier, texts),
      toolSteps: body.toolSteps ?? [],
      usage: body.usage ?? null,
      sampling: body.sampling ?? null,
      startedAt: body.startedAt ?? null,
      finishedAt: body.finishedAt ?? null,
      filesTouched: statistics?.paths ?? [],
    },
    promptSent: body.prompt ?? null,
    diff: diff &&
      statistics && { diff, files: statistics.files, added: statistics.added, removed: statistics.removed, renames: statistics.renames },
    verdict: judge(body, statistics?.paths),
  };
}

/** The caller's verdict wins over that of the verifier text; where they differ, the other one is kept beside it. */
export function judge(body: Pick<Body, 'verifier' | 'verdict' | 'patterns' | 'infraKind'>, filesTouched?: readonly string[]): Judgement {
  const read = body.verifier == null ? null : classify({ ...verifierInput(body.verifier), filesTouched });
  if (body.verdict == null) return ofText(read!);
  const sent = body.patterns == null ? null : patternsFromCaller(body.patterns);
  const patterns = sent ?? (body.verdict === 'fail' ? (read?.patterns ?? []) : []);
  const same =
    read === null || (read.verdict === body.verdict && (body.verdict !== 'fail' || sent === null || sameKeys(sent, read.patterns)));
  return {
    verdict: body.verdict,
    patterns: patterns.map(stored),
    signature: body.verdict === 'fail' ? (read?.signature ?? signatureOf(patterns)) : null,
    infraKind: body.verdict === 'blocked' ? (body.infraKind ?? read?.infraKind ?? 'unknown') : null,
    classifierVersion: read?.classifierVersion ?? null,
    confidence: 'high',
    disagreement: same ? null : { verdict: read.verdict, patterns: read.patterns.map(stored) },
  };
}

/** Each pattern once, as it is stored; what is no pattern is left out. */
export function patternsFromCaller(texts: string[]): ErrorPattern[] {
  return distinct(texts.flatMap((text) => patternFromCaller(text) ?? [])).map(stored);
}

function ofText(read: Classification): Judgement {
  const { verdict, patterns, signature, infraKind, classifierVersion, confidence } = read;
  return { verdict, patterns: patterns.map(stored), signature, infraKind, classifierVersion, confidence, disagreement: null };
}

/** Without verifier text, failures are the same when their patterns are; without patterns, they are like no other. */
function signatureOf(patterns: ErrorPattern[]): string | null {
  return patterns.length === 0 ? null : sha256(canonicalJson(patterns.map(patternKey).sort()));
}

function stored({ pattern, code, category, file }: ErrorPattern): ErrorPattern {
  return { pattern, code, category, file };
}

function distinct<T extends ErrorPattern>(patterns: T[]): T[] {
  return [...new Map(patterns.map((pattern) => [patternKey(pattern), pattern])).values()];
}

function sameKeys(a: ErrorPattern[], b: ErrorPattern[]): boolean {
  const keys = (patterns: ErrorPattern[]) => canonicalJson([...new Set(patterns.map(patternKey))].sort());
  return keys(a) === keys(b);
}

/** A body's verifier as the classifier takes it: absent instead of null. */
export function verifierInput(body: VerifierBody): VerifierInput {
  const run = ({ command, exitCode, signal, timedOut, stdout, stderr, output }: NonNullable<VerifierBody['steps']>[number]) => ({
    ...{ command: command ?? undefined, exitCode, signal, timedOut: timedOut ?? undefined },
    ...{ stdout: stdout ?? undefined, stderr: stderr ?? undefined, output: output ?? undefined },
  });
  return { ...run(body), tool: body.tool ?? undefined, steps: body.steps?.map(run) };
}

function keptVerifier(body: VerifierBody, texts: Texts): RecordedVerifier {
  const run = ({ command, exitCode, signal, timedOut, stdout, stderr, output }: NonNullable<VerifierBody['steps']>[number]) => ({
    ...{ command: command ?? null, exitCode: exitCode ?? null, signal: signal ?? null, timedOut: timedOut ?? false },
    stdout: texts.keepOptional(stdout),
    stderr: texts.keepOptional(stderr),
    output: texts.keepOptional(output),
  });
  return { ...run(body), tool: body.tool ?? null, durationMs: body.durationMs ?? null, steps: (body.steps ?? []).map(run) };
}
