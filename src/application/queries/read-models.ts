import { Inject } from '@nestjs/common';
import { type IQueryHandler, Query, QueryHandler } from '@nestjs/cqrs';
import type {
  CapturesQuery,
  CorrectionPairsQuery,
  DispatchesQuery,
  FilesQuery,
  HistogramsQuery,
  PatternsQuery,
  ProposalsQuery,
  SignalsQuery,
} from '../../catalogue/queries.js';
import { shareOf } from '../../domain/statistics.js';
import { Payloads } from '../payloads.js';
import { READ_MODELS, type ReadModels, type Row } from '../ports.js';
import { caughtUpPage, type Page, withTexts } from './pages.js';

export class Histograms extends Query<Page> {
  constructor(readonly query: HistogramsQuery) {
    super();
  }
}

@QueryHandler(Histograms)
export class HistogramsHandler implements IQueryHandler<Histograms> {
  constructor(@Inject(READ_MODELS) private readonly readModels: ReadModels) {}

  async execute({ query: { repo, targetFile, model, seat, order, after, limit, cursor } }: Histograms): Promise<Page> {
    const place = ['repo', 'targetFile', 'patternKey', 'seat', 'model'];
    const { items, nextCursor } = await caughtUpPage(this.readModels, after, {
      ...{ projection: 'failure_histogram', table: 'patterns', where: { repo, targetFile, model, seat }, limit, cursor },
      ...(order === 'attempts' ? { order: ['attempts', ...place], descending: true } : { order: place }),
    });
    return { items: items.map(({ patternKey: _key, ...item }) => item), nextCursor };
  }
}

export class Dispatches extends Query<Page> {
  constructor(readonly query: DispatchesQuery) {
    super();
  }
}

@QueryHandler(Dispatches)
export class DispatchesHandler implements IQueryHandler<Dispatches> {
  constructor(@Inject(READ_MODELS) private readonly readModels: ReadModels) {}

  async execute({ query: { after, limit, cursor, ...where } }: Dispatches): Promise<Page> {
    const order = { order: ['openedAt', 'dispatchId'], descending: true };
    return caughtUpPage(this.readModels, after, { projection: 'dispatches', table: 'dispatches', where, ...order, limit, cursor });
  }
}

export class Proposals extends Query<Page> {
  constructor(readonly query: ProposalsQuery) {
    super();
  }
}

@QueryHandler(Proposals)
export class ProposalsHandler implements IQueryHandler<Proposals> {
  constructor(
    @Inject(READ_MODELS) private readonly readModels: ReadModels,
    private readonly payloads: Payloads,
  ) {}

  async execute({ query: { after, limit, cursor, ...where } }: Proposals): Promise<Page> {
    const order = ['stagedAt', 'proposalId'];
    const page = await caughtUpPage(this.readModels, after, { projection: 'proposals', table: 'proposals', where, order, limit, cursor });
    return { ...page, items: await withTexts(page.items, ['output', 'diff'], this.payloads) };
  }
}

export class CorrectionPairs extends Query<Page> {
  constructor(readonly query: CorrectionPairsQuery) {
    super();
  }
}

@QueryHandler(CorrectionPairs)
export class CorrectionPairsHandler implements IQueryHandler<CorrectionPairs> {
  constructor(
    @Inject(READ_MODELS) private readonly readModels: ReadModels,
    private readonly payloads: Payloads,
  ) {}

  async execute({ query: { repo, targetFile, kind, after, limit, cursor } }: CorrectionPairs): Promise<Page> {
    const where = { repo, targetFile, kind };
    const order = ['at', 'chosenAttemptId'];
    const page = await caughtUpPage(this.readModels, after, {
      projection: 'correction_pairs',
      table: 'pairs',
      where,
      order,
      limit,
      cursor,
    });
    return { ...page, items: await withTexts(page.items, ['prompt', 'chosen', 'rejected'], this.payloads) };
  }
}

export class Files extends Query<Page> {
  constructor(readonly query: FilesQuery) {
    super();
  }
}

@QueryHandler(Files)
export class FilesHandler implements IQueryHandler<Files> {
  constructor(@Inject(READ_MODELS) private readonly readModels: ReadModels) {}

  async execute({ query: { after, limit, cursor, ...where } }: Files): Promise<Page> {
    const order = { order: ['lastActivity', 'targetFile', 'repo'], descending: true };
    return caughtUpPage(this.readModels, after, { projection: 'files', table: 'files', where, ...order, limit, cursor });
  }
}

export class Signals extends Query<Page> {
  constructor(readonly query: SignalsQuery) {
    super();
  }
}

@QueryHandler(Signals)
export class SignalsHandler implements IQueryHandler<Signals> {
  constructor(@Inject(READ_MODELS) private readonly readModels: ReadModels) {}

  async execute({ query: { after, limit, cursor, ...where } }: Signals): Promise<Page> {
    const order = { order: ['raisedAt', 'signalId'], descending: true };
    return caughtUpPage(this.readModels, after, { projection: 'signals', table: 'signals', where, ...order, limit, cursor });
  }
}

export class Captures extends Query<Page> {
  constructor(readonly query: CapturesQuery) {
    super();
  }
}

@QueryHandler(Captures)
export class CapturesHandler implements IQueryHandler<Captures> {
  constructor(
    @Inject(READ_MODELS) private readonly readModels: ReadModels,
    private readonly payloads: Payloads,
  ) {}

  async execute({ query: { after, limit, cursor, ...where } }: Captures): Promise<Page> {
    const order = ['at', 'attemptId'];
    const page = await caughtUpPage(this.readModels, after, { projection: 'captures', table: 'captures', where, order, limit, cursor });
    return { ...page, items: await withTexts(page.items, ['prompt', 'output', 'diff'], this.payloads) };
  }
}

export class Patterns extends Query<Page> {
  constructor(readonly query: PatternsQuery) {
    super();
  }
}

/** The capacity map of one repo, or of all together. Shares and their intervals are computed here: rows hold counts. */
@QueryHandler(Patterns)
export class PatternsHandler implements IQueryHandler<Patterns> {
  constructor(@Inject(READ_MODELS) private readonly readModels: ReadModels) {}

  async execute({ query: { repo, model, order, after, limit, cursor } }: Patterns): Promise<Page> {
    const place = ['kind', 'patternKey', 'model'];
    const { items, nextCursor } = await caughtUpPage(this.readModels, after, {
      ...{ projection: 'patterns', table: repo === undefined ? 'overall' : 'by_repo', where: { repo, model }, limit, cursor },
      ...(order === 'failed' ? { order: ['failed', ...place], descending: true } : { order: place }),
    });
    return { items: items.map((row) => capacityOf(row)), nextCursor };
  }
}

function capacityOf({ repo = null, kind, pattern, code, category, model, firstSeen, lastSeen, ...counts }: Row): Row {
  const { failed, overcome, signals, signalsOvercome, frontierPassed, frontierFailed } = counts as Record<string, number>;
  return {
    ...{ repo, kind, pattern, code, category, model, failed },
    overcome: shareOf(overcome!, failed!),
    signals: { raised: signals, overcome: shareOf(signalsOvercome!, signals!) },
    frontier: { passed: shareOf(frontierPassed!, frontierPassed! + frontierFailed!), failed: frontierFailed },
    classification: { capacity: frontierPassed, taskHardness: frontierFailed },
    ...{ firstSeen, lastSeen },
  };
}
