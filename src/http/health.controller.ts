import { Controller, Get, Inject, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { projectionLag } from '../application/lag.js';
import { Metrics } from '../application/metrics.js';
import { EVENT_LOG, type EventLog, PROJECTION_ROWS, type ProjectionRows, READ_MODELS, type ReadModels } from '../application/ports.js';

type Answer<T> = { ok: true; value: T } | { ok: false; error: string };

@ApiTags('operation')
@Controller()
export class HealthController {
  constructor(
    @Inject(EVENT_LOG) private readonly log: EventLog,
    @Inject(READ_MODELS) private readonly readModels: ReadModels,
    @Inject(PROJECTION_ROWS) private readonly rows: ProjectionRows,
    private readonly metrics: Metrics,
  ) {}

  /** The process answers. */
  @Get('health/live')
  live(): object {
    return { status: 'ok' };
  }

  /** Both stores have answered a round trip just now (503 where one has not), and how far the read models are behind. */
  @Get('health/ready')
  async ready(@Res({ passthrough: true }) reply: FastifyReply): Promise<object> {
    const [eventStore, database] = await Promise.all([answered(this.log.ping()), answered(this.readModels.ping())]);
    const ready = eventStore.ok && database.ok;
    reply.status(ready ? 200 : 503);
    const lag = ready ? await answered(this.lag()) : null;
    return { status: ready ? 'ok' : 'unavailable', eventStore, database, projectionLag: lag?.ok ? lag.value : null };
  }

  /** For Prometheus. */
  @Get('metrics')
  async scrape(@Res({ passthrough: true }) reply: FastifyReply): Promise<string> {
    await answered(this.lag());
    reply.type(this.metrics.registry.contentType);
    return this.metrics.registry.metrics();
  }

  private async lag(): Promise<{ events: number; seconds: number }> {
    const lag = await projectionLag(this.log, this.rows, Date.now());
    this.metrics.lagEvents.set(lag.events);
    this.metrics.lagSeconds.set(lag.seconds);
    return lag;
  }
}

async function answered<T>(work: Promise<T>): Promise<Answer<T>> {
  try {
    return { ok: true, value: await work };
  } catch (error) {
    return { ok: false, error: error instanceof Error ? error.message : String(error) };
  }
}
