import type { Policy } from '../catalogue/policy.js';
import { canonicalJson } from './chain.js';

/** One field that two policies differ in, by its path; undefined: the policy has no such field. */
export interface PolicyChange {
  path: string;
  from: unknown;
  to: unknown;
}

/** What changed from one policy to another, field by field, down to the values. Lists are compared whole. */
export function policyChanges(before: Policy, after: Policy): PolicyChange[] {
  const [from, to] = [leavesOf(before), leavesOf(after)];
  const paths = [...new Set([...from.keys(), ...to.keys()])].sort();
  return paths
    .map((path) => ({ path, from: from.get(path), to: to.get(path) }))
    .filter((change) => canonicalJson(change.from ?? null) !== canonicalJson(change.to ?? null));
}

function leavesOf(value: object, above = ''): Map<string, unknown> {
  const leaves = new Map<string, unknown>();
  for (const [key, item] of Object.entries(value)) {
    const path = above === '' ? key : `${above}.${key}`;
    if (item !== null && typeof item === 'object' && !Array.isArray(item))
      for (const [leaf, of] of leavesOf(item, path)) leaves.set(leaf, of);
    else if (item !== undefined) leaves.set(path, item);
  }
  return leaves;
}
