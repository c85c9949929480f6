import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { AttemptAnswer } from '../../catalogue/answers.js';
import type { RecordAttemptBody } from '../../catalogue/commands.js';
import { recordAttempt } from '../../domain/record-attempt.js';
import { Conflict } from '../../domain/recorder.js';
import { eventOf, nextOf, proposalOf, standing } from '../answers.js';
import { attemptFacts } from '../attempt-facts.js';
import type { Call, Handled } from '../file-command.js';
import type { WholeHistory } from '../file-history.js';
import { CommandHandling } from '../handle-command.js';
import { knownDispatch, streamOf } from '../known.js';
import { Payloads } from '../payloads.js';
import { warned } from '../warnings.js';

export class RecordAttemptCommand extends Command<AttemptAnswer> {
  constructor(
    readonly dispatchId: string,
    readonly body: RecordAttemptBody,
    readonly call: Call,
  ) {
    super();
  }
}

@CommandHandler(RecordAttemptCommand)
export class RecordAttemptHandler implements ICommandHandler<RecordAttemptCommand> {
  constructor(
    private readonly handling: CommandHandling,
    private readonly payloads: Payloads,
  ) {}

  async execute({ dispatchId, body: { attempt: number, ...body }, call }: RecordAttemptCommand): Promise<AttemptAnswer> {
    const stream = streamOf('d', dispatchId);
    const texts = this.payloads.collect();
    const facts = attemptFacts(body, texts);
    const handled = await this.handling.handle({
      ...{ stream, call, dispatchId, texts },
      knows: (state) => state.dispatches.has(dispatchId),
      repeats: {
        suspects: (state) => number != null && number <= (state.dispatches.get(dispatchId)?.recorded ?? Number.POSITIVE_INFINITY),
        find: (whole) => sameNumber(whole, dispatchId, number!, call),
      },
      decide: (state, context) => {
        const dispatch = knownDispatch(state, dispatchId);
        if (number != null && number !== dispatch.recorded + 1)
          throw new Conflict(`the next attempt of ${dispatchId} is number ${dispatch.recorded + 1}, not ${number}`);
        return recordAttempt(state, dispatch, facts, context);
      },
    });
    return attemptAnswer(handled, this.payloads);
  }
}

/** The command that took an attempt's number before. Throws {@link Conflict} where its body was another. */
function sameNumber({ events }: WholeHistory, dispatchId: string, number: number, call: Call): string | null {
  const taken = events.find(
    ({ event }) => event.type === 'AttemptRecorded' && event.data.dispatchId === dispatchId && event.data.attempt === number,
  );
  if (taken === undefined) return null;
  if (taken.metadata.bodyHash !== call.bodyHash)
    throw new Conflict(`attempt ${number} of ${dispatchId} was recorded before, with another body`);
  return taken.metadata.$causationId;
}

/** What is answered to an attempt of either seat. */
export async function attemptAnswer(handled: Handled<unknown>, payloads: Payloads): Promise<AttemptAnswer> {
  const { attemptId, attempt, late, history } = eventOf(handled, 'AttemptRecorded')!;
  const { verdict, patterns, signature, infraKind, disagreement } = eventOf(handled, 'VerdictReached')!;
  const staged = eventOf(handled, 'ProposalStaged');
  const proposal = staged && { ...staged, stagedAt: staged.at };
  return {
    ...{ attemptId, attempt, verdict, patterns, signature, infraKind, disagreement, late },
    historyInPrompt: history?.inPrompt ?? null,
    proposal: proposal ? await proposalOf(proposal, proposal.targetFile, payloads) : null,
    next: nextOf(eventOf(handled, 'NextStepDecided')!),
    ...standing(handled.dispatch!, handled.position),
    ...warned(handled.warnings),
  };
}
