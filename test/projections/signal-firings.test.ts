import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { Row } from '../../projections/projection.js';
import { signalFirings } from '../../projections/signal-firings.js';
import type { StoredEvent } from '../../src/application/ports.js';
import type { FileEvent } from '../../src/catalogue/events.js';
import { FileCourse, SideSums } from '../../src/domain/course.js';
import { busyHistory } from '../support/naive.js';
import { ProjectionSpec } from '../support/projection-spec.js';

let spec: ProjectionSpec;
let log: StoredEvent[];
beforeAll(async () => {
  spec = await ProjectionSpec.start();
  log = busyHistory(20260301, 400).events;
}, 60_000);
afterAll(() => spec.end());
beforeEach(() => spec.clear());

/** By its definition, from the events of one dispatch: what a signal's first decision was followed by, as verdicts are in the end. */
function naively(events: FileEvent[]): Row[] {
  const ids = events.flatMap(({ type, data }) => (type === 'DispatchOpened' ? [data.dispatchId] : []));
  return ids.flatMap((dispatchId) => {
    const own = events.filter(({ data }) => (data as { dispatchId?: string | null }).dispatchId === dispatchId);
    const at = own.findIndex(({ type, data }) => type === 'NextStepDecided' && ['per_pattern', 'per_file'].includes(data.rule));
    if (at < 0) return [];
    const builders = (some: FileEvent[]) =>
      some.flatMap(({ type, data }) => {
        if (type !== 'VerdictReached' || data.seat !== 'builder') return [];
        const corrected = own.findLast((event) => event.type === 'VerdictCorrected' && event.data.attemptId === data.attemptId);
        const { verdict } = (corrected?.data ?? data) as { verdict: string };
        return verdict === 'blocked' ? [] : [verdict];
      });
    const [before, later] = [builders(own.slice(0, at)), builders(own.slice(at))];
    const closed = own.find(({ type }) => type === 'DispatchClosed')?.data as { outcome: string } | undefined;
    const budget = (own[0]!.data as { budget: number }).budget;
    const byFrontier = closed?.outcome.startsWith('escalated_') === true;
    const { rule, pattern } = own[at]!.data as { rule: string; pattern: string | null };
    return [
      {
        ...{ dispatchId, kind: rule, pattern, afterAttempt: before.length, saved: later.length, wrong: later.includes('pass') ? 1 : 0 },
        spared: byFrontier ? Math.max(0, budget - before.length - later.length) : 0,
        confirmed: closed?.outcome === 'escalated_passed' ? 1 : 0,
        refuted: closed?.outcome === 'escalated_failed' ? 1 : 0,
      },
    ];
  });
}

const fired = async () => {
  const rows = (await spec.rows(signalFirings, 'dispatches')).filter(({ firedAt }) => firedAt !== null);
  const shown = ['dispatchId', 'kind', 'pattern', 'afterAttempt', 'saved', 'wrong', 'spared', 'confirmed', 'refuted'];
  return rows.map((row) => Object.fromEntries(shown.map((column) => [column, row[column]])));
};
const sorted = (rows: Row[]) => rows.sort((a, b) => ((a.dispatchId as string) < (b.dispatchId as string) ? -1 : 1));

test.each([1, 7, 1_000])('in batches of %i, each given twice, the rows are what the definition gives', async (size) => {
  const store = await spec.store(signalFirings);
  for (let start = 0; start < log.length; start += size) for (const _ of [1, 2]) await store.apply(log.slice(start, start + size));
  const expected = sorted(naively(log.map(({ event }) => event as FileEvent)));
  expect(await fired()).toEqual(expected);
  for (const column of ['saved', 'wrong', 'spared', 'confirmed', 'refuted'])
    expect([column, expected.some((row) => (row[column] as number) > 0)]).toEqual([column, true]);
});

test('it agrees with how a what-if counts what was decided', async () => {
  await (await spec.store(signalFirings)).apply(log);
  const course = new FileCourse();
  for (const { event } of log) course.take(event as FileEvent);
  const sums = new SideSums();
  sums.add(course);
  const rows = await fired();
  const sum = (column: string) => rows.reduce((total, row) => total + (row[column] as number), 0);
  const { bySignal } = sums.side();
  expect([rows.length, sum('wrong'), sum('saved')]).toEqual([bySignal.dispatches, bySignal.wrong.count, bySignal.saved]);
});

test('a closed dispatch that no signal met leaves no row', async () => {
  await (await spec.store(signalFirings)).apply(log);
  const closed = new Set(log.flatMap(({ event }) => (event.type === 'DispatchClosed' ? [event.data.dispatchId] : [])));
  const rows = await spec.rows(signalFirings, 'dispatches');
  expect(rows.filter(({ firedAt, dispatchId }) => firedAt === null && closed.has(dispatchId as string))).toEqual([]);
});
