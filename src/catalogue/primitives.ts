import { z } from 'zod';

/** Of UTF-8. */
export function bytesOf(text: string): number {
  return new TextEncoder().encode(text).length;
}

/**
 * A name that a caller chooses (repo, task id, model, arm …): 1 to 200 characters, none of them a control character or half of a
 * surrogate pair, so that it survives UTF-8, SQL text columns and log lines unchanged; at most 400 bytes, so that several make a key.
 */
export const name = z
  .string()
  .min(1)
  .max(200)
  .regex(/^[^\p{Cc}\p{Cs}]+$/u, 'must not hold control characters or lone surrogates')
  .refine((text) => bytesOf(text) <= 400, 'must not be longer than 400 bytes of UTF-8');

/** A point in time, ISO 8601 in UTC. Rules never read a clock: every time they see came in with a command. */
export const instant = z.iso.datetime({ offset: true });

export const seat = z.enum(['builder', 'frontier']);
export const verdict = z.enum(['pass', 'fail', 'blocked']);
export const confidence = z.enum(['high', 'low']);
export const carryMode = z.enum(['none', 'hint', 'diff_feedback']);
/** What became of a block of earlier attempts on its way into a prompt. */
export const inPrompt = z.enum(['whole', 'altered', 'missing']);
export const signalKind = z.enum(['per_pattern', 'per_file']);
export const classification = z.enum(['capacity', 'task_hardness']);
export const step = z.enum(['attempt', 'retry', 'replan', 'reverify', 'escalate', 'decompose', 'wait', 'done', 'stop']);
export const outcome = z.enum(['passed', 'escalated_passed', 'escalated_failed', 'exhausted', 'futile', 'blocked', 'abandoned']);

/**
 * A text as an event holds it. Up to 2 KiB it stands in the event; above that it lies in the stream `payload-<hash>` and the event
 * names it. `whole` is there when the text was over the payload limit: hash and size of what the caller sent, of which only head and
 * tail were kept. Sizes are bytes of UTF-8, hashes SHA-256 in hex.
 */
export const storedText = z.union([
  z.strictObject({ text: z.string() }),
  z.strictObject({
    payload: z.string(),
    bytes: z.number().int(),
    whole: z.strictObject({ hash: z.string(), bytes: z.number().int() }).optional(),
  }),
]);
export type StoredText = z.infer<typeof storedText>;

/** An error pattern: its identity is the code where there is one, else the whole name; the slug is a label. */
export const errorPattern = z.strictObject({
  pattern: z.string(),
  code: z.string().nullable(),
  category: z.string(),
  file: z.string().nullable(),
});
export type ErrorPattern = z.infer<typeof errorPattern>;

export type Seat = z.infer<typeof seat>;
export type Verdict = z.infer<typeof verdict>;
export type CarryMode = z.infer<typeof carryMode>;
export type InPrompt = z.infer<typeof inPrompt>;
export type SignalKind = z.infer<typeof signalKind>;
export type Classification = z.infer<typeof classification>;
export type Step = z.infer<typeof step>;
export type Outcome = z.infer<typeof outcome>;

/** The code that a pattern's name begins with, as its tool prints it (`E0369`, `TS2322`); null where it has none. */
export function codeOf(patternName: string): string | null {
  return /^(e\d{4}|ts\d{4,5})(?:_|$)/i.exec(patternName)?.[1]?.toUpperCase() ?? null;
}

/** What two patterns must share to be one: the code, else the whole name. */
export function patternKey(pattern: { pattern: string; code: string | null }): string {
  return pattern.code ?? pattern.pattern;
}
