import { z } from 'zod';
import { DispatchOpened } from './events/dispatch-events.js';
import { EvidenceDiscounted } from './events/repo-events.js';
import { basedOn } from './events/shapes.js';
import { policy } from './policy.js';
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
import { share } from './share.js';

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

export const frontierOutcomeAnswer = z.strictObject({
  ...attemptAnswer.shape,
  classification: classification.nullable(),
  solicited: z.boolean(),
});

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

/** Of commands that decide nothing: `next` is the last step again. */
export const standingAnswer = z.strictObject({ next: nextStep.nullable(), ...standing });

export const resolveAnswer = z.strictObject({ proposalId: z.string(), status: z.enum(['accepted', 'rejected']), ...standingAnswer.shape });

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

export const withdrawPairAnswer = z.strictObject({ pairId: z.string(), status: z.literal('withdrawn'), ...standingOfAny });

/** Discounts are of a repo: there is no dispatch that they are about. `selector.before` is always given. */
export const discountEvidenceAnswer = z.strictObject({
  repo: name,
  selector: EvidenceDiscounted.shape.selector,
  reason: z.string(),
  at: instant,
  ...standingOfAny,
});

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

export const dispatchAnswer = z.strictObject({
  repo: name,
  targetFile: z.string(),
  taskId: name,
  model: name,
  frontier: name.nullable(),
  budget: z.number().int(),
  profile: z.string().nullable(),
  carry: carryMode,
  coldStart: z.boolean(),
  ...dispatchStanding.shape,
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

/**
 * What a repo's decisions are made under. `version` counts the changes of the policy, 0 for the one that every repo begins with; `hash`
 * names it in decisions; `adoptedAt` is null where the repo never said anything. Discounts are listed in the order in which they came.
 */
export const policyAnswer = z.strictObject({
  repo: name,
  policy,
  version: z.number().int(),
  hash: z.string(),
  adoptedAt: instant.nullable(),
  discounts: z.array(EvidenceDiscounted.pick({ selector: true, reason: true, at: true })),
  position,
});

/** Newest last; `changes` from the version before, version 0 being the policy that every repo begins with. */
export const policyVersionsAnswer = z.strictObject({
  repo: name,
  items: z.array(
    z.strictObject({
      version: z.number().int(),
      hash: z.string(),
      adoptedAt: instant.nullable(),
      revision: z.number().int(),
      changes: z.array(z.strictObject({ path: z.string(), from: z.unknown(), to: z.unknown() })),
    }),
  ),
});
export type PolicyVersionsAnswer = z.infer<typeof policyVersionsAnswer>;

/**
 * One dispatch, told in order. Of a decision: what was known when it was made, null where it cannot be told. `texts` are named by the
 * streams that hold them; `afterClosing`: the dispatch was over by then. `nextCursor` where there is more.
 */
export const storyAnswer = z.strictObject({
  repo: name,
  targetFile: z.string(),
  taskId: name,
  model: name,
  frontier: name.nullable(),
  budget: z.number().int(),
  coldStart: z.boolean(),
  ...dispatchStanding.shape,
  steps: z.array(
    z.strictObject({
      at: instant,
      says: z.string(),
      afterClosing: z.boolean(),
      event: z.strictObject({
        type: z.string(),
        stream: z.string(),
        revision: z.number().int(),
        eventId: z.string(),
        commandId: z.string(),
        actor: z.string(),
      }),
      decision: z
        .strictObject({
          step,
          rule: z.string(),
          terminal: z.boolean(),
          detail: z.string(),
          policy: z.string(),
          evidence: z.array(z.string()),
          basedOn: z.array(basedOn),
          known: z
            .strictObject({
              revision: z.number().int(),
              passed: z.number().int(),
              failed: z.number().int(),
              blocked: z.number().int(),
              signals: z.array(z.strictObject({ configuration: z.string(), kind: signalKind, pattern: z.string().nullable() })),
              attemptsSpent: z.number().int().nullable(),
              budget: z.number().int().nullable(),
            })
            .nullable(),
        })
        .optional(),
      evidence: z.array(z.string()).optional(),
      texts: z.array(z.strictObject({ field: z.string(), stream: z.string(), bytes: z.number().int() })),
      links: z.record(z.string(), z.union([z.string(), z.array(z.string())])),
    }),
  ),
  nextCursor: z.string().nullable(),
  position,
});

/** Of an audit: `checked` decisions were decided again; `found` mismatches, of which the first 1,000 are listed. */
export const verifyAnswer = z.strictObject({
  checked: z.number().int(),
  events: z.number().int(),
  streams: z.number().int(),
  found: z.number().int(),
  mismatches: z.array(
    z.strictObject({
      stream: z.string(),
      revision: z.number().int(),
      eventId: z.string(),
      type: z.string(),
      what: z.enum(['chain', 'revision', 'unreadable', 'decision', 'policy']),
      detail: z.string(),
    }),
  ),
});

/**
 * Of an import, by its kind: how many lines it had, how many events (or claims) they held, how many of these were stored now and how
 * many were there before. `commit` is the position that read models have to have seen to show all of it.
 */
export const importAnswer = z.strictObject({
  format: z.enum(['export', 'claims']),
  lines: z.number().int(),
  read: z.number().int(),
  stored: z.number().int(),
  found: z.number().int(),
  commit: z.string().nullable(),
});

const differing = z.strictObject({ rows: z.number().int(), samples: z.array(z.unknown()) });

/** A rebuild of read models. `fraction` of the log's positions is done; `differences` where a comparison was asked for. */
export const rebuildAnswer = z.strictObject({
  id: z.string(),
  projections: z.array(z.string()),
  status: z.enum(['running', 'done', 'failed', 'cancelled']),
  events: z.number().int(),
  fraction: z.number(),
  eventsPerSecond: z.number().nullable(),
  secondsLeft: z.number().nullable(),
  error: z.string().nullable(),
  differences: z.array(z.strictObject({ projection: z.string(), table: z.string(), onlyLive: differing, onlyBuilt: differing })).nullable(),
  startedAt: instant,
  finishedAt: instant.nullable(),
});

/** How many events each follower had parked, and has now. */
export const retryParkedAnswer = z.strictObject({
  before: z.record(z.string(), z.number().int()),
  parked: z.record(z.string(), z.number().int()),
});

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

export type Warning = z.infer<typeof warning>;
const spending = { tokens: z.number().int(), costUsd: z.number() };
const measuredGroup = z.strictObject({
  dispatches: z.number().int(),
  firstTryPass: share,
  passedWithinBudget: share,
  attempts: z.number().int(),
  escalations: z.number().int(),
  sparedAttempts: z.number().int(),
  frontierPasses: z.number().int(),
  frontierFails: z.number().int(),
  injections: z.strictObject({ events: z.number().int(), dispatches: z.number().int() }),
  blocksInPrompts: z.strictObject({ whole: z.number().int(), altered: z.number().int(), missing: z.number().int() }),
  ...spending,
  frontier: z.strictObject(spending),
  apart: z.strictObject({ abandoned: z.number().int(), blocked: z.number().int() }),
  budgetSavedByBlocking: z.number().int(),
  unfinished: z.number().int(),
});

/** `difference` is that of the rates, first arm less second, with Newcombe's interval; `pValue` is Fisher's, `paired` McNemar's. `causal`: chance alone decided the arms. */
const comparison = z.strictObject({
  stratum: z.enum(['all', 'cold', 'history']),
  metric: z.enum(['firstTryPass', 'passedWithinBudget']),
  arms: z.tuple([name, name]),
  difference: z.number(),
  interval: z.tuple([z.number(), z.number()]),
  pValue: z.number(),
  paired: z.strictObject({ tasks: z.number().int(), onlyA: z.number().int(), onlyB: z.number().int(), pValue: z.number() }).nullable(),
  shown: z.boolean(),
  causal: z.boolean(),
  sentence: z.string(),
});
const countsByName = z.record(z.string(), z.number().int());

/** `provenance`: for each row, in order, the ids of the verdict events that it rests on. `duplicates` were found, kept or not. */
export const datasheetAnswer = z.strictObject({
  set: z.enum(['pairs', 'labels']),
  filters: z.record(z.string(), z.unknown()),
  rows: z.number().int(),
  duplicates: z.number().int(),
  bySplit: countsByName,
  byKind: countsByName,
  byModel: countsByName,
  provenance: z.array(z.array(z.string())),
  notes: z.array(z.string()),
});
export type DatasheetAnswer = z.infer<typeof datasheetAnswer>;

const finding = z.strictObject({ kind: z.string(), attempts: z.array(z.number().int()), detail: z.string() });

/** `dispatch` is a body for `POST /v1/dispatches`; `structure` is there where it was asked for. */
export const cohortAnswer = z.strictObject({
  cohort: z.string(),
  says: z.string(),
  items: z.array(
    z.strictObject({
      dispatch: z.strictObject({
        ...{ repo: name, targetFile: z.string(), targetFiles: z.array(z.string()) },
        task: z.strictObject({ id: name, description: z.string().nullable(), prompt: z.string().nullable() }),
        ...{ model: name, frontier: name.nullable(), budget: z.number().int(), profile: z.string().nullable() },
      }),
      firstRun: z.strictObject({
        ...{ dispatchId: z.string(), arm: name.nullable(), carry: carryMode, outcome: outcome.nullable() },
        ...{ attempts: z.number().int(), openedAt: instant },
      }),
      structure: z.array(finding).optional(),
    }),
  ),
  nextCursor: z.string().nullable(),
  rerun: z
    .strictObject({
      ...{ batch: name, tasks: z.number().int(), bothPassed: z.number().int(), onlyFirst: z.number().int() },
      ...{ onlyRerun: z.number().int(), neither: z.number().int(), pValue: z.number(), sentence: z.string() },
    })
    .nullable(),
});
export type CohortAnswer = z.infer<typeof cohortAnswer>;
export const measurementsAnswer = z.strictObject({
  all: measuredGroup,
  cold: measuredGroup,
  history: measuredGroup,
  arms: z.array(z.strictObject({ arm: name.nullable(), ...measuredGroup.shape, cold: measuredGroup, history: measuredGroup })),
  comparisons: z.array(comparison),
  notes: z.array(z.string()),
});

export type OpenDispatchAnswer = z.infer<typeof openDispatchAnswer>;
export type AttemptAnswer = z.infer<typeof attemptAnswer>;
export type FrontierOutcomeAnswer = z.infer<typeof frontierOutcomeAnswer>;
export type CarryForwardAnswer = z.infer<typeof carryForwardAnswer>;
export type StandingAnswer = z.infer<typeof standingAnswer>;
export type ResolveAnswer = z.infer<typeof resolveAnswer>;
export type MemoryAnswer = z.infer<typeof memoryAnswer>;
export type DispatchAnswer = z.infer<typeof dispatchAnswer>;
export type CorrectVerdictAnswer = z.infer<typeof correctVerdictAnswer>;
export type WithdrawPairAnswer = z.infer<typeof withdrawPairAnswer>;
export type DiscountEvidenceAnswer = z.infer<typeof discountEvidenceAnswer>;
export type PolicyAnswer = z.infer<typeof policyAnswer>;
export type StoryAnswer = z.infer<typeof storyAnswer>;
export type VerifyAnswer = z.infer<typeof verifyAnswer>;
export type RetryParkedAnswer = z.infer<typeof retryParkedAnswer>;
export type ImportAnswer = z.infer<typeof importAnswer>;
export type RebuildAnswer = z.infer<typeof rebuildAnswer>;
