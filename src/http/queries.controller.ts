import { Body, Controller, Get, Headers, HttpCode, Param, Post, Query, Res } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import { ApiDefaultResponse, ApiOkResponse, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { verifierInput } from '../application/attempt-facts.js';
import { NotFound } from '../application/errors.js';
import { Cohort } from '../application/queries/cohorts.js';
import { PageOf } from '../application/queries/lists.js';
import { AttemptById, DispatchById, MemoryOfFile } from '../application/queries/live.js';
import { Measurements } from '../application/queries/measurements.js';
import { SignalQuality } from '../application/queries/signal-quality.js';
import * as answers from '../catalogue/answers.js';
import * as bodies from '../catalogue/commands.js';
import * as queries from '../catalogue/queries.js';
import * as reportAnswers from '../catalogue/report-answers.js';
import { type SignalQualityQuery, signalQualityAnswer, signalQualityQuery } from '../catalogue/signal-quality.js';
import { COHORT_NAMES, isCohort } from '../domain/cohorts.js';
import { classify } from '../verifier/classify.js';
import { csvOf } from './csv.js';
import { NDJSON } from './ndjson.js';
import { trainingLines } from './training-lines.js';

const CSV = 'text/csv';

const share = (path: string) => ['count', 'of', 'rate', 'interval.0', 'interval.1'].map((field) => `${path}.${field}`);
/** The capacity map as a table. */
const CAPACITY_COLUMNS = [
  ...['repo', 'model', 'kind', 'pattern', 'code', 'category', 'failed'],
  ...[...share('overcome'), 'signals.raised', ...share('signals.overcome'), ...share('frontier.passed'), 'frontier.failed'],
  ...['classification.capacity', 'classification.taskHardness', 'firstSeen', 'lastSeen'],
];

/** Queries: of the live stream where a decision may rest on them, of read models elsewhere. */
@ApiTags('queries')
@ApiDefaultResponse({ standardSchema: answers.problem, description: 'application/problem+json' })
@Controller('v1')
export class QueriesController {
  constructor(private readonly queries: QueryBus) {}

  @Get('memory')
  @ApiOkResponse({ standardSchema: answers.memoryAnswer })
  memory(@Query({ schema: queries.memoryQuery }) query: queries.MemoryQuery): Promise<object> {
    return this.queries.execute(new MemoryOfFile(query));
  }

  @Get('dispatches')
  @ApiOkResponse({ standardSchema: answers.page })
  dispatches(@Query({ schema: queries.dispatchesQuery }) query: queries.DispatchesQuery): Promise<object> {
    return this.queries.execute(new PageOf('dispatches', query));
  }

  @Get('dispatches/:dispatchId')
  @ApiOkResponse({ standardSchema: answers.dispatchAnswer })
  dispatch(
    @Param('dispatchId') dispatchId: string,
    @Query({ schema: queries.dispatchQuery }) { wait }: queries.DispatchQuery,
  ): Promise<object> {
    return this.queries.execute(new DispatchById(dispatchId, wait));
  }

  @Get('attempts/:attemptId')
  attempt(@Param('attemptId') attemptId: string): Promise<object> {
    return this.queries.execute(new AttemptById(attemptId));
  }

  @Get('proposals')
  @ApiOkResponse({ standardSchema: answers.page })
  proposals(@Query({ schema: queries.proposalsQuery }) query: queries.ProposalsQuery): Promise<object> {
    return this.queries.execute(new PageOf('proposals', query));
  }

  @Get('histograms')
  @ApiOkResponse({ standardSchema: answers.page })
  histograms(@Query({ schema: queries.histogramsQuery }) query: queries.HistogramsQuery): Promise<object> {
    return this.queries.execute(new PageOf('histograms', query));
  }

  @Get('correction-pairs')
  @ApiOkResponse({ standardSchema: answers.page })
  async correctionPairs(
    @Query({ schema: queries.correctionPairsQuery }) query: queries.CorrectionPairsQuery,
    @Headers('accept') accept: string | undefined,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<object | string> {
    const page = await this.queries.execute(new PageOf('correction-pairs', query));
    if (query.format === undefined && !accept?.includes(NDJSON)) return page;
    asLines(reply, '/v1/correction-pairs', query, page.nextCursor);
    return trainingLines(page.items, query.format);
  }

  @Get('captures')
  @ApiOkResponse({ standardSchema: answers.page })
  async captures(
    @Query({ schema: queries.capturesQuery }) query: queries.CapturesQuery,
    @Headers('accept') accept: string | undefined,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<object | string> {
    const page = await this.queries.execute(new PageOf('captures', query));
    if (!accept?.includes(NDJSON)) return page;
    asLines(reply, '/v1/captures', query, page.nextCursor);
    return page.items.map((item) => `${JSON.stringify(item)}\n`).join('');
  }

  @Get('files')
  @ApiOkResponse({ standardSchema: answers.page })
  files(@Query({ schema: queries.filesQuery }) query: queries.FilesQuery): Promise<object> {
    return this.queries.execute(new PageOf('files', query));
  }

  @Get('signals')
  @ApiOkResponse({ standardSchema: answers.page })
  signals(@Query({ schema: queries.signalsQuery }) query: queries.SignalsQuery): Promise<object> {
    return this.queries.execute(new PageOf('signals', query));
  }

  @Get('measurements')
  @ApiOkResponse({ standardSchema: reportAnswers.measurementsAnswer })
  measurements(@Query({ schema: queries.measurementsQuery }) query: queries.MeasurementsQuery): Promise<object> {
    return this.queries.execute(new Measurements(query));
  }

  @Get('measurements/cohorts/:name')
  @ApiOkResponse({ standardSchema: reportAnswers.cohortAnswer })
  cohort(@Param('name') name: string, @Query({ schema: queries.cohortQuery }) query: queries.CohortQuery): Promise<object> {
    if (!isCohort(name)) throw new NotFound(`there is no cohort ${name}; there are ${COHORT_NAMES.join(', ')}`);
    return this.queries.execute(new Cohort(name, query));
  }

  @Get('measurements/signals')
  @ApiOkResponse({ standardSchema: signalQualityAnswer })
  signalQuality(@Query({ schema: signalQualityQuery }) query: SignalQualityQuery): Promise<object> {
    return this.queries.execute(new SignalQuality(query));
  }

  @Get('patterns')
  @ApiOkResponse({ standardSchema: answers.page })
  async patterns(
    @Query({ schema: queries.patternsQuery }) query: queries.PatternsQuery,
    @Headers('accept') accept: string | undefined,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<object | string> {
    const page = await this.queries.execute(new PageOf('patterns', query));
    const type = [NDJSON, CSV].find((one) => accept?.includes(one));
    if (type === undefined) return page;
    asLines(reply, '/v1/patterns', query, page.nextCursor, type);
    return type === CSV ? csvOf(page.items, CAPACITY_COLUMNS) : page.items.map((item) => `${JSON.stringify(item)}\n`).join('');
  }

  @Post('classify')
  @HttpCode(200)
  classify(@Body({ schema: bodies.classifyBody }) { explain, ...verifier }: bodies.ClassifyBody): object {
    const { evidence, sourceExcerpt: _source, ...read } = classify(verifierInput(verifier));
    return explain ? { ...read, evidence } : read;
  }
}

/** Lines leave no room for a cursor: the address of the next page stands in a header. */
function asLines(
  reply: FastifyReply,
  path: string,
  { after: _after, ...query }: Record<string, unknown>,
  cursor: string | null,
  type = NDJSON,
): void {
  reply.type(type);
  if (cursor === null) return;
  const parameters = new URLSearchParams();
  for (const [key, value] of Object.entries({ ...query, cursor })) if (value !== undefined) parameters.set(key, String(value));
  reply.header('link', `<${path}?${parameters}>; rel="next"`);
}
