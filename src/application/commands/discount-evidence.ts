import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { DiscountEvidenceAnswer } from '../../catalogue/answers.js';
import type { DiscountEvidenceBody } from '../../catalogue/commands.js';
import { discountEvidence, type Selector } from '../../domain/policy-in-force.js';
import { patternsFromCaller } from '../attempt-facts.js';
import { InvalidField } from '../errors.js';
import type { Call } from '../file-command.js';
import { PolicyCommands } from '../policy-commands.js';

export class DiscountEvidenceCommand extends Command<DiscountEvidenceAnswer> {
  constructor(
    readonly body: DiscountEvidenceBody,
    readonly call: Call,
  ) {
    super();
  }
}

@CommandHandler(DiscountEvidenceCommand)
export class DiscountEvidenceHandler implements ICommandHandler<DiscountEvidenceCommand> {
  constructor(private readonly policies: PolicyCommands) {}

  async execute({ body: { repo, selector, reason }, call }: DiscountEvidenceCommand): Promise<DiscountEvidenceAnswer> {
    const given = selectorOf(selector);
    const { state, position } = await this.policies.handle(repo, call, (before, now) =>
      discountEvidence(before, { before: momentAfter(now), ...given }, reason, { repo, now }),
    );
    // What was discounted in those very words before is that discount.
    const said = state.discounts.findLast((discount) =>
      Object.entries(given).every(([key, value]) => discount.selector[key as keyof Selector] === value),
    )!;
    return { repo, selector: said.selector, reason: said.reason, at: said.at, next: null, dispatch: null, profile: null, position };
  }
}

function selectorOf(selector: DiscountEvidenceBody['selector']): Selector {
  const given = Object.fromEntries(Object.entries(selector).filter(([, value]) => value != null)) as Selector;
  if (given.pattern === undefined) return given;
  const [pattern] = patternsFromCaller([given.pattern]);
  if (pattern === undefined) throw new InvalidField('selector.pattern', 'is not a pattern');
  return { ...given, pattern: pattern.pattern };
}

/** Times are told to the millisecond: what came in this one came before. */
function momentAfter(now: string): string {
  return new Date(Date.parse(now) + 1).toISOString();
}
