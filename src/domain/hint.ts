import { patternKey } from '../catalogue/primitives.js';
import { type LiveSignal, liveSignals } from './calibrate.js';
import { resultsOf } from './learned.js';
import type { PolicyInForce } from './policy-in-force.js';
import type { FileState, FrontierKnowledge, HistogramEntry } from './state.js';

/** The text that conditions the next attempt, and what it was made from: counts are the builder seat's, of all models. */
export interface Hint {
  /** "" without history. Never generated code, never a source line. */
  text: string;
  total: number;
  passed: number;
  failed: number;
  blocked: number;
  patterns: { pattern: string; code: string | null; category: string; occurrences: number; currentTask: boolean }[];
  signals: LiveSignal[];
  frontier: FrontierKnowledge[];
  previouslyPassed: { attempts: number } | null;
}

/** Made from all results on the file (domain.md, Hint); `taskId` null: for no task in particular. */
export function composeHint(
  state: FileState,
  asker: { taskId: string | null; model: string; configuration: string },
  policy: PolicyInForce,
  now: string,
): Hint {
  const { builder, attributed, histogram } = resultsOf(state);
  const { pass: passed, fail: failed, blocked } = builder;
  const task = asker.taskId === null ? undefined : state.tasks.get(asker.taskId);
  const patterns = [...histogram.values()]
    .map((entry) => ({ ...entry, occurrences: entry.attempts, currentTask: task?.failedPatterns.has(patternKey(entry)) ?? false }))
    .sort((a, b) => Number(b.currentTask) - Number(a.currentTask) || b.occurrences - a.occurrences || (labelOf(a) < labelOf(b) ? -1 : 1))
    .map(({ attempts: _attempts, ...pattern }) => pattern);
  const signals = liveSignals(state, asker.configuration, policy, now);
  const frontier = [...state.frontier.values()];
  const previouslyPassed = task?.passedAfter ? { attempts: task.passedAfter } : null;

  const total = passed + failed;
  const sentences: string[] = [];
  if (total > 0) sentences.push(`This file has ${count(total, 'prior attempt')}: ${passed} passed, ${failed} failed.`);
  if (attributed > 0) sentences.push(`${count(attributed, 'failure')} of work on other files had errors in this one.`);
  if (patterns.length > 0) sentences.push(`Known failure patterns: ${patterns.map(nameWithCount).join(', ')}.`);
  if (previouslyPassed) sentences.push(`This task previously passed after ${count(previouslyPassed.attempts, 'attempt')}.`);
  if (signals.length > 0) sentences.push(`CALIBRATION SIGNAL — beyond ${asker.model} capacity: ${signals.map(nameSignal).join('; ')}.`);
  sentences.push(...frontierSentences(frontier, [...(task?.frontierFailures.keys() ?? [])]));
  return { text: sentences.join(' '), total, passed, failed, blocked, patterns, signals, frontier, previouslyPassed };
}

function count(n: number, noun: string): string {
  return `${n} ${noun}${n === 1 ? '' : 's'}`;
}

/** How a person names a pattern: its code, else the whole name. */
function labelOf(pattern: { pattern: string | null; code: string | null }): string {
  return pattern.code ?? pattern.pattern ?? '';
}

function nameWithCount(pattern: Omit<HistogramEntry, 'attempts'> & { occurrences: number }): string {
  return `${labelOf(pattern)} (${pattern.category.replaceAll('_', ' ')}, ${count(pattern.occurrences, 'occurrence')})`;
}

function nameSignal(signal: LiveSignal): string {
  if (signal.kind === 'per_file') return `${count(signal.occurrences, 'failure')} across ${count(signal.distinctPatterns ?? 0, 'pattern')}`;
  return `${labelOf(signal)} in ${count(signal.occurrences, 'attempt')}`;
}

function frontierSentences(knowledge: FrontierKnowledge[], failedBy: string[]): string[] {
  const solved = knowledge.filter((known) => known.verdict === 'pass');
  const patterns = solved.flatMap((known) => known.pattern ?? []);
  const sentences: string[] = [];
  if (patterns.length > 0)
    sentences.push(`Frontier solved ${patterns.length === 1 ? 'this pattern' : 'these patterns'}: ${patterns.join(', ')}.`);
  if (solved.some((known) => known.kind === 'per_file')) sentences.push('Frontier solved several patterns of this file at once.');
  for (const frontier of failedBy) sentences.push(`The frontier ${frontier} failed this task.`);
  return sentences;
}
