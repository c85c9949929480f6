import { Body, Controller, Delete, Get, HttpCode, type MessageEvent, Param, Post, Query, Sse } from '@nestjs/common';
import { CommandBus, QueryBus } from '@nestjs/cqrs';
import { ApiAcceptedResponse, ApiDefaultResponse, ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { concatMap, type Observable, takeWhile, timer } from 'rxjs';
import { CancelRebuildCommand, RebuildById, StartRebuildCommand } from '../application/commands/rebuild.js';
import * as answers from '../catalogue/answers.js';
import * as bodies from '../catalogue/commands.js';

const TELL_EVERY_MS = 500;

/** Read models built again from the log, beside the live ones, and switched in one transaction. */
@ApiTags('rebuilds')
@ApiDefaultResponse({ standardSchema: answers.problem, description: 'application/problem+json' })
@Controller('v1/rebuilds')
export class RebuildsController {
  constructor(
    private readonly commands: CommandBus,
    private readonly queries: QueryBus,
  ) {}

  @Post()
  @HttpCode(202)
  @ApiAcceptedResponse({ standardSchema: answers.rebuildAnswer })
  start(
    @Body({ schema: bodies.rebuildBody }) body: bodies.RebuildBody,
    @Query({ schema: bodies.rebuildQuery }) { compare }: bodies.RebuildQuery,
  ): Promise<object> {
    return this.commands.execute(new StartRebuildCommand(body, compare));
  }

  @Get(':id')
  @ApiOkResponse({ standardSchema: answers.rebuildAnswer })
  progress(@Param('id') id: string): Promise<object> {
    return this.queries.execute(new RebuildById(id));
  }

  /** The progress, told again and again until the rebuild has ended. */
  @Sse(':id/progress')
  tell(@Param('id') id: string): Observable<MessageEvent> {
    return timer(0, TELL_EVERY_MS).pipe(
      concatMap(async () => ({ type: 'progress', data: await this.queries.execute(new RebuildById(id)) })),
      takeWhile(({ data }) => data.status === 'running', true),
    );
  }

  @Delete(':id')
  @ApiOkResponse({ standardSchema: answers.rebuildAnswer })
  cancel(@Param('id') id: string): Promise<object> {
    return this.commands.execute(new CancelRebuildCommand(id));
  }
}
