import type { InPrompt, Verdict } from '../catalogue/primitives.js';

/** One attempt of a dispatch, as far as it tells whether something else than capacity stood in the way. */
export interface ExaminedAttempt {
  attempt: number;
  attemptId: string;
  verdict: Verdict;
  /** Equal for byte-equal outputs. */
  output: string;
  diff: string | null;
  /** Whether a block with diffs was handed out for it. */
  shownDiffs: boolean;
  /** How the block that was handed out for it stood in its prompt; null where that is not known. */
  inPrompt: InPrompt | null;
  confidence: 'high' | 'low';
}

/** What speaks against a lack of capacity; `attempts` are those that it is seen in. */
export interface StructureFinding {
  kind: 'byte_equal_outputs' | 'block_not_in_prompt' | 'anchored' | 'profile_changed' | 'uncertain_verdict' | 'flaky_verifier';
  attempts: number[];
  detail: string;
}

/** Lines that say little by themselves are not compared. */
const SHORTEST_LINE = 8;
const FEWEST_LINES = 5;
/** A diff that repeats this share of the wrong lines that were shown stays close to them. */
const ANCHORED = 0.8;

/**
 * What in a dispatch's record speaks against capacity as the cause of its failures: `profiles` are those of all dispatches of the task,
 * oldest first.
 */
export function structureOf(
  attempts: readonly ExaminedAttempt[],
  profiles: readonly (string | null)[],
  flaky: boolean,
): StructureFinding[] {
  return [
    ...equalOutputs(attempts),
    ...finding(
      'block_not_in_prompt',
      attempts.filter(({ inPrompt }) => inPrompt !== null && inPrompt !== 'whole'),
      'the block of earlier attempts was not, or not whole, in the prompt',
    ),
    ...anchored(attempts),
    ...changedProfiles(profiles),
    ...finding(
      'uncertain_verdict',
      attempts.filter(({ verdict, confidence }) => verdict === 'fail' && confidence === 'low'),
      'what the verifier said does not decide',
    ),
    ...(flaky ? [{ kind: 'flaky_verifier' as const, attempts: [], detail: 'equal outputs were judged differently on this file' }] : []),
  ];
}

function finding(kind: StructureFinding['kind'], seen: readonly { attempt: number }[], detail: string): StructureFinding[] {
  return seen.length === 0 ? [] : [{ kind, attempts: seen.map(({ attempt }) => attempt), detail }];
}

function equalOutputs(attempts: readonly ExaminedAttempt[]): StructureFinding[] {
  return [...new Set(attempts.map(({ output }) => output))].flatMap((output) => {
    const group = attempts.filter((attempt) => attempt.output === output);
    return group.length < 2 ? [] : finding('byte_equal_outputs', group, `${group.length} attempts brought the same output, byte for byte`);
  });
}

/** Of the lines that wrong diffs had added, most are added again by an attempt that was shown them. */
function anchored(attempts: readonly ExaminedAttempt[]): StructureFinding[] {
  const wrong = new Set<string>();
  const findings: StructureFinding[] = [];
  for (const attempt of attempts) {
    const added = addedLines(attempt.diff);
    const repeated = [...wrong].filter((line) => added.has(line)).length;
    if (attempt.shownDiffs && attempt.verdict === 'fail' && wrong.size >= FEWEST_LINES && repeated / wrong.size >= ANCHORED)
      findings.push(...finding('anchored', [attempt], `${repeated} of the ${wrong.size} lines that it was shown as wrong are in it again`));
    if (attempt.verdict === 'fail') for (const line of added) wrong.add(line);
  }
  return findings;
}

function addedLines(diff: string | null): Set<string> {
  const lines = (diff ?? '').split('\n').filter((line) => line.startsWith('+') && !line.startsWith('+++'));
  return new Set(lines.map((line) => line.slice(1).trim()).filter((line) => line.length >= SHORTEST_LINE));
}

function changedProfiles(profiles: readonly (string | null)[]): StructureFinding[] {
  const distinct = new Set(profiles);
  if (distinct.size < 2) return [];
  return [{ kind: 'profile_changed', attempts: [], detail: `the task ran under ${distinct.size} different profiles` }];
}
