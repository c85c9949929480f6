import { Inject } from '@nestjs/common';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { AbandonBody, ResolveBody } from '../../catalogue/commands.js';
import { abandonDispatch, resolveProposal } from '../../domain/settle.js';
import { nextOf, standing } from '../answers.js';
import { NotFound } from '../errors.js';
import type { Call } from '../file-command.js';
import { CommandHandling } from '../handle-command.js';
import { historyOfId, knownDispatch } from '../known.js';
import { EVENT_LOG, type EventLog } from '../ports.js';

export class AbandonDispatchCommand extends Command<object> {
  constructor(
    readonly dispatchId: string,
    readonly body: AbandonBody,
    readonly call: Call,
  ) {
    super();
  }
}

@CommandHandler(AbandonDispatchCommand)
export class AbandonDispatchHandler implements ICommandHandler<AbandonDispatchCommand> {
  constructor(
    private readonly handling: CommandHandling,
    @Inject(EVENT_LOG) private readonly log: EventLog,
  ) {}

  async execute({ dispatchId, body, call }: AbandonDispatchCommand) {
    const { repo, targetFile } = await historyOfId(this.log, 'd', dispatchId);
    const { after, context, position } = await this.handling.handle({
      ...{ repo, targetFile, call, dispatchId },
      decide: (state, now) => abandonDispatch(state, knownDispatch(state, dispatchId), body.reason ?? null, now),
    });
    // Nothing was decided from evidence here, so there is no decision to name: only what the caller's own word led to.
    const basedOn = [{ stream: position.stream, revision: position.revision }];
    const reason = { rule: 'abandoned', detail: 'the caller gave the dispatch up', basedOn, policy: context.policyHash };
    return { next: { step: 'stop', terminal: true, reason }, ...standing(knownDispatch(after, dispatchId), position) };
  }
}

export class ResolveProposalCommand extends Command<object> {
  constructor(
    readonly proposalId: string,
    readonly body: ResolveBody,
    readonly call: Call,
  ) {
    super();
  }
}

@CommandHandler(ResolveProposalCommand)
export class ResolveProposalHandler implements ICommandHandler<ResolveProposalCommand> {
  constructor(
    private readonly handling: CommandHandling,
    @Inject(EVENT_LOG) private readonly log: EventLog,
  ) {}

  async execute({ proposalId, body, call }: ResolveProposalCommand) {
    const { repo, targetFile, state } = await historyOfId(this.log, 'p', proposalId);
    const dispatchId = (state.proposals.get(proposalId) ?? state.resolved.get(proposalId))?.dispatchId;
    if (dispatchId === undefined) throw new NotFound(`there is no proposal ${proposalId}`);
    const { after, position } = await this.handling.handle({
      ...{ repo, targetFile, call, dispatchId },
      decide: (current, context) => resolveProposal(current, proposalId, body.resolution, context),
    });
    const dispatch = knownDispatch(after, dispatchId);
    return { proposalId, status: body.resolution, next: dispatch.last && nextOf(dispatch.last), ...standing(dispatch, position) };
  }
}
