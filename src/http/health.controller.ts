import { Controller, Get, Inject, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { EVENT_LOG, type EventLog, READ_MODELS, type ReadModels } from '../application/ports.js';

@ApiTags('health')
@Controller('health')
export class HealthController {
  constructor(
    @Inject(EVENT_LOG) private readonly log: EventLog,
    @Inject(READ_MODELS) private readonly readModels: ReadModels,
  ) {}

  /** The process answers. */
  @Get('live')
  live(): object {
    return { status: 'ok' };
  }

  /** Both stores have answered a round trip just now; 503 where one has not. */
  @Get('ready')
  async ready(@Res({ passthrough: true }) reply: FastifyReply): Promise<object> {
    const [eventStore, database] = await Promise.all([answers(this.log), answers(this.readModels)]);
    const ready = eventStore.ok && database.ok;
    reply.status(ready ? 200 : 503);
    return { status: ready ? 'ok' : 'unavailable', eventStore, database };
  }
}

async function answers(store: { ping(): Promise<void> }): Promise<{ ok: boolean; error?: string }> {
  try {
    await store.ping();
    return { ok: true };
  } catch (error) {
    return { ok: false, error: error instanceof Error ? error.message : String(error) };
  }
}
