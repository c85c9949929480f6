import { Body, Controller, HttpCode, Param, Post, Res } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiCreatedResponse, ApiDefaultResponse, ApiHeader, ApiOkResponse, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { CarryForwardCommand } from '../application/commands/carry-forward.js';
import { OpenDispatchCommand } from '../application/commands/open-dispatch.js';
import { RecordAttemptCommand } from '../application/commands/record-attempt.js';
import { RecordFrontierOutcomeCommand } from '../application/commands/record-frontier-outcome.js';
import { AbandonDispatchCommand, HeartbeatCommand, ResolveProposalCommand } from '../application/commands/settle.js';
import type { Call } from '../application/file-command.js';
import * as answers from '../catalogue/answers.js';
import * as bodies from '../catalogue/commands.js';
import { CallOf } from './input.js';

/** Commands: each is one atomic append, and answers with the next step. */
@ApiTags('commands')
@ApiHeader({ name: 'Idempotency-Key', required: false, description: 'the same key with the same body gets the first answer again' })
@ApiDefaultResponse({ standardSchema: answers.problem, description: 'application/problem+json' })
@Controller('v1')
export class CommandsController {
  constructor(private readonly commands: CommandBus) {}

  @Post('dispatches')
  @ApiCreatedResponse({ standardSchema: answers.openDispatchAnswer, description: 'a dispatch was opened' })
  @ApiOkResponse({ standardSchema: answers.openDispatchAnswer, description: 'none was opened: done, wait, stop or decompose' })
  async open(
    @Body({ schema: bodies.openDispatchBody }) body: bodies.OpenDispatchBody,
    @CallOf() call: Call,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<object> {
    const answer = await this.commands.execute(new OpenDispatchCommand(body, call));
    if (answer.dispatchId === null) reply.status(200);
    else reply.status(201).header('location', `/v1/dispatches/${answer.dispatchId}`);
    return answer;
  }

  @Post('dispatches/:dispatchId/attempts')
  @ApiCreatedResponse({ standardSchema: answers.attemptAnswer })
  recordAttempt(
    @Param('dispatchId') dispatchId: string,
    @Body({ schema: bodies.recordAttemptBody }) body: bodies.RecordAttemptBody,
    @CallOf() call: Call,
  ): Promise<object> {
    return this.commands.execute(new RecordAttemptCommand(dispatchId, body, call));
  }

  @Post('dispatches/:dispatchId/frontier-outcomes')
  @ApiCreatedResponse({ standardSchema: answers.frontierOutcomeAnswer })
  recordFrontierOutcome(
    @Param('dispatchId') dispatchId: string,
    @Body({ schema: bodies.recordFrontierOutcomeBody }) body: bodies.RecordFrontierOutcomeBody,
    @CallOf() call: Call,
  ): Promise<object> {
    return this.commands.execute(new RecordFrontierOutcomeCommand(dispatchId, body, call));
  }

  @Post('dispatches/:dispatchId/carry-forward')
  @ApiCreatedResponse({ standardSchema: answers.carryForwardAnswer })
  carryForward(
    @Param('dispatchId') dispatchId: string,
    @Body({ schema: bodies.carryForwardBody }) body: bodies.CarryForwardBody,
    @CallOf() call: Call,
  ): Promise<object> {
    return this.commands.execute(new CarryForwardCommand(dispatchId, body, call));
  }

  @Post('dispatches/:dispatchId/heartbeat')
  @HttpCode(200)
  @ApiOkResponse({ standardSchema: answers.standingAnswer })
  heartbeat(
    @Param('dispatchId') dispatchId: string,
    @Body({ schema: bodies.heartbeatBody }) _body: unknown,
    @CallOf() call: Call,
  ): Promise<object> {
    return this.commands.execute(new HeartbeatCommand(dispatchId, call));
  }

  @Post('dispatches/:dispatchId/abandon')
  @HttpCode(200)
  @ApiOkResponse({ standardSchema: answers.standingAnswer })
  abandon(
    @Param('dispatchId') dispatchId: string,
    @Body({ schema: bodies.abandonBody }) body: bodies.AbandonBody,
    @CallOf() call: Call,
  ): Promise<object> {
    return this.commands.execute(new AbandonDispatchCommand(dispatchId, body, call));
  }

  @Post('proposals/:proposalId/resolve')
  @HttpCode(200)
  @ApiOkResponse({ standardSchema: answers.resolveAnswer })
  resolve(
    @Param('proposalId') proposalId: string,
    @Body({ schema: bodies.resolveBody }) body: bodies.ResolveBody,
    @CallOf() call: Call,
  ): Promise<object> {
    return this.commands.execute(new ResolveProposalCommand(proposalId, body, call));
  }
}
