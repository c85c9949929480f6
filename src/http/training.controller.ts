import { Readable } from 'node:stream';
import { Controller, Get, Query, Res } from '@nestjs/common';
import { ApiDefaultResponse, ApiOkResponse, ApiProduces, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { type TrainingRow, TrainingRows } from '../application/training-rows.js';
import * as answers from '../catalogue/answers.js';
import * as queries from '../catalogue/queries.js';
import * as reportAnswers from '../catalogue/report-answers.js';
import { datasheetOf } from './datasheet.js';
import { NDJSON } from './ndjson.js';
import { cutWhenStalled } from './stalled.js';

/** Data sets for training, whole, as a stream of lines; and for each a datasheet that says what is in it and where every row comes from. */
@ApiTags('training')
@ApiDefaultResponse({ standardSchema: answers.problem, description: 'application/problem+json' })
@Controller('v1/training')
export class TrainingController {
  constructor(private readonly rows: TrainingRows) {}

  @Get('pairs')
  @ApiProduces(NDJSON)
  @ApiOkResponse({ schema: { type: 'string' } })
  async pairs(@Query({ schema: queries.trainingPairsQuery }) query: queries.TrainingPairsQuery, @Res() reply: FastifyReply): Promise<void> {
    send(reply, await this.rows.pairs(query));
  }

  @Get('labels')
  @ApiProduces(NDJSON)
  @ApiOkResponse({ schema: { type: 'string' } })
  async labels(
    @Query({ schema: queries.trainingLabelsQuery }) query: queries.TrainingLabelsQuery,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    send(reply, await this.rows.labels(query));
  }

  @Get('pairs/datasheet')
  @ApiOkResponse({ standardSchema: reportAnswers.datasheetAnswer })
  async pairsDatasheet(@Query({ schema: queries.trainingPairsQuery }) query: queries.TrainingPairsQuery): Promise<object> {
    return datasheetOf('pairs', query, await this.rows.pairs({ ...query, duplicates: true }));
  }

  @Get('labels/datasheet')
  @ApiOkResponse({ standardSchema: reportAnswers.datasheetAnswer })
  async labelsDatasheet(@Query({ schema: queries.trainingLabelsQuery }) query: queries.TrainingLabelsQuery): Promise<object> {
    return datasheetOf('labels', query, await this.rows.labels({ ...query, duplicates: true }));
  }
}

function send(reply: FastifyReply, rows: AsyncIterable<TrainingRow>): void {
  cutWhenStalled(reply);
  reply.type(NDJSON).send(Readable.from(linesOf(rows), { objectMode: false }));
}

async function* linesOf(rows: AsyncIterable<TrainingRow>): AsyncIterable<string> {
  for await (const { line } of rows) yield `${JSON.stringify(line)}\n`;
}
