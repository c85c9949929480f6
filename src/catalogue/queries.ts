import { z } from 'zod';
import { eventSchemas } from './events.js';
import { instant, name, outcome, seat, verdict } from './primitives.js';
import { targetFile } from './target-file.js';

const repo = name.default('default');
const wholeNumber = z
  .string()
  .regex(/^\d{1,15}$/, 'must be a whole number')
  .transform(Number);

/** Where a live stream answers, the file is required; its path is normalised as in a command. */
const ofFile = { repo, targetFile };

/** `GET /v1/memory` */
export const memoryQuery = z.strictObject({ ...ofFile, model: name.optional(), taskId: name.optional() });

/** `GET /v1/dispatches/{dispatchId}`: `wait` says for how many seconds at most the answer may be held back until the dispatch closes. */
export const dispatchQuery = z.strictObject({ wait: wholeNumber.pipe(z.number().max(120)).default(0) });

/** `GET` and `PUT /v1/policy` */
export const policyQuery = z.strictObject({ repo });

/** `GET /v1/audit/events`: from a revision on, in order. */
export const auditEventsQuery = z.strictObject({
  ...ofFile,
  from: wholeNumber.default(0),
  limit: wholeNumber.pipe(z.number().min(1).max(1000)).default(100),
});

/** `GET /v1/audit/state`: at a revision, or at a time; at the head without either. */
export const auditStateQuery = z.strictObject({
  ...ofFile,
  model: name.optional(),
  taskId: name.optional(),
  revision: wholeNumber.optional(),
  at: instant.optional(),
});

/** `GET /v1/audit/dispatches/{dispatchId}`: `cursor` is the `nextCursor` of the answer before. */
export const storyQuery = z
  .strictObject({ cursor: wholeNumber.default(0), limit: wholeNumber.pipe(z.number().min(1).max(1000)).default(200) })
  .transform(({ cursor, limit }) => ({ from: cursor, limit }));

const toldTypes = Object.keys(eventSchemas).filter((type) => type !== 'PayloadStored');

/** `GET /v1/events`: `type` may be given several times, or name several types with commas between them. */
export const eventsQuery = z.strictObject({
  repo: name.optional(),
  type: z
    .union([z.string(), z.array(z.string())])
    .transform((types) => [types].flat().flatMap((some) => some.split(',')))
    .pipe(z.array(z.enum(toldTypes)))
    .optional(),
  dispatchId: name.optional(),
});

/** `POST /v1/audit/verify`: one file, all files of a repo, or the whole log. */
export const verifyBody = z.strictObject({ repo: name.optional(), targetFile: targetFile.optional() }).default({});

/** A page of a read model; `after` is the commit position that the answer must have seen. */
const ofPage = {
  after: z
    .string()
    .regex(/^\d{1,20}$/, 'must be a commit position')
    .optional(),
  limit: wholeNumber.pipe(z.number().min(1).max(1000)).default(100),
  cursor: z.string().max(2000).optional(),
};

/** Filters of read models are optional. */
const ofReadModel = { repo: name.optional(), targetFile: targetFile.optional(), ...ofPage };

/** `GET /v1/histograms` */
export const histogramsQuery = z.strictObject({
  ...ofReadModel,
  model: name.optional(),
  seat: seat.optional(),
  order: z.enum(['attempts']).optional(),
});

/** What trainers read: of a pair, and of single attempts with a label. */
export const pairFormat = z.enum(['trl', 'trl-conversational', 'openrlhf', 'axolotl']);
export const labelFormat = pairFormat.exclude(['axolotl']);
export const split = z.enum(['train', 'validation']);
export type PairFormat = z.infer<typeof pairFormat>;
export type LabelFormat = z.infer<typeof labelFormat>;
export type Split = z.infer<typeof split>;

const pairKind = z.enum(['single_pattern', 'multi_pattern', 'self_correction']);
const ofDataSet = {
  repo: name.optional(),
  targetFile: targetFile.optional(),
  after: ofPage.after,
  /** Only one side; both without it. */
  split: split.optional(),
  validationShare: z
    .string()
    .regex(/^(0(\.\d{1,6})?|1(\.0{1,6})?)$/, 'must be a share between 0 and 1')
    .transform(Number)
    .default(0.1),
  /** Whether rows whose texts came before are kept. */
  duplicates: z.stringbool().default(false),
};

