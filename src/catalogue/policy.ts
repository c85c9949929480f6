import { z } from 'zod';
import { carryMode, name } from './primitives.js';

const seconds = z.number().int().positive();
const threshold = z.number().int().positive();

/** Every threshold that the rules use, as data. Defaults are domain.md's figures; a decision names the policy that made it. */
export const policy = z.strictObject({
  /** A signal: one pattern in this many live failures. */
  perPattern: threshold.default(3),
  /** A signal: this many live failures over this many patterns, none of which is stuck by itself. */
  perFile: z.strictObject({ failures: threshold, patterns: threshold }).default({ failures: 6, patterns: 3 }),
  /** A live signal escalates from this counted attempt of a dispatch on: the first gets its diagnostics once. */
  escalateFromAttempt: threshold.default(2),
  /** Failures older than this no longer count for signals; null: they never grow old. */
  failureMaxAgeSeconds: seconds.nullable().default(null),
  /** Whether attempts from claim records count for signals: claims do not say in what order their patterns came. */
  importedCount: z.boolean().default(true),
  /** How often a confirmed capacity is tried again with the builder, so that the evidence does not freeze. */
  probeRate: z.number().min(0).max(1).default(0.1),
  infraCooldown: z.strictObject({ after: threshold, seconds: z.record(z.string(), seconds), otherSeconds: seconds }).default({
    after: 2,
    seconds: {
      dns: 900,
      connect: 900,
      tls: 900,
      net_timeout: 900,
      registry: 900,
      rate_limit: 60,
      lock: 30,
      memory: 60,
      killed: 60,
      auth: 3600,
      disk: 3600,
      toolchain: 3600,
      permission: 3600,
      offline: 3600,
    },
    otherSeconds: 900,
  }),
  /** The breaker of a repo: so many files blocked by one kind within so many seconds open it, for the cooldown of the kind. */
  infraBreaker: z.strictObject({ files: threshold, withinSeconds: seconds }).default({ files: 3, withinSeconds: 300 }),
  /**
   * What the other files of a task learn of a builder's failed attempt: nothing (`target`), those that a diagnostic points at learn what
   * it says (`span`), those that the diff changed learn all of it (`touched`).
   */
  attribution: z.enum(['target', 'span', 'touched']).default('target'),
  defaultBudget: threshold.default(4),
  defaultLeaseSeconds: seconds.default(900),
  proposalTtlSeconds: seconds.default(7 * 24 * 3600),
  /**
   * Arms that chance gives to dispatches whose caller names neither arm nor mode, in shares by `weight`. Absent: no experiment, and the
   * hash of a policy without one stays what it was.
   */
  experiment: z
    .strictObject({
      name,
      arms: z
        .array(z.strictObject({ arm: name, weight: z.number().positive().max(1_000_000), carry: carryMode }))
        .min(2)
        .max(20)
        .refine((arms) => new Set(arms.map(({ arm }) => arm)).size === arms.length, 'must not name an arm twice'),
    })
    .optional(),
});

export type Policy = z.infer<typeof policy>;

/** The policy of a repo that has adopted none. */
export const defaultPolicy: Policy = policy.parse({});
