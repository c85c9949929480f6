import { z } from 'zod';
import { DispatchOpened } from './events/dispatch-events.js';
import { EvidenceDiscounted } from './events/repo-events.js';
import { basedOn } from './events/shapes.js';
import {
  carryMode,
  classification,
  errorPattern,
  inPrompt,
  instant,
  name,
  outcome,
  seat,
  signalKind,
  step,
  verdict,
} from './primitives.js';

/** A place in a stream: `revision` -1 for an empty one; `commit` is the position that `?after=` takes, null where nothing was stored yet. */
export const position = z.strictObject({ stream: z.string(), revision: z.number().int(), commit: z.string().nullable() });

/** The next step, and why. Of the reason there is only what applies. */
export const nextStep = z.strictObject({
  step,
  terminal: z.boolean(),
  reason: z.strictObject({
    rule: z.string(),
    detail: z.string(),
    pattern: z.string().optional(),
    occurrences: z.number().int().optional(),
    threshold: z.number().int().optional(),
    evidence: z.array(z.string()).optional(),
    retryAfterSeconds: z.number().optional(),
    propensity: z.number().optional(),
    basedOn: z.array(basedOn),
    policy: z.string(),
  }),
});

/** `attempts` are the builder's; blocked ones spend no budget, so they and `attemptsLeft` may add up to more than it. */
export const dispatchStanding = z.strictObject({
  dispatchId: z.string(),
  status: z.enum(['open', 'closed']),
  outcome: outcome.nullable(),
  attempts: z.number().int(),
  attemptsLeft: z.number().int(),
  leaseUntil: instant,
});

/**
 * What a caller should know beside the answer. `flaky_verifier`: the same output was judged pass once and fail once, of `outputs` outputs
 * where the file as a whole is meant. `shared_file`: dispatch `dispatchId`, of another home, names `targetFile` too and is not known to
 * have ended; `shared_file_unknown`: whether there is such a one could not be found out just now.
 */
export const warning = z.strictObject({
  code: z.enum(['flaky_verifier', 'shared_file', 'shared_file_unknown']),
  detail: z.string(),
  outputs: z.number().int().optional(),
  dispatchId: z.string().optional(),
  targetFile: z.string().optional(),
});
export type Warning = z.infer<typeof warning>;

const warnings = z.array(warning).optional();

const standing = { dispatch: dispatchStanding, profile: z.string().nullable(), position, warnings };

export const proposal = z.strictObject({
  proposalId: z.string(),
  taskId: name,
  targetFile: z.string(),
  files: z.array(z.string()),
  seat,
  output: z.string(),
  diff: z.string().nullable(),
  status: z.literal('pending'),
  stagedAt: instant,
  baseHash: name.nullable(),
});

export const hint = z.strictObject({
  text: z.string(),
  total: z.number().int(),
  passed: z.number().int(),
  failed: z.number().int(),
  blocked: z.number().int(),
  patterns: z.array(
    z.strictObject({
      pattern: z.string(),
      code: z.string().nullable(),
      category: z.string(),
      occurrences: z.number().int(),
      currentTask: z.boolean(),
      evidence: z.array(z.string()),
      lastSeen: instant.nullable(),
      overcome: z.boolean(),
      old: z.boolean(),
    }),
  ),
  signals: z.array(z.strictObject({ kind: signalKind, pattern: z.string().nullable(), occurrences: z.number().int() })),
  frontier: z.array(z.strictObject({ pattern: z.string().nullable(), verdict: verdict.exclude(['blocked']), classification })),
  previouslyPassed: z.strictObject({ attempts: z.number().int() }).nullable(),
});

/** What this file has learned of others: up to which revision of their streams. */
const learnedFrom = z.array(z.strictObject({ stream: z.string(), targetFile: z.string(), revision: z.number().int() }));

export const openDispatchAnswer = z.strictObject({
  dispatchId: z.string().nullable(),
  coldStart: z.boolean(),
  hint,
  proposal: proposal.nullable(),
  runningDispatchId: z.string().nullable(),
  /** The condition that the dispatch is under; `assigned` where chance gave it. */
  arm: name.nullable(),
  carry: carryMode.nullable(),
  assigned: DispatchOpened.shape.assigned,
  learnedFrom,
  next: nextStep,
  ...standing,
  dispatch: dispatchStanding.nullable(),
});
export type OpenDispatchAnswer = z.infer<typeof openDispatchAnswer>;

export const attemptAnswer = z.strictObject({
  attemptId: z.string(),
  attempt: z.number().int(),
  verdict,
  patterns: z.array(errorPattern),
  signature: z.string().nullable(),
  infraKind: z.string().nullable(),
  disagreement: z.strictObject({ verdict, patterns: z.array(errorPattern) }).nullable(),
  late: z.boolean(),
  historyInPrompt: inPrompt.nullable(),
  proposal: proposal.nullable(),
  next: nextStep,
  ...standing,
});
export type AttemptAnswer = z.infer<typeof attemptAnswer>;

export const frontierOutcomeAnswer = z.strictObject({
  ...attemptAnswer.shape,
  classification: classification.nullable(),
  solicited: z.boolean(),
});
export type FrontierOutcomeAnswer = z.infer<typeof frontierOutcomeAnswer>;

/**
 * A block of earlier attempts for a prompt. `hash` is null, and the text empty, where nothing is carried; `tokens` are those of the
 * text; `leftOut` names what there was no room for.
 */
