import type { FileEvent } from '../catalogue/events.js';
import { type ErrorPattern, patternKey, type Verdict } from '../catalogue/primitives.js';
import { classify } from './record-attempt.js';
import { type Context, Recorder } from './recorder.js';
import { calibrateAll } from './settle.js';
import type { AttemptState, FileState } from './state.js';

export interface Correction {
  verdict: Verdict;
  patterns: ErrorPattern[];
  reason: string;
  source: string;
}

/**
 * Says that a verdict was wrong. It decides nothing: what was counted is counted again as if it had been judged so at once, and signals
 * are brought in line in the same append. A frontier's outcome is classified anew, and a proposal that did not pass after all is
 * rejected. What stands already is no event. `state` must hold every attempt of the stream, also those that decisions no longer need.
 */
export function correctVerdict(state: FileState, attempt: AttemptState, correction: Correction, context: Context): FileEvent[] {
  const { verdict, patterns, reason, source } = correction;
  if (attempt.verdict === verdict && sameKeys(attempt.patterns, patterns)) return [];
  const recorder = new Recorder(state, context);
  const { attemptId, dispatchId, seat, model, configuration, taskId, classified = [], ledBy = null } = attempt;
  const changed = verdict !== attempt.verdict;
  const corrects = {
    seat,
    model,
    configuration,
    taskId,
    verdict: attempt.verdict,
    patterns: attempt.patterns,
    classified: changed ? classified : [],
  };
  recorder.add('VerdictCorrected', { dispatchId, attemptId, verdict, patterns, reason, source, corrects });
  const dispatch = state.dispatches.get(dispatchId);
  if (changed && seat === 'frontier' && dispatch !== undefined) classify(recorder, dispatch, verdict, attemptId, model, ledBy);
  calibrateAll(recorder, 'corrected');
  if (verdict !== 'pass')
    for (const { proposalId } of [...state.proposals.values()].filter((proposal) => proposal.attemptId === attemptId))
      recorder.add('ProposalResolved', { dispatchId, proposalId, resolution: 'rejected' });
  return recorder.events;
}

function sameKeys(a: ErrorPattern[], b: ErrorPattern[]): boolean {
  const keys = (patterns: ErrorPattern[]) => [...new Set(patterns.map(patternKey))].sort().join('\0');
  return keys(a) === keys(b);
}
