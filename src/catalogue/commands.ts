import { z } from 'zod';
import { recordedVerifier, sampling, toolStep, usage } from './events/shapes.js';
import { policy } from './policy.js';
import { carryMode, instant, name, verdict } from './primitives.js';
import { targetFile } from './target-file.js';

/** Long free text: bounded by the size of a request, kept as head and tail above the payload limit. */
const text = z.string();
const note = z.string().max(2000);
const repo = name.default('default');

/** `POST /v1/dispatches` */
export const openDispatchBody = z
  .strictObject({
    repo,
    targetFile: targetFile.optional(),
    targetFiles: z.array(targetFile).min(1).max(100).optional(),
    task: z
      .strictObject({ id: name.nullish(), description: text.nullish(), prompt: text.nullish(), parentTaskId: name.nullish() })
      .refine((task) => task.id || task.description, { message: 'needs an id or a description' }),
    model: name,
    frontier: name.nullish(),
    budget: z.number().int().min(1).max(1000).optional(),
    profile: note.nullish(),
    arm: name.nullish(),
    batch: name.nullish(),
    carry: carryMode.nullish(),
    baseHash: name.nullish(),
    leaseSeconds: z.number().int().min(1).max(86_400).optional(),
    force: z.boolean().default(false),
  })
  .refine((body) => body.targetFile !== undefined || body.targetFiles !== undefined, { path: ['targetFile'], message: 'is required' })
  .refine((body) => !body.targetFile || !body.targetFiles || body.targetFiles[0] === body.targetFile, {
    path: ['targetFiles'],
    message: 'must begin with targetFile: the first is the home',
  });

const exits = {
  command: z.string().max(10_000).nullish(),
  exitCode: z.number().int().nullish(),
  signal: z.string().max(40).nullish(),
  timedOut: z.boolean().nullish(),
  stdout: text.nullish(),
  stderr: text.nullish(),
  output: text.nullish(),
};
const verifierFields = {
  ...exits,
  tool: name.nullish(),
  durationMs: z.number().nonnegative().nullish(),
  steps: z.array(z.strictObject(exits)).max(100).nullish(),
};
type Exits = { exitCode?: number | null; signal?: string | null; timedOut?: boolean | null; steps?: unknown[] | null };
const saysHowItEnded = (run: Exits) => run.exitCode != null || run.signal != null || run.timedOut != null || (run.steps ?? []).length > 0;
const howItEnded = { path: ['exitCode'], message: 'is required (or signal, timedOut, steps)' };

export const verifier = z.strictObject(verifierFields).refine(saysHowItEnded, howItEnded);
export type VerifierBody = z.infer<typeof verifier>;

/** `POST /v1/classify` */
export const classifyBody = z.strictObject({ ...verifierFields, explain: z.boolean().default(false) }).refine(saysHowItEnded, howItEnded);

const judged = {
  output: text,
  prompt: text.nullish(),
  diff: text.nullish(),
  verifier: verifier.nullish(),
  verdict: verdict.nullish(),
  patterns: z.array(name).max(500).nullish(),
  infraKind: name.nullish(),
  toolSteps: z.array(toolStep).max(1000).nullish(),
  usage: usage.nullish(),
  sampling: sampling.nullish(),
  startedAt: instant.nullish(),
  finishedAt: instant.nullish(),
};
type Judged = { verifier?: unknown; verdict?: string | null; patterns?: unknown; infraKind?: unknown };
const hasVerdict = (body: Judged) => body.verifier != null || body.verdict != null;
const needsVerdict = { path: ['verdict'], message: 'is required, or a verifier to judge by' };
const patternsAreJudged = (body: Judged) => body.patterns == null || body.verdict != null;
const needsJudge = { path: ['patterns'], message: 'need a verdict beside them: without one, patterns are those of the verifier text' };
const infraIsBlocked = (body: Judged) => body.infraKind == null || body.verdict === 'blocked';
const needsBlocked = { path: ['infraKind'], message: 'goes with the verdict blocked' };

