import type { TrainingRow } from '../application/training-rows.js';
import type { TrainingLabelsQuery, TrainingPairsQuery } from '../catalogue/queries.js';
import type { DatasheetAnswer } from '../catalogue/report-answers.js';

const NOTES = [
  'Prompts are what the attempt was really given where its caller sent that, else the prompt or the description of the task.',
  'Every file is on one side of the split, and with it all of its tasks.',
  'Outputs were written by the models that are counted here; what their licences allow is for whoever trains to know.',
  'A verdict that was corrected, or a pair that was withdrawn, is not in the set.',
];

/** What is in a data set, and for each row, in order, the events that it rests on. `rows` come with their duplicates. */
export async function datasheetOf(
  set: 'pairs' | 'labels',
  query: TrainingPairsQuery | TrainingLabelsQuery,
  rows: AsyncIterable<TrainingRow>,
): Promise<DatasheetAnswer> {
  const counts = { split: {}, kind: {}, model: {} } as Record<'split' | 'kind' | 'model', Record<string, number>>;
  const provenance: string[][] = [];
  let duplicates = 0;
  for await (const row of rows) {
    if (row.duplicate) duplicates += 1;
    if (row.duplicate && !query.duplicates) continue;
    provenance.push(row.events);
    for (const by of ['split', 'kind', 'model'] as const) counts[by][row[by]] = (counts[by][row[by]] ?? 0) + 1;
  }
  const { after: _after, ...filters } = query;
  return {
    set,
    filters,
    rows: provenance.length,
    duplicates,
    bySplit: counts.split,
    byKind: counts.kind,
    byModel: counts.model,
    provenance,
    notes: NOTES,
  };
}
