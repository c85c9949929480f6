import { setTimeout as sleep } from 'node:timers/promises';
import { Inject } from '@nestjs/common';
import { type IQueryHandler, Query, QueryHandler } from '@nestjs/cqrs';
import type { StoredText } from '../../catalogue/primitives.js';
import type { CorrectionPairsQuery, DispatchesQuery, HistogramsQuery, ProposalsQuery } from '../../catalogue/queries.js';
import { NotCaughtUp } from '../errors.js';
import { Payloads } from '../payloads.js';
import { type PageRequest, READ_MODELS, type ReadModels, type Row } from '../ports.js';

const CATCH_UP_LIMIT_MS = 5_000;
const CATCH_UP_POLL_MS = 10;
/** Texts of a page that are fetched at the same time. */
const TEXTS_AT_ONCE = 16;

interface Page {
  items: Row[];
  nextCursor: string | null;
}

/** Answers a page once the projection has seen the position that was asked for. Throws {@link NotCaughtUp} after five seconds. */
export async function caughtUpPage(readModels: ReadModels, after: string | undefined, request: PageRequest): Promise<Page> {
  const until = Date.now() + CATCH_UP_LIMIT_MS;
  while (after !== undefined && BigInt((await readModels.position(request.projection)) ?? -1) < BigInt(after)) {
    if (Date.now() > until) throw new NotCaughtUp(`${request.projection} has not seen position ${after} yet`);
    await sleep(CATCH_UP_POLL_MS);
  }
  return readModels.page(request);
}

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

/** Rows with their stored texts in full, a few at a time. */
async function withTexts(rows: Row[], columns: string[], payloads: Payloads): Promise<Row[]> {
  const whole: Row[] = [];
  for (let start = 0; start < rows.length; start += TEXTS_AT_ONCE)
    whole.push(
      ...(await Promise.all(
        rows.slice(start, start + TEXTS_AT_ONCE).map(async (row) => {
          const texts = columns.map(async (column) => [column, await payloads.loadOptional(row[column] as StoredText | null)] as const);
          return { ...row, ...Object.fromEntries(await Promise.all(texts)) };
        }),
      )),
    );
  return whole;
}
