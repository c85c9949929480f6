import type { Metadata } from '../catalogue/metadata.js';
import { sha256 } from './ids.js';

/** JSON with sorted keys and no `undefined`: equal values give equal text, whatever order a store or a caller gave their keys. */
export function canonicalJson(value: unknown): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  let items = '';
  const put = (item: string) => {
    items += items === '' ? item : `,${item}`;
  };
  if (Array.isArray(value)) {
    for (const item of value) put(canonicalJson(item ?? null));
    return `[${items}]`;
  }
  for (const key of Object.keys(value).sort()) {
    const item = (value as Record<string, unknown>)[key];
    if (item !== undefined) put(`${JSON.stringify(key)}:${canonicalJson(item)}`);
  }
  return `{${items}}`;
}

/** The link of one event in its stream's hash chain: over its type, data and metadata, the predecessor's hash among them. */
export function chainHash(type: string, data: unknown, metadata: Omit<Metadata, 'hash'>): string {
  const { hash: _own, ...rest } = metadata as Metadata;
  return sha256(canonicalJson([type, data, rest]));
}
