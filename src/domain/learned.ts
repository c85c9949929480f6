import type { EventData } from '../catalogue/events.js';
import { codeOf, type ErrorPattern, patternKey } from '../catalogue/primitives.js';
import { addFailure, isEvidence, noEvidence, overcome, withdraw } from './evidence.js';
import { fileIdOf, fileStream, streamOfId } from './ids.js';
import type { FileState, HistogramEntry, LearnedEvent, Results } from './state.js';

/** Attempts that an entry of the histogram names. */
const NEWEST_KEPT = 5;

/** A task is one of its home: the same name at two homes is two tasks. No name holds the separator. */
export function taskAtHome(homeFile: string, taskId: string): string {
  return `${homeFile}\0${taskId}`;
}

/** Counts what came from another file into everything that calibration and hints are computed from. */
export function countLearned(state: FileState, event: LearnedEvent, revision: number): void {
  switch (event.type) {
    case 'FailureAttributed':
      attributed(state, event.data, revision);
      return;
    case 'AttributionWithdrawn':
      withdrawn(state, event.data);
      return;
    case 'HistoryInherited':
      inherited(state, event.data, revision);
      return;
    default:
      event satisfies never;
  }
}

/** All results of a file's attempts: its own, and those of the files that were renamed to it. */
export function resultsOf(state: FileState): Results {
  if (state.inherited.size === 0) return state;
  const total: Results = { counted: 0, builder: { pass: 0, fail: 0, blocked: 0 }, attributed: 0, histogram: new Map() };
  for (const { counted, builder, attributed, histogram } of [...state.inherited.values(), state]) {
    total.counted += counted;
    total.attributed += attributed;
    for (const verdict of ['pass', 'fail', 'blocked'] as const) total.builder[verdict] += builder[verdict];
    for (const entry of histogram.values()) addToHistogram(total.histogram, entry);
  }
  return total;
}

/** Passes and fails on a file before now, those that other homes attributed to it among them: a file that has any is not cold. */
export function priorResults(state: FileState): number {
  const { counted, attributed } = resultsOf(state);
  return counted + attributed;
}

/** A pattern counts once an attempt, however many diagnostics, files or spellings of its code there were. */
export function distinctPatterns(patterns: ErrorPattern[]): ErrorPattern[] {
  return [...new Map(patterns.map((pattern) => [patternKey(pattern), pattern] as const).reverse()).values()].reverse();
}

/** Entries are replaced, not changed: forks share them. */
export function addToHistogram(histogram: Map<string, HistogramEntry>, entry: HistogramEntry): void {
  const key = patternKey(entry);
  const { pattern, code, category, attempts, newest, lastAt } = histogram.get(key) ?? { ...entry, attempts: 0, newest: [], lastAt: null };
  histogram.set(key, {
    ...{ pattern, code, category, attempts: attempts + entry.attempts },
    newest: [...newest, ...entry.newest].slice(-NEWEST_KEPT),
    lastAt: lastAt === null || (entry.lastAt !== null && entry.lastAt > lastAt) ? entry.lastAt : lastAt,
  });
}

/** One failed attempt's entry for one of its patterns. */
export function seenIn({ attemptId, at }: { attemptId: string; at: string }, { pattern, code, category }: ErrorPattern): HistogramEntry {
  return { pattern, code, category, attempts: 1, newest: [attemptId], lastAt: at };
}

/** Takes an attempt's part in an entry back. When it was seen last stays as it was. */
function takeBack(histogram: Map<string, HistogramEntry>, pattern: ErrorPattern, attemptId: string): void {
  const key = patternKey(pattern);
  const entry = histogram.get(key);
  if (entry === undefined) return;
  if (entry.attempts > 1)
    histogram.set(key, { ...entry, attempts: entry.attempts - 1, newest: entry.newest.filter((id) => id !== attemptId) });
  else histogram.delete(key);
}

