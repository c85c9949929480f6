import { type ErrorPattern, patternKey } from '../catalogue/primitives.js';
import { Overlay } from './overlay.js';

/** A failure of a configuration that nothing has overcome, discounted or corrected. */
export interface Failure {
  attemptId: string;
  /** What a pass of it overcomes together; see {@link taskAtHome} for a failure that is recorded at another file. */
  taskId: string;
  /** Names its patterns: the key of a {@link PatternSet}. */
  set: string;
  imported: boolean;
  /** Of its dispatch. */
  profile: string | null;
  /** What failed, by name; null where nothing says. */
  trial: string | null;
  /** Milliseconds since 1970. */
  at: number;
  /** Later is newer; no two failures of a file share one. */
  sequence: number;
}

/** A list that grows at its newest end without being copied. */
export interface Chain {
  readonly failure: Failure;
  readonly older: Chain | null;
}

/** The failures that carry exactly these patterns: how many are live, and all of them newest first, `links` long; some are live no more. */
interface PatternSet {
  keys: string[];
  failures: number;
  newest: Chain | null;
  links: number;
}

/** A chain is rid of failures that are live no more when so many times more than live ones are in it. */
const MOST_DEAD = 4;
const SHORT_CHAIN = 64;

type Label = Pick<ErrorPattern, 'pattern' | 'code'>;

/**
 * The live failures of one builder configuration on one file, with the counts that signals are computed from kept up to date: adding or
 * overcoming a failure costs the same however many there are.
 */
export interface Evidence {
  model: string;
  /** By their sequence, oldest first. */
  failures: Map<number, Failure>;
  /** By pattern key. */
  tallies: Map<string, Label & { failures: number }>;
  sets: Map<string, PatternSet>;
  ofTask: Map<string, Chain>;
}

export function noEvidence(model: string): Evidence {
  return { model, failures: new Map(), tallies: new Map(), sets: new Map(), ofTask: new Map() };
}

/** One that can be taken further without changing this. */
export function forkEvidence({ model, failures, tallies, sets, ofTask }: Evidence): Evidence {
  return {
    ...{ model, failures: new Overlay(failures), tallies: new Overlay(tallies), sets: new Overlay(sets) },
    ofTask: new Overlay(ofTask),
  };
}

/** Whether an attempt's failure is live. Rare: it may look at every live one. */
export function isEvidence({ failures }: Evidence, attemptId: string): boolean {
  for (const failure of failures.values()) if (failure.attemptId === attemptId) return true;
  return false;
}

/** What the same evidence would be if only some of its failures were there, in the given order. */
export function evidenceOf(model: string, failures: Iterable<Failure>, labels: ReadonlyMap<string, Label>): Evidence {
  const evidence = noEvidence(model);
  for (const failure of failures) add(evidence, failure, labels);
  return evidence;
}

export function addFailure(evidence: Evidence, failure: Omit<Failure, 'set'>, patterns: Label[]): void {
  const labels = new Map(patterns.map((pattern) => [patternKey(pattern), pattern]));
  add(evidence, { ...failure, set: JSON.stringify([...labels.keys()].sort()) }, labels);
}

function add(evidence: Evidence, failure: Failure, labels: ReadonlyMap<string, Label>): void {
  evidence.failures.set(failure.sequence, failure);
  evidence.ofTask.set(failure.taskId, { failure, older: evidence.ofTask.get(failure.taskId) ?? null });
  const before = evidence.sets.get(failure.set) ?? { keys: JSON.parse(failure.set) as string[], failures: 0, newest: null, links: 0 };
  const { keys } = before;
  const set = { keys, failures: before.failures + 1, newest: { failure, older: before.newest }, links: before.links + 1 };
  evidence.sets.set(failure.set, set.links > Math.max(SHORT_CHAIN, MOST_DEAD * set.failures) ? compacted(evidence, set) : set);
  for (const key of keys) {
    const { pattern, code, failures } = evidence.tallies.get(key) ?? { ...labels.get(key)!, failures: 0 };
    evidence.tallies.set(key, { pattern, code, failures: failures + 1 });
  }
}

/** A pass overcomes what the same configuration failed of the same task. */
export function overcome(evidence: Evidence, taskId: string): void {
  for (let link = evidence.ofTask.get(taskId) ?? null; link !== null; link = link.older) remove(evidence, link.failure);
  evidence.ofTask.delete(taskId);
}

/** Takes failures out that turned out to say nothing. Rare: it looks at every live one. */
export function dropFailures(evidence: Evidence, fits: (failure: Failure) => boolean): void {
  for (const failure of [...evidence.failures.values()].filter(fits)) remove(evidence, failure);
}

/** Takes the failures of some attempts at one task out, those that are live. */
export function withdraw(evidence: Evidence, taskId: string, attemptIds: readonly string[]): void {
  for (let link = evidence.ofTask.get(taskId) ?? null; link !== null; link = link.older)
    if (attemptIds.includes(link.failure.attemptId)) remove(evidence, link.failure);
}

/** Chains may still hold a failure that was withdrawn. */
function remove(evidence: Evidence, failure: Failure): void {
  if (!isLive(evidence, failure)) return;
  evidence.failures.delete(failure.sequence);
  const { keys } = evidence.sets.get(failure.set)!;
  lower(evidence.sets, failure.set);
  for (const key of keys) lower(evidence.tallies, key);
}

function isLive(evidence: Evidence, failure: Failure): boolean {
  return evidence.failures.get(failure.sequence) === failure;
}

function lower<T extends { failures: number }>(counts: Map<string, T>, key: string): void {
  const entry = counts.get(key)!;
  if (entry.failures === 1) counts.delete(key);
  else counts.set(key, { ...entry, failures: entry.failures - 1 });
}

/** The newest live failures whose patterns `fits` holds for, at most `limit`, oldest of them first. */
export function newestFailures(evidence: Evidence, limit: number, fits: (keys: string[]) => boolean): Failure[] {
  const found: Failure[] = [];
  for (const set of evidence.sets.values()) if (fits(set.keys)) found.push(...liveOf(evidence, set, limit));
  return found.sort((a, b) => a.sequence - b.sequence).slice(-limit);
}

/** The live failures of a set, newest first. */
function liveOf(evidence: Evidence, { newest, failures }: PatternSet, limit: number): Failure[] {
  const live: Failure[] = [];
  for (let link = newest; link !== null && live.length < Math.min(limit, failures); link = link.older)
    if (isLive(evidence, link.failure)) live.push(link.failure);
  return live;
}

function compacted(evidence: Evidence, set: PatternSet): PatternSet {
  const live = liveOf(evidence, set, Number.POSITIVE_INFINITY);
  const newest = live.reduceRight<Chain | null>((older, failure) => ({ failure, older }), null);
  return { ...set, newest, links: live.length };
}
