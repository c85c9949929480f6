import { Inject } from '@nestjs/common';
import { type IQueryHandler, Query, QueryHandler } from '@nestjs/cqrs';
import type { PolicyEvent } from '../../catalogue/events.js';
import type { PolicyAnswer, PolicyVersionsAnswer } from '../../catalogue/upkeep-answers.js';
import { policyStream } from '../../domain/ids.js';
import { policyChanges } from '../../domain/policy-changes.js';
import { evolvePolicy, noPolicyYet, type PolicyState } from '../../domain/policy-in-force.js';
import type { Position } from '../file-history.js';
import { Policies } from '../policies.js';
import { EVENT_LOG, type EventLog } from '../ports.js';

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

/** Every policy that a repo was under, with what changed from one to the next. */
export class PolicyVersions extends Query<PolicyVersionsAnswer> {
  constructor(readonly repo: string) {
    super();
  }
}

@QueryHandler(PolicyVersions)
export class PolicyVersionsHandler implements IQueryHandler<PolicyVersions> {
  constructor(@Inject(EVENT_LOG) private readonly log: EventLog) {}

  async execute({ repo }: PolicyVersions): Promise<PolicyVersionsAnswer> {
    const items: PolicyVersionsAnswer['items'] = [];
    let state = noPolicyYet;
    for await (const { event, revision } of this.log.read(policyStream(repo))) {
      const before = state.policy;
      const { version } = state;
      state = evolvePolicy(state, event as PolicyEvent);
      const { policy, hash, adoptedAt } = state;
      if (state.version !== version)
        items.push({ version: state.version, hash, adoptedAt, revision, changes: policyChanges(before, policy) });
    }
    return { repo, items };
  }
}

export function policyAnswer(repo: string, { policy, version, hash, adoptedAt, discounts }: PolicyState, position: Position): PolicyAnswer {
  return { repo, policy, version, hash, adoptedAt, discounts: [...discounts], position };
}

/** The entity tag of a policy: another after each change, the same while only evidence is discounted. */
export function policyTag({ version, hash }: Pick<PolicyAnswer, 'version' | 'hash'>): string {
  return `"${version}-${hash.slice(0, 16)}"`;
}
