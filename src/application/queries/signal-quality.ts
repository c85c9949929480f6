import { Inject } from '@nestjs/common';
import { type IQueryHandler, Query, QueryHandler } from '@nestjs/cqrs';
import type { SignalQualityAnswer, SignalQualityQuery } from '../../catalogue/signal-quality.js';
import { signalQuality } from '../../domain/signal-quality.js';
import { READ_MODELS, type ReadModels, SIGNAL_QUALITY_ROWS, type SignalQualityRows } from '../ports.js';
import { caughtUp } from './pages.js';

/** What calibration signals were worth, by pattern and model, and over time. */
export class SignalQuality extends Query<SignalQualityAnswer> {
  constructor(readonly query: SignalQualityQuery) {
    super();
  }
}

@QueryHandler(SignalQuality)
export class SignalQualityHandler implements IQueryHandler<SignalQuality> {
  constructor(
    @Inject(READ_MODELS) private readonly readModels: ReadModels,
    @Inject(SIGNAL_QUALITY_ROWS) private readonly rows: SignalQualityRows,
  ) {}

  async execute({ query: { after, period, ...filter } }: SignalQuality): Promise<SignalQualityAnswer> {
    await Promise.all([caughtUp(this.readModels, 'signals', after), caughtUp(this.readModels, 'signal_firings', after)]);
    const [patterns, periods] = await Promise.all([this.rows.patterns(filter), this.rows.periods(filter, period)]);
    return signalQuality(patterns, periods);
  }
}
