import type { EventData, FileEvent } from '../catalogue/events.js';
import { composeHint, type Hint } from '../domain/hint.js';
import { fileIdOf, fileStream } from '../domain/ids.js';
import type { Context } from '../domain/recorder.js';
import type { Decision, DispatchState, FileState, PendingProposal } from '../domain/state.js';
import type { Handled } from './file-command.js';
import type { Position } from './file-history.js';
import type { Payloads } from './payloads.js';

/** A decision as callers see it: of the reason, only what applies. */
export function nextOf(decision: Decision | EventData<'NextStepDecided'>) {
  const { step, rule, terminal, detail, pattern, occurrences, threshold, evidence, retryAfterSeconds, propensity, basedOn, policy } =
    decision;
  const applies = { pattern, occurrences, threshold, retryAfterSeconds, propensity };
  return {
    step,
    terminal,
    reason: {
      rule,
      detail,
      ...Object.fromEntries(Object.entries(applies).filter(([, value]) => value !== null)),
      ...(evidence.length > 0 && { evidence }),
      basedOn,
      policy,
    },
  };
}

export function dispatchOf(dispatch: DispatchState) {
  const { dispatchId, status, builderAttempts, budget, counted, leaseUntil } = dispatch;
  const outcome = dispatch.status === 'closed' ? dispatch.outcome : null;
  return {
    dispatchId,
    status,
    outcome,
    attempts: builderAttempts,
    attemptsLeft: status === 'open' ? Math.max(0, budget - counted) : 0,
    leaseUntil,
  };
}

export async function proposalOf(proposal: PendingProposal, targetFile: string, payloads: Payloads) {
  const { proposalId, taskId, files, seat, stagedAt, baseHash } = proposal;
  const [output, diff] = await Promise.all([payloads.load(proposal.output), payloads.loadOptional(proposal.diff)]);
  return { proposalId, taskId, targetFile, files, seat, output, diff, status: 'pending' as const, stagedAt, baseHash };
}

/** Patterns that a hint lists, the most telling ones. */
const MOST_PATTERNS = 100;

/** A hint as callers see it; in a dispatch that carries no history its text is empty. */
export function hintOf(hint: Hint, carried = true) {
  const signals = hint.signals.map(({ kind, pattern, occurrences }) => ({ kind, pattern, occurrences }));
  const frontier = hint.frontier.map(({ pattern, verdict, classification }) => ({ pattern, verdict, classification }));
  const patterns = hint.patterns.slice(0, MOST_PATTERNS).map((pattern) => ({ ...pattern, evidence: [...pattern.evidence] }));
  return { ...hint, text: carried ? hint.text : '', patterns, signals, frontier };
}

/** Of which other files' streams a file has learned, and how far. */
export function learnedFromOf({ learnedFrom }: FileState, repo: string) {
  return [...learnedFrom].map(([targetFile, revision]) => ({ stream: fileStream(fileIdOf(repo, targetFile)), targetFile, revision }));
}

export function hintFor(state: FileState, asker: { taskId: string | null; model: string; configuration: string }, context: Context): Hint {
  return composeHint(state, asker, context.policy, context.now);
}

/** The command's own event of a type, or undefined where it led to none. */
export function eventOf<T extends FileEvent['type']>(handled: Handled<unknown>, type: T): EventData<T> | undefined {
  return handled.events.find((event) => event.type === type)?.data as EventData<T> | undefined;
}

/** What every answer about a dispatch ends with. */
export function standing(dispatch: DispatchState, position: Position) {
  return { dispatch: dispatchOf(dispatch), profile: dispatch.profile, position };
}
