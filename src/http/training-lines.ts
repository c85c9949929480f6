import type { CorrectionPairsQuery } from '../catalogue/queries.js';

type Pair = Record<string, unknown>;

/**
 * Correction pairs as lines of ndjson: `trl` and `trl-conversational` are the two preference formats of the TRL trainers, with nothing
 * in them but prompt, chosen and rejected; without a format a line is the pair itself. A task that came without any text has the empty
 * prompt.
 */
export function trainingLines(pairs: Pair[], format: CorrectionPairsQuery['format']): string {
  return pairs.map((pair) => `${JSON.stringify(line(pair, format))}\n`).join('');
}

function line(pair: Pair, format: CorrectionPairsQuery['format']): object {
  const { prompt, chosen, rejected } = pair;
  switch (format) {
    case undefined:
      return pair;
    case 'trl':
      return { prompt: prompt ?? '', chosen, rejected };
    case 'trl-conversational':
      return { prompt: [said('user', prompt ?? '')], chosen: [said('assistant', chosen)], rejected: [said('assistant', rejected)] };
    default:
      return format satisfies never;
  }
}

function said(role: 'user' | 'assistant', content: unknown): { role: string; content: unknown } {
  return { role, content };
}
