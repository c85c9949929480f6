import { Body, Controller, Get, Headers, Put, Query, Res } from '@nestjs/common';
import { CommandBus, QueryBus } from '@nestjs/cqrs';
import { ApiDefaultResponse, ApiHeader, ApiOkResponse, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { AdoptPolicyCommand } from '../application/commands/adopt-policy.js';
import type { Call } from '../application/file-command.js';
import { PolicyOfRepo, PolicyVersions, policyTag } from '../application/queries/policy.js';
import * as answers from '../catalogue/answers.js';
import * as bodies from '../catalogue/commands.js';
import type { Policy } from '../catalogue/policy.js';
import * as queries from '../catalogue/queries.js';
import * as upkeepAnswers from '../catalogue/upkeep-answers.js';
import { CallOf } from './input.js';
import { InvalidInput } from './problem.js';

/** One entity tag, or several with commas between them (RFC 9110, 8.8.3 and 13.1.1). */
const TAG = /^(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"$/;

/** The thresholds that a repo's decisions are made under, versioned. */
@ApiTags('policy')
@ApiDefaultResponse({ standardSchema: answers.problem, description: 'application/problem+json' })
@Controller('v1/policy')
export class PolicyController {
  constructor(
    private readonly commands: CommandBus,
    private readonly queries: QueryBus,
  ) {}

  @Get()
  @ApiOkResponse({ standardSchema: upkeepAnswers.policyAnswer })
  async policy(
    @Query({ schema: queries.policyQuery }) { repo }: queries.PolicyQuery,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<object> {
    const answer = await this.queries.execute(new PolicyOfRepo(repo));
    reply.header('etag', policyTag(answer));
    return answer;
  }

  @Get('versions')
  @ApiOkResponse({ standardSchema: upkeepAnswers.policyVersionsAnswer })
  versions(@Query({ schema: queries.policyQuery }) { repo }: queries.PolicyQuery): Promise<object> {
    return this.queries.execute(new PolicyVersions(repo));
  }

  @Put()
  @ApiHeader({
    name: 'If-Match',
    required: false,
    description: 'the ETag of the policy that is to be replaced; 412 when it is another by now',
  })
  @ApiHeader({ name: 'Idempotency-Key', required: false, description: 'the same key with the same body gets the first answer again' })
  @ApiOkResponse({ standardSchema: upkeepAnswers.policyAnswer })
  async adopt(
    @Query({ schema: queries.policyQuery }) { repo }: queries.PolicyQuery,
    @Body({ schema: bodies.policyBody }) policy: Policy,
    @Headers('if-match') ifMatch: string | undefined,
    @CallOf() call: Call,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<object> {
    const answer = await this.commands.execute(new AdoptPolicyCommand(repo, policy, tagsOf(ifMatch), call));
    reply.header('etag', policyTag(answer));
    return answer;
  }
}

/** Null: any. A weak tag never matches here. */
function tagsOf(ifMatch: string | undefined): string[] | null {
  if (ifMatch === undefined || ifMatch.trim() === '*') return null;
  const tags = ifMatch.split(',').map((tag) => tag.trim());
  if (!tags.every((tag) => TAG.test(tag)))
    throw new InvalidInput([{ path: 'If-Match', message: 'must be *, or entity tags such as an ETag' }]);
  return tags;
}
