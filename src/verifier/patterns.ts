import { codeOf } from '../catalogue/primitives.js';
import type { Category } from './categories.js';
import { rustcCodes } from './data/rustc-codes.js';
import { typescriptCodes } from './data/typescript-codes.js';
import { shortHash } from './signature.js';
import type { ErrorPattern } from './types.js';

/** Codes that a tool renamed. Only what a tool printed is aliased, and only here: a code that a caller sends stays as sent. */
const RENAMED: Readonly<Record<string, string>> = { E0412: 'E0425' };

export const currentCode = (code: string): string => RENAMED[code] ?? code;

/** tsc numbers its messages by what they are about; a code that the table does not know still has that. */
const categoryByNumber = (number: number): Category => {
  if (number < 2000) return 'syntax';
  if (number < 4000) return 'type';
  if (number < 5000) return 'visibility';
  if (number < 7000) return 'manifest';
  if (number < 8000) return 'type';
  if (number < 9000) return 'syntax';
  if (number < 10_000) return 'type';
  return number >= 17_000 && number < 18_000 ? 'syntax' : 'unknown';
};

const own = <T>(table: Readonly<Record<string, T>>, key: string): T | undefined => (Object.hasOwn(table, key) ? table[key] : undefined);

export const categoryOfCode = (code: string): Category => {
  if (code.startsWith('TS')) return own(typescriptCodes, code)?.[1] ?? categoryByNumber(Number(code.slice(2)));
  return own(rustcCodes, code)?.[1] ?? 'unknown';
};

/** `E0308` -> `e0308_type_mismatch`; a code that no table knows -> `e9999_error`. */
export const patternOfCode = (code: string): string => {
  const slug = (own(rustcCodes, code) ?? own(typescriptCodes, code))?.[0] ?? 'error';
  return `${code.toLowerCase()}_${slug}`;
};

const LONGEST_SLUG = 72;

/** Lower case words joined by `_`. What was cut, or could not be written in ASCII, is stood for by a short hash: no two texts collide by it. */
export const slugOf = (text: string): string => {
  const words = text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_|_$/g, '');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: ASCII is the range that is kept
  const lossy = /[^\u0000-\u007f]/.test(text) || words === '';
  if (words.length <= LONGEST_SLUG) return lossy ? `${words}_${shortHash(text, 6)}`.replace(/^_/, '') : words;
  return `${words.slice(0, LONGEST_SLUG - 7).replace(/_$/, '')}_${shortHash(text, 6)}`;
};

/** The first line of a message with every name in backticks or quotes masked: `cannot find macro x in this scope`. */
export const maskNames = (message: string): string =>
  (message.split('\n', 1)[0] ?? '')
    .slice(0, 2_000)
    .replace(/`[^`]*`/g, 'x')
    .replace(/"[^"]*"/g, 'x')
    .replace(/(^|[\s([])'[^']+'(?=[\s,.;:)\]]|$)/g, '$1x');

const LONGEST_TEST_NAME = 160;

/** `rust_test_assert_eq` + `tests::adds` -> `rust_test_assert_eq:tests::adds`. */
export const patternOfTest = (kind: string, test: string): string => {
  const name = test.length <= LONGEST_TEST_NAME ? test : `${test.slice(0, LONGEST_TEST_NAME - 7)}_${shortHash(test, 6)}`;
  return `${kind}:${name}`;
};

/** A pattern that a caller sent: a bare code is completed, a label of the caller's own is kept, `unknown` is not a pattern. */
export const patternFromCaller = (text: string): ErrorPattern | null => {
  const sent = text.trim();
  if (sent === '' || sent.toLowerCase() === 'unknown') return null;
  const code = codeOf(sent);
  if (code === null) return { pattern: sent, code: null, category: 'unknown', file: null, count: 1 };
  const labelled = sent.length > code.length + '_'.length;
  return { pattern: labelled ? sent : patternOfCode(code), code, category: categoryOfCode(code), file: null, count: 1 };
};
