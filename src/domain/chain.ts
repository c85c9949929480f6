import type { Metadata } from '../catalogue/metadata.js';
import { sha256 } from './ids.js';

/** JSON with sorted keys and no `undefined`: equal values give equal text, whatever order a store or a caller gave their keys. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item ?? null)).join(',')}]`;
  if (value !== null && typeof value === 'object') {
    const entries = Object.entries(value).filter(([, item]) => item !== undefined);
    return `{${entries
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, item]) => `${JSON.stringify(key)}:${canonicalJson(item)}`)
      .join(',')}}`;
  }
  return JSON.stringify(value);
}

/** The link of one event in its stream's hash chain: over its type, data and metadata, the predecessor's hash among them. */
export function chainHash(type: string, data: unknown, metadata: Omit<Metadata, 'hash'>): string {
  const { hash: _own, ...rest } = metadata as Metadata;
  return sha256(canonicalJson([type, data, rest]));
}
