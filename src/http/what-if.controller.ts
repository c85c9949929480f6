import { Body, Controller, Delete, Get, HttpCode, Param, Post } from '@nestjs/common';
import { CommandBus, QueryBus } from '@nestjs/cqrs';
import { ApiAcceptedResponse, ApiDefaultResponse, ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { CancelWhatIfCommand, StartWhatIfCommand, WhatIfById } from '../application/commands/what-if.js';
import * as answers from '../catalogue/answers.js';
import { type WhatIfBody, whatIfAnswer, whatIfBody } from '../catalogue/what-if.js';

/** The log run again under other rules, beside what was decided. */
@ApiTags('measurements')
@ApiDefaultResponse({ standardSchema: answers.problem, description: 'application/problem+json' })
@Controller('v1/measurements/what-if')
export class WhatIfController {
  constructor(
    private readonly commands: CommandBus,
    private readonly queries: QueryBus,
  ) {}

  @Post()
  @HttpCode(202)
  @ApiAcceptedResponse({ standardSchema: whatIfAnswer })
  start(@Body({ schema: whatIfBody }) asked: WhatIfBody): Promise<object> {
    return this.commands.execute(new StartWhatIfCommand(asked));
  }

  @Get(':id')
  @ApiOkResponse({ standardSchema: whatIfAnswer })
  progress(@Param('id') id: string): Promise<object> {
    return this.queries.execute(new WhatIfById(id));
  }

  @Delete(':id')
  @ApiOkResponse({ standardSchema: whatIfAnswer })
  cancel(@Param('id') id: string): Promise<object> {
    return this.commands.execute(new CancelWhatIfCommand(id));
  }
}
