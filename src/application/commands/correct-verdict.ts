import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { CorrectVerdictAnswer } from '../../catalogue/answers.js';
import type { CorrectVerdictBody } from '../../catalogue/commands.js';
import type { ErrorPattern } from '../../catalogue/primitives.js';
import { correctVerdict } from '../../domain/correct-verdict.js';
import { dispatchOfAttempt } from '../../domain/ids.js';
import type { AttemptState } from '../../domain/state.js';
import { eventOf, nextOf, standing } from '../answers.js';
import { patternsFromCaller } from '../attempt-facts.js';
import type { Call } from '../file-command.js';
import { CommandHandling } from '../handle-command.js';
import { knownAttempt, streamOf } from '../known.js';

export class CorrectVerdictCommand extends Command<CorrectVerdictAnswer> {
  constructor(
    readonly attemptId: string,
    readonly body: CorrectVerdictBody,
    readonly call: Call,
  ) {
    super();
  }
}

@CommandHandler(CorrectVerdictCommand)
export class CorrectVerdictHandler implements ICommandHandler<CorrectVerdictCommand> {
  constructor(private readonly handling: CommandHandling) {}

  async execute({ attemptId, body, call }: CorrectVerdictCommand): Promise<CorrectVerdictAnswer> {
    const { verdict, reason, source } = body;
    const handled = await this.handling.handle({
      ...{ stream: streamOf('a', attemptId), call, dispatchId: dispatchOfAttempt(attemptId) },
      // Counting again needs every attempt.
      knows: () => false,
      see: (before) => knownAttempt(before, attemptId),
      decide: (state, context) => {
        const attempt = knownAttempt(state, attemptId);
        return correctVerdict(state, attempt, { verdict, patterns: patternsOf(body, attempt), reason, source }, context);
      },
    });
    const { seen: before, dispatch, position } = handled;
    const corrected = eventOf(handled, 'VerdictCorrected');
    return {
      ...{ attemptId, changed: corrected !== undefined, verdict, patterns: corrected?.patterns ?? before.patterns },
      before: { verdict: before.verdict, patterns: before.patterns },
      signals: {
        raised: handled.events.flatMap(({ type, data }) => (type === 'CalibrationSignalRaised' ? [signalOf(data)] : [])),
        cleared: handled.events.flatMap(({ type, data }) => (type === 'CalibrationSignalCleared' ? [signalOf(data)] : [])),
      },
      next: dispatch?.last ? nextOf(dispatch.last) : null,
      ...(dispatch ? standing(dispatch, position) : { dispatch: null, profile: null, position }),
    };
  }
}

/** Where the caller names no patterns, a failure keeps those that it had; what passed or was blocked has none. */
function patternsOf({ verdict, patterns }: CorrectVerdictBody, attempt: AttemptState): ErrorPattern[] {
  if (patterns != null) return patternsFromCaller(patterns);
  return verdict === 'fail' && attempt.verdict === 'fail' ? attempt.patterns : [];
}

function signalOf({ configuration, kind, pattern }: CorrectVerdictAnswer['signals']['raised'][number]) {
  return { configuration, kind, pattern };
}
