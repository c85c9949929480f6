import { Body, Controller, Get, HttpCode, Post, Query } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import { ApiDefaultResponse, ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { EventsOfFile, StateOfFile, VerifyLog } from '../application/queries/audit.js';
import * as answers from '../catalogue/answers.js';
import * as queries from '../catalogue/queries.js';

/** What the log itself says. None of it has side effects. */
@ApiTags('audit')
@ApiDefaultResponse({ standardSchema: answers.problem, description: 'application/problem+json' })
@Controller('v1/audit')
export class AuditController {
  constructor(private readonly queries: QueryBus) {}

  @Get('events')
  @ApiOkResponse({ standardSchema: answers.page })
  events(@Query({ schema: queries.auditEventsQuery }) query: queries.AuditEventsQuery): Promise<object> {
    return this.queries.execute(new EventsOfFile(query));
  }

  @Get('state')
  @ApiOkResponse({ standardSchema: answers.memoryAnswer })
  state(@Query({ schema: queries.auditStateQuery }) query: queries.AuditStateQuery): Promise<object> {
    return this.queries.execute(new StateOfFile(query));
  }

  @Post('verify')
  @HttpCode(200)
  @ApiOkResponse({ standardSchema: answers.verifyAnswer })
  verify(@Body({ schema: queries.verifyBody }) body: queries.VerifyBody): Promise<object> {
    return this.queries.execute(new VerifyLog(body));
  }
}
