import { captures } from './captures.js';
import { correctionPairs } from './correction-pairs.js';
import { dispatches } from './dispatches.js';
import { failureHistogram } from './failure-histogram.js';
import { files } from './files.js';
import { measured } from './measured.js';
import { patterns } from './patterns.js';
import type { Projection } from './projection.js';
import { proposals } from './proposals.js';
import { signalFirings } from './signal-firings.js';
import { signals } from './signals.js';

/** Every read model, in the order in which they take in a batch. */
export const projections: Projection[] = [
  ...[failureHistogram, correctionPairs, dispatches, proposals, files, signals, captures, patterns, measured, signalFirings],
];
