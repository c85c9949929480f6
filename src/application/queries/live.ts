import { Inject } from '@nestjs/common';
import { type IQueryHandler, Query, QueryHandler } from '@nestjs/cqrs';
import type { FileEvent } from '../../catalogue/events.js';
import type { AuditEventsQuery, MemoryQuery } from '../../catalogue/queries.js';
import { configurationOf, liveSignals } from '../../domain/calibrate.js';
import { fileIdOf, fileStream } from '../../domain/ids.js';
import { infraCooldown, openDispatches } from '../../domain/next-step.js';
import { dispatchOf, hintFor, hintOf, nextOf } from '../answers.js';
import { type FileHistory, positionOf, readHistory } from '../file-history.js';
import { CommandHandling } from '../handle-command.js';
import { historyOfId, knownAttempt, knownDispatch } from '../known.js';
import { Payloads } from '../payloads.js';
import { EVENT_LOG, type EventLog } from '../ports.js';

/** What is known of a file, from its stream's head. */
export class MemoryOfFile extends Query<object> {
  constructor(readonly query: MemoryQuery) {
    super();
  }
}

@QueryHandler(MemoryOfFile)
export class MemoryOfFileHandler implements IQueryHandler<MemoryOfFile> {
  constructor(
    private readonly handling: CommandHandling,
    @Inject(EVENT_LOG) private readonly log: EventLog,
  ) {}

  async execute({ query: { repo, targetFile, model, taskId } }: MemoryOfFile) {
    const history = await readHistory(this.log, fileStream(fileIdOf(repo, targetFile)));
    const { state } = history;
    const context = this.handling.contextOf(repo, targetFile);
    const asked = model === undefined ? [...state.failures.keys()] : [configurationOf(model)];
    const signals = asked.flatMap((configuration) =>
      liveSignals(state, configuration, context.policy, context.now).map(({ newest: _newest, ...signal }) => ({
        ...signal,
        configuration,
      })),
    );
    const hint = hintFor(state, { taskId: taskId ?? null, model: model ?? '', configuration: configurationOf(model ?? '') }, context);
    const cooling = infraCooldown(state, context.policy, context.now);
    return {
      repo,
      targetFile,
      passed: state.builder.pass,
      failed: state.builder.fail,
      blocked: state.builder.blocked,
      histogram: hint.patterns.map(({ pattern, code, category, occurrences }) => ({ pattern, code, category, attempts: occurrences })),
      signals,
      skip: cooling && { rule: cooling.rule, detail: cooling.detail, retryAfterSeconds: cooling.retryAfterSeconds },
      hint: hintOf(hint),
      frontier: [...state.frontier.values()],
      openDispatches: openDispatches(state).map(({ taskId: task, ...dispatch }) => ({
        taskId: task,
        ...dispatchOf({ taskId: task, ...dispatch }),
      })),
      position: positionOf(history),
    };
  }
}

export class DispatchById extends Query<object> {
  constructor(readonly dispatchId: string) {
    super();
  }
}

@QueryHandler(DispatchById)
export class DispatchByIdHandler implements IQueryHandler<DispatchById> {
  constructor(@Inject(EVENT_LOG) private readonly log: EventLog) {}

  async execute({ dispatchId }: DispatchById) {
    const history = await historyOfId(this.log, 'd', dispatchId);
    const dispatch = knownDispatch(history.state, dispatchId);
    const { taskId, model, frontier, budget, profile, carry, cold, last } = dispatch;
    const attempts = [...history.state.attempts.values()].filter((attempt) => attempt.dispatchId === dispatchId);
    return {
      ...{ repo: history.repo, targetFile: history.targetFile, taskId, model, frontier, budget, profile, carry, coldStart: cold },
      ...dispatchOf(dispatch),
      next: last && nextOf(last),
      attemptList: attempts.map(({ attemptId, attempt, seat, model: by, verdict, patterns, signature, infraKind, late, at }) => ({
        ...{ attemptId, attempt, seat, model: by, verdict, patterns, signature, infraKind, late, at },
      })),
      position: positionOf(history),
    };
  }
}

/** One attempt with all that its events say, texts whole. */
export class AttemptById extends Query<object> {
  constructor(readonly attemptId: string) {
    super();
  }
}

@QueryHandler(AttemptById)
export class AttemptByIdHandler implements IQueryHandler<AttemptById> {
  constructor(
    private readonly payloads: Payloads,
    @Inject(EVENT_LOG) private readonly log: EventLog,
  ) {}

  async execute({ attemptId }: AttemptById) {
    const history = await historyOfId(this.log, 'a', attemptId);
    const { verdict, patterns, signature, infraKind } = knownAttempt(history.state, attemptId);
    const recorded = find(history, attemptId, 'AttemptRecorded')!;
    const reached = find(history, attemptId, 'VerdictReached')!;
    const captured = find(history, attemptId, 'SnapshotDiffCaptured');
    const load = (text: Parameters<Payloads['loadOptional']>[0]) => this.payloads.loadOptional(text);
    const run = async ({
      stdout,
      stderr,
      output,
      ...rest
    }: Omit<NonNullable<typeof recorded.verifier>, 'steps' | 'tool' | 'durationMs'>) => ({
      ...rest,
      ...{ stdout: await load(stdout), stderr: await load(stderr), output: await load(output) },
    });
    const { output, prompt, verifier, leaseUntil: _lease, ...facts } = recorded;
    return {
      ...facts,
      ...{ output: await load(output), prompt: await load(prompt), diff: await load(captured?.diff ?? null) },
      verifier: verifier && { ...verifier, ...(await run(verifier)), steps: await Promise.all(verifier.steps.map(run)) },
      ...{ verdict, patterns, signature, infraKind },
      ...{ classifierVersion: reached.classifierVersion, confidence: reached.confidence, disagreement: reached.disagreement },
      position: positionOf(history),
    };
  }
}

function find<T extends FileEvent['type']>(history: FileHistory, attemptId: string, type: T) {
  const found = history.events.find(({ event }) => event.type === type && 'attemptId' in event.data && event.data.attemptId === attemptId);
  return found?.event.data as Extract<FileEvent, { type: T }>['data'] | undefined;
}

/** The events of a file's stream as they are stored, lifted to their newest shape. */
export class EventsOfFile extends Query<object> {
  constructor(readonly query: AuditEventsQuery) {
    super();
  }
}

@QueryHandler(EventsOfFile)
export class EventsOfFileHandler implements IQueryHandler<EventsOfFile> {
  constructor(@Inject(EVENT_LOG) private readonly log: EventLog) {}

  async execute({ query: { repo, targetFile, from, limit } }: EventsOfFile) {
    const items = [];
    for await (const { event, revision, id, created, metadata } of this.log.read(fileStream(fileIdOf(repo, targetFile)), from)) {
      items.push({ type: event.type, revision, eventId: id, created, data: event.data, metadata });
      if (items.length === limit) break;
    }
    return { items, nextCursor: null };
  }
}
