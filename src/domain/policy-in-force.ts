import type { EventData, PolicyEvent } from '../catalogue/events.js';
import { defaultPolicy, type Policy } from '../catalogue/policy.js';
import { codeOf } from '../catalogue/primitives.js';
import { canonicalJson } from './chain.js';
import type { Failure } from './evidence.js';
import { policyStream, sha256 } from './ids.js';

/** Which evidence no longer counts for signals: failures that every given part fits. */
export type Selector = EventData<'EvidenceDiscounted'>['selector'];

/** What decisions on one file are made under: the policy, and the discounts that may concern the file. */
export type PolicyInForce = Policy & { readonly discounts?: readonly Selector[] };

type Discount = Pick<EventData<'EvidenceDiscounted'>, 'selector' | 'reason' | 'at'>;

/** A repo's policy stream, folded. */
export interface PolicyState {
  /** Of the last event; -1: the repo has no such stream, and is under the default policy. */
  readonly revision: number;
  readonly policy: Policy;
  /** Names the policy in decisions. */
  readonly hash: string;
  /** How often the policy has changed: 0 while it is the one that every repo begins with. */
  readonly version: number;
  readonly adoptedAt: string | null;
  readonly discounts: readonly Discount[];
}

export function policyHash(policy: unknown): string {
  return sha256(canonicalJson(policy));
}

export const DEFAULT_POLICY_HASH = policyHash(defaultPolicy);

/**
 * Hashes of earlier default policies whose figures were those of today's, and that only lacked what a default was added for since:
 * decisions of repos without a policy stream name them.
 */
const EARLIER_DEFAULTS: ReadonlySet<string> = new Set([
  // Before `infraBreaker`, and before `attribution`.
  '3c56df8e04d334d11b682e325fab288bfda5d23e55bb7c5f3d545f7feedcd61e',
  '11e7973ddb81d4231f32459fabb76a4cf47e83b4145baf84b5a1753d0b2493d4',
]);

/** Whether a decision may call what it was made under by this hash. */
export function isNamed({ revision, hash }: PolicyState, name: string): boolean {
  return name === hash || (revision < 0 && EARLIER_DEFAULTS.has(name));
}

export const noPolicyYet: PolicyState = {
  ...{ revision: -1, policy: defaultPolicy, hash: DEFAULT_POLICY_HASH, version: 0, adoptedAt: null, discounts: [] },
};

/** A state that has been handed out stays as it is: each event makes a new one. */
export function evolvePolicy(state: PolicyState, event: PolicyEvent): PolicyState {
  const revision = state.revision + 1;
  switch (event.type) {
    case 'PolicyAdopted': {
      const { policy, hash, at } = event.data;
      return { ...state, revision, policy, hash, version: state.version + (hash === state.hash ? 0 : 1), adoptedAt: at };
    }
    case 'EvidenceDiscounted': {
      const { selector, reason, at } = event.data;
      return { ...state, revision, discounts: [...state.discounts, { selector, reason, at }] };
    }
    default:
      event satisfies never;
      return { ...state, revision };
  }
}

/** The part of a decision's context that a repo's policy stream gives, for one file. */
export function inForce(state: PolicyState, repo: string, targetFile: string) {
  const selectors = state.discounts.map(({ selector }) => selector);
  const discounts = selectors.filter((selector) => selector.targetFile === undefined || selector.targetFile === targetFile);
  const policy: PolicyInForce = discounts.length === 0 ? state.policy : { ...state.policy, discounts };
  const basis = state.revision < 0 ? {} : { policyBasis: { stream: policyStream(repo), revision: state.revision } };
  return { policy, policyHash: state.hash, ...basis };
}

/** The revision of a repo's policy stream that a decision was based on; -1: there was none, and the default policy held. */
export function policyRevisionOf(basedOn: readonly { stream: string; revision: number }[], repo: string): number {
  return basedOn.find(({ stream }) => stream === policyStream(repo))?.revision ?? -1;
}

/** A selector made ready to be held against many failures; file and model are for who chose the selector. */
export interface Discounting {
  /** Milliseconds since 1970. */
  before: number;
  profile: string | undefined;
  /** Of the pattern. */
  key: string | undefined;
}

export function discounting({ before, profile, pattern }: Selector): Discounting {
  const key = pattern === undefined ? undefined : (codeOf(pattern) ?? pattern);
  return { before: before === undefined ? Number.POSITIVE_INFINITY : Date.parse(before), profile, key };
}

/** Whether a failure, whose patterns have these keys, is discounted. */
export function isDiscounted(failure: Pick<Failure, 'at' | 'profile'>, keys: string[], { before, profile, key }: Discounting): boolean {
  return failure.at < before && (profile === undefined || failure.profile === profile) && (key === undefined || keys.includes(key));
}

/** Puts a repo under a policy. The one that it is under already is no event. */
export function adoptPolicy(state: PolicyState, policy: Policy, { repo, now }: Written): PolicyEvent[] {
  const hash = policyHash(policy);
  const begun = beginning(state, { repo, now });
  return hash === state.hash ? begun : [...begun, { type: 'PolicyAdopted', data: { repo, at: now, policy, hash } }];
}

/** Says that evidence no longer counts for signals. The same selector again is no event. */
export function discountEvidence(state: PolicyState, selector: Selector, reason: string, { repo, now }: Written): PolicyEvent[] {
  const same = canonicalJson(selector);
  if (state.discounts.some((discount) => canonicalJson(discount.selector) === same)) return [];
  return [...beginning(state, { repo, now }), { type: 'EvidenceDiscounted', data: { repo, at: now, selector, reason } }];
}

interface Written {
  repo: string;
  now: string;
}

/** A policy stream begins with the policy that was in force until then, so that decisions can be made again when the default has changed. */
function beginning({ revision }: PolicyState, { repo, now }: Written): PolicyEvent[] {
  if (revision >= 0) return [];
  return [{ type: 'PolicyAdopted', data: { repo, at: now, policy: defaultPolicy, hash: DEFAULT_POLICY_HASH } }];
}
