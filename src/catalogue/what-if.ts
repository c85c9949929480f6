import { z } from 'zod';
import { policy } from './policy.js';
import { instant, name, step, verdict } from './primitives.js';
import { share } from './share.js';

/** Any part of a policy. What is left out stays as it was in force at each decision. */
export const policyChanges = z.strictObject(
  Object.fromEntries(Object.entries(policy.shape).map(([field, schema]) => [field, schema.unwrap().optional()])) as {
    [F in keyof typeof policy.shape]: z.ZodOptional<ReturnType<(typeof policy.shape)[F]['unwrap']>>;
  },
);

/**
 * `POST /v1/measurements/what-if`: how recorded attempts are decided on anew. Without anything it replays what was decided.
 *
 * `policy` is what a repo could adopt. The rest is asked for here only, and no policy can say it: `escalation` takes the place of the
 * rules about signals and repeated signatures; `patterns: primary` counts only the first pattern of an attempt; `classifierVersion` has
 * stored verifier texts read anew by the classifier of that version.
 */
export const whatIfBody = z
  .strictObject({
    repo: name.optional(),
    policy: policyChanges.default({}),
    escalation: z
      .strictObject({ afterFailures: z.number().int().positive(), of: z.enum(['dispatch', 'task']).default('dispatch') })
      .optional(),
    patterns: z.enum(['set', 'primary']).default('set'),
    classifierVersion: name.optional(),
  })
  .prefault({});
export type WhatIfBody = z.infer<typeof whatIfBody>;

const count = z.number().int().nonnegative();

/**
 * Dispatches that were (or would have been) taken from the builder, by the number of counted attempts after which; 0: before the first.
 * `wrong`: the builder passed later in the same dispatch. `saved`: its counted attempts that were recorded after that.
 */
const firings = z.strictObject({ dispatches: count, wrong: share, saved: count, atAttempt: z.record(z.string(), count) });

const side = z.strictObject({
  /** Each signal that was raised, and what became of it; `files` had one at least, `filesOvercome` overcame one at least. */
  signals: z.strictObject({ raised: count, overcome: count, clearedOtherwise: count, live: count, files: count, filesOvercome: count }),
  /** By any rule. */
  escalations: firings,
  /** By a signal alone, whatever other rule came before. */
  bySignal: firings,
  /** By the rule that came first in its dispatch. */
  byRule: z.record(z.string(), count),
});

const told = z.strictObject({
  step,
  rule: z.string(),
  pattern: z.string().nullable(),
  detail: z.string(),
  evidence: z.array(z.string()),
});

export const whatIfResult = z.strictObject({
  /** The commit position up to which the log was read; null: it was empty. */
  upTo: z.string().nullable(),
  files: count,
  dispatches: count,
  /** The builder's, passed or failed. */
  attempts: count,
  decisions: count,
  recorded: side,
  other: side,
  /** Dispatches that the recorded decisions took from the builder while the other rules would have gone on: nobody knows how. */
  cutShort: count,
  /** Decisions that come out otherwise, of which the first 100 are listed. */
  differences: z.strictObject({
    decisions: count,
    items: z.array(
      z.strictObject({
        repo: name,
        targetFile: z.string(),
        dispatchId: z.string(),
        attemptId: z.string().nullable(),
        at: instant,
        recorded: told,
        other: told,
      }),
    ),
  }),
  /** Attempts that are judged or grouped otherwise, and as what, the most frequent 100. */
  regrouped: z.strictObject({
    attempts: count,
    verdicts: count,
    items: z.array(
      z.strictObject({
        attempts: count,
        from: z.strictObject({ verdict, patterns: z.array(z.string()) }),
        to: z.strictObject({ verdict, patterns: z.array(z.string()) }),
      }),
    ),
  }),
  /** Files that were read only up to an event which this code cannot read. */
  unreadable: count,
  notes: z.array(z.string()),
});
export type WhatIfResult = z.infer<typeof whatIfResult>;
export type Side = z.infer<typeof side>;
export type Firings = z.infer<typeof firings>;

/** A what-if. `fraction` of the files is done, as far as can be told. */
export const whatIfAnswer = z.strictObject({
  id: z.string(),
  status: z.enum(['running', 'done', 'failed', 'cancelled']),
  asked: whatIfBody,
  progress: z.strictObject({ fraction: z.number(), files: count, attempts: count }),
  error: z.string().nullable(),
  result: whatIfResult.nullable(),
  startedAt: instant,
  finishedAt: instant.nullable(),
});
export type WhatIfAnswer = z.infer<typeof whatIfAnswer>;