export const carryForwardAnswer = z.strictObject({
  mode: carryMode,
  text: z.string(),
  hash: z.string().nullable(),
  forAttempt: z.number().int(),
  tokens: z.number().int(),
  records: z.array(
    z.strictObject({
      attempts: z.array(z.number().int()),
      verdict,
      signature: z.string().nullable(),
      repeated: z.number().int(),
      patterns: z.array(errorPattern),
      firstFailedStep: z.string().nullable(),
      diffIncluded: z.boolean(),
      diffCut: z.boolean(),
    }),
  ),
  leftOut: z.array(z.string()),
  next: nextStep.nullable(),
  ...standing,
});
export type CarryForwardAnswer = z.infer<typeof carryForwardAnswer>;

/** Of commands that decide nothing: `next` is the last step again. */
export const standingAnswer = z.strictObject({ next: nextStep.nullable(), ...standing });
export type StandingAnswer = z.infer<typeof standingAnswer>;

export const resolveAnswer = z.strictObject({ proposalId: z.string(), status: z.enum(['accepted', 'rejected']), ...standingAnswer.shape });
export type ResolveAnswer = z.infer<typeof resolveAnswer>;

/** Of a command about a dispatch that the stream may never have opened, such as that of an imported attempt. */
const standingOfAny = { next: nextStep.nullable(), ...standing, dispatch: dispatchStanding.nullable() };

const judgement = { verdict, patterns: z.array(errorPattern) };

const namedSignal = z.strictObject({ configuration: z.string(), kind: signalKind, pattern: z.string().nullable() });

/** `changed` is false, and the status 200, where the verdict was that already. */
export const correctVerdictAnswer = z.strictObject({
  attemptId: z.string(),
  changed: z.boolean(),
  ...judgement,
  before: z.strictObject(judgement),
  signals: z.strictObject({ raised: z.array(namedSignal), cleared: z.array(namedSignal) }),
  ...standingOfAny,
});
export type CorrectVerdictAnswer = z.infer<typeof correctVerdictAnswer>;

export const withdrawPairAnswer = z.strictObject({ pairId: z.string(), status: z.literal('withdrawn'), ...standingOfAny });
export type WithdrawPairAnswer = z.infer<typeof withdrawPairAnswer>;

/** Discounts are of a repo: there is no dispatch that they are about. `selector.before` is always given. */
export const discountEvidenceAnswer = z.strictObject({
  repo: name,
  selector: EvidenceDiscounted.shape.selector,
  reason: z.string(),
  at: instant,
  ...standingOfAny,
});
export type DiscountEvidenceAnswer = z.infer<typeof discountEvidenceAnswer>;

const signal = z.strictObject({
  kind: signalKind,
  pattern: z.string().nullable(),
  code: z.string().nullable(),
  occurrences: z.number().int(),
  distinctPatterns: z.number().int().nullable(),
  threshold: z.number().int(),
  evidence: z.array(z.string()),
  configuration: z.string(),
});

/** `skip`: what opening a dispatch would be refused with now. */
export const memoryAnswer = z.strictObject({
  repo: name,
  targetFile: z.string(),
  passed: z.number().int(),
  failed: z.number().int(),
  blocked: z.number().int(),
  histogram: z.array(
    z.strictObject({ pattern: z.string(), code: z.string().nullable(), category: z.string(), attempts: z.number().int() }),
  ),
  signals: z.array(signal),
  skip: z.strictObject({ rule: z.string(), detail: z.string(), retryAfterSeconds: z.number().nullable() }).nullable(),
  hint,
  frontier: z.array(
    z.strictObject({ pattern: z.string().nullable(), kind: z.string().nullable(), verdict: verdict.exclude(['blocked']), classification }),
  ),
  openDispatches: z.array(z.strictObject({ taskId: name, ...dispatchStanding.shape })),
  learnedFrom,
  position,
  warnings,
});
export type MemoryAnswer = z.infer<typeof memoryAnswer>;

/** What a dispatch was opened with, and how it stands. */
export const toldDispatch = {
  repo: name,
  targetFile: z.string(),
  taskId: name,
  model: name,
  frontier: name.nullable(),
  budget: z.number().int(),
  coldStart: z.boolean(),
  ...dispatchStanding.shape,
};

export const dispatchAnswer = z.strictObject({
  ...toldDispatch,
  profile: z.string().nullable(),
  carry: carryMode,
  next: nextStep.nullable(),
  attemptList: z.array(
    z.strictObject({
      attemptId: z.string(),
      attempt: z.number().int(),
      seat,
      model: name,
      verdict,
      patterns: z.array(errorPattern),
      signature: z.string().nullable(),
      infraKind: z.string().nullable(),
      late: z.boolean(),
      at: instant,
    }),
  ),
  position,
});
export type DispatchAnswer = z.infer<typeof dispatchAnswer>;

/** A page of a list. */
export const page = z.strictObject({ items: z.array(z.record(z.string(), z.unknown())), nextCursor: z.string().nullable() });

/** Every error (RFC 9457); `errors` names the fields of bad input. */
export const problem = z.strictObject({
  type: z.string(),
  title: z.string(),
  status: z.number().int(),
  detail: z.string(),
  instance: z.string(),
  errors: z.array(z.strictObject({ path: z.string(), message: z.string() })).optional(),
});
