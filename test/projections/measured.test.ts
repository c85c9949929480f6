import { MEASURES, measured } from '../../projections/measured.js';
import type { Row } from '../../projections/projection.js';
import type { EventData } from '../../src/catalogue/events.js';
import { type LoggedEvent, projected } from './in-memory.js';
import { allOf, story } from './story.js';

const log = story(
  [
    ['tessera', 'src/lru_cache.rs'],
    ['crust', 'src/lib.rs'],
  ],
  250,
  11,
);

/** What one dispatch adds, counted over the whole log by its definitions. */
function naively(events: LoggedEvent[], opened: EventData<'DispatchOpened'>): Row {
  const own = <T extends { dispatchId: string | null }>(all: T[]) => all.filter(({ dispatchId }) => dispatchId === opened.dispatchId);
  const corrections = new Map(own(allOf(events, 'VerdictCorrected')).map(({ attemptId, verdict }) => [attemptId, verdict]));
  const verdicts = own(allOf(events, 'VerdictReached')).map((one) => ({ ...one, verdict: corrections.get(one.attemptId) ?? one.verdict }));
  const of = (seat: string, verdict: string) => verdicts.filter((one) => one.seat === seat && one.verdict === verdict).length;
  const builder = of('builder', 'pass') + of('builder', 'fail');
  const frontier = of('frontier', 'pass') + of('frontier', 'fail');
  const judged = own(allOf(events, 'VerdictReached')).find(({ attemptId, verdict }) =>
    [verdict, corrections.get(attemptId) ?? 'blocked'].some((one) => one !== 'blocked'),
  );
  const first = verdicts.find(({ attemptId, verdict }) => attemptId === judged?.attemptId && verdict !== 'blocked');
  const closed = own(allOf(events, 'DispatchClosed'))[0];
  const escalated = own(allOf(events, 'NextStepDecided')).some(({ step }) => step === 'escalate');
  const injections = own(allOf(events, 'HistoryInjected')).length;
  const started = builder + frontier > 0;
  const blocked = !started && closed?.outcome === 'blocked';
  const yes = (condition: boolean) => (condition ? 1 : 0);
  return {
    dispatches: yes(started),
    firstTries: yes(first?.seat === 'builder'),
    firstTryPassed: yes(first?.seat === 'builder' && first.verdict === 'pass'),
    withinBudgetPassed: yes(of('builder', 'pass') > 0),
    attempts: builder,
    escalations: yes(escalated),
    sparedAttempts: escalated && closed?.outcome.startsWith('escalated_') ? Math.max(0, opened.budget - builder) : 0,
    frontierPasses: of('frontier', 'pass'),
    frontierFails: of('frontier', 'fail'),
    injectionEvents: injections,
    injectedDispatches: yes(injections > 0),
    apartAbandoned: yes(!started && closed !== undefined && !blocked),
    apartBlocked: yes(blocked),
    unfinished: yes(!started && closed === undefined),
    budgetSavedByBlocking: blocked ? opened.budget : 0,
    ...{ blocksWhole: 0, blocksAltered: 0, blocksMissing: 0 },
    assignedDispatches: yes(started && opened.assigned !== null),
  };
}

const SPENDING = ['promptTokens', 'completionTokens', 'frontierTokens', 'costNanoUsd', 'frontierCostNanoUsd'];
const counts = (row: Row) => Object.fromEntries(MEASURES.filter((measure) => !SPENDING.includes(measure)).map((one) => [one, row[one]]));

test('each dispatch adds what a count over the log says', () => {
  const rows = projected(measured, log, 'dispatches');
  const opened = allOf(log, 'DispatchOpened');
  expect(rows).toHaveLength(opened.length);
  for (const dispatch of opened) {
    const row = rows.find(({ dispatchId }) => dispatchId === dispatch.dispatchId)!;
    expect([dispatch.dispatchId, counts(row)]).toEqual([dispatch.dispatchId, naively(log, dispatch)]);
  }
  for (const measure of ['firstTryPassed', 'sparedAttempts', 'apartAbandoned', 'apartBlocked', 'escalations', 'frontierFails'])
    expect([measure, rows.some((row) => row[measure] !== 0)]).toEqual([measure, true]);
});

test('behind an attempt that the verifier could not decide, the next one is the first try', () => {
  const opened = allOf(log, 'DispatchOpened').find(({ dispatchId }) => {
    const own = allOf(log, 'VerdictReached').filter((one) => one.dispatchId === dispatchId);
    if (allOf(log, 'VerdictCorrected').some((one) => one.dispatchId === dispatchId)) return false;
    return own.length > 1 && own[0]!.verdict === 'fail' && own[1]!.seat === 'builder' && own[1]!.verdict !== 'blocked';
  })!;
  const undecided = log.map((logged) =>
    logged.event.type === 'VerdictReached' && logged.event.data.dispatchId === opened.dispatchId && logged.event.data.attempt === 1
      ? { ...logged, event: { ...logged.event, data: { ...logged.event.data, verdict: 'blocked', infraKind: 'killed' } } }
      : logged,
  ) as LoggedEvent[];
  const row = projected(measured, undecided, 'dispatches').find(({ dispatchId }) => dispatchId === opened.dispatchId)!;
  expect([row.firstTries, row.firstAttempt]).toEqual([1, 2]);
});

