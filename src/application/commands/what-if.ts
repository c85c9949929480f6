import { Inject } from '@nestjs/common';
import { Command, CommandHandler, type ICommandHandler, type IQueryHandler, Query, QueryHandler } from '@nestjs/cqrs';
import type { WhatIfAnswer, WhatIfBody } from '../../catalogue/what-if.js';
import { Conflict } from '../../domain/recorder.js';
import { classifierVersion } from '../../verifier/signature.js';
import { InvalidField, NotFound } from '../errors.js';
import { CLOCK, type Clock, IDS, type Ids, WHAT_IFS, type WhatIf, type WhatIfStore } from '../ports.js';

export class StartWhatIfCommand extends Command<WhatIfAnswer> {
  constructor(readonly asked: WhatIfBody) {
    super();
  }
}

@CommandHandler(StartWhatIfCommand)
export class StartWhatIfHandler implements ICommandHandler<StartWhatIfCommand> {
  constructor(
    @Inject(WHAT_IFS) private readonly whatIfs: WhatIfStore,
    @Inject(IDS) private readonly ids: Ids,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({ asked }: StartWhatIfCommand): Promise<WhatIfAnswer> {
    const version = asked.classifierVersion;
    if (version !== undefined && version !== classifierVersion)
      throw new InvalidField('classifierVersion', `must be ${classifierVersion}, the version of the classifier that there is`);
    const whatIf = await this.whatIfs.create(this.ids.short(), asked, this.clock.now());
    if (whatIf === null) throw new Conflict('too many what-ifs are running: wait for one to end, or cancel one');
    return answerOf(whatIf);
  }
}

export class CancelWhatIfCommand extends Command<WhatIfAnswer> {
  constructor(readonly id: string) {
    super();
  }
}

@CommandHandler(CancelWhatIfCommand)
export class CancelWhatIfHandler implements ICommandHandler<CancelWhatIfCommand> {
  constructor(
    @Inject(WHAT_IFS) private readonly whatIfs: WhatIfStore,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({ id }: CancelWhatIfCommand): Promise<WhatIfAnswer> {
    await this.whatIfs.finish(id, { status: 'cancelled', result: null, error: null }, this.clock.now());
    const whatIf = await known(this.whatIfs, id);
    if (whatIf.status !== 'cancelled') throw new Conflict(`the what-if ${id} has ended: ${whatIf.status}`);
    return answerOf(whatIf);
  }
}

export class WhatIfById extends Query<WhatIfAnswer> {
  constructor(readonly id: string) {
    super();
  }
}

@QueryHandler(WhatIfById)
export class WhatIfByIdHandler implements IQueryHandler<WhatIfById> {
  constructor(@Inject(WHAT_IFS) private readonly whatIfs: WhatIfStore) {}

  async execute({ id }: WhatIfById): Promise<WhatIfAnswer> {
    return answerOf(await known(this.whatIfs, id));
  }
}

async function known(whatIfs: WhatIfStore, id: string): Promise<WhatIf> {
  const whatIf = await whatIfs.get(id);
  if (whatIf === null) throw new NotFound(`there is no what-if ${id}`);
  return whatIf;
}

function answerOf({ startedAt, finishedAt, ...whatIf }: WhatIf): WhatIfAnswer {
  return { ...whatIf, startedAt: startedAt.toISOString(), finishedAt: finishedAt?.toISOString() ?? null };
}
