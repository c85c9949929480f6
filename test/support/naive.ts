import type { Row } from '../../projections/projection.js';
import type { StoredEvent } from '../../src/application/ports.js';
import type { EventData, FileEventType } from '../../src/catalogue/events.js';
import { History } from './history.js';

/** A long history of several files and tasks, the same for the same seed: everything that commands can lead to. */
export function busyHistory(seed: number, commands = 160, repo = 'repo'): History {
  let state = seed;
  const below = (n: number): number => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * n);
  };
  const pick = <T>(from: readonly T[]): T => from[below(from.length)]!;
  const history = new History(repo);
  const opened: string[] = [];
  const passed: string[] = [];
  for (let n = 0; n < commands; n += 1) {
    const what = below(10);
    const dispatchId = pick(opened.filter((id) => history.isOpen(id)));
    const result = { codes: [pick(['E0001', 'E0002', 'E0003']), pick(['E0001', 'E0004'])], output: `output ${below(30)}` };
    if (what < 3 || dispatchId === undefined) {
      opened.push(
        history.open({ file: pick(['src/a.rs', 'src/b.rs']), taskId: pick(['t', 'u', 'v']), model: pick(['m', 'n']), budget: 30 }),
      );
      continue;
    }
    const attempts = dataOf(history.events, 'VerdictReached').map((reached) => reached.attemptId);
    if (below(8) === 0 && attempts.length > 0) {
      const verdict = pick(['pass', 'fail', 'fail', 'blocked'] as const);
      history.correct(pick(attempts), verdict, verdict === 'fail' ? result.codes : []);
    }
    if (below(12) === 0 && passed.length > 0) history.withdraw(pick(passed));
    if (what < 7) history.attempt(dispatchId, 'fail', result);
    else if (what === 7) passed.push(history.attempt(dispatchId, 'pass', result));
    else if (what === 8) passed.push(history.frontier(dispatchId, pick(['pass', 'fail', 'blocked'] as const), result));
    else history.abandon(dispatchId);
    const attemptId = pick(passed);
    const pending = attemptId !== undefined && staged(history).has(attemptId);
    if (pending && below(3) === 0) history.resolve(attemptId, pick(['accepted', 'rejected'] as const));
  }
  return history;
}

function staged({ events }: History): Set<string> {
  const pending = new Map<string, string>();
  for (const { event } of events) {
    if (event.type === 'ProposalStaged') pending.set(event.data.proposalId, event.data.attemptId);
    if (event.type === 'ProposalResolved') pending.delete(event.data.proposalId);
  }
  return new Set(pending.values());
}

function dataOf<T extends FileEventType>(events: StoredEvent[], type: T): EventData<T>[] {
  return events.flatMap(({ event }) => (event.type === type ? [event.data as EventData<T>] : []));
}

type Failure = Pick<EventData<'VerdictReached'>, 'repo' | 'targetFile' | 'seat' | 'model' | 'verdict' | 'patterns'>;

const byColumns =
  (...columns: string[]) =>
  (a: Row, b: Row) => {
    for (const column of columns) if (a[column] !== b[column]) return String(a[column]) < String(b[column]) ? -1 : 1;
    return 0;
  };

