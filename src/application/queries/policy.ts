import { type IQueryHandler, Query, QueryHandler } from '@nestjs/cqrs';
import type { PolicyAnswer } from '../../catalogue/answers.js';
import { policyStream } from '../../domain/ids.js';
import type { PolicyState } from '../../domain/policy-in-force.js';
import type { Position } from '../file-history.js';
import { Policies } from '../policies.js';

/** What a repo's decisions are made under, from the head of its policy stream. */
export class PolicyOfRepo extends Query<PolicyAnswer> {
  constructor(readonly repo: string) {
    super();
  }
}

@QueryHandler(PolicyOfRepo)
export class PolicyOfRepoHandler implements IQueryHandler<PolicyOfRepo> {
  constructor(private readonly policies: Policies) {}

  async execute({ repo }: PolicyOfRepo): Promise<PolicyAnswer> {
    const { state, position } = await this.policies.current(repo);
    return policyAnswer(repo, state, { stream: policyStream(repo), revision: state.revision, commit: position });
  }
}

export function policyAnswer(repo: string, { policy, version, hash, adoptedAt, discounts }: PolicyState, position: Position): PolicyAnswer {
  return { repo, policy, version, hash, adoptedAt, discounts: [...discounts], position };
}

/** The entity tag of a policy: another after each change, the same while only evidence is discounted. */
export function policyTag({ version, hash }: Pick<PolicyAnswer, 'version' | 'hash'>): string {
  return `"${version}-${hash.slice(0, 16)}"`;
}
