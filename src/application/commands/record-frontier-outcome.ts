import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { FrontierOutcomeAnswer } from '../../catalogue/answers.js';
import type { RecordFrontierOutcomeBody } from '../../catalogue/commands.js';
import { recordFrontierOutcome } from '../../domain/record-attempt.js';
import { eventOf } from '../answers.js';
import { attemptFacts } from '../attempt-facts.js';
import { InvalidField } from '../errors.js';
import type { Call } from '../file-command.js';
import { CommandHandling } from '../handle-command.js';
import { knownDispatch, streamOf } from '../known.js';
import { Payloads } from '../payloads.js';
import { attemptAnswer } from './record-attempt.js';

export class RecordFrontierOutcomeCommand extends Command<FrontierOutcomeAnswer> {
  constructor(
    readonly dispatchId: string,
    readonly body: RecordFrontierOutcomeBody,
    readonly call: Call,
  ) {
    super();
  }
}

@CommandHandler(RecordFrontierOutcomeCommand)
export class RecordFrontierOutcomeHandler implements ICommandHandler<RecordFrontierOutcomeCommand> {
  constructor(
    private readonly handling: CommandHandling,
    private readonly payloads: Payloads,
  ) {}

  async execute({ dispatchId, body: { model, ...body }, call }: RecordFrontierOutcomeCommand): Promise<FrontierOutcomeAnswer> {
    const stream = streamOf('d', dispatchId);
    const texts = this.payloads.collect();
    const facts = attemptFacts(body, texts);
    const handled = await this.handling.handle({
      ...{ stream, call, dispatchId, texts },
      knows: (state) => state.dispatches.has(dispatchId),
      decide: (state, context) => {
        const dispatch = knownDispatch(state, dispatchId);
        const frontier = model ?? dispatch.frontier;
        if (frontier === null) throw new InvalidField('model', 'is required: the dispatch names no frontier');
        return recordFrontierOutcome(state, dispatch, facts, frontier, context);
      },
    });
    return {
      ...(await attemptAnswer(handled, this.payloads)),
      classification: eventOf(handled, 'CapacityClassified')?.classification ?? null,
      solicited: eventOf(handled, 'FrontierOutcomeRecorded')!.solicited,
    };
  }
}
