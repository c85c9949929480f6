import type { FileEvent } from '../catalogue/events.js';
import { type ErrorPattern, patternKey, type Seat, type StoredText, type Verdict } from '../catalogue/primitives.js';
import { configurationOf } from './calibrate.js';
import { canonicalJson } from './chain.js';
import { attemptIdOf, sha256 } from './ids.js';
import { classify, whatLedTo } from './record-attempt.js';
import { type Context, Recorder } from './recorder.js';
import type { FileState } from './state.js';

/** A claim record, with the models that it does not name. `frontier` is null where none was asked. */
export interface ClaimedDispatch {
  dispatchId: string;
  taskId: string;
  description: StoredText;
  descriptionHash: string;
  model: string;
  attempts: number;
  passed: boolean;
  /** What the builder failed with; empty where the claim names nothing. */
  patterns: ErrorPattern[];
  /** What blocked the last attempt; null: nothing did. */
  infraKind: string | null;
  frontier: { model: string; verdict: Verdict; patterns: ErrorPattern[] } | null;
}

/**
 * One claim as one dispatch, opened and closed at once: all attempts but the last failed with the claim's pattern, the last as well
 * where the task failed. A claim has neither texts nor times, and no decision came with it, so none is recorded; signals are those that
 * its failures make or its pass ends. All attempts are marked as imported.
 */
export function importClaim(state: FileState, claim: ClaimedDispatch, context: Context): FileEvent[] {
  const recorder = new Recorder(state, context);
  const { dispatchId, taskId, description, descriptionHash, model, attempts, patterns, infraKind, frontier } = claim;
  const configuration = configurationOf(model);
  recorder.add('DispatchOpened', {
    ...{ dispatchId, targetFiles: [context.targetFile], taskId, description, descriptionHash, prompt: null, parentTaskId: null },
    ...{ model, configuration, frontier: frontier?.model ?? null, budget: attempts, profile: null, arm: null, assigned: null, batch: null },
    ...{ carry: 'none', baseHash: null, force: true, cold: state.counted === 0, leaseSeconds: 1, leaseUntil: context.now },
  });
  const result = (attempt: number, seat: Seat, by: string, verdict: Verdict, failed: ErrorPattern[], blockedBy: string | null) => {
    const attemptId = attemptIdOf(dispatchId, attempt);
    const common = { dispatchId, attemptId, attempt, seat, model: by, configuration, taskId, late: false, imported: true };
    recorder.add('AttemptRecorded', {
      ...common,
      ...{ output: { text: '' }, prompt: null, verifier: null, toolSteps: [], usage: null, sampling: null },
      ...{ startedAt: null, finishedAt: null, filesTouched: [], history: null, leaseUntil: null },
    });
    const reached = {
      patterns: failed,
      signature: signatureOf(failed),
      infraKind: blockedBy,
      classifierVersion: null,
      disagreement: null,
      trial: null,
    };
    recorder.add('VerdictReached', { ...common, verdict, ...reached, confidence: 'high' });
    return attemptId;
  };
  for (let attempt = 1; attempt <= attempts; attempt += 1) {
    const last = attempt === attempts;
    if (last && infraKind !== null) result(attempt, 'builder', model, 'blocked', [], infraKind);
    else if (last && claim.passed) result(attempt, 'builder', model, 'pass', [], null);
    else result(attempt, 'builder', model, 'fail', patterns, null);
    recorder.calibrate(configuration, model, 'overcome');
  }
  if (frontier !== null) {
    const dispatch = recorder.draft.dispatches.get(dispatchId)!;
    const ledBy = whatLedTo(recorder.draft, dispatch, context);
    const { verdict, patterns: failed, model: by } = frontier;
    const attemptId = result(attempts + 1, 'frontier', by, verdict, failed, verdict === 'blocked' ? 'unknown' : null);
    recorder.add('FrontierOutcomeRecorded', { dispatchId, attemptId, taskId, model: by, verdict, solicited: false, ledBy });
    classify(recorder, dispatch, verdict, attemptId, by, ledBy);
  }
  recorder.add('DispatchClosed', { dispatchId, taskId, outcome: outcomeOf(claim), cause: null, note: null, otherFiles: [] });
  return recorder.events;
}

function outcomeOf({ frontier, infraKind, passed }: ClaimedDispatch) {
  if (frontier !== null && frontier.verdict !== 'blocked') return frontier.verdict === 'pass' ? 'escalated_passed' : 'escalated_failed';
  if (infraKind !== null) return 'blocked';
  return passed ? 'passed' : 'exhausted';
}

/** Without verifier text failures are the same when their patterns are; without patterns, they are like no other. */
function signatureOf(patterns: ErrorPattern[]): string | null {
  return patterns.length === 0 ? null : sha256(canonicalJson(patterns.map(patternKey).sort()));
}
