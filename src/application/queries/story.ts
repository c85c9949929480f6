import { type IQueryHandler, Query, QueryHandler } from '@nestjs/cqrs';
import type { FileEvent } from '../../catalogue/events.js';
import type { StoryQuery } from '../../catalogue/queries.js';
import type { StoryAnswer } from '../../catalogue/upkeep-answers.js';
import { payloadStream } from '../../domain/ids.js';
import { type StoryStep, storyOf } from '../../domain/story.js';
import { dispatchOf } from '../answers.js';
import { FileHistories } from '../file-histories.js';
import { positionOf } from '../file-history.js';
import { knownDispatch, streamOf } from '../known.js';

/** One dispatch as a story: what was known, what was decided, by which rule, on which evidence. From its stream alone; changes nothing. */
export class StoryOfDispatch extends Query<StoryAnswer> {
  constructor(
    readonly dispatchId: string,
    readonly query: StoryQuery,
  ) {
    super();
  }
}

@QueryHandler(StoryOfDispatch)
export class StoryOfDispatchHandler implements IQueryHandler<StoryOfDispatch> {
  constructor(private readonly histories: FileHistories) {}

  async execute({ dispatchId, query: { from, limit } }: StoryOfDispatch): Promise<StoryAnswer> {
    const stream = streamOf('d', dispatchId);
    const history = await this.histories.whole(stream);
    const dispatch = knownDispatch(history.state, dispatchId);
    const { taskId, model, frontier, budget, cold } = dispatch;
    const told = storyOf(
      history.events.map(({ id, revision, metadata, event }) => ({
        ...{ id, revision, cause: metadata.$causationId, actor: metadata.actor },
        event: event as FileEvent,
      })),
      stream,
      dispatchId,
    ).filter(({ revision }) => revision >= from);
    const next = told[limit];
    return {
      ...{ ...history.where!, taskId, model, frontier, budget, coldStart: cold, ...dispatchOf(dispatch) },
      steps: told.slice(0, limit).map((step) => stepOf(step, stream, history.where!)),
      nextCursor: next === undefined ? null : String(next.revision),
      position: positionOf(history),
    };
  }
}

function stepOf({ event, id, revision, cause, actor, says, known, afterClosing }: StoryStep, stream: string, where: File) {
  const { data, type } = event;
  return {
    at: data.at,
    says,
    afterClosing,
    event: { type, stream, revision, eventId: id, commandId: cause, actor },
    ...(type === 'NextStepDecided' && {
      decision: {
        ...{ step: data.step, rule: data.rule, terminal: data.terminal, detail: data.detail, policy: data.policy },
        ...{ evidence: data.evidence, basedOn: data.basedOn, known },
      },
    }),
    ...(type === 'CalibrationSignalRaised' && { evidence: data.evidence }),
    texts: textsIn(data),
    links: linksOf(event, revision, known?.revision, where),
  };
}

type File = { repo: string; targetFile: string };

/** Where more is said of what a step names. Texts stand in none of them but the attempt's own. */
function linksOf({ data, type }: FileEvent, revision: number, knownAt: number | undefined, where: File): Record<string, string | string[]> {
  const file = String(new URLSearchParams({ ...where }));
  const state = knownAt === undefined || knownAt < 0 ? undefined : `/v1/audit/state?${file}&revision=${knownAt}`;
  const evidence = 'evidence' in data ? data.evidence.map((attemptId) => `/v1/attempts/${attemptId}`) : [];
  return {
    event: `/v1/audit/events?${file}&from=${revision}&limit=1`,
    ...('attemptId' in data && typeof data.attemptId === 'string' && { attempt: `/v1/attempts/${data.attemptId}` }),
    ...(type === 'NextStepDecided' && data.runningDispatchId !== null && { running: `/v1/dispatches/${data.runningDispatchId}` }),
    ...(state !== undefined && { known: state }),
    ...(evidence.length > 0 && { evidence }),
  };
}

/** The long texts that an event names, wherever it names them: by their streams, never themselves. */
function textsIn(value: unknown, path: string[] = []): { field: string; stream: string; bytes: number }[] {
  if (value === null || typeof value !== 'object') return [];
  if ('payload' in value && 'bytes' in value)
    return [{ field: path.join('.'), stream: payloadStream(String(value.payload)), bytes: Number(value.bytes) }];
  return Object.entries(value).flatMap(([key, inner]) => textsIn(inner, [...path, key]));
}