/** `GET /v1/training/pairs` and its datasheet */
export const trainingPairsQuery = z.strictObject({ ...ofDataSet, kind: pairKind.optional(), format: pairFormat.default('trl') });
/** `GET /v1/training/labels` and its datasheet */
export const trainingLabelsQuery = z.strictObject({ ...ofDataSet, format: labelFormat.default('trl') });
export type TrainingPairsQuery = z.infer<typeof trainingPairsQuery>;
export type TrainingLabelsQuery = z.infer<typeof trainingLabelsQuery>;

/** `GET /v1/correction-pairs`; `format` says what a line of ndjson looks like. */
export const correctionPairsQuery = z.strictObject({
  ...ofReadModel,
  kind: pairKind.optional(),
  format: pairFormat.optional(),
});

/** `GET /v1/dispatches` */
export const dispatchesQuery = z.strictObject({
  ...ofReadModel,
  status: z.enum(['open', 'closed']).optional(),
  outcome: outcome.optional(),
  batch: name.optional(),
  arm: name.optional(),
});

/** `GET /v1/proposals` */
export const proposalsQuery = z.strictObject({
  ...ofReadModel,
  status: z.enum(['pending', 'accepted', 'rejected', 'superseded', 'expired']).optional(),
});

/** `GET /v1/files` */
export const filesQuery = z.strictObject(ofReadModel);

/** `GET /v1/signals` */
export const signalsQuery = z.strictObject({ ...ofReadModel, model: name.optional(), live: z.enum(['true', 'false']).optional() });

/** `GET /v1/measurements`; arms are always told apart. */
export const measurementsQuery = z.strictObject({
  repo: name.optional(),
  batch: name.optional(),
  model: name.optional(),
  experiment: name.optional(),
  groupBy: z.enum(['arm']).default('arm'),
  after: ofPage.after,
});
export type MeasurementsQuery = z.infer<typeof measurementsQuery>;

/**
 * `GET /v1/measurements/cohorts/{name}`; `structure` also looks for what speaks against capacity; `rerun` names the batch in which the tasks
 * ran again.
 */
export const cohortQuery = z.strictObject({
  repo: name.optional(),
  batch: name.optional(),
  model: name.optional(),
  experiment: name.optional(),
  rerun: name.optional(),
  structure: z.stringbool().default(false),
  ...ofPage,
  limit: wholeNumber.pipe(z.number().min(1).max(200)).default(50),
});
export type CohortQuery = z.infer<typeof cohortQuery>;

/** `GET /v1/captures` */
export const capturesQuery = z.strictObject({
  ...ofReadModel,
  dispatchId: name.optional(),
  model: name.optional(),
  seat: seat.optional(),
  verdict: verdict.optional(),
  batch: name.optional(),
  arm: name.optional(),
});

/** `GET /v1/patterns`: of one repo, or of all repos together. */
export const patternsQuery = z.strictObject({
  ...ofPage,
  repo: name.optional(),
  model: name.optional(),
  order: z.enum(['failed']).optional(),
});

/** `GET /v1/parked-events` */
export const parkedEventsQuery = z.strictObject({ follower: name.optional(), limit: ofPage.limit, cursor: ofPage.cursor });

export type ParkedEventsQuery = z.infer<typeof parkedEventsQuery>;
export type PolicyQuery = z.infer<typeof policyQuery>;
export type MemoryQuery = z.infer<typeof memoryQuery>;
export type AuditStateQuery = z.infer<typeof auditStateQuery>;
export type StoryQuery = z.infer<typeof storyQuery>;
export type EventsQuery = z.infer<typeof eventsQuery>;
export type VerifyBody = z.infer<typeof verifyBody>;
export type DispatchQuery = z.infer<typeof dispatchQuery>;
export type AuditEventsQuery = z.infer<typeof auditEventsQuery>;
export type HistogramsQuery = z.infer<typeof histogramsQuery>;
export type CorrectionPairsQuery = z.infer<typeof correctionPairsQuery>;
export type DispatchesQuery = z.infer<typeof dispatchesQuery>;
export type ProposalsQuery = z.infer<typeof proposalsQuery>;
export type FilesQuery = z.infer<typeof filesQuery>;
export type SignalsQuery = z.infer<typeof signalsQuery>;
export type CapturesQuery = z.infer<typeof capturesQuery>;
export type PatternsQuery = z.infer<typeof patternsQuery>;
