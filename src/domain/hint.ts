import { patternKey } from '../catalogue/primitives.js';
import { type LiveSignal, liveSignals } from './calibrate.js';
import { resultsOf } from './learned.js';
import type { PolicyInForce } from './policy-in-force.js';
import type { FileState, FrontierKnowledge } from './state.js';

/** A pattern that the file is known for: what failed with it, and whether that still stands. */
export interface HintedPattern {
  pattern: string;
  code: string | null;
  category: string;
  occurrences: number;
  /** The asker's task failed with it. */
  currentTask: boolean;
  /** The newest attempts that failed with it, oldest first, at most 5. */
  evidence: readonly string[];
  lastSeen: string | null;
  /** Nothing that failed with it is live any more, for any builder: its tasks were passed, or it no longer counts. */
  overcome: boolean;
  /** Not seen for 30 days. */
  old: boolean;
}

/** Patterns that the text names; the others are counted. */
const MOST_NAMED = 12;
const OLD_MS = 30 * 24 * 3_600_000;

/** The text that conditions the next attempt, and what it was made from: counts are the builder seat's, of all models. */
export interface Hint {
  /** "" without history. Never generated code, never a source line. */
  text: string;
  total: number;
  passed: number;
  failed: number;
  blocked: number;
  patterns: HintedPattern[];
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
  const live = new Set([...state.evidence.values()].flatMap(({ tallies }) => [...tallies.keys()]));
  const patterns = [...histogram.values()]
    .map((entry): HintedPattern => {
      const { pattern, code, category, attempts: occurrences, newest: evidence, lastAt: lastSeen } = entry;
      const key = patternKey(entry);
      const old = lastSeen !== null && Date.parse(now) - Date.parse(lastSeen) > OLD_MS;
      const currentTask = task?.failedPatterns.has(key) ?? false;
      return { pattern, code, category, occurrences, currentTask, evidence, lastSeen, overcome: !live.has(key), old };
    })
    .sort((a, b) => Number(b.currentTask) - Number(a.currentTask) || b.occurrences - a.occurrences || (labelOf(a) < labelOf(b) ? -1 : 1));
  const signals = liveSignals(state, asker.configuration, policy, now);
  const frontier = [...state.frontier.values()];
  const previouslyPassed = task?.passedAfter ? { attempts: task.passedAfter } : null;

  const total = passed + failed;
  const sentences: string[] = [];
  if (total > 0) sentences.push(`This file has ${count(total, 'prior attempt')}: ${passed} passed, ${failed} failed.`);
  if (attributed > 0) sentences.push(`${count(attributed, 'failure')} of work on other files had errors in this one.`);
  if (patterns.length > 0) sentences.push(`Known failure patterns: ${named(patterns, nameWithCount)}.`);
  for (const [what, those] of [
    ['Overcome since', patterns.filter(({ overcome }) => overcome)],
    ['Not seen for over 30 days', patterns.filter(({ old }) => old)],
  ] as const)
    if (those.length > 0) sentences.push(`${what}: ${named(those, labelOf)}.`);
  if (previouslyPassed) sentences.push(`This task previously passed after ${count(previouslyPassed.attempts, 'attempt')}.`);
  if (signals.length > 0) sentences.push(`CALIBRATION SIGNAL — beyond ${asker.model} capacity: ${named(signals, nameSignal, '; ')}.`);
  sentences.push(...frontierSentences(frontier, [...(task?.frontierFailures.keys() ?? [])]));
  return { text: sentences.join(' '), total, passed, failed, blocked, patterns, signals, frontier, previouslyPassed };
}

function count(n: number, noun: string): string {
  return `${n} ${noun}${n === 1 ? '' : 's'}`;
}

function named<T>(items: readonly T[], name: (item: T) => string, between = ', '): string {
  const more = items.length > MOST_NAMED ? ` and ${items.length - MOST_NAMED} more` : '';
  return `${items.slice(0, MOST_NAMED).map(name).join(between)}${more}`;
}

/** How a person names a pattern: its code, else the whole name. */
function labelOf(pattern: { pattern: string | null; code: string | null }): string {
  return pattern.code ?? pattern.pattern ?? '';
}

function nameWithCount(pattern: HintedPattern): string {
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
    sentences.push(
      `Frontier solved ${patterns.length === 1 ? 'this pattern' : 'these patterns'}: ${named(patterns, (pattern) => pattern)}.`,
    );
  if (solved.some((known) => known.kind === 'per_file')) sentences.push('Frontier solved several patterns of this file at once.');
  for (const frontier of failedBy) sentences.push(`The frontier ${frontier} failed this task.`);
  return sentences;
}
