import { Body, Controller, HttpCode, Param, Post, Res } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiCreatedResponse, ApiDefaultResponse, ApiHeader, ApiOkResponse, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { CorrectVerdictCommand } from '../application/commands/correct-verdict.js';
import { DiscountEvidenceCommand } from '../application/commands/discount-evidence.js';
import { WithdrawPairCommand } from '../application/commands/withdraw-pair.js';
import type { Call } from '../application/file-command.js';
import * as answers from '../catalogue/answers.js';
import * as bodies from '../catalogue/commands.js';
import { CallOf } from './input.js';

/** What turns out later: verdicts that were wrong, evidence that says nothing of the builder, pairs that nobody should train on. */
@ApiTags('late truth')
@ApiHeader({ name: 'Idempotency-Key', required: false, description: 'the same key with the same body gets the first answer again' })
@ApiDefaultResponse({ standardSchema: answers.problem, description: 'application/problem+json' })
@Controller('v1')
export class LateTruthController {
  constructor(private readonly commands: CommandBus) {}

  @Post('attempts/:attemptId/verdict-corrections')
  @ApiCreatedResponse({ standardSchema: answers.correctVerdictAnswer })
  @ApiOkResponse({ standardSchema: answers.correctVerdictAnswer, description: 'the verdict was that already: nothing was stored' })
  async correct(
    @Param('attemptId') attemptId: string,
    @Body({ schema: bodies.correctVerdictBody }) body: bodies.CorrectVerdictBody,
    @CallOf() call: Call,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<object> {
    const answer = await this.commands.execute(new CorrectVerdictCommand(attemptId, body, call));
    reply.status(answer.changed ? 201 : 200);
    return answer;
  }

  @Post('evidence/discounts')
  @ApiCreatedResponse({ standardSchema: answers.discountEvidenceAnswer })
  discount(@Body({ schema: bodies.discountEvidenceBody }) body: bodies.DiscountEvidenceBody, @CallOf() call: Call): Promise<object> {
    return this.commands.execute(new DiscountEvidenceCommand(body, call));
  }

  @Post('correction-pairs/:pairId/withdraw')
  @HttpCode(200)
  @ApiOkResponse({ standardSchema: answers.withdrawPairAnswer })
  withdraw(
    @Param('pairId') pairId: string,
    @Body({ schema: bodies.withdrawPairBody }) body: bodies.WithdrawPairBody,
    @CallOf() call: Call,
  ): Promise<object> {
    return this.commands.execute(new WithdrawPairCommand(pairId, body, call));
  }
}
