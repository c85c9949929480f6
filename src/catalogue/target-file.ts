import { z } from 'zod';
import { bytesOf } from './primitives.js';

/** Bytes, not characters: paths and names are the keys of read models, and what one index entry can hold is counted in bytes. */
const LONGEST_PATH = 1024;

/**
 * A path as a caller spells it, made the one spelling that names the file: relative POSIX, NFC, `\` read as `/`, `.` and `..`
 * resolved. Refused: empty, absolute, out of the repo, a directory, control characters, over 1,024 bytes of UTF-8.
 */
export const targetFile = z.string().transform((raw, context) => {
  const fail = (message: string): typeof z.NEVER => {
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  };
  if (raw.length > LONGEST_PATH) return fail(`must not be longer than ${LONGEST_PATH} bytes`);
  if (/[\p{Cc}\p{Cs}]/u.test(raw)) return fail('must not hold control characters or lone surrogates');
  const posix = raw.normalize('NFC').replaceAll('\\', '/');
  if (posix.startsWith('/')) return fail('must be relative to the repo');
  const parts: string[] = [];
  for (const part of posix.split('/')) {
    if (part === '' || part === '.') continue;
    if (part !== '..') parts.push(part);
    else if (parts.pop() === undefined) return fail('must not lead out of the repo');
  }
  if (parts.length === 0 || posix.endsWith('/')) return fail('must name a file');
  const path = parts.join('/');
  // Asked of the result, so that it reads as itself again: NFC can lengthen a path, and `./C:/a` must not become a drive.
  if (bytesOf(path) > LONGEST_PATH) return fail(`must not be longer than ${LONGEST_PATH} bytes`);
  if (/^[a-z]:\//i.test(path)) return fail('must be relative to the repo');
  return path;
});
