import { Inject } from '@nestjs/common';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { CarryForwardAnswer } from '../../catalogue/answers.js';
import type { CarryForwardBody } from '../../catalogue/commands.js';
import type { CarryMode } from '../../catalogue/primitives.js';
import { type CarryBlock, composeCarryForward, NOTHING_CARRIED } from '../../domain/carry-forward.js';
import { injectHistory } from '../../domain/inject-history.js';
import type { DispatchState } from '../../domain/state.js';
import { eventOf, nextOf, standing } from '../answers.js';
import { dispatchHistory, withTexts } from '../carried-history.js';
import type { Call, Handled } from '../file-command.js';
import { FileHistories } from '../file-histories.js';
import { CommandHandling } from '../handle-command.js';
import { knownDispatch, streamOf } from '../known.js';
import { Payloads } from '../payloads.js';
import { EVENT_LOG, type EventLog, StoreUnavailable } from '../ports.js';
import { tokenCounter } from '../tokens.js';

/** How often a block is made anew because an attempt was recorded meanwhile. */
const TRIES = 5;

export class CarryForwardCommand extends Command<CarryForwardAnswer> {
  constructor(
    readonly dispatchId: string,
    readonly body: CarryForwardBody,
    readonly call: Call,
  ) {
    super();
  }
}

type Asked = Pick<DispatchState, 'dispatchId' | 'openedAt' | 'carry' | 'last'>;

/** An attempt was recorded between the making of a block and its injection. */
class Outdated extends Error {}

@CommandHandler(CarryForwardCommand)
export class CarryForwardHandler implements ICommandHandler<CarryForwardCommand> {
  constructor(
    private readonly handling: CommandHandling,
    private readonly histories: FileHistories,
    private readonly payloads: Payloads,
    @Inject(EVENT_LOG) private readonly log: EventLog,
  ) {}

  /** The texts that a block is made from are read before the command, which then holds only if no attempt has come meanwhile. */
  async execute(command: CarryForwardCommand): Promise<CarryForwardAnswer> {
    const stream = streamOf('d', command.dispatchId);
    for (let tried = 0; tried < TRIES; tried += 1) {
      const dispatch = await this.dispatchIn(stream, command.dispatchId);
      const mode = command.body.mode ?? dispatch.carry;
      const made = await this.blockOf(stream, dispatch, mode, command.body.maxTokens);
      try {
        const handled = await this.inject(stream, command, mode, made);
        return await this.answer(handled, stream, dispatch, mode, made, command.body.maxTokens);
      } catch (error) {
        if (!(error instanceof Outdated)) throw error;
      }
    }
    throw new StoreUnavailable(`${TRIES} attempts in a row were recorded on ${command.dispatchId} while its history was put together`);
  }

  private async dispatchIn(stream: string, dispatchId: string): Promise<Asked> {
    const atHand = await this.histories.look(stream, ({ state }) => state.dispatches.get(dispatchId));
    return atHand ?? knownDispatch((await this.histories.whole(stream)).state, dispatchId);
  }

  private async blockOf(stream: string, dispatch: Asked, mode: CarryMode, maxTokens: number, before?: number) {
    if (mode === 'none') return { block: NOTHING_CARRIED, recorded: null };
    const history = await dispatchHistory(this.log, stream, { ...dispatch, ...(before !== undefined && { before }) });
    const planner = dispatch.last?.step === 'replan';
    const block = composeCarryForward(await withTexts(history, mode, this.payloads), { mode, maxTokens, planner }, await tokenCounter());
    return { block, recorded: history.recorded };
  }

  private inject(
    stream: string,
    { dispatchId, call }: CarryForwardCommand,
    mode: CarryMode,
    { block, recorded }: { block: CarryBlock; recorded: number | null },
  ) {
    return this.handling.handle({
      ...{ stream, call, dispatchId },
      knows: (state) => state.dispatches.has(dispatchId),
      see: (state) => knownDispatch(state, dispatchId).recorded + 1,
      decide: (state, context) => {
        const dispatch = knownDispatch(state, dispatchId);
        if (recorded !== null && dispatch.recorded !== recorded) throw new Outdated();
        return injectHistory(state, dispatch, { mode, block }, context);
      },
    });
  }

  /** A call that repeats an earlier one gets that one's block: made again from what came before it, where more has come since. */
  private async answer(
    handled: Handled<number>,
    stream: string,
    asked: Asked,
    mode: CarryMode,
    made: { block: CarryBlock },
    maxTokens: number,
  ): Promise<CarryForwardAnswer> {
    const { dispatch, position, seen: forAttempt } = handled;
    const injected = eventOf(handled, 'HistoryInjected');
    const isThis = injected === undefined || injected.contentHash === made.block.hash;
    const then = { ...asked, last: dispatch!.last };
    const { block } = isThis ? made : await this.blockOf(stream, then, mode, maxTokens, position.revision);
    return { mode, ...block, forAttempt, next: dispatch!.last && nextOf(dispatch!.last), ...standing(dispatch!, position) };
  }
}
