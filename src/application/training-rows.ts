import { createHash } from 'node:crypto';
import type { Split, TrainingLabelsQuery, TrainingPairsQuery } from '../catalogue/queries.js';
import { labelLine, pairLine, splitOf } from '../domain/training.js';
import type { Payloads } from './payloads.js';
import type { PageRequest, ReadModels, Row } from './ports.js';
import { caughtUp, withTexts } from './queries/pages.js';

const PAGE = 200;

/** A row of a data set, and where it came from. */
export interface TrainingRow {
  line: object;
  split: Split;
  /** What it is of: the pair's kind, or `pass` or `fail`. */
  kind: string;
  model: string;
  /** The events that it rests on: verdicts, the chosen one's first. */
  events: string[];
  duplicate: boolean;
}

/**
 * The rows of a data set in the order of their attempts: correction pairs, or labelled attempts that are in no pair. A row whose texts all came
 * before is a duplicate; of what was seen, 16 bytes a row are remembered.
 */
export class TrainingRows {
  constructor(
    private readonly readModels: ReadModels,
    private readonly payloads: Payloads,
  ) {}

  /** Resolves once the read models have what was asked for; throws what they throw. */
  async pairs(query: TrainingPairsQuery): Promise<AsyncIterable<TrainingRow>> {
    await caughtUp(this.readModels, 'correction_pairs', query.after);
    return chosenBy(query, this.pairRows(query));
  }

  /** The same for attempts that are in no pair, each with its label. */
  async labels(query: TrainingLabelsQuery): Promise<AsyncIterable<TrainingRow>> {
    await Promise.all(['correction_pairs', 'captures'].map((name) => caughtUp(this.readModels, name, query.after)));
    return chosenBy(query, this.labelRows(query));
  }

  private async *pairRows({ repo, targetFile, kind, format, validationShare }: TrainingPairsQuery): AsyncIterable<TrainingRow> {
    const place = { projection: 'correction_pairs', table: 'pairs', where: { repo, targetFile, kind }, order: ['at', 'chosenAttemptId'] };
    const seen = new Seen();
    for await (const row of this.all(place, ['prompt', 'chosen', 'rejected'])) {
      const { prompt, chosen, rejected } = row as unknown as { prompt: string | null; chosen: string; rejected: string };
      yield {
        ...placeOf(row, validationShare),
        line: pairLine({ prompt, chosen, rejected }, format),
        kind: row.kind as string,
        events: [row.chosenVerdictEventId as string, row.rejectedVerdictEventId as string],
        duplicate: seen.before([prompt, chosen, rejected]),
      };
    }
  }

  private async *labelRows({ repo, targetFile, format, validationShare }: TrainingLabelsQuery): AsyncIterable<TrainingRow> {
    const place = { projection: 'captures', table: 'captures', where: { repo, targetFile }, order: ['at', 'attemptId'] };
    const seen = new Seen();
    for await (const row of this.all(place, ['prompt', 'output'], (rows) => this.unpaired(rows))) {
      const { prompt, output, verdict } = row as unknown as { prompt: string | null; output: string; verdict: string };
      const labelled = { prompt, completion: output, passed: verdict === 'pass' };
      yield {
        ...placeOf(row, validationShare),
        line: labelLine(labelled, format),
        kind: verdict,
        events: [row.verdictEventId as string],
        duplicate: seen.before([prompt, output, verdict]),
      };
    }
  }

  private async unpaired(rows: Row[]): Promise<Row[]> {
    const judged = rows.filter(({ verdict }) => verdict !== 'blocked');
    const paired = await this.readModels.paired(judged.map(({ attemptId }) => attemptId as string));
    return judged.filter(({ attemptId }) => !paired.has(attemptId as string));
  }

  private async *all(
    place: Omit<PageRequest, 'limit' | 'cursor'>,
    texts: string[],
    choose: (rows: Row[]) => Promise<Row[]> = async (rows) => rows,
  ): AsyncIterable<Row> {
    let cursor: string | undefined;
    do {
      const page = await this.readModels.page({ ...place, limit: PAGE, ...(cursor !== undefined && { cursor }) });
      yield* await withTexts(await choose(page.items), texts, this.payloads);
      cursor = page.nextCursor ?? undefined;
    } while (cursor !== undefined);
  }
}

async function* chosenBy(
  { split, duplicates }: { split?: Split; duplicates: boolean },
  rows: AsyncIterable<TrainingRow>,
): AsyncIterable<TrainingRow> {
  for await (const row of rows) if ((split === undefined || row.split === split) && (duplicates || !row.duplicate)) yield row;
}

function placeOf(row: Row, validationShare: number): Pick<TrainingRow, 'split' | 'model'> {
  const { repo, targetFile, model } = row as { repo: string; targetFile: string; model: string };
  return { split: splitOf({ repo, targetFile }, validationShare), model };
}

class Seen {
  private readonly digests = new Set<string>();

  before(texts: unknown[]): boolean {
    const digest = createHash('sha256').update(JSON.stringify(texts)).digest().subarray(0, 16).toString('latin1');
    if (this.digests.has(digest)) return true;
    this.digests.add(digest);
    return false;
  }
}