function attributed(state: FileState, data: EventData<'FailureAttributed'>, revision: number): void {
  const { attemptId, homeFile, taskId, model, configuration, patterns, profile, at } = data;
  const evidence = state.evidence.get(configuration) ?? noEvidence(model);
  const failure = {
    attemptId,
    taskId: taskAtHome(homeFile, taskId),
    imported: false,
    profile,
    trial: null,
    at: Date.parse(at),
    sequence: revision,
  };
  addFailure(evidence, failure, patterns);
  state.evidence.set(configuration, evidence);
  state.attributed += 1;
  for (const pattern of distinctPatterns(patterns)) addToHistogram(state.histogram, seenIn(data, pattern));
}

function withdrawn(
  state: FileState,
  { attemptId, homeFile, taskId, configuration, reason, patterns, attempts }: EventData<'AttributionWithdrawn'>,
) {
  const evidence = state.evidence.get(configuration);
  const task = taskAtHome(homeFile, taskId);
  if (reason === 'overcome') {
    if (evidence !== undefined && attempts === null) overcome(evidence, task);
    if (evidence !== undefined && attempts !== null) withdraw(evidence, task, attempts);
    return;
  }
  if (evidence !== undefined) withdraw(evidence, task, [attemptId]);
  state.attributed -= 1;
  for (const pattern of distinctPatterns(patterns)) takeBack(state.histogram, pattern, attemptId);
}

/**
 * Results are kept by the file whose own they were, each as it was known last: what comes back in a circle of renames is not counted
 * twice, and what is this file's own does not come from elsewhere at all. Tasks and frontier knowledge of the file itself stand.
 */
function inherited(state: FileState, data: EventData<'HistoryInherited'>, revision: number): void {
  const { repo, targetFile, results, failures, tasks, frontier } = data;
  for (const { file, upToRevision, counted, builder, attributed: fromHomes, histogram } of results) {
    if (file === targetFile || (state.inherited.get(file)?.upToRevision ?? -1) >= upToRevision) continue;
    const entries = new Map(histogram.map((entry) => [patternKey(entry), { ...entry, newest: [], lastAt: null }]));
    state.inherited.set(file, { upToRevision, counted, builder, attributed: fromHomes, histogram: entries });
  }
  const own = fileStream(fileIdOf(repo, targetFile));
  failures.forEach(({ attemptId, taskId, homeFile, model, configuration, at, imported, profile, patterns }, place) => {
    const evidence = state.evidence.get(configuration) ?? noEvidence(model);
    if (isEvidence(evidence, attemptId) || streamOfId('a', attemptId) === own) return;
    const task = homeFile === null ? taskId : taskAtHome(homeFile, taskId);
    // Older than what follows here, newer than what stood here before, each later than the one before it.
    const sequence = revision - 1 + (place + 1) / (failures.length + 1);
    addFailure(evidence, { attemptId, taskId: task, imported, profile, trial: null, at: Date.parse(at), sequence }, patterns);
    state.evidence.set(configuration, evidence);
  });
  for (const { taskId, failedPatterns, frontierFailures, passedSinceFrontier, passedAfter } of tasks) {
    if (state.tasks.has(taskId)) continue;
    state.tasks.set(taskId, {
      failedPatterns: new Set(failedPatterns),
      frontierFailures: new Map(frontierFailures.map((failed) => [failed.frontier, new Set(failed.descriptions)])),
      passedSinceFrontier: passedSinceFrontier && new Set(passedSinceFrontier),
      passedAfter,
    });
  }
  for (const known of frontier) {
    const key = frontierKey(known);
    if (!state.frontier.has(key)) state.frontier.set(key, known);
  }
}

/** What knowledge of a frontier is kept by: the pattern, or the kind of signal where it has none, and what was said of it. */
export function frontierKey({ pattern, kind, classification }: { pattern: string | null; kind: string | null; classification: string }) {
  const of = pattern === null ? (kind ?? '') : patternKey({ pattern, code: codeOf(pattern) });
  return `${of}\0${classification}`;
}
