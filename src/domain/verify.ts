import type { AnvilEvent, FileEvent, PolicyEvent } from '../catalogue/events.js';
import type { Metadata } from '../catalogue/metadata.js';
import { canonicalJson, chainHash } from './chain.js';
import { evolve } from './evolve.js';
import { infraStream } from './ids.js';
import type { InfraState } from './infra-breaker.js';
import { decideNext } from './next-step.js';
import { inForce, isNamed, type PolicyState, policyHash, policyRevisionOf } from './policy-in-force.js';
import { emptyState } from './state.js';

/** An event as it lies in the store: what it says of itself is still to be checked. `event` is null where it cannot be read. */
export interface WrittenEvent<E extends AnvilEvent = FileEvent> {
  id: string;
  revision: number;
  type: string;
  data: unknown;
  metadata: Metadata | null;
  event: E | null;
  /** Why it cannot be read. */
  unreadable?: string;
}

/** What does not hold in a stream, at the event where it shows. */
export interface Mismatch {
  stream: string;
  revision: number;
  eventId: string;
  type: string;
  what: 'chain' | 'revision' | 'unreadable' | 'decision' | 'policy';
  detail: string;
}

type Report = (what: Mismatch['what'], detail: string) => void;

/** What was known of a repo's infrastructure at a revision of its stream, likewise. */
export type InfraAt = (revision: number) => InfraState | undefined;

/** What a repo was under at a revision of its policy stream (-1: before there was one); undefined where it never came so far. */
export type PolicyAt = (revision: number) => PolicyState | undefined;

/**
 * Holds a file's stream against itself: its chain, and each decision against what the rules make of its recorded inputs, under the policy
 * and the discounts of the very revision that it names.
 */
export function verifyStream(
  stream: string,
  events: WrittenEvent[],
  policyAt: PolicyAt,
  infraAt: InfraAt,
): { checked: number; mismatches: Mismatch[] } {
  const state = emptyState();
  let folded = 0;
  let checked = 0;
  const mismatches = verifyChain(stream, events, ({ event }, place, report) => {
    if (event?.type !== 'NextStepDecided') return;
    checked += 1;
    const { repo, targetFile, basedOn, policy: hash, inputs, decidedAt } = event.data;
    const revision = policyRevisionOf(basedOn, repo);
    const under = policyAt(revision);
    if (under === undefined || !isNamed(under, hash)) {
      report('policy', under === undefined ? `the policy stream has no revision ${revision}` : `no policy ${hash} is known there`);
      return;
    }
    const infra = infraAt(basedOn.find((basis) => basis.stream === infraStream(repo))?.revision ?? -1);
    for (; folded <= (basedOn[0]?.revision ?? -1) && folded < place; folded += 1) {
      const earlier = events[folded]?.event;
      if (earlier) evolve(state, earlier);
    }
    const again = attempt(() => decideNext(state, inputs, inForce(under, repo, targetFile).policy, decidedAt, infra));
    const recorded = Object.fromEntries(Object.keys(again).map((key) => [key, event.data[key as keyof typeof event.data]]));
    if (canonicalJson(again) !== canonicalJson(recorded)) report('decision', `decided again: ${canonicalJson(again)}`);
  });
  return { checked, mismatches };
}

/** Holds a repo's policy stream against itself: its chain, and each policy against the hash that decisions name it by. */
export function verifyPolicyStream(stream: string, events: WrittenEvent<PolicyEvent>[]): Mismatch[] {
  return verifyChain(stream, events, ({ data, event }, _place, report) => {
    if (event?.type === 'PolicyAdopted' && policyHash((data as { policy: unknown }).policy) !== event.data.hash)
      report('policy', 'its hash is not that of its policy');
  });
}

/** Holds a stream that decides nothing against itself: its chain alone. */
export function verifyOtherStream<E extends AnvilEvent>(stream: string, events: WrittenEvent<E>[]): Mismatch[] {
  return verifyChain(stream, events, () => {});
}

/**
 * Each event's hash against its content and its predecessor, so that one which was changed, removed or put in between is found. An end
 * that was cut off whole leaves a chain that holds.
 */
function verifyChain<E extends AnvilEvent>(
  stream: string,
  events: WrittenEvent<E>[],
  inspect: (written: WrittenEvent<E>, place: number, report: Report) => void,
): Mismatch[] {
  const mismatches: Mismatch[] = [];
  let previousHash: string | null = null;
  events.forEach((written, place) => {
    const { id, revision, type, data, metadata, event, unreadable } = written;
    const report: Report = (what, detail) => mismatches.push({ stream, revision, eventId: id, type, what, detail });
    if (revision !== place) report('revision', `expected revision ${place}`);
    if (metadata === null || event === null) report('unreadable', unreadable ?? 'its metadata is not Anvil’s');
    if (metadata === null) return;
    if (metadata.previousHash !== previousHash) report('chain', 'it does not follow on the event before it');
    if (chainHash(type, data, metadata) !== metadata.hash) report('chain', 'its content is not what its hash covers');
    previousHash = metadata.hash;
    inspect(written, place, report);
  });
  return mismatches;
}

/** A decision that cannot even be made again differs, and says why. */
function attempt(decide: () => object): object {
  try {
    return decide();
  } catch (error) {
    return { rule: `not decidable: ${error instanceof Error ? error.message : String(error)}` };
  }
}
