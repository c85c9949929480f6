import { type IQueryHandler, Query, QueryHandler } from '@nestjs/cqrs';
import type { DispatchAnswer, MemoryAnswer } from '../../catalogue/answers.js';
import type { FileEvent } from '../../catalogue/events.js';
import type { MemoryQuery } from '../../catalogue/queries.js';
import { configurationOf, liveSignals } from '../../domain/calibrate.js';
import { fileIdOf, fileStream } from '../../domain/ids.js';
import { noInfraTrouble } from '../../domain/infra-breaker.js';
import { infraBreaker, infraCooldown, openDispatches } from '../../domain/next-step.js';
import type { Context } from '../../domain/recorder.js';
import { dispatchOf, hintFor, hintOf, learnedFromOf, nextOf } from '../answers.js';
import { FileHistories } from '../file-histories.js';
import { type FileHistory, positionOf, type WholeHistory } from '../file-history.js';
import { CommandHandling } from '../handle-command.js';
import { Infrastructure } from '../infrastructure.js';
import { knownAttempt, knownDispatch, streamOf } from '../known.js';
import { Payloads } from '../payloads.js';
import { loadVerifier } from '../recorded-verifier.js';
import { flakyFile, warned } from '../warnings.js';

/** How often who waits for a dispatch looks for what another instance appended. */
const LOOK_AGAIN_MS = 500;

/** What is known of a file, from its stream's head. */
export class MemoryOfFile extends Query<MemoryAnswer> {
  constructor(readonly query: MemoryQuery) {
    super();
  }
}

@QueryHandler(MemoryOfFile)
export class MemoryOfFileHandler implements IQueryHandler<MemoryOfFile> {
  constructor(
    private readonly handling: CommandHandling,
    private readonly histories: FileHistories,
    private readonly infrastructure: Infrastructure,
  ) {}

  async execute({ query }: MemoryOfFile): Promise<MemoryAnswer> {
    const stream = fileStream(fileIdOf(query.repo, query.targetFile));
    const [under, beside] = await Promise.all([this.handling.contextOf(stream, query), this.infrastructure.beside(query.repo)]);
    const context = { ...under, ...beside };
    return this.histories.look(stream, (history) => memoryOf(history, query, context));
  }
}

/** A file's memory, out of a history that is at its head or was folded up to some place before it. */
export function memoryOf(history: FileHistory, { repo, targetFile, model, taskId }: MemoryQuery, context: Context): MemoryAnswer {
  const { state } = history;
  const asked = model === undefined ? [...state.evidence.keys()] : [configurationOf(model)];
  const signals = asked.flatMap((configuration) =>
    liveSignals(state, configuration, context.policy, context.now).map(({ newest: _newest, ...signal }) => ({ ...signal, configuration })),
  );
  const hint = hintFor(state, { taskId: taskId ?? null, model: model ?? '', configuration: configurationOf(model ?? '') }, context);
  const { policy, now, infra = noInfraTrouble } = context;
  const heldUp = infraCooldown(state, policy, now) ?? infraBreaker(infra, '', now);
  return {
    repo,
    targetFile,
    ...{ passed: hint.passed, failed: hint.failed, blocked: hint.blocked },
    histogram: hint.patterns.map(({ pattern, code, category, occurrences }) => ({ pattern, code, category, attempts: occurrences })),
    signals,
    skip: heldUp && { rule: heldUp.rule, detail: heldUp.detail, retryAfterSeconds: heldUp.retryAfterSeconds },
    hint: hintOf(hint),
    frontier: [...state.frontier.values()],
    openDispatches: openDispatches(state).map((dispatch) => ({ taskId: dispatch.taskId, ...dispatchOf(dispatch) })),
    learnedFrom: learnedFromOf(state, repo),
    position: positionOf(history),
    ...warned(flakyFile(state)),
  };
}

export class DispatchById extends Query<DispatchAnswer> {
  constructor(
    readonly dispatchId: string,
    readonly waitSeconds: number,
  ) {
    super();
  }
}

