import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { Policy } from '../../catalogue/policy.js';
import type { PolicyAnswer } from '../../catalogue/upkeep-answers.js';
import { adoptPolicy } from '../../domain/policy-in-force.js';
import { PreconditionFailed } from '../errors.js';
import type { Call } from '../file-command.js';
import { PolicyCommands } from '../policy-commands.js';
import { policyAnswer, policyTag } from '../queries/policy.js';

export class AdoptPolicyCommand extends Command<PolicyAnswer> {
  constructor(
    readonly repo: string,
    readonly policy: Policy,
    /** The tags of which the policy must have one for it to be replaced; null: whichever it has. */
    readonly ifMatch: string[] | null,
    readonly call: Call,
  ) {
    super();
  }
}

@CommandHandler(AdoptPolicyCommand)
export class AdoptPolicyHandler implements ICommandHandler<AdoptPolicyCommand> {
  constructor(private readonly policies: PolicyCommands) {}

  async execute({ repo, policy, ifMatch, call }: AdoptPolicyCommand): Promise<PolicyAnswer> {
    const { state, position } = await this.policies.handle(repo, call, (before, now) => {
      if (ifMatch !== null && !ifMatch.includes(policyTag(before)))
        throw new PreconditionFailed(`the policy is at version ${before.version} now, ETag ${policyTag(before)}`);
      return adoptPolicy(before, policy, { repo, now });
    });
    return policyAnswer(repo, state, position);
  }
}
