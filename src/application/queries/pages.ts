import { setTimeout as sleep } from 'node:timers/promises';
import type { StoredText } from '../../catalogue/primitives.js';
import { NotCaughtUp } from '../errors.js';
import type { Payloads } from '../payloads.js';
import type { PageRequest, ReadModels, Row } from '../ports.js';

const CATCH_UP_LIMIT_MS = 5_000;
const CATCH_UP_POLL_MS = 10;
/** Texts of a page that are fetched at the same time. */
const TEXTS_AT_ONCE = 16;

export interface Page {
  items: Row[];
  nextCursor: string | null;
}

/** Resolves once the projection has seen a position. Throws {@link NotCaughtUp} after five seconds. */
export async function caughtUp(readModels: ReadModels, projection: string, after: string | undefined): Promise<void> {
  const until = performance.now() + CATCH_UP_LIMIT_MS;
  while (after !== undefined && BigInt((await readModels.position(projection)) ?? -1) < BigInt(after)) {
    if (performance.now() > until) throw new NotCaughtUp(`${projection} has not seen position ${after} yet`);
    await sleep(CATCH_UP_POLL_MS);
  }
}

/** Answers a page once the projection has seen the position that was asked for. Throws {@link NotCaughtUp} after five seconds. */
export async function caughtUpPage(readModels: ReadModels, after: string | undefined, request: PageRequest): Promise<Page> {
  await caughtUp(readModels, request.projection, after);
  return readModels.page(request);
}

/** Rows with their stored texts in full, a few at a time. */
export async function withTexts(rows: Row[], columns: string[], payloads: Payloads): Promise<Row[]> {
  const whole: Row[] = [];
  for (let start = 0; start < rows.length; start += TEXTS_AT_ONCE)
    whole.push(
      ...(await Promise.all(
        rows.slice(start, start + TEXTS_AT_ONCE).map(async (row) => {
          const texts = columns.map(async (column) => [column, await payloads.loadOptional(row[column] as StoredText | null)] as const);
          return { ...row, ...Object.fromEntries(await Promise.all(texts)) };
        }),
      )),
    );
  return whole;
}
