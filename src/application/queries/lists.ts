import { Inject } from '@nestjs/common';
import { type IQueryHandler, Query, QueryHandler } from '@nestjs/cqrs';
import type {
  CapturesQuery,
  CorrectionPairsQuery,
  DispatchesQuery,
  FilesQuery,
  HistogramsQuery,
  ParkedEventsQuery,
  PatternsQuery,
  ProposalsQuery,
  SignalsQuery,
} from '../../catalogue/queries.js';
import { shareOf } from '../../domain/statistics.js';
import { Payloads } from '../payloads.js';
import { type PageRequest, READ_MODELS, type ReadModels, type Row } from '../ports.js';
import { caughtUpPage, type Page, withTexts } from './pages.js';

/** The lists, and what each can be asked. */
interface Asked {
  captures: CapturesQuery;
  'correction-pairs': CorrectionPairsQuery;
  dispatches: DispatchesQuery;
  files: FilesQuery;
  histograms: HistogramsQuery;
  'parked-events': ParkedEventsQuery;
  patterns: PatternsQuery;
  proposals: ProposalsQuery;
  signals: SignalsQuery;
}

type Place = Omit<PageRequest, 'limit' | 'cursor'>;

/** Where a list's rows lie, which columns hold stored texts, and what of a row is shown where not all is. */
interface List<Q> {
  place(query: Q): Place;
  texts?: string[];
  show?(row: Row): Row;
}

/** The filters of a query: all that it says but what makes a page of it. */
function filters<Q extends { after?: string; limit: number; cursor?: string }>({ after: _a, limit: _l, cursor: _c, ...where }: Q) {
  return where;
}

const HISTOGRAM_ORDER = ['repo', 'targetFile', 'patternKey', 'seat', 'model'];
const PATTERN_ORDER = ['kind', 'patternKey', 'model'];

const LISTS: { [L in keyof Asked]: List<Asked[L]> } = {
  captures: {
    place: (query) => ({ projection: 'captures', table: 'captures', where: filters(query), order: ['at', 'attemptId'] }),
    texts: ['prompt', 'output', 'diff'],
  },
  'correction-pairs': {
    place: ({ repo, targetFile, kind }) => ({
      ...{ projection: 'correction_pairs', table: 'pairs', where: { repo, targetFile, kind }, order: ['at', 'chosenAttemptId'] },
    }),
    texts: ['prompt', 'chosen', 'rejected'],
    // There is one pair for one chosen attempt.
    show: (row) => ({ pairId: row.chosenAttemptId, ...row }),
  },
  dispatches: {
    place: (query) => ({
      ...{ projection: 'dispatches', table: 'dispatches', where: filters(query), order: ['openedAt', 'dispatchId'], descending: true },
    }),
  },
  files: {
    place: (query) => ({
      ...{ projection: 'files', table: 'files', where: filters(query), order: ['lastActivity', 'targetFile', 'repo'], descending: true },
    }),
  },
  histograms: {
    place: ({ repo, targetFile, model, seat, order }) => ({
      ...{ projection: 'failure_histogram', table: 'patterns', where: { repo, targetFile, model, seat } },
      ...(order === 'attempts' ? { order: ['attempts', ...HISTOGRAM_ORDER], descending: true } : { order: HISTOGRAM_ORDER }),
    }),
    show: ({ patternKey: _key, ...row }) => row,
  },
  // No projection's: the table that stands beside them.
  'parked-events': {
    place: (query) => ({ projection: 'parked', table: 'events', where: filters(query), order: ['position', 'follower'] }),
    show: ({ heldUpTo, ...row }) => ({ ...row, heldBack: { upToRevision: heldUpTo } }),
  },
  // The capacity map of one repo, or of all together. Shares and their intervals are computed here: rows hold counts.
  patterns: {
    place: ({ repo, model, order }) => ({
      ...{ projection: 'patterns', table: repo === undefined ? 'overall' : 'by_repo', where: { repo, model } },
      ...(order === 'failed' ? { order: ['failed', ...PATTERN_ORDER], descending: true } : { order: PATTERN_ORDER }),
    }),
    show: capacityOf,
  },
  proposals: {
    place: (query) => ({ projection: 'proposals', table: 'proposals', where: filters(query), order: ['stagedAt', 'proposalId'] }),
    texts: ['output', 'diff'],
  },
  signals: {
    place: (query) => ({
      ...{ projection: 'signals', table: 'signals', where: filters(query), order: ['raisedAt', 'signalId'], descending: true },
    }),
  },
};

/** A page of a list, out of its read model. */
export class PageOf<L extends keyof Asked = keyof Asked> extends Query<Page> {
  constructor(
    readonly list: L,
    readonly query: Asked[L],
  ) {
    super();
  }
}

@QueryHandler(PageOf)
export class PageOfHandler implements IQueryHandler<PageOf> {
  constructor(
    @Inject(READ_MODELS) private readonly readModels: ReadModels,
    private readonly payloads: Payloads,
  ) {}

  async execute<L extends keyof Asked>({ list, query }: PageOf<L>): Promise<Page> {
    const { place, texts = [], show = (row: Row) => row }: List<Asked[L]> = LISTS[list];
    const { after, limit, cursor }: { after?: string; limit: number; cursor?: string } = query;
    const { items, nextCursor } = await caughtUpPage(this.readModels, after, { ...place(query), limit, cursor });
    return { items: (await withTexts(items, texts, this.payloads)).map(show), nextCursor };
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
