import { Inject } from '@nestjs/common';
import { type IQueryHandler, Query, QueryHandler } from '@nestjs/cqrs';
import type { MeasurementsQuery } from '../../catalogue/queries.js';
import { type Report, reportOf } from '../../domain/measure.js';
import { MEASURED_ROWS, type MeasuredRows, READ_MODELS, type ReadModels } from '../ports.js';
import { caughtUp } from './pages.js';

/** What dispatches came to, by arm and by cold and history, with intervals and tests. */
export class Measurements extends Query<Report> {
  constructor(readonly query: MeasurementsQuery) {
    super();
  }
}

@QueryHandler(Measurements)
export class MeasurementsHandler implements IQueryHandler<Measurements> {
  constructor(
    @Inject(READ_MODELS) private readonly readModels: ReadModels,
    @Inject(MEASURED_ROWS) private readonly rows: MeasuredRows,
  ) {}

  async execute({ query: { after, groupBy: _arms, ...filter } }: Measurements): Promise<Report> {
    await caughtUp(this.readModels, 'measured', after);
    const [groups, pairs] = await Promise.all([this.rows.sums(filter), this.rows.pairs(filter)]);
    return reportOf(groups, pairs);
  }
}
