import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { WithdrawPairAnswer } from '../../catalogue/answers.js';
import type { WithdrawPairBody } from '../../catalogue/commands.js';
import { dispatchOfAttempt } from '../../domain/ids.js';
import { withdrawPair } from '../../domain/withdraw-pair.js';
import { nextOf, standing } from '../answers.js';
import { NotFound } from '../errors.js';
import type { Call } from '../file-command.js';
import { CommandHandling } from '../handle-command.js';
import { knownAttempt, streamOf } from '../known.js';

export class WithdrawPairCommand extends Command<WithdrawPairAnswer> {
  constructor(
    readonly pairId: string,
    readonly body: WithdrawPairBody,
    readonly call: Call,
  ) {
    super();
  }
}

@CommandHandler(WithdrawPairCommand)
export class WithdrawPairHandler implements ICommandHandler<WithdrawPairCommand> {
  constructor(private readonly handling: CommandHandling) {}

  async execute({ pairId, body, call }: WithdrawPairCommand): Promise<WithdrawPairAnswer> {
    const { dispatch, position } = await this.handling.handle({
      ...{ stream: streamOf('a', pairId), call, dispatchId: dispatchOfAttempt(pairId) },
      // A pair may be much older than what decisions need.
      knows: () => false,
      repeats: {
        suspects: () => true,
        find: ({ events }) =>
          events.find(({ event }) => event.type === 'CorrectionPairWithdrawn' && event.data.chosenAttemptId === pairId)?.metadata
            .$causationId ?? null,
      },
      decide: (state, context) => {
        const events = withdrawPair(state, knownAttempt(state, pairId), body.reason, context);
        if (events.length === 0) throw new NotFound(`there is no correction pair ${pairId}`);
        return events;
      },
    });
    return {
      ...{ pairId, status: 'withdrawn', next: dispatch?.last ? nextOf(dispatch.last) : null },
      ...(dispatch ? standing(dispatch, position) : { dispatch: null, profile: null, position }),
    };
  }
}
