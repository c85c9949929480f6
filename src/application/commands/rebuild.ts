import { Inject } from '@nestjs/common';
import { Command, CommandHandler, type ICommandHandler, type IQueryHandler, Query, QueryHandler } from '@nestjs/cqrs';
import type { RebuildBody } from '../../catalogue/commands.js';
import type { RebuildAnswer } from '../../catalogue/upkeep-answers.js';
import { Conflict } from '../../domain/recorder.js';
import { InvalidField, NotFound } from '../errors.js';
import { CLOCK, type Clock, IDS, type Ids, PROJECTION_NAMES, REBUILDS, type Rebuild, type RebuildStore } from '../ports.js';

export class StartRebuildCommand extends Command<RebuildAnswer> {
  constructor(
    readonly body: RebuildBody,
    readonly compare: boolean,
  ) {
    super();
  }
}

@CommandHandler(StartRebuildCommand)
export class StartRebuildHandler implements ICommandHandler<StartRebuildCommand> {
  constructor(
    @Inject(REBUILDS) private readonly rebuilds: RebuildStore,
    @Inject(PROJECTION_NAMES) private readonly names: string[],
    @Inject(IDS) private readonly ids: Ids,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({ body: { projection }, compare }: StartRebuildCommand): Promise<RebuildAnswer> {
    if (projection !== 'all' && !this.names.includes(projection))
      throw new InvalidField('projection', `must be all or one of ${this.names.join(', ')}`);
    const names = projection === 'all' ? this.names : [projection];
    return answerOf(await this.rebuilds.create(this.ids.short(), names, compare, this.clock.now()), this.clock);
  }
}

export class CancelRebuildCommand extends Command<RebuildAnswer> {
  constructor(readonly id: string) {
    super();
  }
}

@CommandHandler(CancelRebuildCommand)
export class CancelRebuildHandler implements ICommandHandler<CancelRebuildCommand> {
  constructor(
    @Inject(REBUILDS) private readonly rebuilds: RebuildStore,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({ id }: CancelRebuildCommand): Promise<RebuildAnswer> {
    await this.rebuilds.finish(id, 'cancelled', null, this.clock.now());
    const rebuild = await known(this.rebuilds, id);
    if (rebuild.status !== 'cancelled') throw new Conflict(`the rebuild ${id} has ended: ${rebuild.status}`);
    return answerOf(rebuild, this.clock);
  }
}

export class RebuildById extends Query<RebuildAnswer> {
  constructor(readonly id: string) {
    super();
  }
}

@QueryHandler(RebuildById)
export class RebuildByIdHandler implements IQueryHandler<RebuildById> {
  constructor(
    @Inject(REBUILDS) private readonly rebuilds: RebuildStore,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({ id }: RebuildById): Promise<RebuildAnswer> {
    return answerOf(await known(this.rebuilds, id), this.clock);
  }
}

async function known(rebuilds: RebuildStore, id: string): Promise<Rebuild> {
  const rebuild = await rebuilds.get(id);
  if (rebuild === null) throw new NotFound(`there is no rebuild ${id}`);
  return rebuild;
}

/** Rate and time left are those of the whole run so far. */
function answerOf(rebuild: Rebuild, clock: Clock): RebuildAnswer {
  const { id, projections, status, events, fraction, error, differences, startedAt, finishedAt } = rebuild;
  const seconds = ((finishedAt ?? new Date(clock.now())).getTime() - startedAt.getTime()) / 1000;
  return {
    ...{ id, projections, status, events, fraction, error, differences },
    eventsPerSecond: seconds > 0 ? Math.round(events / seconds) : null,
    secondsLeft: status === 'running' && fraction > 0 ? Math.max(0, Math.round((seconds * (1 - fraction)) / fraction)) : null,
    startedAt: startedAt.toISOString(),
    finishedAt: finishedAt?.toISOString() ?? null,
  };
}