describe('a corrected verdict', () => {
  const verdict = allOf(log, 'VerdictReached').find(
    ({ seat, attempt, verdict: was }) => seat === 'builder' && attempt === 1 && was === 'fail',
  )!;
  const to = (corrected: 'pass' | 'blocked', position: number) => {
    const { repo, targetFile, at, dispatchId, attemptId } = verdict;
    const data = {
      repo,
      targetFile,
      at,
      dispatchId,
      attemptId,
      verdict: corrected,
      patterns: [],
      reason: 'hidden tests',
      source: 'a person',
    };
    return { ...log[0]!, position, id: `correction-${position}`, event: { type: 'VerdictCorrected', data } } as unknown as LoggedEvent;
  };
  const rowAfter = (...corrections: LoggedEvent[]) =>
    projected(measured, [...log, ...corrections], 'dispatches').find(({ dispatchId }) => dispatchId === verdict.dispatchId)!;

  test('counts in the place of the first one', () => {
    const before = rowAfter();
    const after = rowAfter(to('pass', log.length));
    expect([before.firstTryPassed, after.firstTryPassed, after.withinBudgetPassed]).toEqual([0, 1, 1]);
    expect(after.attempts).toBe(before.attempts);
  });

  test('to blocked takes the attempt out', () => {
    const after = rowAfter(to('pass', log.length), to('blocked', log.length + 1));
    expect([after.firstTries, after.firstTryPassed]).toEqual([0, 0]);
    expect(after.attempts).toBe((rowAfter().attempts as number) - 1);
  });
});

test('tokens and costs of all attempts are summed, those of the frontier apart too', () => {
  const [one] = allOf(log, 'FrontierOutcomeRecorded');
  const spending = log.map((logged) =>
    logged.event.type === 'AttemptRecorded' && logged.event.data.dispatchId === one!.dispatchId
      ? {
          ...logged,
          event: { ...logged.event, data: { ...logged.event.data, usage: { promptTokens: 10, completionTokens: 1, costUsd: 0.1 } } },
        }
      : logged,
  ) as LoggedEvent[];
  const attempts = allOf(spending, 'AttemptRecorded').filter(({ dispatchId }) => dispatchId === one!.dispatchId);
  const byFrontier = attempts.filter(({ seat }) => seat === 'frontier').length;
  const row = projected(measured, spending, 'dispatches').find(({ dispatchId }) => dispatchId === one!.dispatchId)!;
  expect(row).toMatchObject({
    ...{ promptTokens: 10 * attempts.length, completionTokens: attempts.length, costNanoUsd: attempts.length * 1e8 },
    ...{ frontierTokens: 11 * byFrontier, frontierCostNanoUsd: byFrontier * 1e8 },
  });
});

test('a dispatch is flaky where an output of it was judged both ways, here or in another dispatch', () => {
  const judged = log.filter(({ event }) => event.type === 'VerdictReached' && event.data.verdict !== 'blocked');
  const [one, other] = [
    judged[0]!,
    judged.find(({ event, stream }) => stream === judged[0]!.stream && dispatchOf(event) !== dispatchOf(judged[0]!.event))!,
  ];
  const as = (logged: LoggedEvent, verdict: 'pass' | 'fail') =>
    ({ ...logged, event: { ...logged.event, data: { ...logged.event.data, trial: 'the-same', verdict } } }) as LoggedEvent;
  const flaky = (...verdicts: ['pass' | 'fail', 'pass' | 'fail']) => {
    const changed = log.map((logged) => {
      const bare =
        logged.event.type === 'VerdictReached'
          ? ({ ...logged, event: { ...logged.event, data: { ...logged.event.data, trial: null } } } as LoggedEvent)
          : logged;
      return logged === one ? as(logged, verdicts[0]) : logged === other ? as(logged, verdicts[1]) : bare;
    });
    return projected(measured, changed, 'dispatches')
      .filter((row) => row.flaky)
      .map((row) => row.dispatchId);
  };
  expect(flaky('pass', 'pass')).toEqual([]);
  expect(new Set(flaky('pass', 'fail'))).toEqual(new Set([dispatchOf(one.event), dispatchOf(other.event)]));
});

function dispatchOf(event: LoggedEvent['event']): string {
  return (event.data as { dispatchId: string }).dispatchId;
}
