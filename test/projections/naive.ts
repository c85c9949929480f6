import type { Row } from '../../projections/projection.js';
import { codeOf } from '../../src/catalogue/primitives.js';
import type { LoggedEvent } from './in-memory.js';
import { allOf } from './story.js';

/** Verdicts as they stand after corrections, in the order in which they came. */
function standing(log: LoggedEvent[]) {
  const corrections = allOf(log, 'VerdictCorrected');
  return allOf(log, 'VerdictReached').map((reached) => {
    const own = corrections.filter(({ attemptId }) => attemptId === reached.attemptId);
    const newest = own.at(-1);
    if (newest === undefined) return { ...reached, correction: null };
    const { verdict, patterns, reason, source, at } = newest;
    const first = { verdict: reached.verdict, patterns: reached.patterns };
    return { ...reached, verdict, patterns, correction: { first, reason, source, at } };
  });
}

/** Classifications that no correction of their attempt took back. */
function classifications(log: LoggedEvent[]) {
  return log.flatMap(({ event }, place) => {
    if (event.type !== 'CapacityClassified') return [];
    const { attemptId } = event.data;
    const later = allOf(log.slice(place), 'VerdictCorrected').filter((one) => one.attemptId === attemptId);
    return later.some(({ corrects, verdict }) => corrects!.verdict !== verdict) ? [] : [event.data];
  });
}

/** The same rows, each computed from the whole log by itself: slow, and without anything that is kept from event to event. */

export function naiveFiles(log: LoggedEvent[]): Row[] {
  return groups(log, ({ event: { data } }) => ({ repo: data.repo, targetFile: data.targetFile })).map(([place, own]) => {
    const verdicts = standing(own);
    const count = (seat: string, verdict: string) => verdicts.filter((one) => one.seat === seat && one.verdict === verdict).length;
    const times = own.map(({ event }) => event.data.at).sort();
    return {
      ...place,
      ...{ passed: count('builder', 'pass'), failed: count('builder', 'fail'), blocked: count('builder', 'blocked') },
      ...{ frontierPassed: count('frontier', 'pass'), frontierFailed: count('frontier', 'fail') },
      openDispatches: allOf(own, 'DispatchOpened').length - allOf(own, 'DispatchClosed').length,
      liveSignals: allOf(own, 'CalibrationSignalRaised').length - allOf(own, 'CalibrationSignalCleared').length,
      ...{ firstSeen: own[0]!.event.data.at, lastActivity: times.at(-1) },
    };
  });
}

export function naiveSignals(log: LoggedEvent[]): Row[] {
  return allOf(log, 'CalibrationSignalRaised').map(({ eventId, at: raisedAt, ...raised }) => {
    const place = log.findIndex(({ id }) => id === eventId);
    const cleared = allOf(log.slice(place), 'CalibrationSignalCleared').find(
      ({ repo, targetFile, configuration, kind, pattern, code }) =>
        repo === raised.repo &&
        targetFile === raised.targetFile &&
        configuration === raised.configuration &&
        kind === raised.kind &&
        (code ?? pattern) === (raised.code ?? raised.pattern),
    );
    const end = { clearedAt: cleared?.at ?? null, reason: cleared?.reason ?? null, live: cleared === undefined };
    return { ...raised, signalId: eventId, raisedAt, ...end };
  });
}

export function naiveCaptures(log: LoggedEvent[]): Row[] {
  return standing(log).map((reached) => {
    const { attemptId, dispatchId, correction } = reached;
    const {
      verifier: _verifier,
      leaseUntil: _lease,
      history: _block,
      eventId: _id,
      ...recorded
    } = allOf(log, 'AttemptRecorded').find((one) => one.attemptId === attemptId)!;
    const { parentTaskId, arm, batch, profile, carry, cold, ...asked } = allOf(log, 'DispatchOpened').find(
      (one) => one.dispatchId === dispatchId,
    )!;
    const { verdict, patterns, signature, infraKind, confidence, classifierVersion, disagreement, eventId: verdictEventId } = reached;
    return {
      ...recorded,
      ...{ parentTaskId, arm, batch, profile, carry, cold },
      prompt: recorded.prompt ?? asked.prompt ?? asked.description,
      promptSource: recorded.prompt ? 'attempt' : asked.prompt ? 'task' : 'description',
      diff: allOf(log, 'SnapshotDiffCaptured').find((one) => one.attemptId === attemptId)?.diff ?? null,
      ...{ verdict, patterns, signature, infraKind, confidence, classifierVersion, disagreement, verdictEventId, correction },
    };
  });
}

/** The capacity map as counts by kind, pattern key and model. */
export function naiveMap(log: LoggedEvent[]): Record<string, Record<string, number>> {
  const map: Record<string, Record<string, number>> = {};
  const count = (kind: string, pattern: string, model: string, column: string) => {
    const key = `${kind} ${pattern} ${model}`;
    const row = map[key] ?? { failed: 0, overcome: 0, signals: 0, signalsOvercome: 0, frontierPassed: 0, frontierFailed: 0 };
    map[key] = { ...row, [column]: row[column]! + 1 };
  };
  const kindOf = (pattern: string | null, kind: string) => (pattern === null ? kind : 'pattern');
  const verdicts = standing(log).filter(({ seat }) => seat === 'builder');
  verdicts.forEach(({ verdict, model, patterns, ...of }, place) => {
    const passed = verdicts.slice(place).some((later) => later.verdict === 'pass' && ofSameTask(of, later));
    if (verdict === 'fail')
      for (const key of new Set(patterns.map(({ code, pattern }) => code ?? pattern))) {
        count('pattern', key, model, 'failed');
        if (passed) count('pattern', key, model, 'overcome');
      }
  });
  for (const { kind, pattern, code, model } of allOf(log, 'CalibrationSignalRaised'))
    count(kindOf(pattern, kind), code ?? pattern ?? '', model, 'signals');
  for (const { kind, pattern, code, model, reason } of allOf(log, 'CalibrationSignalCleared'))
    if (reason === 'overcome') count(kindOf(pattern, kind), code ?? pattern ?? '', model, 'signalsOvercome');
  for (const { kind, pattern, model, classification } of classifications(log))
    if (kind !== null)
      count(
        kindOf(pattern, kind),
        pattern === null ? '' : (codeOf(pattern) ?? pattern),
        model,
        classification === 'capacity' ? 'frontierPassed' : 'frontierFailed',
      );
  return map;
}

type Of = { repo: string; targetFile: string; taskId: string; configuration: string };

function ofSameTask(a: Of, b: Of): boolean {
  return a.repo === b.repo && a.targetFile === b.targetFile && a.taskId === b.taskId && a.configuration === b.configuration;
}

function groups<K extends Row>(log: LoggedEvent[], keyOf: (event: LoggedEvent) => K): [K, LoggedEvent[]][] {
  const found = new Map<string, [K, LoggedEvent[]]>();
  for (const event of log) {
    const key = keyOf(event);
    const group = found.get(JSON.stringify(key)) ?? [key, []];
    group[1].push(event);
    found.set(JSON.stringify(key), group);
  }
  return [...found.values()];
}
