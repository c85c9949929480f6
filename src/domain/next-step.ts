import type { DecidingInputs } from '../catalogue/events/shapes.js';
import { patternKey, type Step } from '../catalogue/primitives.js';
import { type LiveSignal, liveSignals } from './calibrate.js';
import { chanceOf } from './ids.js';
import { cooldownOf, heldUpFor, type InfraState, noInfraTrouble } from './infra-breaker.js';
import { priorResults } from './learned.js';
import type { PolicyInForce } from './policy-in-force.js';
import type { AttemptState, Decision, DispatchState, FileState } from './state.js';

/** What a rule says; {@link decideNext} adds what it was based on. */
type Ruling = Omit<Decision, 'basedOn' | 'policy' | 'inputs'>;

const TERMINAL: readonly Step[] = ['done', 'stop', 'decompose'];

function ruling(step: Step, rule: string, detail: string, more: Partial<Ruling> = {}): Ruling {
  return {
    step,
    rule,
    terminal: TERMINAL.includes(step),
    detail,
    pattern: null,
    occurrences: null,
    threshold: null,
    evidence: [],
    retryAfterSeconds: null,
    propensity: null,
    proposalId: null,
    runningDispatchId: null,
    ...more,
  };
}

function because(signal: LiveSignal): Partial<Ruling> {
  const { pattern, occurrences, threshold, evidence } = signal;
  return { pattern, occurrences, threshold, evidence };
}

export function describeSignal(signal: LiveSignal): string {
  if (signal.kind === 'per_pattern') return `${signal.pattern} in ${signal.occurrences} attempts (threshold ${signal.threshold})`;
  return `${signal.occurrences} failures across ${signal.distinctPatterns} patterns (threshold ${signal.threshold})`;
}

/**
 * The next step: the first rule of domain.md's tables that holds. `state` is folded up to the decision's `basedOn`, the command's own
 * facts included; with the same inputs, policy and time it decides the same again. `infra` is for openings: whether the infrastructure
 * holds up all files of the repo.
 */
export function decideNext(
  state: FileState,
  inputs: DecidingInputs,
  policy: PolicyInForce,
  now: string,
  infra: InfraState = noInfraTrouble,
): Ruling {
  switch (inputs.command) {
    case 'open_dispatch':
      return onOpening(state, inputs, policy, now, infra);
    case 'record_attempt':
      return afterAttempt(state, ...attemptOf(state, inputs), policy, now);
    case 'record_frontier_outcome':
      return afterFrontier(attemptOf(state, inputs)[1]);
    default:
      return inputs satisfies never;
  }
}

function attemptOf(state: FileState, inputs: { dispatchId: string; attemptId: string }): [DispatchState, AttemptState] {
  const dispatch = state.dispatches.get(inputs.dispatchId);
  const attempt = state.attempts.get(inputs.attemptId);
  if (dispatch === undefined || attempt === undefined) throw new Error(`no attempt ${inputs.attemptId} was folded in before its decision`);
  return [dispatch, attempt];
}

function onOpening(
  state: FileState,
  inputs: DecidingInputs & { command: 'open_dispatch' },
  policy: PolicyInForce,
  now: string,
  infra: InfraState,
): Ruling {
  const { taskId, configuration, frontier, force } = inputs;

  const proposal = [...state.proposals.values()].find(
    (staged) =>
      staged.taskId === taskId && staged.expiresAt > now && (!staged.baseHash || !inputs.baseHash || staged.baseHash === inputs.baseHash),
  );
  if (proposal && !force)
    return ruling('done', 'existing_proposal', `proposal ${proposal.proposalId} for this task is pending`, {
      proposalId: proposal.proposalId,
    });

  const running = openDispatches(state).find((dispatch) => dispatch.taskId === taskId && dispatch.leaseUntil > now);
  if (running)
    return ruling('wait', 'already_running', `dispatch ${running.dispatchId} builds this task until ${running.leaseUntil}`, {
      runningDispatchId: running.dispatchId,
    });

  const heldUp = infraCooldown(state, policy, now) ?? infraBreaker(infra, inputs.dispatchId, now);
  if (heldUp && !force) return heldUp;

  if (!force && frontier !== null && hasFailed(state, frontier, inputs))
    return ruling('decompose', 'task_hardness', `${frontier} failed this task before, and nothing has passed it since`);

  const signals = liveSignals(state, configuration, policy, now);
  const solved = state.tasks.get(taskId)?.passedSinceFrontier;
  if (!force && frontier !== null && signals[0] && solved && !solved.has(configuration)) {
    const probe = chanceOf(inputs.dispatchId) < policy.probeRate;
    const detail = `a frontier passed this task, and the signal is live: ${describeSignal(signals[0])}`;
    return probe
      ? ruling('attempt', 'capacity_probe', `${detail}; tried again with the builder`, {
          ...because(signals[0]),
          propensity: policy.probeRate,
        })
      : ruling('escalate', 'confirmed_capacity', detail, { ...because(signals[0]), propensity: 1 - policy.probeRate });
  }

  const prior = priorResults(state);
  if (prior === 0) return ruling('attempt', 'cold_start', 'nothing has passed or failed on this file yet');
  return ruling('attempt', 'history', `${prior} earlier attempts on this file passed or failed`);
}

export function openDispatches(state: FileState): DispatchState[] {
  return [...state.dispatches.values()].filter((dispatch) => dispatch.status === 'open');
}