/** `POST /v1/dispatches/{dispatchId}/attempts` */
export const recordAttemptBody = z
  .strictObject({ attempt: z.number().int().positive().nullish(), ...judged })
  .refine(hasVerdict, needsVerdict)
  .refine(patternsAreJudged, needsJudge)
  .refine(infraIsBlocked, needsBlocked);

/** `POST /v1/dispatches/{dispatchId}/frontier-outcomes`; `model`: the dispatch's own frontier when absent. */
export const recordFrontierOutcomeBody = z
  .strictObject({ model: name.nullish(), ...judged })
  .refine(hasVerdict, needsVerdict)
  .refine(patternsAreJudged, needsJudge)
  .refine(infraIsBlocked, needsBlocked);

/** `POST /v1/dispatches/{dispatchId}/carry-forward`; `mode`: the dispatch's own when absent. */
export const carryForwardBody = z
  .strictObject({ mode: carryMode.nullish(), maxTokens: z.number().int().min(1).max(1_000_000).default(2_000) })
  .default({ maxTokens: 2_000 });
export type CarryForwardBody = z.infer<typeof carryForwardBody>;

/** `POST /v1/dispatches/{dispatchId}/heartbeat` */
export const heartbeatBody = z.strictObject({}).optional();

/** `POST /v1/dispatches/{dispatchId}/abandon` */
export const abandonBody = z.strictObject({ reason: note.nullish() }).default({});

/** `POST /v1/proposals/{proposalId}/resolve` */
export const resolveBody = z.strictObject({ resolution: z.enum(['accepted', 'rejected']) });

/** `POST /v1/attempts/{attemptId}/verdict-corrections`: what a verdict should have been, and who says so. */
export const correctVerdictBody = z
  .strictObject({ verdict, patterns: z.array(name).max(500).nullish(), reason: note.min(1), source: name })
  .refine(({ patterns, verdict: now }) => now === 'fail' || (patterns ?? []).length === 0, {
    path: ['patterns'],
    message: 'go with the verdict fail',
  });

/** `POST /v1/correction-pairs/{pairId}/withdraw` */
export const withdrawPairBody = z.strictObject({ reason: note.min(1) });

/** `POST /v1/evidence/discounts`: failures that every given part fits; without `before`, those up to now. */
export const discountEvidenceBody = z.strictObject({
  repo,
  selector: z
    .strictObject({
      model: name.nullish(),
      profile: note.nullish(),
      before: instant.nullish(),
      targetFile: targetFile.nullish(),
      pattern: name.nullish(),
    })
    .refine((selector) => Object.values(selector).some((value) => value != null), {
      message: 'needs a model, profile, before, targetFile or pattern: it would select everything',
    }),
  reason: note.min(1),
});

/** `PUT /v1/policy`: the whole policy; what it leaves out is at its default. */
export const policyBody = policy;

/** `POST /v1/rebuilds`: a projection's name, or `all`. */
export const rebuildBody = z.strictObject({ projection: name });
/** `?compare=true` notes what differs between old and new rows before they are switched. */
export const rebuildQuery = z.strictObject({ compare: z.stringbool().default(false) });
export type RebuildBody = z.infer<typeof rebuildBody>;
export type RebuildQuery = z.infer<typeof rebuildQuery>;

export type CorrectVerdictBody = z.infer<typeof correctVerdictBody>;
export type WithdrawPairBody = z.infer<typeof withdrawPairBody>;
export type DiscountEvidenceBody = z.infer<typeof discountEvidenceBody>;
export type OpenDispatchBody = z.infer<typeof openDispatchBody>;
export type ClassifyBody = z.infer<typeof classifyBody>;
export type RecordAttemptBody = z.infer<typeof recordAttemptBody>;
export type RecordFrontierOutcomeBody = z.infer<typeof recordFrontierOutcomeBody>;
export type AbandonBody = z.infer<typeof abandonBody>;
export type ResolveBody = z.infer<typeof resolveBody>;
export type RecordedVerifier = z.infer<typeof recordedVerifier>;
