import { z } from 'zod';
import { carryMode, instant, name, outcome } from './primitives.js';
import { share } from './share.js';

const spending = { tokens: z.number().int(), costUsd: z.number() };

const measuredGroup = z.strictObject({
  dispatches: z.number().int(),
  firstTryPass: share,
  passedWithinBudget: share,
  attempts: z.number().int(),
  escalations: z.number().int(),
  sparedAttempts: z.number().int(),
  frontierPasses: z.number().int(),
  frontierFails: z.number().int(),
  injections: z.strictObject({ events: z.number().int(), dispatches: z.number().int() }),
  blocksInPrompts: z.strictObject({ whole: z.number().int(), altered: z.number().int(), missing: z.number().int() }),
  ...spending,
  frontier: z.strictObject(spending),
  apart: z.strictObject({ abandoned: z.number().int(), blocked: z.number().int() }),
  budgetSavedByBlocking: z.number().int(),
  unfinished: z.number().int(),
});

/** `difference` is that of the rates, first arm less second, with Newcombe's interval; `pValue` is Fisher's, `paired` McNemar's. `causal`: chance alone decided the arms. */
const comparison = z.strictObject({
  stratum: z.enum(['all', 'cold', 'history']),
  metric: z.enum(['firstTryPass', 'passedWithinBudget']),
  arms: z.tuple([name, name]),
  difference: z.number(),
  interval: z.tuple([z.number(), z.number()]),
  pValue: z.number(),
  paired: z.strictObject({ tasks: z.number().int(), onlyA: z.number().int(), onlyB: z.number().int(), pValue: z.number() }).nullable(),
  shown: z.boolean(),
  causal: z.boolean(),
  sentence: z.string(),
});

const countsByName = z.record(z.string(), z.number().int());

/** `provenance`: for each row, in order, the ids of the verdict events that it rests on. `duplicates` were found, kept or not. */
export const datasheetAnswer = z.strictObject({
  set: z.enum(['pairs', 'labels']),
  filters: z.record(z.string(), z.unknown()),
  rows: z.number().int(),
  duplicates: z.number().int(),
  bySplit: countsByName,
  byKind: countsByName,
  byModel: countsByName,
  provenance: z.array(z.array(z.string())),
  notes: z.array(z.string()),
});
export type DatasheetAnswer = z.infer<typeof datasheetAnswer>;

const finding = z.strictObject({ kind: z.string(), attempts: z.array(z.number().int()), detail: z.string() });

/** `dispatch` is a body for `POST /v1/dispatches`; `structure` is there where it was asked for. */
export const cohortAnswer = z.strictObject({
  cohort: z.string(),
  says: z.string(),
  items: z.array(
    z.strictObject({
      dispatch: z.strictObject({
        ...{ repo: name, targetFile: z.string(), targetFiles: z.array(z.string()) },
        task: z.strictObject({ id: name, description: z.string().nullable(), prompt: z.string().nullable() }),
        ...{ model: name, frontier: name.nullable(), budget: z.number().int(), profile: z.string().nullable() },
      }),
      firstRun: z.strictObject({
        ...{ dispatchId: z.string(), arm: name.nullable(), carry: carryMode, outcome: outcome.nullable() },
        ...{ attempts: z.number().int(), openedAt: instant },
      }),
      structure: z.array(finding).optional(),
    }),
  ),
  nextCursor: z.string().nullable(),
  rerun: z
    .strictObject({
      ...{ batch: name, tasks: z.number().int(), bothPassed: z.number().int(), onlyFirst: z.number().int() },
      ...{ onlyRerun: z.number().int(), neither: z.number().int(), pValue: z.number(), sentence: z.string() },
    })
    .nullable(),
});
export type CohortAnswer = z.infer<typeof cohortAnswer>;

export const measurementsAnswer = z.strictObject({
  all: measuredGroup,
  cold: measuredGroup,
  history: measuredGroup,
  arms: z.array(z.strictObject({ arm: name.nullable(), ...measuredGroup.shape, cold: measuredGroup, history: measuredGroup })),
  comparisons: z.array(comparison),
  notes: z.array(z.string()),
});