/** What opening a dispatch would be refused with because the same infrastructure failure was met again and again. */
export function infraCooldown(state: FileState, policy: PolicyInForce, now: string): Ruling | null {
  const run = state.blockedRun;
  if (run === null || run.length < policy.infraCooldown.after) return null;
  const left = (Date.parse(run.lastAt) + cooldownOf(run.infraKind, policy) * 1000 - Date.parse(now)) / 1000;
  if (left <= 0) return null;
  return ruling('stop', 'infra_cooldown', `${run.length} attempts in a row were blocked by ${run.infraKind}`, {
    occurrences: run.length,
    threshold: policy.infraCooldown.after,
    retryAfterSeconds: Math.ceil(left),
  });
}

/**
 * What opening a dispatch would be refused with because the infrastructure holds up all files of the repo. Once the cooldown is over, it
 * is not refused; it may then be opened as the only probe.
 */
export function infraBreaker(infra: InfraState, dispatchId: string, now: string): Ruling | null {
  const retryAfterSeconds = heldUpFor(infra, dispatchId, now);
  if (infra.open === null || retryAfterSeconds === 0) return null;
  const { infraKind, targetFiles, until, probe } = infra.open;
  const why = until > now || probe === null ? `${targetFiles.join(', ')}` : `and ${probe.dispatchId} tries whether it still is`;
  return ruling('stop', 'infra_breaker', `the repo is blocked by ${infraKind}: ${why}`, { retryAfterSeconds });
}

function hasFailed(state: FileState, frontier: string, task: { taskId: string; descriptionHash: string | null }): boolean {
  return state.tasks.get(task.taskId)?.frontierFailures.get(frontier)?.has(task.descriptionHash) === true;
}

function afterAttempt(state: FileState, dispatch: DispatchState, attempt: AttemptState, policy: PolicyInForce, now: string): Ruling {
  if (attempt.verdict === 'pass') return ruling('done', 'passed', `attempt ${attempt.attempt} passed`);
  if (attempt.late) return lateResult(attempt);
  if (attempt.verdict === 'blocked') return isUndecided(dispatch, attempt) ? undecided(attempt) : blocked(attempt);

  const spent = dispatch.counted >= dispatch.budget;
  const signal = leadingSignal(liveSignals(state, dispatch.configuration, policy, now), dispatch, attempt);
  if (signal && (spent || dispatch.counted >= policy.escalateFromAttempt))
    return ruling(dispatch.frontier === null ? 'stop' : 'escalate', signal.kind, describeSignal(signal), because(signal));
  if (spent)
    return ruling('stop', 'budget_exhausted', `${dispatch.counted} of ${dispatch.budget} attempts failed`, {
      occurrences: dispatch.counted,
      threshold: dispatch.budget,
    });
  if (repeats(dispatch, attempt)) {
    const detail = `attempt ${attempt.attempt} failed as an earlier one of this dispatch did`;
    if (!dispatch.replanned) return ruling('replan', 'repeated_signature', detail);
    return ruling(
      dispatch.frontier === null ? 'retry' : 'escalate',
      'repeated_signature',
      `${detail}, and a new plan was asked for before`,
    );
  }
  return ruling('retry', 'within_budget', `${dispatch.counted} of ${dispatch.budget} attempts spent`);
}

/** `failedSignatures` holds this attempt's own as its last. */
function repeats(dispatch: DispatchState, attempt: AttemptState): boolean {
  return attempt.signature !== null && dispatch.failedSignatures.slice(0, -1).includes(attempt.signature);
}

/**
 * Of the live signals that a dispatch is part of (`per_file` always, `per_pattern` where the pattern failed an attempt of it), the one
 * that a decision names: `per_pattern` before `per_file`; among those, one whose pattern this attempt has, then the strongest.
 */
export function leadingSignal(
  signals: LiveSignal[],
  dispatch: Pick<DispatchState, 'failedPatterns'>,
  attempt: AttemptState | null,
): LiveSignal | undefined {
  const own = new Set(attempt?.patterns.map(patternKey));
  const stuck = signals.filter((signal) => signal.kind === 'per_pattern' && dispatch.failedPatterns.has(signal.code ?? signal.pattern!));
  return (
    stuck.find((signal) => own.has(signal.code ?? signal.pattern!)) ?? stuck[0] ?? signals.find((signal) => signal.kind === 'per_file')
  );
}

function afterFrontier(attempt: AttemptState): Ruling {
  if (attempt.verdict === 'pass') return ruling('done', 'frontier_passed', `${attempt.model} passed`);
  if (attempt.late) return lateResult(attempt);
  if (attempt.verdict === 'blocked') return blocked(attempt);
  return ruling('decompose', 'frontier_failed', `${attempt.model} failed this task`);
}

/** The text could not tell the machine's doing from the model's, and the verifier was not asked again just before. */
function isUndecided(dispatch: DispatchState, attempt: AttemptState): boolean {
  return attempt.confidence === 'low' && dispatch.last?.step !== 'reverify';
}

/** The workspace is still as the attempt left it: the verifier is run again there, before it is reverted. */
function undecided(attempt: AttemptState): Ruling {
  const detail = `attempt ${attempt.attempt} may have been blocked by ${attempt.infraKind}: run the verifier again on the same workspace`;
  return ruling('reverify', 'undecided', detail);
}

function blocked(attempt: AttemptState): Ruling {
  return ruling('stop', 'infra_blocked', `attempt ${attempt.attempt} was blocked by ${attempt.infraKind}`);
}

function lateResult(attempt: AttemptState): Ruling {
  return ruling(
    'stop',
    'late_result',
    `attempt ${attempt.attempt} came after its dispatch was closed for its lost lease, and did not pass`,
  );
}
