import { Inject } from '@nestjs/common';
import { type IQueryHandler, Query, QueryHandler } from '@nestjs/cqrs';
import type { CohortAnswer } from '../../catalogue/answers.js';
import type { EventData } from '../../catalogue/events.js';
import type { StoredText } from '../../catalogue/primitives.js';
import type { CohortQuery } from '../../catalogue/queries.js';
import { canonicalJson } from '../../domain/chain.js';
import { COHORTS, type CohortName, rerunOf } from '../../domain/cohorts.js';
import { fileIdOf, fileStream } from '../../domain/ids.js';
import { type ExaminedAttempt, structureOf } from '../../domain/structure.js';
import { FileHistories } from '../file-histories.js';
import type { WholeHistory } from '../file-history.js';
import { Payloads } from '../payloads.js';
import { BadCursor, MEASURED_ROWS, type MeasuredRows, READ_MODELS, type ReadModels, type Row } from '../ports.js';
import { caughtUp, withTexts } from './pages.js';

/** The tasks of a cohort, ready to be dispatched again; what in their records speaks against capacity; and how another run of them went. */
export class Cohort extends Query<CohortAnswer> {
  constructor(
    readonly name: CohortName,
    readonly query: CohortQuery,
  ) {
    super();
  }
}

@QueryHandler(Cohort)
export class CohortHandler implements IQueryHandler<Cohort> {
  constructor(
    @Inject(READ_MODELS) private readonly readModels: ReadModels,
    @Inject(MEASURED_ROWS) private readonly rows: MeasuredRows,
    private readonly histories: FileHistories,
    private readonly payloads: Payloads,
  ) {}

  async execute({ name, query: { after, limit, cursor, rerun, structure, ...filter } }: Cohort): Promise<CohortAnswer> {
    await caughtUp(this.readModels, 'measured', after);
    const { says, has } = COHORTS[name];
    const from = cursor === undefined ? {} : { after: readCursor(cursor) };
    const found = await this.rows.cohort(has, filter, { ...from, limit: limit + 1 });
    const rows = await withTexts(found.slice(0, limit), ['description', 'prompt'], this.payloads);
    const items: CohortAnswer['items'] = [];
    for (const row of rows) items.push({ ...itemOf(row), ...(structure && { structure: await this.structure(row) }) });
    return {
      ...{ cohort: name, says, items, nextCursor: found.length > limit ? writeCursor(rows.at(-1)!) : null },
      rerun: rerun === undefined ? null : { batch: rerun, ...rerunOf(await this.rows.reruns(has, filter, rerun)) },
    };
  }

  private async structure({ repo, targetFile, dispatchId, taskId, model }: Row) {
    const history = await this.histories.whole(fileStream(fileIdOf(repo as string, targetFile as string)));
    const ofTask = dataOf(history, 'DispatchOpened').filter((opened) => opened.taskId === taskId && opened.model === model);
    return structureOf(
      await this.examined(history, dispatchId as string),
      ofTask.map(({ profile }) => profile),
      [...history.state.trials.values()].includes('both'),
    );
  }

  private async examined(history: WholeHistory, dispatchId: string): Promise<ExaminedAttempt[]> {
    const own = <T extends { dispatchId: string }>(all: T[]) => all.filter((data) => data.dispatchId === dispatchId);
    const verdicts = new Map(own(dataOf(history, 'VerdictReached')).map((reached) => [reached.attemptId, reached]));
    const diffs = new Map(own(dataOf(history, 'SnapshotDiffCaptured')).map(({ attemptId, diff }) => [attemptId, diff as StoredText]));
    const shown = own(dataOf(history, 'HistoryInjected')).filter(
      ({ source, mode }) => source === 'carry_forward' && mode === 'diff_feedback',
    );
    return Promise.all(
      own(dataOf(history, 'AttemptRecorded')).map(async ({ attempt, attemptId, output, history: block }) => ({
        ...{ attempt, attemptId, output: canonicalJson(output), inPrompt: block?.inPrompt ?? null },
        verdict: history.state.attempts.get(attemptId)?.verdict ?? verdicts.get(attemptId)!.verdict,
        confidence: verdicts.get(attemptId)?.confidence ?? 'high',
        diff: await this.payloads.loadOptional(diffs.get(attemptId) ?? null),
        shownDiffs: shown.some(({ forAttempt }) => forAttempt === attempt),
      })),
    );
  }
}

function dataOf<T extends 'DispatchOpened' | 'HistoryInjected' | 'AttemptRecorded' | 'VerdictReached' | 'SnapshotDiffCaptured'>(
  { events }: WholeHistory,
  type: T,
): EventData<T>[] {
  return events.flatMap(({ event }) => (event.type === type ? [event.data as EventData<T>] : []));
}

type Item = CohortAnswer['items'][number];
type ItemRow = Omit<Item['dispatch'], 'task'> & Item['firstRun'] & { taskId: string; description: string | null; prompt: string | null };

/** `dispatch` is a body that opens the task again. */
function itemOf(row: Row): Omit<Item, 'structure'> {
  const { repo, targetFile, targetFiles, taskId, description, prompt, model, frontier, budget, profile, ...first } =
    row as unknown as ItemRow;
  const { dispatchId, arm, carry, outcome, attempts, openedAt } = first;
  return {
    dispatch: { repo, targetFile, targetFiles, task: { id: taskId, description, prompt }, model, frontier, budget, profile },
    firstRun: { dispatchId, arm, carry, outcome, attempts, openedAt },
  };
}

function writeCursor({ repo, targetFile, taskId, model }: Row): string {
  return Buffer.from(JSON.stringify([repo, targetFile, taskId, model])).toString('base64url');
}

function readCursor(cursor: string): string[] {
  try {
    const key: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    if (Array.isArray(key) && key.length === 4 && key.every((part) => typeof part === 'string' && !part.includes('\0'))) return key;
  } catch {
    // Falls through: whatever it was, no page gave it.
  }
  throw new BadCursor('no page of this cohort gave this cursor');
}
