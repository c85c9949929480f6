import { z } from 'zod';
import { classification, errorPattern, instant, name, verdict } from '../primitives.js';
import { dispatchEvent, fileEvent } from './base.js';

/** What a file is told of an attempt that is recorded at another home; `homeRevision` is where its verdict stands in that home's stream. */
const ofAnotherHome = {
  ...dispatchEvent,
  attemptId: z.string(),
  homeFile: z.string(),
  homeRevision: z.number().int(),
  taskId: name,
  model: name,
  configuration: z.string(),
};

/** Another file's dispatch failed with errors in this file. */
export const FailureAttributed = z.strictObject({ ...ofAnotherHome, patterns: z.array(errorPattern), profile: z.string().nullable() });

/**
 * `overcome`: the configuration passed the task at its home, so what it had failed of it there counts for signals no more, and `patterns`
 * is empty; `attempts` names those failures where a correction tells it late, null: all that were told so far (also in version 1).
 * `corrected`: the verdict of this attempt turned out wrong, so the failure with these `patterns` counts nowhere any more. `not_overcome`:
 * this attempt did not pass after all, so that what it had overcome counts again as if it never had.
 */
export const AttributionWithdrawn = z.strictObject({
  ...ofAnotherHome,
  reason: z.enum(['overcome', 'corrected', 'not_overcome']),
  patterns: z.array(errorPattern),
  attempts: z.array(z.string()).nullable(),
});

/** A dispatch whose home is another file names this file too. */
export const ForeignDispatchOpened = z.strictObject({
  ...dispatchEvent,
  homeFile: z.string(),
  taskId: name,
  model: name,
  /** The dispatches that this file knew as running just then, of either home. */
  beside: z.array(z.string()),
});

export const ForeignDispatchClosed = z.strictObject({ ...dispatchEvent, homeFile: z.string() });

const count = z.number().int().nonnegative();

/**
 * The file was renamed from another: what that file had, up to a revision of its stream, as `attemptId` found it. It is all in the
 * event, so that decisions read one stream. `results` are told apart by the file whose own they are, so that what goes in a circle of
 * renames counts once; `failures` are the live ones, oldest first. What was too much for one event is counted in `leftOut`.
 */
export const HistoryInherited = z.strictObject({
  ...fileEvent,
  dispatchId: z.string(),
  attemptId: z.string(),
  fromFile: z.string(),
  upToRevision: z.number().int(),
  results: z.array(
    z.strictObject({
      file: z.string(),
      upToRevision: z.number().int(),
      counted: count,
      builder: z.strictObject({ pass: count, fail: count, blocked: count }),
      attributed: count,
      histogram: z.array(z.strictObject({ pattern: z.string(), code: z.string().nullable(), category: z.string(), attempts: count })),
    }),
  ),
  failures: z.array(
    z.strictObject({
      attemptId: z.string(),
      taskId: name,
      /** Where the attempt is recorded, if it had been attributed to the renamed file. */
      homeFile: z.string().nullable(),
      model: name,
      configuration: z.string(),
      at: instant,
      imported: z.boolean(),
      profile: z.string().nullable(),
      patterns: z.array(z.strictObject({ pattern: z.string(), code: z.string().nullable() })),
    }),
  ),
  tasks: z.array(
    z.strictObject({
      taskId: name,
      failedPatterns: z.array(z.string()),
      frontierFailures: z.array(z.strictObject({ frontier: name, descriptions: z.array(z.string().nullable()) })),
      passedSinceFrontier: z.array(z.string()).nullable(),
      passedAfter: z.number().int().nullable(),
    }),
  ),
  frontier: z.array(
    z.strictObject({ pattern: z.string().nullable(), kind: z.string().nullable(), verdict: verdict.exclude(['blocked']), classification }),
  ),
  leftOut: z.strictObject({ patterns: count, failures: count, tasks: count, frontier: count }),
});
