import { z } from 'zod';
import { instant, name, signalKind } from './primitives.js';
import { share } from './share.js';

/** `GET /v1/measurements/signals`: signals raised, and dispatches fired, in [from, to). */
export const signalQualityQuery = z.strictObject({
  repo: name.optional(),
  model: name.optional(),
  from: instant.optional(),
  to: instant.optional(),
  period: z.enum(['day', 'week']).default('week'),
  after: z
    .string()
    .regex(/^\d{1,20}$/, 'must be a commit position')
    .optional(),
});
export type SignalQualityQuery = z.infer<typeof signalQualityQuery>;

const count = z.number().int().nonnegative();

/**
 * `signals`: raised, and what became of them. `overcome`, of those that were not withdrawn (superseded, corrected, discounted): the builder
 * passed what it had failed, so acting on the signal would have been wrong. `precision` is the rest of them, the live ones included.
 *
 * `dispatches`: those that a signal took from the builder, or would have. `wrong`: the builder passed later in the same dispatch. `saved`:
 * its attempts after that, where it went on all the same; `spared`: of its budget, what was left where the frontier ended the dispatch.
 * `confirmed`: of those that the frontier then tried, the ones that it passed.
 */
const quality = {
  signals: z.strictObject({ raised: count, live: count, withdrawn: count, overcome: share, precision: share }),
  dispatches: z.strictObject({ fired: count, wrong: share, saved: count, spared: count, confirmed: share }),
};

export const signalQualityAnswer = z.strictObject({
  all: z.strictObject(quality),
  models: z.array(z.strictObject({ model: name, ...quality })),
  /** By pattern and model, most signals first, at most 500; `leftOut` counts the others. `pattern` is null for `per_file`. */
  patterns: z.array(
    z.strictObject({ kind: signalKind, pattern: z.string().nullable(), code: z.string().nullable(), model: name, ...quality }),
  ),
  leftOut: count,
  /** By the day, or by the day on which a week begins (Monday), in UTC; days and weeks with nothing in them are left out. */
  periods: z.array(z.strictObject({ from: z.string(), ...quality })),
  notes: z.array(z.string()),
});
export type SignalQualityAnswer = z.infer<typeof signalQualityAnswer>;
