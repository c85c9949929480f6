import { Body, Controller, Get, Headers, HttpCode, Param, Post, Query, Res } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import { ApiDefaultResponse, ApiOkResponse, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { EventsOfFile, StateOfFile, VerifyLog } from '../application/queries/audit.js';
import { StoryOfDispatch } from '../application/queries/story.js';
import * as answers from '../catalogue/answers.js';
import * as queries from '../catalogue/queries.js';
import * as upkeepAnswers from '../catalogue/upkeep-answers.js';
import { storyText } from './story-text.js';

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

  /** As JSON, or as text to be read where `Accept` asks for text/plain or text/markdown. */
  @Get('dispatches/:dispatchId')
  @ApiOkResponse({ standardSchema: upkeepAnswers.storyAnswer })
  async story(
    @Param('dispatchId') dispatchId: string,
    @Query({ schema: queries.storyQuery }) query: queries.StoryQuery,
    @Headers('accept') accept: string | undefined,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<object | string> {
    const story = await this.queries.execute(new StoryOfDispatch(dispatchId, query));
    const asked = /\btext\/(plain|markdown)\b/.exec(accept ?? '')?.[0];
    if (asked === undefined) return story;
    reply.type(`${asked}; charset=utf-8`);
    return storyText(story);
  }

  @Post('verify')
  @HttpCode(200)
  @ApiOkResponse({ standardSchema: upkeepAnswers.verifyAnswer })
  verify(@Body({ schema: queries.verifyBody }) body: queries.VerifyBody): Promise<object> {
    return this.queries.execute(new VerifyLog(body));
  }
}
