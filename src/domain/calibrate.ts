import type { Policy } from '../catalogue/policy.js';
import { type ErrorPattern, patternKey, type SignalKind } from '../catalogue/primitives.js';
import type { Failure, FileState } from './state.js';

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
  /** The place of its newest evidence among the live failures: later is newer. */
  newest: number;
}

/** The failures of a configuration that still count: not overcome, not discounted, not too old. */
export function liveFailures(state: FileState, configuration: string, policy: Policy, now: string): Failure[] {
  const oldest = policy.failureMaxAgeSeconds === null ? null : Date.parse(now) - policy.failureMaxAgeSeconds * 1000;
  return [...(state.failures.get(configuration)?.values() ?? [])].filter(
    (failure) => (oldest === null || Date.parse(failure.at) >= oldest) && (policy.importedCount || !failure.imported),
  );
}

/**
 * The signals that live failures amount to (domain.md, Calibration), the strongest first: most occurrences, then newest.
 *
 * - `per_pattern`: one pattern in as many separate attempts as the policy says.
 * - `per_file`: many failures over many patterns, counting only failures of which no pattern is stuck by itself. A failure without a
 *   known pattern raises nothing, so it is not counted here either.
 */
export function calibrate(failures: Failure[], policy: Policy): LiveSignal[] {
  const places = new Map<string, { pattern: ErrorPattern; at: number[] }>();
  failures.forEach((failure, place) => {
    for (const pattern of failure.patterns) {
      const key = patternKey(pattern);
      const seen = places.get(key) ?? { pattern, at: [] };
      seen.at.push(place);
      places.set(key, seen);
    }
  });
  const signal = (kind: SignalKind, at: number[], threshold: number) => ({
    kind,
    occurrences: at.length,
    threshold,
    evidence: at.slice(-EVIDENCE_LIMIT).map((place) => failures[place]!.attemptId),
    newest: at.at(-1)!,
  });

  const stuck = new Set<string>();
  const signals: LiveSignal[] = [];
  for (const [key, { pattern, at }] of places) {
    if (at.length < policy.perPattern) continue;
    stuck.add(key);
    signals.push({ ...signal('per_pattern', at, policy.perPattern), pattern: pattern.pattern, code: pattern.code, distinctPatterns: null });
  }

  const thrashing: number[] = [];
  const distinct = new Set<string>();
  failures.forEach(({ patterns }, place) => {
    const keys = patterns.map(patternKey);
    if (keys.length === 0 || keys.some((key) => stuck.has(key))) return;
    thrashing.push(place);
    for (const key of keys) distinct.add(key);
  });
  if (thrashing.length >= policy.perFile.failures && distinct.size >= policy.perFile.patterns)
    signals.push({ ...signal('per_file', thrashing, policy.perFile.failures), pattern: null, code: null, distinctPatterns: distinct.size });

  return signals.sort((a, b) => b.occurrences - a.occurrences || b.newest - a.newest);
}

/** The signals that are live for a configuration on this file. */
export function liveSignals(state: FileState, configuration: string, policy: Policy, now: string): LiveSignal[] {
  return calibrate(liveFailures(state, configuration, policy, now), policy);
}

/** What evidence is keyed by: the model (a policy may say otherwise, later; events keep the key that was used). */
export function configurationOf(model: string): string {
  return model;
}
