import { Controller, Get, HttpCode, Post, Query } from '@nestjs/common';
import { CommandBus, QueryBus } from '@nestjs/cqrs';
import { ApiDefaultResponse, ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { RetryParkedCommand } from '../application/commands/retry-parked.js';
import { PageOf } from '../application/queries/lists.js';
import * as answers from '../catalogue/answers.js';
import * as queries from '../catalogue/queries.js';
import * as upkeepAnswers from '../catalogue/upkeep-answers.js';

/** Events that a projection or the saga could not take in, and tried again. */
@ApiTags('operation')
@ApiDefaultResponse({ standardSchema: answers.problem, description: 'application/problem+json' })
@Controller('v1/parked-events')
export class ParkedEventsController {
  constructor(
    private readonly commands: CommandBus,
    private readonly queries: QueryBus,
  ) {}

  @Get()
  @ApiOkResponse({ standardSchema: answers.page })
  list(@Query({ schema: queries.parkedEventsQuery }) query: queries.ParkedEventsQuery): Promise<object> {
    return this.queries.execute(new PageOf('parked-events', query));
  }

  /** Answers when each was tried once. */
  @Post('retry')
  @HttpCode(200)
  @ApiOkResponse({ standardSchema: upkeepAnswers.retryParkedAnswer })
  retry(): Promise<object> {
    return this.commands.execute(new RetryParkedCommand());
  }
}
