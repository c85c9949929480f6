import type { DecidingInputs } from '../../src/catalogue/events/shapes.js';
import type { EventData, FileEvent } from '../../src/catalogue/events.js';
import { all } from './builders.js';

/**
 * domain.md once more, written naively over the list of events: no fold, no state, everything looked up from the start each time. Slow,
 * and independent of the code that it is compared with.
 */
type Verdict = EventData<'VerdictReached'>;
type Inputs<C extends DecidingInputs['command']> = Extract<DecidingInputs, { command: C }>;

const keyOf = (pattern: { code: string | null; pattern: string }) => pattern.code ?? pattern.pattern;
const keysOf = (verdict: Verdict) => new Set(verdict.patterns.map(keyOf));

/** The verdicts as they stand after corrections, in the order in which they came. */
function verdictsOf(events: readonly FileEvent[]): Verdict[] {
  const corrections = all(events, 'VerdictCorrected');
  return all(events, 'VerdictReached').map((reached) => {
    const newest = corrections.filter(({ attemptId }) => attemptId === reached.attemptId).at(-1);
    return newest ? { ...reached, verdict: newest.verdict, patterns: newest.patterns, confidence: 'high' as const } : reached;
  });
}

/** Whether the same output, for the same task on the same base, passed once and failed once. */
function contradicted(events: readonly FileEvent[], attemptId: string): boolean {
  const tried = (id: string) => {
    const { taskId, dispatchId, output, verifier } = all(events, 'AttemptRecorded').find((one) => one.attemptId === id)!;
    const { baseHash } = all(events, 'DispatchOpened').find((one) => one.dispatchId === dispatchId)!;
    return JSON.stringify([taskId, baseHash, output, verifier]);
  };
  const same = verdictsOf(events).filter((one) => tried(one.attemptId) === tried(attemptId));
  return same.some(({ verdict }) => verdict === 'pass') && same.some(({ verdict }) => verdict === 'fail');
}

export interface NaiveSignal {
  kind: 'per_pattern' | 'per_file';
  key: string;
  occurrences: number;
  newest: number;
}

/** Calibration: the signals of a configuration. */
export function naiveSignals(events: readonly FileEvent[], configuration: string): NaiveSignal[] {
  const own = verdictsOf(events).filter((verdict) => verdict.seat === 'builder' && verdict.configuration === configuration);
  const live = own.filter(
    ({ verdict, taskId, attemptId, confidence }, place) =>
      verdict === 'fail' &&
      confidence === 'high' &&
      !contradicted(events, attemptId) &&
      !own.slice(place + 1).some((later) => later.verdict === 'pass' && later.taskId === taskId),
  );
  const placesOf = (key: string) => live.flatMap((failure, place) => (keysOf(failure).has(key) ? [place] : []));
  const keys = [...new Set(live.flatMap((failure) => [...keysOf(failure)]))];
  const stuck = keys.filter((key) => placesOf(key).length >= 3);
  const signals: NaiveSignal[] = stuck.map((key) => {
    const places = placesOf(key);
    return { kind: 'per_pattern', key, occurrences: places.length, newest: places.at(-1)! };
  });
  const rest = live
    .map((failure, place) => ({ keys: keysOf(failure), place }))
    .filter((one) => one.keys.size > 0 && !stuck.some((key) => one.keys.has(key)));
  if (rest.length >= 6 && new Set(rest.flatMap((one) => [...one.keys])).size >= 3)
    signals.push({ kind: 'per_file', key: '', occurrences: rest.length, newest: rest.at(-1)!.place });
  return signals.sort((a, b) => b.occurrences - a.occurrences || b.newest - a.newest || (a.key < b.key ? -1 : 1));
}

/** Every configuration's signals, as lines. */
export function allNaiveSignals(events: readonly FileEvent[]): string[] {
  const configurations = [...new Set(all(events, 'VerdictReached').map(({ configuration }) => configuration))];
  return configurations.flatMap((one) => naiveSignals(events, one).map(({ kind, key }) => `${one} ${kind} ${key}`)).sort();
}

/** Next step: `step rule`, after the events that the decision was based on. */
export function naiveDecision(events: readonly FileEvent[], inputs: DecidingInputs, now: string): string {
  if (inputs.command === 'open_dispatch') return naiveOpening(events, inputs, now);
  const verdicts = verdictsOf(events);
  const attempt = verdicts.find(({ attemptId }) => attemptId === inputs.attemptId)!;
  if (inputs.command === 'record_attempt') return naiveAfterAttempt(events, verdicts, attempt);
  if (attempt.verdict === 'pass') return 'done frontier_passed';
  if (attempt.late) return 'stop late_result';
  return attempt.verdict === 'fail' ? 'decompose frontier_failed' : 'stop infra_blocked';
}

