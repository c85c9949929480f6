import { createHash } from 'node:crypto';

const FILE_ID_LENGTH = 20;

export function sha256(text: string): string {
  return createHash('sha256').update(text, 'utf8').digest('hex');
}

/** The short, stable name of a file in a repo: 20 hex digits. */
export function fileIdOf(repo: string, targetFile: string): string {
  return sha256(`${repo}\0${targetFile}`).slice(0, FILE_ID_LENGTH);
}

/** How the names of all file streams begin. */
export const FILE_STREAMS = 'file-';

export function fileStream(fileId: string): string {
  return `${FILE_STREAMS}${fileId}`;
}

/** How the names of all policy streams begin. */
export const POLICY_STREAMS = 'policy-';

/** How the names of all infrastructure streams begin. */
export const INFRA_STREAMS = 'infra-';

/** Where the log says that it is being filled from an export. */
export const IMPORT_STREAM = 'import-log';

/** The streams whose events projections, the saga and whoever listens see: `after` may name the place of any of them. */
export const FOLLOWED_STREAMS: readonly string[] = [FILE_STREAMS, POLICY_STREAMS, INFRA_STREAMS, IMPORT_STREAM];

/** The streams that an export holds. */
export const EXPORTED_STREAMS: readonly string[] = [FILE_STREAMS, POLICY_STREAMS, INFRA_STREAMS, 'payload-'];

/** Where the policies of a repo lie, and which evidence is discounted. */
export function policyStream(repo: string): string {
  return `${POLICY_STREAMS}${repo}`;
}

/** Where it is seen whether infrastructure holds up all files of a repo. */
export function infraStream(repo: string): string {
  return `${INFRA_STREAMS}${repo}`;
}

export function payloadStream(hash: string): string {
  return `payload-${hash}`;
}

/** Ids carry the file's: no table is needed to find their stream. `unique` is any short random text of [0-9a-z]. */
export function dispatchIdOf(fileId: string, unique: string): string {
  return `d-${fileId}-${unique}`;
}

/** The n-th attempt of a dispatch; also the stem of its proposal's id. */
export function attemptIdOf(dispatchId: string, attempt: number): string {
  return `a${dispatchId.slice(1)}-${attempt}`;
}

/** The dispatch that an attempt's id says it belongs to. */
export function dispatchOfAttempt(attemptId: string): string {
  return `d${attemptId.slice(1, attemptId.lastIndexOf('-'))}`;
}

export function proposalIdOf(attemptId: string): string {
  return `p${attemptId.slice(1)}`;
}

/** The stream that an id belongs to, or null where it is no id of that kind. */
export function streamOfId(kind: 'd' | 'a' | 'p', id: string): string | null {
  const shape = kind === 'd' ? /^d-([0-9a-f]{20})-[0-9a-z]+$/ : /^[ap]-([0-9a-f]{20})-[0-9a-z]+-[0-9]+$/;
  const match = shape.exec(id);
  return match?.[1] !== undefined && id.startsWith(kind) ? fileStream(match[1]) : null;
}

/** A number in [0, 1) that an id always gives again: chance that can be audited. */
export function chanceOf(id: string): number {
  return Number.parseInt(sha256(id).slice(0, 8), 16) / 2 ** 32;
}

/**
 * A UUID that the same names always give again (RFC 9562 version 8, from SHA-256): appends that may be repeated carry the same event
 * ids.
 */
export function uuidOf(...names: string[]): string {
  const hex = sha256(names.join('\0'));
  const variant = ((Number.parseInt(hex.slice(16, 17), 16) & 0x3) | 0x8).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
