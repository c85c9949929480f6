import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { ResolveAnswer, StandingAnswer } from '../../catalogue/answers.js';
import type { AbandonBody, ResolveBody } from '../../catalogue/commands.js';
import type { FileEvent } from '../../catalogue/events.js';
import { abandonDispatch, renewLease, resolveProposal } from '../../domain/settle.js';
import type { FileState } from '../../domain/state.js';
import { nextOf, standing } from '../answers.js';
import { NotFound } from '../errors.js';
import type { Call } from '../file-command.js';
import type { WholeHistory } from '../file-history.js';
import { CommandHandling } from '../handle-command.js';
import { knownDispatch, streamOf } from '../known.js';

export class AbandonDispatchCommand extends Command<StandingAnswer> {
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
  constructor(private readonly handling: CommandHandling) {}

  async execute({ dispatchId, body, call }: AbandonDispatchCommand): Promise<StandingAnswer> {
    const { dispatch, context, position } = await this.handling.handle({
      ...{ stream: streamOf('d', dispatchId), call, dispatchId },
      knows: (state) => state.dispatches.has(dispatchId),
      repeats: {
        suspects: (state) => {
          const known = state.dispatches.get(dispatchId);
          return known === undefined || (known.status === 'closed' && known.cause === 'caller');
        },
        find: (whole) =>
          causeOf(whole, ({ type, data }) => type === 'DispatchClosed' && data.dispatchId === dispatchId && data.cause === 'caller'),
      },
      decide: (state, now) => abandonDispatch(state, knownDispatch(state, dispatchId), body.reason ?? null, now),
    });
    // Nothing was decided from evidence here, so there is no decision to name: only what the caller's own word led to.
    const basedOn = [{ stream: position.stream, revision: position.revision }];
    const reason = { rule: 'abandoned', detail: 'the caller gave the dispatch up', basedOn, policy: context.policyHash };
    return { next: { step: 'stop', terminal: true, reason }, ...standing(dispatch!, position) };
  }
}

export class HeartbeatCommand extends Command<StandingAnswer> {
  constructor(
    readonly dispatchId: string,
    readonly call: Call,
  ) {
    super();
  }
}

@CommandHandler(HeartbeatCommand)
export class HeartbeatHandler implements ICommandHandler<HeartbeatCommand> {
  constructor(private readonly handling: CommandHandling) {}

  async execute({ dispatchId, call }: HeartbeatCommand): Promise<StandingAnswer> {
    const { dispatch, position } = await this.handling.handle({
      ...{ stream: streamOf('d', dispatchId), call, dispatchId },
      knows: (state) => state.dispatches.has(dispatchId),
      decide: (state, context) => renewLease(state, knownDispatch(state, dispatchId), context),
    });
    return { next: dispatch!.last && nextOf(dispatch!.last), ...standing(dispatch!, position) };
  }
}

export class ResolveProposalCommand extends Command<ResolveAnswer> {
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
  constructor(private readonly handling: CommandHandling) {}

  async execute({ proposalId, body, call }: ResolveProposalCommand): Promise<ResolveAnswer> {
    const dispatchOfProposal = (state: FileState) => (state.proposals.get(proposalId) ?? state.resolved.get(proposalId))?.dispatchId;
    const { seen: dispatch, position } = await this.handling.handle({
      ...{ stream: streamOf('p', proposalId), call, dispatchId: null },
      knows: (state) => state.dispatches.has(dispatchOfProposal(state) ?? ''),
      repeats: {
        suspects: (state) => !state.proposals.has(proposalId),
        find: (whole) =>
          causeOf(
            whole,
            ({ type, data }) => type === 'ProposalResolved' && data.proposalId === proposalId && data.resolution === body.resolution,
          ),
      },
      see: (state) => {
        const dispatchId = dispatchOfProposal(state);
        if (dispatchId === undefined) throw new NotFound(`there is no proposal ${proposalId}`);
        return knownDispatch(state, dispatchId);
      },
      decide: (state, context) => resolveProposal(state, proposalId, body.resolution, context),
    });
    return { proposalId, status: body.resolution, next: dispatch.last && nextOf(dispatch.last), ...standing(dispatch, position) };
  }
}

/** The command that brought about what a call asks for: asked again, it gets that command's answer. */
function causeOf({ events }: WholeHistory, fits: (event: FileEvent) => boolean): string | null {
  return events.find(({ event }) => fits(event as FileEvent))?.metadata.$causationId ?? null;
}
