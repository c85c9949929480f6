import { z } from 'zod';
import { name, signalKind } from '../primitives.js';
import { fileEvent } from './base.js';

const signalOf = {
  ...fileEvent,
  model: name,
  configuration: z.string(),
  kind: signalKind,
  /** The stuck pattern; null for `per_file`. */
  pattern: z.string().nullable(),
  code: z.string().nullable(),
};

/** `evidence` names at most 20 attempts, the newest; `occurrences` is how many there are. `distinctPatterns` is for `per_file`. */
export const CalibrationSignalRaised = z.strictObject({
  ...signalOf,
  occurrences: z.number().int(),
  distinctPatterns: z.number().int().nullable(),
  threshold: z.number().int(),
  evidence: z.array(z.string()).max(20),
});

export const CalibrationSignalCleared = z.strictObject({
  ...signalOf,
  reason: z.enum(['overcome', 'superseded', 'corrected', 'discounted']),
});
