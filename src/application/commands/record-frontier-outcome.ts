import { Inject } from '@nestjs/common';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { RecordFrontierOutcomeBody } from '../../catalogue/commands.js';
import { recordFrontierOutcome } from '../../domain/record-attempt.js';
import { eventOf } from '../answers.js';
import { attemptFacts } from '../attempt-facts.js';
import { InvalidField } from '../errors.js';
import type { Call } from '../file-command.js';
import { CommandHandling } from '../handle-command.js';
import { historyOfId, knownDispatch } from '../known.js';
import { Payloads } from '../payloads.js';
import { EVENT_LOG, type EventLog } from '../ports.js';
import { attemptAnswer } from './record-attempt.js';

export class RecordFrontierOutcomeCommand extends Command<object> {
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
    @Inject(EVENT_LOG) private readonly log: EventLog,
  ) {}

  async execute({ dispatchId, body: { model, ...body }, call }: RecordFrontierOutcomeCommand) {
    const { repo, targetFile, state } = await historyOfId(this.log, 'd', dispatchId);
    const frontier = model ?? knownDispatch(state, dispatchId).frontier;
    if (frontier === null) throw new InvalidField('model', 'is required: the dispatch names no frontier');
    const texts = this.payloads.collect();
    const facts = attemptFacts(body, texts);
    const handled = await this.handling.handle({
      ...{ repo, targetFile, call, dispatchId, texts },
      decide: (current, context) => recordFrontierOutcome(current, knownDispatch(current, dispatchId), facts, frontier, context),
    });
    return {
      ...(await attemptAnswer(handled, this.payloads)),
      classification: eventOf(handled, 'CapacityClassified')?.classification ?? null,
      solicited: eventOf(handled, 'FrontierOutcomeRecorded')!.solicited,
    };
  }
}
