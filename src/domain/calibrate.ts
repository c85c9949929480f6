import type { SignalKind } from '../catalogue/primitives.js';
import { type Evidence, evidenceOf, newestFailures } from './evidence.js';
import { type Discounting, discounting, isDiscounted, type PolicyInForce, type Selector } from './policy-in-force.js';
import type { FileState } from './state.js';

const EVIDENCE_LIMIT = 20;

/** That a file is beyond a builder configuration, with the live failures that say so. */
export interface LiveSignal {
  kind: SignalKind;
  /** The stuck pattern; null for `per_file`. */
  pattern: string | null;
  code: string | null;
  occurrences: number;
  /** For `per_file`: over how many patterns. */
  distinctPatterns: number | null;
  threshold: number;
  /** The newest attempts, oldest first, at most 20. */
  evidence: string[];
  /** The sequence number of its newest evidence: later is newer. */
  newest: number;
}

/**
 * The signals that live failures amount to (domain.md, Calibration), the strongest first: most occurrences, then newest.
 *
 * - `per_pattern`: one pattern in as many separate attempts as the policy says.
 * - `per_file`: many failures over many patterns, counting only failures of which no pattern is stuck by itself. A failure without a
 *   known pattern raises nothing, so it is not counted here either.
 */
export function calibrate(evidence: Evidence, policy: PolicyInForce): LiveSignal[] {
  const stuck = new Map([...evidence.tallies].filter(([, { failures }]) => failures >= policy.perPattern));
  const signals: LiveSignal[] = [...stuck].map(([key, { pattern, code, failures }]) => ({
    ...{ kind: 'per_pattern', pattern, code, distinctPatterns: null, occurrences: failures, threshold: policy.perPattern },
    ...witnesses(evidence, (keys) => keys.includes(key)),
  }));

  const thrashes = (keys: string[]) => keys.length > 0 && !keys.some((key) => stuck.has(key));
  const thrashing = [...evidence.sets.values()].filter(({ keys }) => thrashes(keys));
  const occurrences = thrashing.reduce((sum, { failures }) => sum + failures, 0);
  const distinctPatterns = new Set(thrashing.flatMap(({ keys }) => keys)).size;
  if (occurrences >= policy.perFile.failures && distinctPatterns >= policy.perFile.patterns)
    signals.push({
      ...{ kind: 'per_file', pattern: null, code: null, distinctPatterns, occurrences, threshold: policy.perFile.failures },
      ...witnesses(evidence, thrashes),
    });

  // Two patterns of the same attempts are told apart by name, so that the order never hangs on how the state came about.
  return signals.sort((a, b) => b.occurrences - a.occurrences || b.newest - a.newest || (nameOf(a) < nameOf(b) ? -1 : 1));
}

function nameOf({ code, pattern }: LiveSignal): string {
  return code ?? pattern ?? '';
}

function witnesses(evidence: Evidence, fits: (keys: string[]) => boolean): { evidence: string[]; newest: number } {
  const failures = newestFailures(evidence, EVIDENCE_LIMIT, fits);
  return { evidence: failures.map(({ attemptId }) => attemptId), newest: failures.at(-1)!.sequence };
}

/** The signals that are live for a configuration on this file, by the failures that count under the policy. */
export function liveSignals(state: FileState, configuration: string, policy: PolicyInForce, now: string): LiveSignal[] {
  const evidence = state.evidence.get(configuration);
  return evidence === undefined ? [] : calibrate(counting(evidence, policy, now), policy);
}

/** Without the failures that are discounted, that the policy calls too old, or does not count because they were imported. */
function counting(evidence: Evidence, policy: PolicyInForce, now: string): Evidence {
  const discounts = discountsOf(evidence, policy.discounts ?? []);
  if (policy.failureMaxAgeSeconds === null && policy.importedCount && discounts.length === 0) return evidence;
  const oldest = policy.failureMaxAgeSeconds === null ? null : Date.parse(now) - policy.failureMaxAgeSeconds * 1000;
  const failures = [...evidence.failures.values()].filter(
    (failure) =>
      (oldest === null || failure.at >= oldest) &&
      (policy.importedCount || !failure.imported) &&
      !discounts.some((selector) => isDiscounted(failure, evidence.sets.get(failure.set)!.keys, selector)),
  );
  return failures.length === evidence.failures.size ? evidence : evidenceOf(evidence.model, failures, evidence.tallies);
}

/** Of a file's discounts, those that can fit evidence of one configuration: most are of other models, or of patterns that nothing live has. */
function discountsOf({ model, tallies }: Evidence, discounts: readonly Selector[]): Discounting[] {
  return discounts
    .filter((selector) => selector.model === undefined || selector.model === model)
    .map(discounting)
    .filter(({ key }) => key === undefined || tallies.has(key));
}

/** What evidence is keyed by: the model (a policy may say otherwise, later; events keep the key that was used). */
export function configurationOf(model: string): string {
  return model;
}