function naiveOpening(events: readonly FileEvent[], asked: Inputs<'open_dispatch'>, now: string): string {
  const { taskId, configuration, frontier, force } = asked;
  const verdicts = verdictsOf(events);
  const opened = all(events, 'DispatchOpened');

  const resolved = all(events, 'ProposalResolved').map(({ proposalId }) => proposalId);
  const pending = all(events, 'ProposalStaged').filter(
    (staged) => staged.taskId === taskId && !resolved.includes(staged.proposalId) && staged.expiresAt > now,
  );
  const sameBase = (a: string | null, b: string | null) => a === null || b === null || a === b;
  if (!force && pending.some((staged) => sameBase(staged.baseHash, asked.baseHash))) return 'done existing_proposal';

  const closed = all(events, 'DispatchClosed').map(({ dispatchId }) => dispatchId);
  const leaseOf = (dispatchId: string) =>
    events
      .flatMap(({ data }) => ('leaseUntil' in data && data.leaseUntil !== null && data.dispatchId === dispatchId ? [data.leaseUntil] : []))
      .at(-1)!;
  if (opened.some((one) => one.taskId === taskId && !closed.includes(one.dispatchId) && leaseOf(one.dispatchId) > now))
    return 'wait already_running';

  const [last, before] = [...verdicts].reverse();
  if (!force && last?.verdict === 'blocked' && before?.verdict === 'blocked' && last.infraKind === before.infraKind) {
    const cooldown = last.infraKind === 'lock' ? 30 : 900;
    if ((Date.parse(now) - Date.parse(last.at)) / 1000 < cooldown) return 'stop infra_cooldown';
  }

  const ofTask = verdicts.filter((verdict) => verdict.taskId === taskId);
  const describedAs = ({ dispatchId }: Verdict) => opened.find((one) => one.dispatchId === dispatchId)!.descriptionHash;
  const hard = ofTask.some(
    (one, place) =>
      one.seat === 'frontier' &&
      one.verdict === 'fail' &&
      one.model === frontier &&
      describedAs(one) === asked.descriptionHash &&
      !ofTask.slice(place + 1).some(({ verdict }) => verdict === 'pass'),
  );
  if (!force && hard) return 'decompose task_hardness';

  const solved = ofTask.some(
    (one, place) =>
      one.seat === 'frontier' &&
      one.verdict === 'pass' &&
      !ofTask
        .slice(place + 1)
        .some((later) => later.seat === 'builder' && later.verdict === 'pass' && later.configuration === configuration),
  );
  if (!force && frontier !== null && solved && naiveSignals(events, configuration).length > 0) return 'escalate confirmed_capacity';
  return verdicts.some(({ verdict }) => verdict !== 'blocked') ? 'attempt history' : 'attempt cold_start';
}

function naiveAfterAttempt(events: readonly FileEvent[], verdicts: Verdict[], attempt: Verdict): string {
  if (attempt.verdict === 'pass') return 'done passed';
  if (attempt.late) return 'stop late_result';
  const asked = all(events, 'NextStepDecided').findLast(({ dispatchId }) => dispatchId === attempt.dispatchId)?.step === 'reverify';
  if (attempt.verdict === 'blocked') return attempt.confidence === 'low' && !asked ? 'reverify undecided' : 'stop infra_blocked';
  const dispatch = all(events, 'DispatchOpened').find(({ dispatchId }) => dispatchId === attempt.dispatchId)!;
  const own = verdicts.filter((one) => one.dispatchId === attempt.dispatchId && one.seat === 'builder');
  const counted = own.filter(({ verdict }) => verdict !== 'blocked').length;
  const failed = own.filter(({ verdict }) => verdict === 'fail');
  const spent = counted >= dispatch.budget;

  const partOf = naiveSignals(events, dispatch.configuration).filter(
    ({ kind, key }) => kind === 'per_file' || failed.some((one) => keysOf(one).has(key)),
  );
  const named = partOf.some(({ kind }) => kind === 'per_pattern') ? 'per_pattern' : partOf[0]?.kind;
  if (named && (counted >= 2 || spent)) return `${dispatch.frontier === null ? 'stop' : 'escalate'} ${named}`;
  if (spent) return 'stop budget_exhausted';
  const repeated =
    attempt.signature !== null && failed.some((one) => one.attemptId !== attempt.attemptId && one.signature === attempt.signature);
  if (!repeated) return 'retry within_budget';
  const replanned = all(events, 'NextStepDecided').some(({ dispatchId, step }) => dispatchId === attempt.dispatchId && step === 'replan');
  if (!replanned) return 'replan repeated_signature';
  return dispatch.frontier === null ? 'retry repeated_signature' : 'escalate repeated_signature';
}
