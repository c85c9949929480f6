import { z } from 'zod';
import { policy } from '../policy.js';
import { instant, name } from '../primitives.js';

const repoEvent = { repo: name, at: instant };

/** In `policy-<repo>`. `hash` is that of the policy, as decisions name it. */
export const PolicyAdopted = z.strictObject({ ...repoEvent, policy, hash: z.string() });

/** In `policy-<repo>`. Evidence that every given part of the selector fits no longer counts for signals. */
export const EvidenceDiscounted = z.strictObject({
  ...repoEvent,
  selector: z.strictObject({
    model: name.optional(),
    profile: z.string().optional(),
    before: instant.optional(),
    targetFile: z.string().optional(),
    pattern: z.string().optional(),
  }),
  reason: z.string(),
});

/** In `infra-<repo>`: an attempt on a file was blocked. `at` is the time of its verdict, as in all events of this stream but probes. */
export const InfraBlockNoticed = z.strictObject({
  ...repoEvent,
  infraKind: z.string(),
  targetFile: z.string(),
  dispatchId: z.string(),
  attemptId: z.string(),
});

/** In `infra-<repo>`: no dispatch is opened until then, and after that one at a time. Again for an open one: its probe was blocked. */
export const InfraBreakerOpened = z.strictObject({ ...repoEvent, infraKind: z.string(), targetFiles: z.array(z.string()), until: instant });

/** In `infra-<repo>`: this dispatch may be opened, to see whether it gets through; until then no other. */
export const InfraProbeStarted = z.strictObject({ ...repoEvent, targetFile: z.string(), dispatchId: z.string(), until: instant });

/** In `infra-<repo>`: an attempt was not blocked. */
export const InfraBreakerClosed = z.strictObject({ ...repoEvent, infraKind: z.string(), attemptId: z.string().nullable() });

/** In `payload-<hash>`: one chunk of a long text, `index` from 0 of `chunks`; `bytes` is the size of the whole text. */
export const PayloadStored = z.strictObject({
  hash: z.string(),
  index: z.number().int().nonnegative(),
  chunks: z.number().int().positive(),
  bytes: z.number().int(),
  text: z.string(),
});
