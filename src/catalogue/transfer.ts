import { z } from 'zod';
import { instant, name, verdict } from './primitives.js';
import { targetFile } from './target-file.js';

/** Of the form that an export has. A reader refuses what it does not know. */
export const EXPORT_VERSION = 1;

const commit = z.string().regex(/^\d{1,20}$/, 'must be a commit position');

/** The first line of an export: events after the position `after` (null: from the start) up to `upTo` (null: the log was empty). */
export const exportHeader = z.strictObject({
  anvil: z.literal('export'),
  version: z.literal(EXPORT_VERSION, `must be ${EXPORT_VERSION}: this Anvil reads no other`),
  after: commit.nullable(),
  upTo: commit.nullable(),
});

/** One event as it lies in the store it came from; `created` and `commit` are that store's own, and another one gives it its own. */
export const exportedEvent = z.strictObject({
  stream: z.string().max(1000),
  revision: z.number().int().nonnegative(),
  commit,
  created: instant,
  id: z.uuid(),
  type: z.string(),
  data: z.record(z.string(), z.unknown()),
  metadata: z.record(z.string(), z.unknown()),
});

/** The last line: without it, the export was cut off. */
export const exportEnd = z.strictObject({ anvil: z.literal('end'), events: z.number().int().nonnegative(), commit: commit.nullable() });

const pattern = z.union([name, z.literal('')]).nullish();

/** All of a claim is one append, which the store bounds. */
const MOST_ATTEMPTS = 300;

/**
 * A claim record: one dispatch of one task on one file, with `attempts` attempts. `infra_error`: the last one was blocked, by the kind
 * that it names where it is a text. `root_cause` is the category of an error pattern that no table knows.
 */
export const claim = z.strictObject({
  target_file: targetFile,
  task: z.string().min(1).max(100_000),
  final_verdict: verdict.exclude(['blocked']),
  attempts: z.number().int().min(1).max(MOST_ATTEMPTS),
  error_pattern: pattern,
  root_cause: z.string().max(2000).nullish(),
  infra_error: z.union([z.boolean(), z.string().max(200)]).nullish(),
  frontier_verdict: verdict.nullish(),
  frontier_error_pattern: pattern,
});

/** `GET /v1/export`: after a commit position, to go on where an export was cut off. */
export const exportQuery = z.strictObject({ after: commit.optional() });

/** `POST /v1/import`: an export, or claim records, which carry neither model nor frontier. */
export const importQuery = z.discriminatedUnion('format', [
  z.strictObject({ format: z.literal('export').default('export') }),
  z.strictObject({ format: z.literal('claims'), model: name, frontier: name.optional(), repo: name.default('default') }),
]);

export type ExportedEvent = z.infer<typeof exportedEvent>;
export type Claim = z.infer<typeof claim>;
export type ExportQuery = z.infer<typeof exportQuery>;
export type ImportQuery = z.infer<typeof importQuery>;
