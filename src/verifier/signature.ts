import { createHash } from 'node:crypto';
import { baseName } from './normalise.js';
import type { Finding, InfraKind } from './types.js';

/** Raised with every change that gives an old output another verdict, pattern or signature: a re-measurement lays two versions side by side. */
export const classifierVersion = '2';

export const shortHash = (text: string, length: number): string => createHash('sha256').update(text).digest('hex').slice(0, length);

/** What changes from run to run though the failure is the same (taxonomy, section 6). Each is linear in the text. */
const VOLATILE: readonly (readonly [RegExp, string])[] = [
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi, '<uuid>'],
  [/\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?/g, '<time>'],
  [/\b0x[0-9a-f]{5,16}\b/gi, '<address>'],
  [/-[0-9a-f]{16}\b/g, '-<hash>'],
  [/(\.[A-Za-z]{1,4}):\d{1,7}(?::\d{1,6})?(?:: ?\d{1,7}:\d{1,6})?/g, '$1'],
  [/\b(127\.0\.0\.1|localhost|\[::1\]):\d{2,5}\b/g, '$1'],
  [/\b\d{1,6}(?:\.\d{1,6})? ?(?:ns|µs|us|ms|seconds?|secs?|minutes?)\b|\b\d{1,6}\.\d{1,6} ?s\b/g, '<duration>'],
  [/\b(pid|process|thread) \d{1,10}\b/gi, '$1 <id>'],
  [/\.tmp[A-Za-z0-9]{6}\b|\btmp\.(?=[A-Za-z]{0,9}\d)[A-Za-z0-9]{6,10}\b|\btmp(?=[a-z_]{0,7}\d)[a-z0-9_]{8}\b/g, '<tmp>'],
];
/** A path of at least two parts that starts at a root, a drive, a home or a dot: its base name stays. URLs are not paths. */
const PATH = /(^|[\s'"`(=@[,<])((?:[A-Za-z]:|~|\.{1,2})?(?:[\\/][\w.@+-]{1,120})+)/g;

export const normaliseMessage = (text: string): string => {
  let result = text.slice(0, 4_000).replace(PATH, (_all, before: string, path: string) => before + baseName(path));
  for (const [pattern, replacement] of VOLATILE) result = result.replace(pattern, replacement);
  return result.replace(/\s+/g, ' ').trim();
};

/** What a failure is known by: code, message, owner. `explain` shows it. */
export const signedBy = (finding: Finding): string[] => [
  finding.code ?? '',
  normaliseMessage(finding.identity),
  finding.owner ?? (finding.file === null ? '' : baseName(finding.file)),
];

/** One value for one way of failing: made from what was read, never from the text, so that its format, order and place do not matter. */
export const failureSignature = (findings: readonly Finding[]): string | null => {
  if (findings.length === 0) return null;
  const items = [...new Set(findings.map((finding) => signedBy(finding).join('\u0000')))].sort();
  return shortHash(`fail\u0001${classifierVersion}\u0001${items.join('\u0001')}`, 32);
};

export const infraSignature = (kind: InfraKind, tool: string | null): string =>
  shortHash(`blocked\u0001${classifierVersion}\u0001${kind}\u0001${tool ?? ''}`, 32);
