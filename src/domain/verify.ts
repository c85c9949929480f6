import type { FileEvent } from '../catalogue/events.js';
import type { Metadata } from '../catalogue/metadata.js';
import type { Policy } from '../catalogue/policy.js';
import { canonicalJson, chainHash } from './chain.js';
import { evolve } from './evolve.js';
import { decideNext } from './next-step.js';
import { emptyState } from './state.js';

/** An event as it lies in the store: what it says of itself is still to be checked. `event` is null where it cannot be read. */
export interface WrittenEvent {
  id: string;
  revision: number;
  type: string;
  data: unknown;
  metadata: Metadata | null;
  event: FileEvent | null;
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

/**
 * Holds a file's stream against itself: each event's hash against its content and its predecessor (so that one which was changed,
 * removed or put in between is found), and each decision against what the rules make of its recorded inputs. `policyOf` answers the
 * policy that a decision names by its hash. An end that was cut off whole leaves a stream that holds.
 */
export function verifyStream(
  stream: string,
  events: WrittenEvent[],
  policyOf: (hash: string) => Policy | undefined,
): { checked: number; mismatches: Mismatch[] } {
  const mismatches: Mismatch[] = [];
  const state = emptyState();
  let previousHash: string | null = null;
  let folded = 0;
  let checked = 0;
  events.forEach(({ id, revision, type, data, metadata, event, unreadable }, place) => {
    const report = (what: Mismatch['what'], detail: string) => mismatches.push({ stream, revision, eventId: id, type, what, detail });
    if (revision !== place) report('revision', `expected revision ${place}`);
    if (metadata === null || event === null) report('unreadable', unreadable ?? 'its metadata is not Anvil’s');
    if (metadata === null) return;
    if (metadata.previousHash !== previousHash) report('chain', 'it does not follow on the event before it');
    if (chainHash(type, data, metadata) !== metadata.hash) report('chain', 'its content is not what its hash covers');
    previousHash = metadata.hash;
    if (event?.type !== 'NextStepDecided') return;
    checked += 1;
    const { basedOn, policy: policyHash, inputs, decidedAt } = event.data;
    const policy = policyOf(policyHash);
    if (policy === undefined) {
      report('policy', `no policy ${policyHash} is known`);
      return;
    }
    for (; folded <= (basedOn[0]?.revision ?? -1) && folded < place; folded += 1) {
      const earlier = events[folded]?.event;
      if (earlier) evolve(state, earlier);
    }
    const again = attempt(() => decideNext(state, inputs, policy, decidedAt));
    const recorded = Object.fromEntries(Object.keys(again).map((key) => [key, event.data[key as keyof typeof event.data]]));
    if (canonicalJson(again) !== canonicalJson(recorded)) report('decision', `decided again: ${canonicalJson(again)}`);
  });
  return { checked, mismatches };
}

/** A decision that cannot even be made again differs, and says why. */
function attempt(decide: () => object): object {
  try {
    return decide();
  } catch (error) {
    return { rule: `not decidable: ${error instanceof Error ? error.message : String(error)}` };
  }
}
