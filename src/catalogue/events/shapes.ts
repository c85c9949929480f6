import { z } from 'zod';
import { name, signalKind, storedText } from '../primitives.js';

/** A stream and the revision up to which it was folded; -1: it was empty. */
export const basedOn = z.strictObject({ stream: z.string(), revision: z.number().int() });

/** What a command brought to the decision besides the stream: enough to decide the same again. */
export const decidingInputs = z.discriminatedUnion('command', [
  z.strictObject({
    command: z.literal('open_dispatch'),
    dispatchId: z.string(),
    taskId: name,
    descriptionHash: z.string().nullable(),
    configuration: z.string(),
    frontier: name.nullable(),
    baseHash: name.nullable(),
    force: z.boolean(),
  }),
  z.strictObject({ command: z.literal('record_attempt'), dispatchId: z.string(), attemptId: z.string() }),
  z.strictObject({ command: z.literal('record_frontier_outcome'), dispatchId: z.string(), attemptId: z.string() }),
]);
export type DecidingInputs = z.infer<typeof decidingInputs>;

/** One command that the verifier ran. Texts are null where the caller sent none; `output` is both streams interleaved. */
const verifierRun = {
  command: z.string().nullable(),
  exitCode: z.number().int().nullable(),
  signal: z.string().nullable(),
  timedOut: z.boolean(),
  stdout: storedText.nullable(),
  stderr: storedText.nullable(),
  output: storedText.nullable(),
};

export const recordedVerifier = z.strictObject({
  ...verifierRun,
  tool: z.string().nullable(),
  durationMs: z.number().nullable(),
  steps: z.array(z.strictObject(verifierRun)),
});

export const toolStep = z.strictObject({ name: z.string().max(200), ok: z.boolean() });
export const usage = z.strictObject({
  promptTokens: z.number().int().nonnegative().optional(),
  completionTokens: z.number().int().nonnegative().optional(),
  costUsd: z.number().nonnegative().optional(),
});
export const sampling = z.strictObject({
  temperature: z.number().optional(),
  topP: z.number().optional(),
  topK: z.number().optional(),
  seed: z.number().int().optional(),
  maxTokens: z.number().int().optional(),
});

/** What a frontier outcome followed from: a signal (`pattern` null for `per_file`), or the same failure seen again. */
export const ledBy = z.strictObject({
  kind: z.enum([...signalKind.options, 'repeated_signature']),
  patterns: z.array(z.string()),
});
export type LedBy = z.infer<typeof ledBy>;
