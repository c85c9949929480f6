import { z } from 'zod';

const LONGEST_PATH = 1024;

/**
 * A path as a caller spells it, made the one spelling that names the file: relative POSIX, NFC, `\` read as `/`, `.` and `..`
 * resolved. Refused: empty, absolute, out of the repo, a directory, control characters, over 1,024 characters.
 */
export const targetFile = z.string().transform((raw, context) => {
  const fail = (message: string): typeof z.NEVER => {
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  };
  if (raw.length > LONGEST_PATH) return fail(`must not be longer than ${LONGEST_PATH} characters`);
  if (/[\p{Cc}\p{Cs}]/u.test(raw)) return fail('must not hold control characters or lone surrogates');
  const posix = raw.normalize('NFC').replaceAll('\\', '/');
  if (posix.startsWith('/') || /^[a-z]:\//i.test(posix)) return fail('must be relative to the repo');
  const parts: string[] = [];
  for (const part of posix.split('/')) {
    if (part === '' || part === '.') continue;
    if (part !== '..') parts.push(part);
    else if (parts.pop() === undefined) return fail('must not lead out of the repo');
  }
  if (parts.length === 0 || posix.endsWith('/')) return fail('must name a file');
  return parts.join('/');
});
