import { BadCursor } from '../../application/ports.js';

const NO_PAGE_GAVE_IT = 'no page of this list gave this cursor';

/** The place of a page's last row: the values that it is sorted by. */
export function writeCursor(values: unknown[]): string {
  return Buffer.from(JSON.stringify(values)).toString('base64url');
}

/** `kinds`: of values that such a cursor may hold. Throws {@link BadCursor}. */
export function readCursor(cursor: string, length: number, kinds = ['string', 'number']): unknown[] {
  try {
    const values: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    if (Array.isArray(values) && values.length === length && values.every((value) => kinds.includes(typeof value))) return values;
  } catch {
    // Falls through: whatever it was, no page gave it.
  }
  throw new BadCursor(NO_PAGE_GAVE_IT);
}

/** A cursor may hold what no column of its kind does (data exceptions, SQLSTATE 22): then no page gave it. */
export async function fromCursor<T>(rows: Promise<T>): Promise<T> {
  try {
    return await rows;
  } catch (error) {
    if (String((error as { code?: unknown }).code).startsWith('22')) throw new BadCursor(NO_PAGE_GAVE_IT);
    throw error;
  }
}
