import { Controller, Get, Headers, Query, Res } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import { ApiDefaultResponse, ApiHeader, ApiOkResponse, ApiProduces, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { LiveEvents, type News, type ToldEvent } from '../application/live-events.js';
import { DispatchById } from '../application/queries/live.js';
import * as answers from '../catalogue/answers.js';
import * as queries from '../catalogue/queries.js';
import { streamOfId } from '../domain/ids.js';
import { InvalidInput } from './problem.js';
import { type Sent, sendEvents, untilGone } from './sse.js';

const BEAT_MS = 15_000;
const SIGNALS = ['CalibrationSignalRaised', 'CalibrationSignalCleared'];

/** The log as it grows. */
@ApiTags('audit')
@ApiDefaultResponse({ standardSchema: answers.problem, description: 'application/problem+json' })
@Controller('v1/events')
export class EventsController {
  constructor(
    private readonly live: LiveEvents,
    private readonly queries: QueryBus,
  ) {}

  /**
   * Events as they are committed, as server-sent events whose id is the commit position: those after `Last-Event-ID`, or from now on. Of
   * files, of a repo's policy and discounts, of its infrastructure breaker (`InfraBreakerOpened` and its like), and of imports.
   * With `dispatchId`: the dispatch's own, and the signals that are raised or cleared on its file, whoever's failures they come from.
   */
  @Get()
  @ApiHeader({ name: 'Last-Event-ID', required: false, description: 'the commit position after which to go on' })
  @ApiProduces('text/event-stream')
  @ApiOkResponse({ schema: { type: 'string' } })
  async tell(
    @Query({ schema: queries.eventsQuery }) query: queries.EventsQuery,
    @Headers('last-event-id') last: string | undefined,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    if (last !== undefined && !/^\d{1,19}$/.test(last))
      throw new InvalidInput([{ path: 'Last-Event-ID', message: 'must be a commit position' }]);
    const gone = untilGone(reply);
    if (query.dispatchId !== undefined) await this.queries.execute(new DispatchById(query.dispatchId, 0));
    const news = await this.live.listen(last ?? null, BEAT_MS, gone);
    sendEvents(reply, sentOf(news, wanted(query)));
  }
}

/** A position without an event keeps the client's place where what comes is not for it. */
async function* sentOf(news: AsyncIterable<News>, fits: (told: ToldEvent) => boolean): AsyncIterable<Sent> {
  let said = Number.NEGATIVE_INFINITY;
  for await (const { events, position } of news) {
    const own = events.filter(fits);
    for (const { position: id, event, json } of own) yield { id, event: event.type, data: json };
    if (own.length === 0 && performance.now() - said < BEAT_MS - 1) continue;
    if (own.length === 0) yield { comment: 'still here', id: position };
    said = performance.now();
  }
}

function wanted({ repo, type, dispatchId }: queries.EventsQuery): (told: ToldEvent) => boolean {
  const types = type && new Set(type);
  const stream = dispatchId === undefined ? undefined : streamOfId('d', dispatchId);
  return (told) => {
    const { data } = told.event;
    if (repo !== undefined && !('repo' in data && data.repo === repo)) return false;
    if (types !== undefined && !types.has(told.event.type)) return false;
    if (dispatchId === undefined) return true;
    return told.stream === stream && (SIGNALS.includes(told.event.type) || ('dispatchId' in data && data.dispatchId === dispatchId));
  };
}
