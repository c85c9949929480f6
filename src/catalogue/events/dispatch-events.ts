import { z } from 'zod';
import { carryMode, instant, name, outcome, seat, signalKind, step, storedText } from '../primitives.js';
import { dispatchEvent, fileEvent } from './base.js';
import { basedOn, decidingInputs } from './shapes.js';

/**
 * A task's description and prompt are stored texts; `descriptionHash` is what makes two requests one task (null without a description).
 * `configuration` is what evidence is keyed by, as the policy of that moment derived it.
 */
export const DispatchOpened = z.strictObject({
  ...dispatchEvent,
  targetFiles: z.array(z.string()).min(1),
  taskId: name,
  description: storedText.nullable(),
  descriptionHash: z.string().nullable(),
  prompt: storedText.nullable(),
  parentTaskId: name.nullable(),
  model: name,
  configuration: z.string(),
  frontier: name.nullable(),
  budget: z.number().int().positive(),
  profile: z.string().nullable(),
  arm: name.nullable(),
  batch: name.nullable(),
  carry: carryMode,
  baseHash: name.nullable(),
  force: z.boolean(),
  cold: z.boolean(),
  leaseSeconds: z.number().int().positive(),
  leaseUntil: instant,
  /** How chance came to the arm; null where the caller named it, or where there is none. */
  assigned: z.strictObject({ experiment: name, stratum: z.enum(['cold', 'history']), propensity: z.number().positive().max(1) }).nullable(),
});

export const LeaseRenewed = z.strictObject({ ...dispatchEvent, leaseUntil: instant });

export const DuplicateDispatchPrevented = z.strictObject({
  ...fileEvent,
  taskId: name,
  model: name,
  rule: z.enum(['existing_proposal', 'already_running']),
  proposalId: z.string().nullable(),
  runningDispatchId: z.string().nullable(),
});

export const DispatchSkipped = z.strictObject({
  ...fileEvent,
  taskId: name,
  model: name,
  rule: z.enum(['infra_cooldown', 'task_hardness', 'infra_breaker']),
  retryAfterSeconds: z.number().nullable(),
});

/** `records` and `leftOut` count what the block held and what its budget dropped; `characters` is its length, `contentHash` its SHA-256. */
export const HistoryInjected = z.strictObject({
  ...dispatchEvent,
  forAttempt: z.number().int().positive(),
  mode: carryMode.exclude(['none']),
  source: z.enum(['hint', 'carry_forward']),
  records: z.number().int(),
  leftOut: z.array(z.string()),
  characters: z.number().int(),
  tokens: z.number().int().nullable(),
  contentHash: z.string(),
  leaseUntil: instant.nullable(),
});

/**
 * One decision: the step, the rule that gave it, and everything that it was computed from (`basedOn`: streams and the revision up to
 * which they were folded, -1 for an empty one; `policy`: hash; `decidedAt`: the command's time).
 */
export const NextStepDecided = z.strictObject({
  ...fileEvent,
  dispatchId: z.string().nullable(),
  taskId: name,
  step,
  rule: z.string(),
  terminal: z.boolean(),
  detail: z.string(),
  pattern: z.string().nullable(),
  occurrences: z.number().int().nullable(),
  threshold: z.number().int().nullable(),
  evidence: z.array(z.string()),
  retryAfterSeconds: z.number().nullable(),
  propensity: z.number().nullable(),
  proposalId: z.string().nullable(),
  runningDispatchId: z.string().nullable(),
  inputs: decidingInputs,
  decidedAt: instant,
  basedOn: z.array(basedOn).min(1),
  policy: z.string(),
});

export const ProposalStaged = z.strictObject({
  ...dispatchEvent,
  proposalId: z.string(),
  attemptId: z.string(),
  taskId: name,
  files: z.array(z.string()),
  seat,
  output: storedText,
  diff: storedText.nullable(),
  baseHash: name.nullable(),
  expiresAt: instant,
});

export const ProposalResolved = z.strictObject({
  ...dispatchEvent,
  proposalId: z.string(),
  resolution: z.enum(['accepted', 'rejected', 'superseded', 'expired']),
});

/** A running dispatch was told of a signal on its file that was raised by anything but its own attempt, of whatever builder configuration. */
export const SignalNoticed = z.strictObject({
  ...dispatchEvent,
  kind: signalKind,
  pattern: z.string().nullable(),
  raisedAtRevision: z.number().int(),
});

/**
 * `cause` says for an abandoned dispatch whether its lease was lost or a caller asked; `note` is the caller's reason. `otherFiles` are
 * those that the task named beside its home.
 */
export const DispatchClosed = z.strictObject({
  ...dispatchEvent,
  taskId: name,
  otherFiles: z.array(z.string()),
  outcome,
  cause: z.enum(['lease_lost', 'caller']).nullable(),
  note: z.string().nullable(),
});
