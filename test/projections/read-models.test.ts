import { captures } from '../../projections/captures.js';
import { files } from '../../projections/files.js';
import { patterns } from '../../projections/patterns.js';
import type { Row } from '../../projections/projection.js';
import { signals } from '../../projections/signals.js';
import { type LoggedEvent, projected } from './in-memory.js';
import { naiveCaptures, naiveFiles, naiveMap, naiveSignals } from './naive.js';
import { allOf, story } from './story.js';

const PLACES: [string, string][] = [
  ['tessera', 'src/lru_cache.rs'],
  ['tessera', 'src/lib.rs'],
  ['crust', 'src/lru_cache.rs'],
];
const log = story(PLACES, 250, 7);

const by =
  (...columns: string[]) =>
  (a: Row, b: Row) =>
    JSON.stringify(columns.map((column) => a[column])) < JSON.stringify(columns.map((column) => b[column])) ? -1 : 1;

test('the story holds what can happen', () => {
  const cleared = allOf(log, 'CalibrationSignalCleared');
  expect(new Set(cleared.map(({ reason }) => reason))).toEqual(new Set(['overcome', 'superseded', 'corrected']));
  const raised = allOf(log, 'CalibrationSignalRaised').map(({ repo, targetFile, configuration, kind, code }) =>
    [repo, targetFile, configuration, kind, code].join(),
  );
  expect(new Set(raised).size).toBeLessThan(raised.length);
  expect(new Set(allOf(log, 'VerdictReached').map(({ seat, verdict, late }) => `${seat} ${verdict} ${late}`)).size).toBeGreaterThan(9);
  expect(new Set(allOf(log, 'CapacityClassified').map(({ classification, kind }) => `${classification} ${kind}`)).size).toBeGreaterThan(4);
  expect(allOf(log, 'LeaseRenewed').length).toBeGreaterThan(0);
  expect(allOf(log, 'DispatchSkipped').length).toBeGreaterThan(0);
});

test('files are what a count over the log says', () => {
  expect(projected(files, log, 'files').toSorted(by('repo', 'targetFile'))).toEqual(naiveFiles(log).sort(by('repo', 'targetFile')));
});

test('the newest activity of a file does not go back with the clock', () => {
  const [late, early] = ['2026-03-01T13:00:00.000Z', '2026-03-01T12:00:00.000Z'];
  const opened = log.find(({ event }) => event.type === 'DispatchOpened')!;
  const at = (time: string, position: number) =>
    ({ ...opened, position, event: { ...opened.event, data: { ...opened.event.data, at: time } } }) as LoggedEvent;
  expect(projected(files, [at(late, 0), at(early, 1)], 'files')).toEqual([
    expect.objectContaining({ openDispatches: 2, firstSeen: late, lastActivity: late }),
  ]);
});

test('signals: one row each time one is raised, with how it ended', () => {
  const rows = projected(signals, log, 'signals');
  expect(rows.toSorted(by('signalId'))).toEqual(naiveSignals(log).sort(by('signalId')));
  const live = projected(signals, log, 'live');
  expect(live).toHaveLength(rows.filter((row) => row.live).length);
});

test('captures: one row an attempt, whole or not at all', () => {
  expect(projected(captures, log, 'captures').toSorted(by('attemptId'))).toEqual(naiveCaptures(log).sort(by('attemptId')));
  expect(projected(captures, log, 'waiting')).toEqual([]);
  const place = log.findIndex(({ event }) => event.type === 'AttemptRecorded');
  expect(projected(captures, log.slice(0, place + 1), 'captures')).toEqual([]);
  expect(projected(captures, log.slice(0, place + 1), 'waiting')).toHaveLength(1);
});

test('an attempt whose dispatch the log never opened is captured without its condition', () => {
  const { dispatchId } = allOf(log, 'AttemptRecorded')[0]!;
  const rest = log.filter(({ event }) => event.type !== 'DispatchOpened' || event.data.dispatchId !== dispatchId);
  const row = projected(captures, rest, 'captures').find((one) => one.dispatchId === dispatchId && one.promptSource !== 'attempt');
  expect(row).toMatchObject({ prompt: null, promptSource: null, arm: null, cold: null });
});

describe('the capacity map', () => {
  const counts = (rows: Row[]) =>
    Object.fromEntries(
      // What corrections took back leaves a row with nothing in it.
      rows
        .filter((row) => ['failed', 'signals', 'frontierPassed', 'frontierFailed'].some((column) => row[column] !== 0))
        .map(({ kind, patternKey, model, failed, overcome, signals: raised, signalsOvercome, frontierPassed, frontierFailed }) => [
          `${kind} ${patternKey} ${model}`,
          { failed, overcome, signals: raised, signalsOvercome, frontierPassed, frontierFailed },
        ]),
    );

  test('is the same counts for all repos and for each', () => {
    expect(counts(projected(patterns, log, 'overall'))).toEqual(naiveMap(log));
    const rows = projected(patterns, log, 'by_repo');
    for (const repo of ['tessera', 'crust'])
      expect(counts(rows.filter((row) => row.repo === repo))).toEqual(naiveMap(log.filter(({ event }) => event.data.repo === repo)));
  });

  test('keeps what is about no single pattern in rows of its own', () => {
    const kinds = new Set(projected(patterns, log, 'overall').map((row) => `${row.kind} ${row.pattern === null}`));
    expect(kinds).toEqual(new Set(['pattern false', 'per_file true', 'repeated_signature true']));
  });

  test('takes label and category from the failures', () => {
    const row = projected(patterns, log, 'overall').find(({ code }) => code === 'E0369');
    expect(row).toMatchObject({ pattern: 'e0369_missing_trait_bound', category: 'trait_bound' });
  });
});
