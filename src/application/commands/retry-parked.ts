import { Inject } from '@nestjs/common';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { RetryParkedAnswer } from '../../catalogue/upkeep-answers.js';
import { EVENT_LOG, type EventLog, PARKED_EVENTS, type ParkedEvents, PROJECTION_ROWS, type ProjectionRows } from '../ports.js';
import { SagaFollower } from '../run-saga.js';
import { keepGoing } from '../timing.js';

export class RetryParkedCommand extends Command<RetryParkedAnswer> {}

/** Any instance may do it: projections take turns by a lock in the database, and what the saga decides twice has no effect. */
@CommandHandler(RetryParkedCommand)
export class RetryParkedHandler implements ICommandHandler<RetryParkedCommand> {
  constructor(
    @Inject(EVENT_LOG) private readonly log: EventLog,
    @Inject(PROJECTION_ROWS) private readonly rows: ProjectionRows,
    @Inject(PARKED_EVENTS) private readonly parked: ParkedEvents,
    private readonly saga: SagaFollower,
  ) {}

  async execute(): Promise<RetryParkedAnswer> {
    const before = await this.parked.counts();
    await retryParked(this.log, this.rows, this.saga);
    return { before, parked: await this.parked.counts() };
  }
}

async function retryParked(log: EventLog, rows: ProjectionRows, saga: SagaFollower): Promise<void> {
  await rows.retry(log);
  await saga.retry(log);
}

/** Once, as soon as the stores let it: who starts anew may be the code that can read what was parked. */
export async function retryParkedAtStart(
  { log, rows, saga }: { log: EventLog; rows: ProjectionRows; saga: SagaFollower },
  signal: AbortSignal,
  report: (message: string) => void,
): Promise<void> {
  const done = new AbortController();
  await keepGoing('the retry of parked events', AbortSignal.any([signal, done.signal]), report, async () => {
    await retryParked(log, rows, saga);
    done.abort();
  });
}
