import type { EventData, FileEvent, FileEventType } from '../../src/catalogue/events.js';
import { codeOf, type ErrorPattern, type Verdict } from '../../src/catalogue/primitives.js';
import { sha256 } from '../../src/domain/ids.js';
import type { AttemptFacts } from '../../src/domain/record-attempt.js';

const KNOWN: Record<string, [label: string, category: string]> = {
  E0106: ['e0106_missing_lifetime_specifier', 'lifetime'],
  E0277: ['e0277_trait_bound_not_satisfied', 'trait_bound'],
  E0308: ['e0308_type_mismatch', 'type'],
  E0369: ['e0369_missing_trait_bound', 'trait_bound'],
  E0425: ['e0425_unresolved_name', 'resolution'],
  E0432: ['e0432_unresolved_import', 'import'],
  E0433: ['e0433_undeclared_type', 'resolution'],
  E0599: ['e0599_no_method', 'resolution'],
};

/** An error pattern by its code (`E0308`), or by its whole name where it has none (`rust_unclosed_delimiter`). */
export function pattern(codeOrName: string, more: Partial<ErrorPattern> = {}): ErrorPattern {
  const [label, category] = KNOWN[codeOrName] ?? [codeOrName, 'syntax'];
  return { pattern: label, code: codeOf(label), category, file: 'src/lru_cache.rs', ...more };
}

/** What an attempt came to, as the verifier would have classified it. */
export interface Outcome {
  verdict: Verdict;
  patterns: ErrorPattern[];
  signature: string | null;
  infraKind: string | null;
  output: string;
  diff: string | null;
  confidence?: 'high' | 'low';
}

type Given = string | ErrorPattern;
const patternsOf = (given: Given[]) => given.map((one) => (typeof one === 'string' ? pattern(one) : one));

/** Two failures with the same patterns have the same signature, as without verifier text; none without patterns. */
export function fail(...given: Given[]): Outcome {
  const patterns = patternsOf(given);
  const signature =
    patterns.length === 0
      ? null
      : sha256(
          patterns
            .map(({ pattern: label }) => label)
            .sort()
            .join(),
        );
  return { verdict: 'fail', patterns, signature, infraKind: null, output: '// wrong', diff: null };
}

/** Patterns that a caller sends with a pass say what was solved. */
export function pass(...solved: Given[]): Outcome {
  return { verdict: 'pass', patterns: patternsOf(solved), signature: null, infraKind: null, output: '// right', diff: null };
}

export function blocked(infraKind: string | null): Outcome {
  return { verdict: 'blocked', patterns: [], signature: null, infraKind, output: '// unjudged', diff: null };
}

/** The same outcome, of which the verifier's text was not sure. */
export function unsure(outcome: Outcome): Outcome {
  return { ...outcome, confidence: 'low' };
}

/** The same outcome with another signature: it failed with these patterns, yet not the same way. */
export function differently(outcome: Outcome, signature: string | null): Outcome {
  return { ...outcome, signature };
}

export function facts({ verdict, patterns, signature, infraKind, output, diff, confidence = 'high' }: Outcome): AttemptFacts {
  return {
    attempt: {
      output: { text: output },
      prompt: null,
      verifier: null,
      toolSteps: [],
      usage: null,
      sampling: null,
      startedAt: null,
      finishedAt: null,
      filesTouched: [],
    },
    promptSent: null,
    diff: diff === null ? null : { diff: { text: diff }, files: 1, added: 1, removed: 0, renames: [] },
    verdict: { verdict, patterns, signature, infraKind, classifierVersion: null, confidence, disagreement: null },
  };
}

export function hashOf(text: string): string {
  return sha256(text);
}

/** The data of the only event of a type among some; the test fails where there are none or several. */
export function only<T extends FileEventType>(events: readonly FileEvent[], type: T): EventData<T> {
  const found = all(events, type);
  expect(found).toHaveLength(1);
  return found[0]!;
}

export function all<T extends FileEventType>(events: readonly FileEvent[], type: T): EventData<T>[] {
  return events.filter((event) => event.type === type).map((event) => event.data as EventData<T>);
}
