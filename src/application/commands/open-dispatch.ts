import { Inject } from '@nestjs/common';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { OpenDispatchBody } from '../../catalogue/commands.js';
import { defaultPolicy } from '../../catalogue/policy.js';
import { configurationOf } from '../../domain/calibrate.js';
import { dispatchIdOf, fileIdOf, sha256 } from '../../domain/ids.js';
import { type OpenDispatch, openDispatch } from '../../domain/open-dispatch.js';
import { eventOf, hintFor, hintOf, nextOf, proposalOf, standing } from '../answers.js';
import type { Call, Handled } from '../file-command.js';
import { CommandHandling } from '../handle-command.js';
import { Payloads, type Texts } from '../payloads.js';
import { IDS, type Ids } from '../ports.js';

export class OpenDispatchCommand extends Command<object> {
  constructor(
    readonly body: OpenDispatchBody,
    readonly call: Call,
  ) {
    super();
  }
}

@CommandHandler(OpenDispatchCommand)
export class OpenDispatchHandler implements ICommandHandler<OpenDispatchCommand> {
  constructor(
    private readonly handling: CommandHandling,
    private readonly payloads: Payloads,
    @Inject(IDS) private readonly ids: Ids,
  ) {}

  async execute({ body, call }: OpenDispatchCommand) {
    const targetFile = body.targetFile ?? body.targetFiles![0]!;
    const texts = this.payloads.collect();
    const command = this.commandOf(body, targetFile, texts);
    const handled = await this.handling.handle({
      ...{ repo: body.repo, targetFile, call, dispatchId: null, texts },
      decide: (state, context) => openDispatch(state, command, context),
    });
    return this.answer(handled, command, targetFile);
  }

  private commandOf(body: OpenDispatchBody, targetFile: string, texts: Texts): OpenDispatch {
    const { task, model } = body;
    const descriptionHash = task.description ? sha256(task.description) : null;
    return {
      dispatchId: dispatchIdOf(fileIdOf(body.repo, targetFile), this.ids.short()),
      targetFiles: [...new Set(body.targetFiles ?? [targetFile])],
      // A task without an id is known by what it asks for.
      taskId: task.id ?? descriptionHash!.slice(0, 16),
      description: texts.keepOptional(task.description),
      descriptionHash,
      prompt: texts.keepOptional(task.prompt),
      parentTaskId: task.parentTaskId ?? null,
      model,
      frontier: body.frontier ?? null,
      budget: body.budget ?? defaultPolicy.defaultBudget,
      profile: body.profile ?? null,
      arm: body.arm ?? null,
      batch: body.batch ?? null,
      carry: body.carry,
      baseHash: body.baseHash ?? null,
      leaseSeconds: body.leaseSeconds ?? defaultPolicy.defaultLeaseSeconds,
      force: body.force,
    };
  }

  private async answer(handled: Handled, command: OpenDispatch, targetFile: string) {
    const { before, after, context, position } = handled;
    const decision = eventOf(handled, 'NextStepDecided')!;
    const dispatch = decision.dispatchId === null ? undefined : after.dispatches.get(decision.dispatchId);
    const proposal = decision.proposalId === null ? undefined : after.proposals.get(decision.proposalId);
    const asker = { taskId: command.taskId, model: command.model, configuration: configurationOf(command.model) };
    return {
      dispatchId: decision.dispatchId,
      coldStart: before.counted === 0,
      hint: hintOf(hintFor(before, asker, context), command.carry !== 'none'),
      proposal: proposal ? await proposalOf(proposal, targetFile, this.payloads) : null,
      runningDispatchId: decision.runningDispatchId,
      next: nextOf(decision),
      ...(dispatch ? standing(dispatch, position) : { dispatch: null, profile: command.profile, position }),
    };
  }
}
