import { Readable } from 'node:stream';
import { Controller, Get, HttpCode, Post, Query, Req, Res } from '@nestjs/common';
import { ApiConsumes, ApiDefaultResponse, ApiOkResponse, ApiProduces, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { LogExport } from '../application/export-log.js';
import { ClaimImport } from '../application/import-claims.js';
import { LogImport } from '../application/import-log.js';
import * as answers from '../catalogue/answers.js';
import * as transfer from '../catalogue/transfer.js';
import * as upkeepAnswers from '../catalogue/upkeep-answers.js';
import { NDJSON } from './ndjson.js';
import { InvalidInput } from './problem.js';
import { cutWhenStalled } from './stalled.js';

/** The whole log out, and in again. Neither is held in memory, whatever its size. */
@ApiTags('operation')
@ApiDefaultResponse({ standardSchema: answers.problem, description: 'application/problem+json' })
@Controller('v1')
export class TransferController {
  constructor(
    private readonly log: LogExport,
    private readonly exported: LogImport,
    private readonly claims: ClaimImport,
  ) {}

  /** The last line says that it is the end; without it the export was cut off, and goes on with `after`. */
  @Get('export')
  @ApiProduces(NDJSON)
  @ApiOkResponse({ schema: { type: 'string' } })
  async export(@Query({ schema: transfer.exportQuery }) { after }: transfer.ExportQuery, @Res() reply: FastifyReply): Promise<void> {
    const lines = await this.log.lines(after ?? null);
    cutWhenStalled(reply);
    reply.type(NDJSON).send(Readable.from(lines, { objectMode: false }));
  }

  /** An export into an empty store, or claim records beside what is there. Sent again, it goes on where it was. */
  @Post('import')
  @HttpCode(200)
  @ApiConsumes(NDJSON)
  @ApiOkResponse({ standardSchema: upkeepAnswers.importAnswer })
  async import(@Query({ schema: transfer.importQuery }) query: transfer.ImportQuery, @Req() request: FastifyRequest): Promise<object> {
    const body = request.body;
    if (!(body instanceof Readable)) throw new InvalidInput([{ path: 'Content-Type', message: `must be ${NDJSON}` }]);
    // Left early, what is still to come is let through: a client that is sending reads no answer before it has sent all, and the
    // connection serves what it asks next.
    const pieces = body.iterator({ destroyOnReturn: false });
    try {
      return await (query.format === 'claims' ? this.claims.take(pieces, query) : this.exported.take(pieces));
    } finally {
      body.resume();
    }
  }
}
