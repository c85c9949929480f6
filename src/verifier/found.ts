import type { Category } from './categories.js';
import { baseName, slashed } from './normalise.js';
import { maskNames, patternOfTest, slugOf } from './patterns.js';
import type { Finding } from './types.js';

/** How the JS, Python and Go grammars make findings: alike, so that two formats of one tool give one identity. */

interface Diagnostic {
  tool: string;
  pattern: string;
  category: Category;
  message: string;
  at: number;
  code?: string | null;
  file?: string | null;
  line?: number | string;
  column?: number | string;
  details?: readonly string[];
  identity?: string;
  owner?: string | null;
  needs?: string | undefined;
}

/** Longer than this, a message is data, and its end is no part of what the failure is. */
const LONGEST_IDENTITY = 2_000;

/** Folders of the run: a temporary one as the last part of a path has a name of its own every time. */
const TEMPORARY =
  /(?:\/private)?\/(?:var\/)?tmp\/[\w.@+-]{1,80}(?![\w.@+/-])|\/var\/folders\/\w{1,8}\/\w{1,60}\/T\/[\w.@+-]{1,80}(?![\w.@+/-])/g;

/** What the frame's own normalisation (see signature.ts) does not know of these tools: file URLs, ids of Python objects, long hashes. */
export const identityOf = (text: string): string =>
  text
    .slice(0, LONGEST_IDENTITY)
    .replace(/\bfile:\/\/(?=\/)/g, '')
    .replace(TEMPORARY, '<tmp>')
    .replace(/\bid='?\d{6,20}'?/g, 'id=<id>')
    .replace(/\b[0-9a-f]{32,128}\b/g, '<hash>')
    .replace(/\b(port|pid|PID) \d{2,7}\b/g, '$1 <id>')
    .replace(/\s+/g, ' ')
    .trim();

export const found = (d: Diagnostic): Finding => {
  const file = d.file === undefined || d.file === null || d.file === '' ? null : slashed(d.file.replace(/^file:\/\/(?=\/)/, ''));
  const place = file === null ? '' : [file, d.line, d.column].filter((part) => part !== undefined && part !== '').join(':');
  const message = d.message.replace(/\s+/g, ' ').trim();
  return {
    tool: d.tool,
    pattern: d.pattern,
    code: d.code ?? null,
    category: d.category,
    file,
    place: d.owner == null ? place : '',
    identity: identityOf(d.identity ?? d.message),
    owner: d.owner ?? null,
    messages: [
      place === '' ? message : `${place} - ${message}`,
      ...(d.details ?? []).slice(0, 12).flatMap((line) => (line.trim() === '' ? [] : [`  ${line.trim()}`])),
    ],
    at: d.at,
    ...(d.needs === undefined ? {} : { needs: d.needs }),
  };
};

interface FailedTest {
  tool: string;
  /** `jest_expect_tobe`, `pytest_assertionerror`: what kind of failure it is. */
  kind: string;
  category: Category;
  /** Stable name; parameters are to be masked by the caller. */
  test: string;
  /** The file that the test stands in, where it is known: two files may have tests of one name. */
  testFile?: string | null | undefined;
  /** The file that the failure points at. */
  file?: string | null | undefined;
  line?: number | string | undefined;
  message: string;
  details?: readonly string[];
  identity?: string;
  at: number;
  needs?: string | undefined;
}

export const failedTest = (t: FailedTest): Finding => ({
  ...found({
    tool: t.tool,
    pattern: patternOfTest(t.kind, t.test),
    category: t.category,
    message: `${t.test}: ${t.message}`,
    identity: `${t.kind} ${t.identity ?? [t.message, ...(t.details ?? [])].join('\n')}`,
    owner: `${baseName(t.testFile ?? '')}::${t.test}`,
    file: t.file ?? t.testFile ?? null,
    at: t.at,
    ...(t.line === undefined ? {} : { line: t.line }),
    details: t.details ?? [],
    needs: t.needs,
  }),
});

/** The pattern of a message without a code: its first line, what is quoted masked, numbers and paths dropped. */
export const patternOfMessage = (tool: string, message: string): string =>
  `${tool}_${slugOf(
    maskNames(message.slice(0, 600))
      .replace(/(?:[A-Za-z]:)?[\w.@+-]{0,80}(?:[\\/][\w.@+-]{1,80})+/g, 'x')
      .replace(/\b\d[\d.,:]{0,40}\b/g, 'n'),
  )}`;