@QueryHandler(DispatchById)
export class DispatchByIdHandler implements IQueryHandler<DispatchById> {
  constructor(private readonly histories: FileHistories) {}

  /** With `waitSeconds` the answer comes as soon as the dispatch is closed, and after that time as it then stands. */
  async execute({ dispatchId, waitSeconds }: DispatchById): Promise<DispatchAnswer> {
    const stream = streamOf('d', dispatchId);
    const until = performance.now() + waitSeconds * 1000;
    for (;;) {
      const left = until - performance.now();
      // Listened for before the look, so that nothing falls between the two.
      const appended = left > 0 ? this.histories.untilAppended(stream, Math.min(left, LOOK_AGAIN_MS)) : undefined;
      const atHand = await this.histories.look(
        stream,
        (history) => history.state.dispatches.has(dispatchId) && dispatchIn(history, dispatchId),
      );
      const dispatch = atHand || dispatchIn(await this.histories.whole(stream), dispatchId);
      if (dispatch.status === 'closed' || appended === undefined || this.histories.closing) return dispatch;
      await appended;
    }
  }
}

function dispatchIn(history: FileHistory, dispatchId: string): DispatchAnswer {
  const dispatch = knownDispatch(history.state, dispatchId);
  const { taskId, model, frontier, budget, profile, carry, cold, last } = dispatch;
  const attempts = [...history.state.attempts.values()].filter((attempt) => attempt.dispatchId === dispatchId);
  return {
    ...{ ...history.where!, taskId, model, frontier, budget, profile, carry, coldStart: cold },
    ...dispatchOf(dispatch),
    next: last && nextOf(last),
    attemptList: attempts.map(({ attemptId, attempt, seat, model: by, verdict, patterns, signature, infraKind, late, at }) => ({
      ...{ attemptId, attempt, seat, model: by, verdict, patterns, signature, infraKind, late, at },
    })),
    position: positionOf(history),
  };
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
    private readonly histories: FileHistories,
    private readonly payloads: Payloads,
  ) {}

  async execute({ attemptId }: AttemptById) {
    const history = await this.histories.whole(streamOf('a', attemptId));
    const { verdict, patterns, signature, infraKind } = knownAttempt(history.state, attemptId);
    const recorded = find(history, attemptId, 'AttemptRecorded')!;
    const reached = find(history, attemptId, 'VerdictReached')!;
    const captured = find(history, attemptId, 'SnapshotDiffCaptured');
    const load = (text: Parameters<Payloads['loadOptional']>[0]) => this.payloads.loadOptional(text);
    const { output, prompt, verifier, leaseUntil: _lease, ...facts } = recorded;
    return {
      ...facts,
      ...{ output: await load(output), prompt: await load(prompt), diff: await load(captured?.diff ?? null) },
      verifier: verifier && (await loadVerifier(verifier, this.payloads)),
      ...{ verdict, patterns, signature, infraKind, corrections: correctionsOf(history, attemptId) },
      ...{ classifierVersion: reached.classifierVersion, confidence: reached.confidence, disagreement: reached.disagreement },
      position: positionOf(history),
    };
  }
}

/** What was said of an attempt's verdict later, oldest first; the verdict is that of the newest. */
function correctionsOf({ events }: WholeHistory, attemptId: string) {
  return events.flatMap(({ event }) => {
    if (event.type !== 'VerdictCorrected' || event.data.attemptId !== attemptId) return [];
    const { verdict, patterns, reason, source, at } = event.data;
    return [{ verdict, patterns, reason, source, at }];
  });
}

function find<T extends FileEvent['type']>(history: WholeHistory, attemptId: string, type: T) {
  const found = history.events.find(({ event }) => event.type === type && 'attemptId' in event.data && event.data.attemptId === attemptId);
  return found?.event.data as Extract<FileEvent, { type: T }>['data'] | undefined;
}