/** What the rows of each read model should be, looked up in the whole log for every single row. */
export const naively: Record<string, (events: StoredEvent[]) => Row[]> = {
  failure_histogram(events) {
    const rows = new Map<string, Row>();
    const count = (of: Failure, at: string, by: 1 | -1) => {
      if (of.verdict !== 'fail') return;
      const { repo, targetFile, seat, model } = of;
      for (const [code, pattern] of new Map(of.patterns.map((one) => [one.code!, one]))) {
        const place = JSON.stringify([targetFile, code, seat, model]);
        const { pattern: label, category } = pattern;
        const fresh = {
          repo,
          targetFile,
          patternKey: code,
          pattern: label,
          code,
          category,
          seat,
          model,
          attempts: 0,
          firstSeen: at,
          lastSeen: at,
        };
        const row = rows.get(place) ?? fresh;
        const attempts = (row.attempts as number) + by;
        if (attempts === 0) rows.delete(place);
        else rows.set(place, { ...row, attempts, lastSeen: by > 0 ? at : row.lastSeen });
      }
    };
    events.forEach(({ event }, place) => {
      if (event.type === 'VerdictReached') count(event.data, event.data.at, 1);
      if (event.type !== 'VerdictCorrected') return;
      const of = dataOf(events, 'VerdictReached').find(({ attemptId }) => attemptId === event.data.attemptId)!;
      const before = dataOf(events.slice(0, place), 'VerdictCorrected').findLast(({ attemptId }) => attemptId === of.attemptId) ?? of;
      const { at, verdict, patterns } = event.data;
      count({ ...of, verdict: before.verdict, patterns: before.patterns }, at, -1);
      count({ ...of, verdict, patterns }, at, 1);
    });
    return [...rows.values()].sort(byColumns('repo', 'targetFile', 'patternKey', 'seat', 'model'));
  },

  correction_pairs(events) {
    const verdicts = events.flatMap(({ id, event }, place) => (event.type === 'VerdictReached' ? [{ ...event.data, id, place }] : []));
    const recorded = new Map(dataOf(events, 'AttemptRecorded').map((data) => [data.attemptId, data]));
    const outcomes = new Map(dataOf(events, 'FrontierOutcomeRecorded').map((data) => [data.attemptId, data]));
    const corrections = events.flatMap(({ event }, place) => (event.type === 'VerdictCorrected' ? [{ ...event.data, place }] : []));
    const verdictBefore = (id: string, place: number) =>
      (corrections.findLast((one) => one.attemptId === id && one.place < place) ?? verdicts.find((one) => one.attemptId === id)!).verdict;
    const changed = (id: string, by = events.length) =>
      corrections.some((one) => one.attemptId === id && one.place < by && one.verdict !== verdictBefore(id, one.place));
    const patternsNow = (id: string) =>
      (corrections.findLast((one) => one.attemptId === id) ?? verdicts.find((one) => one.attemptId === id)!).patterns;
    return verdicts
      .filter(({ verdict }) => verdict === 'pass')
      .flatMap((chosen): Row[] => {
        const earlier = verdicts.filter(
          ({ attemptId, seat, verdict, place, taskId, targetFile }) =>
            seat === 'builder' &&
            verdict === 'fail' &&
            place < chosen.place &&
            !changed(attemptId, chosen.place) &&
            taskId === chosen.taskId &&
            targetFile === chosen.targetFile,
        );
        const own = earlier.findLast(({ dispatchId }) => dispatchId === chosen.dispatchId);
        const rejected = own ?? (chosen.seat === 'frontier' ? earlier.at(-1) : undefined);
        if (rejected === undefined || changed(rejected.attemptId) || changed(chosen.attemptId)) return [];
        if (dataOf(events, 'CorrectionPairWithdrawn').some(({ chosenAttemptId }) => chosenAttemptId === chosen.attemptId)) return [];
        const opened = dataOf(events, 'DispatchOpened').find(({ dispatchId }) => dispatchId === chosen.dispatchId)!;
        const { output, prompt } = recorded.get(chosen.attemptId)!;
        const wrong = recorded.get(rejected.attemptId)!.output;
        if (JSON.stringify(wrong) === JSON.stringify(output)) return [];
        const escalated = outcomes.get(chosen.attemptId)?.ledBy?.kind === 'per_file' ? 'multi_pattern' : 'single_pattern';
        const { repo, targetFile, taskId, dispatchId, seat, model, at } = chosen;
        return [
          {
            ...{ repo, targetFile, taskId, dispatchId, seat, model, at, kind: seat === 'builder' ? 'self_correction' : escalated },
            ...{ chosenAttemptId: chosen.attemptId, rejectedAttemptId: rejected.attemptId },
            ...{ chosenVerdictEventId: chosen.id, rejectedVerdictEventId: rejected.id, patterns: patternsNow(rejected.attemptId) },
            ...{ prompt: prompt ?? opened.prompt ?? opened.description, chosen: output, rejected: wrong },
          },
        ];
      })
      .sort(byColumns('chosenAttemptId'));
  },

  dispatches(events) {
    return dataOf(events, 'DispatchOpened')
      .map(({ dispatchId, repo, targetFile, taskId, model, frontier, arm, batch, cold, budget, leaseUntil, at }) => {
        const own = <T extends { dispatchId: string | null }>(all: T[]) => all.filter((data) => data.dispatchId === dispatchId);
        const attempts = own(dataOf(events, 'AttemptRecorded'));
        const decided = own(dataOf(events, 'NextStepDecided')).at(-1);
        const closed = own(dataOf(events, 'DispatchClosed'))[0];
        return {
          ...{ dispatchId, repo, targetFile, taskId, model, frontier, arm, batch, cold, budget, openedAt: at },
          ...{ attempts: attempts.filter(({ seat }) => seat === 'builder').length },
          ...{ leaseUntil: attempts.filter((attempt) => attempt.leaseUntil !== null).at(-1)?.leaseUntil ?? leaseUntil },
          ...{ step: decided?.step ?? null, rule: decided?.rule ?? null },
          ...{ status: closed ? 'closed' : 'open', outcome: closed?.outcome ?? null, closedAt: closed?.at ?? null },
        };
      })
      .sort(byColumns('dispatchId'));
  },

  proposals(events) {
    return dataOf(events, 'ProposalStaged')
      .map(({ at, ...staged }) => {
        const resolved = dataOf(events, 'ProposalResolved').find(({ proposalId }) => proposalId === staged.proposalId);
        return { ...staged, stagedAt: at, status: resolved?.resolution ?? 'pending', resolvedAt: resolved?.at ?? null };
      })
      .sort(byColumns('proposalId'));
  },
};
