import type { SignalQualityAnswer } from '../catalogue/signal-quality.js';
import { shareOf } from './statistics.js';

/** Sums over signals that were raised, and over dispatches that signals fired in. */
export interface QualitySums {
  raised: number;
  live: number;
  overcome: number;
  fired: number;
  wrong: number;
  saved: number;
  spared: number;
  confirmed: number;
  refuted: number;
}

/** Sums for one pattern (or for failures of a file without any) and one model. */
export interface PatternSums extends QualitySums {
  kind: 'per_pattern' | 'per_file';
  pattern: string | null;
  code: string | null;
  model: string;
}

export interface PeriodSums extends QualitySums {
  /** The day it begins with, as YYYY-MM-DD. */
  from: string;
}

const MOST_PATTERNS = 500;
const NOTES = [
  'A signal that is still live may yet be overcome: precision of the newest periods is the highest that it can be.',
  'Where callers follow the advice, the builder makes no attempt after a signal that could prove it wrong: look at overcome, which later tasks still can, and at capacity probes.',
];

/** What signals were worth: in all, by model, by pattern and model, and over time. */
export function signalQuality(patterns: readonly PatternSums[], periods: readonly PeriodSums[]): SignalQualityAnswer {
  const models = [...new Set(patterns.map(({ model }) => model))].sort();
  const weight = ({ raised, fired }: QualitySums) => raised + fired;
  const name = ({ pattern, model }: PatternSums) => `${pattern}\0${model}`;
  const ordered = [...patterns].sort((a, b) => weight(b) - weight(a) || (name(a) < name(b) ? -1 : 1));
  return {
    all: qualityOf(patterns),
    models: models.map((model) => ({ model, ...qualityOf(patterns.filter((row) => row.model === model)) })),
    patterns: ordered
      .slice(0, MOST_PATTERNS)
      .map(({ kind, pattern, code, model, ...sums }) => ({ kind, pattern, code, model, ...qualityOf([sums]) })),
    leftOut: Math.max(0, ordered.length - MOST_PATTERNS),
    periods: periods.map(({ from, ...sums }) => ({ from, ...qualityOf([sums]) })),
    notes: NOTES,
  };
}

function qualityOf(rows: readonly QualitySums[]): SignalQualityAnswer['all'] {
  const sum = (column: keyof QualitySums) => rows.reduce((total, row) => total + row[column], 0);
  const [raised, live, overcome, fired] = [sum('raised'), sum('live'), sum('overcome'), sum('fired')];
  const standing = live + overcome;
  return {
    signals: { raised, live, withdrawn: raised - standing, overcome: shareOf(overcome, standing), precision: shareOf(live, standing) },
    dispatches: {
      ...{ fired, wrong: shareOf(sum('wrong'), fired), saved: sum('saved'), spared: sum('spared') },
      confirmed: shareOf(sum('confirmed'), sum('confirmed') + sum('refuted')),
    },
  };
}
