import { Inject } from '@nestjs/common';
import { type IQueryHandler, Query, QueryHandler } from '@nestjs/cqrs';
import type { FileEvent } from '../../catalogue/events.js';
import type { CohortQuery } from '../../catalogue/queries.js';
import type { CohortAnswer } from '../../catalogue/report-answers.js';
import { canonicalJson } from '../../domain/chain.js';
import { COHORTS, type CohortName, rerunOf } from '../../domain/cohorts.js';
import { fileIdOf, fileStream } from '../../domain/ids.js';
import { type ExaminedAttempt, structureOf } from '../../domain/structure.js';
import { attemptsTold } from '../carried-history.js';
import { FileHistories } from '../file-histories.js';
import type { WholeHistory } from '../file-history.js';
import { Payloads } from '../payloads.js';
import { MEASURED_ROWS, type MeasuredRows, READ_MODELS, type ReadModels, type Row } from '../ports.js';
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
    const page = await this.rows.cohort(has, filter, { cursor, limit });
    const rows = await withTexts(page.items, ['description', 'prompt'], this.payloads);
    const items: CohortAnswer['items'] = [];
    for (const row of rows) items.push({ ...itemOf(row), ...(structure && { structure: await this.structure(row) }) });
    return {
      ...{ cohort: name, says, items, nextCursor: page.nextCursor },
      rerun: rerun === undefined ? null : { batch: rerun, ...rerunOf(await this.rows.reruns(has, filter, rerun)) },
    };
  }

  private async structure({ repo, targetFile, dispatchId, taskId, model }: Row) {
    const history = await this.histories.whole(fileStream(fileIdOf(repo as string, targetFile as string)));
    const opened = history.events.flatMap(({ event }) => (event.type === 'DispatchOpened' ? [event.data] : []));
    const ofTask = opened.filter((data) => data.taskId === taskId && data.model === model);
    return structureOf(
      await this.examined(history, dispatchId as string),
      ofTask.map(({ profile }) => profile),
      [...history.state.trials.values()].includes('both'),
    );
  }

  private async examined({ events }: WholeHistory, dispatchId: string): Promise<ExaminedAttempt[]> {
    const own = events
      .map(({ event }) => event)
      .filter(({ data }) => 'dispatchId' in data && data.dispatchId === dispatchId) as FileEvent[];
    const shown = own.flatMap(({ type, data }) =>
      type === 'HistoryInjected' && data.source === 'carry_forward' && data.mode === 'diff_feedback' ? [data.forAttempt] : [],
    );
    return Promise.all(
      [...attemptsTold(own).values()].map(async ({ recorded: { attempt, attemptId, output, history: block }, verdict, diff }) => ({
        ...{ attempt, attemptId, output: canonicalJson(output), inPrompt: block?.inPrompt ?? null },
        ...{ verdict: verdict!.verdict, confidence: verdict!.confidence },
        diff: await this.payloads.loadOptional(diff ?? null),
        shownDiffs: shown.includes(attempt),
      })),
    );
  }
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
