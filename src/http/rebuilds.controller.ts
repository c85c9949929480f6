import { setTimeout as sleep } from 'node:timers/promises';
import { Body, Controller, Delete, Get, HttpCode, Param, Post, Query, Res } from '@nestjs/common';
import { CommandBus, QueryBus } from '@nestjs/cqrs';
import { ApiAcceptedResponse, ApiDefaultResponse, ApiOkResponse, ApiProduces, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { CancelRebuildCommand, RebuildById, StartRebuildCommand } from '../application/commands/rebuild.js';
import * as answers from '../catalogue/answers.js';
import * as bodies from '../catalogue/commands.js';
import * as upkeepAnswers from '../catalogue/upkeep-answers.js';
import { type Sent, sendEvents, untilGone } from './sse.js';

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
  @ApiAcceptedResponse({ standardSchema: upkeepAnswers.rebuildAnswer })
  start(
    @Body({ schema: bodies.rebuildBody }) body: bodies.RebuildBody,
    @Query({ schema: bodies.rebuildQuery }) { compare }: bodies.RebuildQuery,
  ): Promise<object> {
    return this.commands.execute(new StartRebuildCommand(body, compare));
  }

  @Get(':id')
  @ApiOkResponse({ standardSchema: upkeepAnswers.rebuildAnswer })
  progress(@Param('id') id: string): Promise<object> {
    return this.queries.execute(new RebuildById(id));
  }

  /** The progress, told again and again until the rebuild has ended. */
  @Get(':id/progress')
  @ApiProduces('text/event-stream')
  @ApiOkResponse({ schema: { type: 'string' } })
  async tell(@Param('id') id: string, @Res() reply: FastifyReply): Promise<void> {
    const first = await this.queries.execute(new RebuildById(id));
    sendEvents(reply, this.told(id, first, untilGone(reply)));
  }

  @Delete(':id')
  @ApiOkResponse({ standardSchema: upkeepAnswers.rebuildAnswer })
  cancel(@Param('id') id: string): Promise<object> {
    return this.commands.execute(new CancelRebuildCommand(id));
  }

  private async *told(id: string, first: upkeepAnswers.RebuildAnswer, gone: AbortSignal): AsyncIterable<Sent> {
    for (let now = first; ; now = await this.queries.execute(new RebuildById(id))) {
      yield { event: 'progress', data: JSON.stringify(now) };
      if (now.status !== 'running' || gone.aborted) return;
      await sleep(TELL_EVERY_MS, undefined, { signal: gone }).catch(() => undefined);
    }
  }
}
