import { z } from 'zod';
import { position, toldDispatch } from './answers.js';
import { EvidenceDiscounted } from './events/repo-events.js';
import { basedOn } from './events/shapes.js';
import { policy } from './policy.js';
import { instant, name, signalKind, step } from './primitives.js';

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
export type PolicyAnswer = z.infer<typeof policyAnswer>;

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
  ...toldDispatch,
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
export type StoryAnswer = z.infer<typeof storyAnswer>;

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
export type VerifyAnswer = z.infer<typeof verifyAnswer>;

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
export type ImportAnswer = z.infer<typeof importAnswer>;

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
export type RebuildAnswer = z.infer<typeof rebuildAnswer>;

/** How many events each follower had parked, and has now. */
export const retryParkedAnswer = z.strictObject({
  before: z.record(z.string(), z.number().int()),
  parked: z.record(z.string(), z.number().int()),
});
export type RetryParkedAnswer = z.infer<typeof retryParkedAnswer>;
