import { Inject } from '@nestjs/common';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { OpenDispatchAnswer, Warning } from '../../catalogue/answers.js';
import type { OpenDispatchBody } from '../../catalogue/commands.js';
import type { EventData } from '../../catalogue/events.js';
import type { Policy } from '../../catalogue/policy.js';
import { configurationOf } from '../../domain/calibrate.js';
import type { Hint } from '../../domain/hint.js';
import { dispatchIdOf, fileIdOf, fileStream, sha256 } from '../../domain/ids.js';
import { startProbe } from '../../domain/infra-breaker.js';
import { priorResults } from '../../domain/learned.js';
import { type OpenDispatch, openDispatch, ProbeNeeded } from '../../domain/open-dispatch.js';
import { runningElsewhere } from '../../domain/share.js';
import { eventOf, hintFor, hintOf, learnedFromOf, nextOf, proposalOf, standing } from '../answers.js';
import type { Call, FileCommand, Handled } from '../file-command.js';
import { CommandHandling } from '../handle-command.js';
import { InfraCommands, Infrastructure } from '../infrastructure.js';
import { Payloads, type Texts } from '../payloads.js';
import { IDS, type Ids, StoreUnavailable } from '../ports.js';
import { announceDispatch } from '../shared-files.js';
import { warned } from '../warnings.js';

/** For how long a probe has the repo to itself where its dispatch says nothing of a lease. */
const PROBE_SECONDS = 900;

/** What the file knew before the dispatch was opened. */
interface Seen {
  coldStart: boolean;
  hint: Hint;
  learnedFrom: OpenDispatchAnswer['learnedFrom'];
  elsewhere: string[];
}

export class OpenDispatchCommand extends Command<OpenDispatchAnswer> {
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
    private readonly infrastructure: Infrastructure,
    private readonly probes: InfraCommands,
    @Inject(IDS) private readonly ids: Ids,
  ) {}

  async execute({ body, call }: OpenDispatchCommand): Promise<OpenDispatchAnswer> {
    const targetFile = body.targetFile ?? body.targetFiles![0]!;
    const fileId = fileIdOf(body.repo, targetFile);
    const dispatchId = dispatchIdOf(fileId, this.ids.short());
    const texts = this.payloads.collect();
    const command = commandOf(body, dispatchId, targetFile, texts);
    const withDefaults = ({ defaultBudget, defaultLeaseSeconds }: Policy): OpenDispatch => ({
      ...{ ...command, budget: body.budget ?? defaultBudget, leaseSeconds: body.leaseSeconds ?? defaultLeaseSeconds },
    });
    const asker = { taskId: taskIdOf(body.task), model: body.model, configuration: configurationOf(body.model) };
    const handled = await this.unlessProbe(body, command.dispatchId, {
      ...{ stream: fileStream(fileId), where: { repo: body.repo, targetFile }, call, dispatchId: null, texts },
      beside: () => this.infrastructure.beside(body.repo),
      decide: (state, context) => openDispatch(state, withDefaults(context.policy), context),
      see: (before, context) => ({
        coldStart: priorResults(before) === 0,
        hint: hintFor(before, asker, context),
        learnedFrom: learnedFromOf(before, body.repo),
        elsewhere: runningElsewhere(before),
      }),
    });
    const opened = eventOf(handled, 'DispatchOpened');
    const warnings = opened ? await this.sharedWith(opened, handled.seen.elsewhere, call, opened.dispatchId !== dispatchId) : [];
    return { ...(await this.answer(handled, body, targetFile)), ...warned([...handled.warnings, ...warnings]) };
  }

  /** Where the repo's breaker lets through one dispatch only, this one asks to be it, and goes on as it then finds things. */
  private async unlessProbe<S>(body: OpenDispatchBody, dispatchId: string, command: FileCommand<S>): Promise<Handled<S>> {
    for (;;)
      try {
        return await this.handling.handle(command);
      } catch (error) {
        if (!(error instanceof ProbeNeeded)) throw error;
        const probe = { ...command.where!, dispatchId };
        const { actor, bodyHash, requestId } = command.call;
        await this.probes.handle(body.repo, { actor, bodyHash, requestId }, (state, now) =>
          startProbe(state, probe, body.leaseSeconds ?? PROBE_SECONDS, now),
        );
      }
  }

  /** The dispatch is open, whatever comes of this: the saga tells the other files what could not be told here. Throws {@link StoreUnavailable}. */
  private async sharedWith(opened: EventData<'DispatchOpened'>, elsewhere: string[], call: Call, again: boolean): Promise<Warning[]> {
    const { actor, bodyHash, requestId } = call;
    const home = { targetFile: opened.targetFile, beside: elsewhere };
    try {
      const others = await announceDispatch(this.handling, opened, { actor, bodyHash, requestId }, again);
      return [home, ...others].flatMap(({ targetFile, beside }) =>
        beside.map((dispatchId) => {
          const detail = `${dispatchId} names ${targetFile} too, and is not known to have ended`;
          return { code: 'shared_file' as const, detail, dispatchId, targetFile };
        }),
      );
    } catch (error) {
      // Asked again under its key, the call is to get the first answer: so none is given before it is known.
      if (error instanceof StoreUnavailable) throw error;
      const why = error instanceof Error ? error.message : String(error);
      return [{ code: 'shared_file_unknown', detail: `who else works on the other files could not be found out: ${why}` }];
    }
  }

  private async answer(handled: Handled<Seen>, body: OpenDispatchBody, targetFile: string) {
    const { seen, dispatch, proposal, position } = handled;
    const decision = eventOf(handled, 'NextStepDecided')!;
    const opened = eventOf(handled, 'DispatchOpened');
    return {
      dispatchId: decision.dispatchId,
      arm: opened?.arm ?? body.arm ?? null,
      carry: opened?.carry ?? body.carry ?? null,
      assigned: opened?.assigned ?? null,
      coldStart: seen.coldStart,
      hint: hintOf(seen.hint, (opened?.carry ?? body.carry) !== 'none'),
      proposal: proposal ? await proposalOf(proposal, targetFile, this.payloads) : null,
      runningDispatchId: decision.runningDispatchId,
      learnedFrom: seen.learnedFrom,
      next: nextOf(decision),
      ...(dispatch ? standing(dispatch, position) : { dispatch: null, profile: body.profile ?? null, position }),
    };
  }
}

function commandOf(
  body: OpenDispatchBody,
  dispatchId: string,
  targetFile: string,
  texts: Texts,
): Omit<OpenDispatch, 'budget' | 'leaseSeconds'> {
  const { task, model } = body;
  return {
    dispatchId,
    targetFiles: [...new Set(body.targetFiles ?? [targetFile])],
    taskId: taskIdOf(task),
    description: texts.keepOptional(task.description),
    descriptionHash: task.description ? sha256(task.description) : null,
    prompt: texts.keepOptional(task.prompt),
    parentTaskId: task.parentTaskId ?? null,
    model,
    frontier: body.frontier ?? null,
    profile: body.profile ?? null,
    arm: body.arm ?? null,
    batch: body.batch ?? null,
    carry: body.carry ?? null,
    baseHash: body.baseHash ?? null,
    force: body.force,
  };
}

/** A task without an id is known by what it asks for. */
function taskIdOf({ id, description }: OpenDispatchBody['task']): string {
  return id ?? sha256(description!).slice(0, 16);
}
