import { DELETED_REVISION } from './log-event.js';

const METASTREAM_PREFIX = '$$';

/** The part of a stream's metadata that decides what a read shows. Access lists are stored and, as on a node without security, not enforced. */
export interface StreamMetadata {
  readonly maxCount?: number;
  /** Seconds. */
  readonly maxAge?: number;
  /** The first revision that is still shown; `DELETED_REVISION` marks a soft-deleted stream. */
  readonly truncateBefore?: number;
}

export const NO_METADATA: StreamMetadata = {};

/** As on a real node, only the newest metadata of a stream can be read back. */
export const METASTREAM_METADATA: StreamMetadata = { maxCount: 1 };

export function isMetastream(stream: string): boolean {
  return stream.startsWith(METASTREAM_PREFIX);
}

export function metastreamOf(stream: string): string {
  return METASTREAM_PREFIX + stream;
}

export function originalOf(metastream: string): string {
  return metastream.slice(METASTREAM_PREFIX.length);
}

export function isSoftDeleted(metadata: StreamMetadata): boolean {
  return metadata.truncateBefore === DELETED_REVISION;
}

/** The first revision that the metadata of a stream leaves visible. */
export function firstShown(head: number, { maxCount, truncateBefore }: StreamMetadata): number {
  return Math.max(0, maxCount === undefined ? 0 : head - maxCount + 1, truncateBefore ?? 0);
}

/** Metadata that cannot be understood is no metadata at all, as on a real node: it must not make its stream unreadable. */
export function parseMetadata(isJson: boolean, data: Uint8Array): StreamMetadata {
  const raw = isJson ? parseObject(data) : null;
  if (raw === null) return NO_METADATA;
  const maxCount = wholeNumber(raw.$maxCount, 1);
  const maxAge = wholeNumber(raw.$maxAge, 1);
  const truncateBefore = wholeNumber(raw.$tb, 0);
  if (maxCount === 'bad' || maxAge === 'bad' || truncateBefore === 'bad') return NO_METADATA;
  return {
    ...(maxCount !== undefined && { maxCount }),
    ...(maxAge !== undefined && { maxAge }),
    ...(truncateBefore !== undefined && { truncateBefore: Math.min(truncateBefore, DELETED_REVISION) }),
  };
}

/** The metadata that marks a stream as soft-deleted. Written by hand, because the mark is larger than a number can hold. */
export const SOFT_DELETED_JSON = Buffer.from('{"$tb":9223372036854775807}');

/** The same metadata, with everything before a revision hidden: a soft-deleted stream comes back empty, and goes on counting. */
export function truncatedMetadata(isJson: boolean, data: Uint8Array, truncateBefore: number): Buffer {
  const raw = (isJson ? parseObject(data) : null) ?? {};
  return Buffer.from(JSON.stringify({ ...raw, $tb: truncateBefore }));
}

function parseObject(data: Uint8Array): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString('utf8'));
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

function wholeNumber(value: unknown, least: number): number | undefined | 'bad' {
  if (value === undefined || value === null) return undefined;
  return typeof value === 'number' && Number.isInteger(value) && value >= least ? value : 'bad';
}
