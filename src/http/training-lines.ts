import type { CorrectionPairsQuery } from '../catalogue/queries.js';
import { type PairTexts, pairLine } from '../domain/training.js';

type Pair = Record<string, unknown>;

/**
 * Correction pairs as lines of ndjson, in a format of {@link pairLine}; without one a line is the pair itself.
 */
export function trainingLines(pairs: Pair[], format: CorrectionPairsQuery['format']): string {
  return pairs.map((pair) => `${JSON.stringify(line(pair, format))}\n`).join('');
}

function line(pair: Pair, format: CorrectionPairsQuery['format']): object {
  return format === undefined ? pair : pairLine(pair as unknown as PairTexts, format);
}
