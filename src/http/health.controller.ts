import { Controller, Get, Inject, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { projectionLag } from '../application/lag.js';
import { Metrics } from '../application/metrics.js';
import {
  EVENT_LOG,
  type EventLog,
  PARKED_EVENTS,
  type ParkedEvents,
  PROJECTION_ROWS,
  type ProjectionRows,
  READ_MODELS,
  type ReadModels,
} from '../application/ports.js';

type Answer<T> = { ok: true; value: T } | { ok: false; error: string };

@ApiTags('operation')
@Controller()
export class HealthController {
  constructor(
    @Inject(EVENT_LOG) private readonly log: EventLog,
    @Inject(READ_MODELS) private readonly readModels: ReadModels,
    @Inject(PROJECTION_ROWS) private readonly rows: ProjectionRows,
    @Inject(PARKED_EVENTS) private readonly parked: ParkedEvents,
    private readonly metrics: Metrics,
  ) {}

  /** The process answers. */
  @Get('health/live')
  live(): object {
    return { status: 'ok' };
  }

  /**
   * Both stores have answered a round trip just now (503 where one has not), and how far the read models are behind. `degraded`, which
   * answers requests all the same: some files' events are parked.
   */
  @Get('health/ready')
  async ready(@Res({ passthrough: true }) reply: FastifyReply): Promise<object> {
    const [eventStore, database] = await Promise.all([answered(this.log.ping()), answered(this.readModels.ping())]);
    const ready = eventStore.ok && database.ok;
    reply.status(ready ? 200 : 503);
    const [lag, parked] = ready ? await Promise.all([answered(this.lag()), answered(this.parkedEvents())]) : [];
    const parkedEvents = parked?.ok ? parked.value : null;
    const degraded = parkedEvents !== null && Object.keys(parkedEvents).length > 0;
    const status = ready ? (degraded ? 'degraded' : 'ok') : 'unavailable';
    return { status, eventStore, database, projectionLag: lag?.ok ? lag.value : null, parkedEvents };
  }

  /** For Prometheus. */
  @Get('metrics')
  async scrape(@Res({ passthrough: true }) reply: FastifyReply): Promise<string> {
    await Promise.all([answered(this.lag()), answered(this.parkedEvents())]);
    reply.type(this.metrics.registry.contentType);
    return this.metrics.registry.metrics();
  }

  private async parkedEvents(): Promise<Record<string, number>> {
    const counts = await this.parked.counts();
    this.metrics.parkedEvents.reset();
    for (const [follower, parked] of Object.entries(counts)) this.metrics.parkedEvents.set({ follower }, parked);
    return counts;
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
