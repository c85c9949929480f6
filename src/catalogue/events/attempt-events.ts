import { z } from 'zod';
import { classification, confidence, errorPattern, inPrompt, instant, name, seat, storedText, verdict } from '../primitives.js';
import { dispatchEvent, fileEvent } from './base.js';
import { ledBy, recordedVerifier, sampling, toolStep, usage } from './shapes.js';

/** What every record about one attempt says. `attempt` counts the attempts of its dispatch from 1, both seats together. */
const attemptOf = {
  ...dispatchEvent,
  attemptId: z.string(),
  attempt: z.number().int().positive(),
  seat,
  model: name,
  configuration: z.string(),
  taskId: name,
  late: z.boolean(),
  imported: z.boolean(),
};

export const AttemptRecorded = z.strictObject({
  ...attemptOf,
  output: storedText,
  prompt: storedText.nullable(),
  verifier: recordedVerifier.nullable(),
  toolSteps: z.array(toolStep),
  usage: usage.nullable(),
  sampling: sampling.nullable(),
  startedAt: instant.nullable(),
  finishedAt: instant.nullable(),
  filesTouched: z.array(z.string()),
  leaseUntil: instant.nullable(),
  /** How the block that was handed out for this attempt stands in its prompt; null where there was none, or no prompt was sent. */
  history: z.strictObject({ contentHash: z.string(), inPrompt }).nullable(),
});

const renamed = z.strictObject({ from: z.string(), to: z.string() });

export const SnapshotDiffCaptured = z.strictObject({
  ...dispatchEvent,
  attemptId: z.string(),
  diff: storedText,
  files: z.number().int(),
  added: z.number().int(),
  removed: z.number().int(),
  /** What the diff renames, as git's rename headers say it: a directory renames all that is in it, of which the first 100 are told. */
  renames: z.array(renamed).max(100),
});

/**
 * Small on purpose: every rebuild reads it. `disagreement` is what the verifier text said where the caller judged otherwise. `trial` names
 * what was judged (task, base, commands and output), so that the same thing judged both ways is seen; null where nothing says (version 1,
 * imports).
 */
export const VerdictReached = z.strictObject({
  ...attemptOf,
  verdict,
  patterns: z.array(errorPattern),
  signature: z.string().nullable(),
  infraKind: z.string().nullable(),
  classifierVersion: z.string().nullable(),
  confidence,
  disagreement: z.strictObject({ verdict, patterns: z.array(errorPattern) }).nullable(),
  trial: z.string().nullable(),
});

export const FrontierOutcomeRecorded = z.strictObject({
  ...dispatchEvent,
  attemptId: z.string(),
  taskId: name,
  model: name,
  verdict,
  solicited: z.boolean(),
  ledBy: ledBy.nullable(),
});

/** `model` is the builder whose capacity is meant; `kind` and `pattern` name the signal, null where nothing led to the outcome. */
export const CapacityClassified = z.strictObject({
  ...dispatchEvent,
  attemptId: z.string(),
  taskId: name,
  model: name,
  configuration: z.string(),
  frontier: name,
  classification,
  kind: ledBy.shape.kind.nullable(),
  pattern: z.string().nullable(),
});

export const TaskFlaggedForDecomposition = z.strictObject({
  ...dispatchEvent,
  taskId: name,
  descriptionHash: z.string().nullable(),
  frontier: name,
  reason: z.string(),
});

/**
 * `corrects` is what the verdict was until then and whose it is, so that who counts can take the old one back: with what a frontier's was
 * classified as. Null where nothing says (version 1).
 */
export const VerdictCorrected = z.strictObject({
  ...dispatchEvent,
  attemptId: z.string(),
  verdict,
  patterns: z.array(errorPattern),
  reason: z.string(),
  source: z.string(),
  corrects: z
    .strictObject({
      seat,
      model: name,
      configuration: z.string(),
      taskId: name,
      verdict,
      patterns: z.array(errorPattern),
      classified: z.array(CapacityClassified.pick({ model: true, kind: true, pattern: true, classification: true })),
    })
    .nullable(),
});

export const CorrectionPairWithdrawn = z.strictObject({ ...fileEvent, chosenAttemptId: z.string(), reason: z.string() });
