import { z } from 'zod';

/**
 * What stands beside every event's data. `$correlationId` is the dispatch (where none was opened: the command), `$causationId` the
 * command's own id. `hash` covers the event's type, data and metadata and `previousHash`, that of the event before it in the stream
 * (null for the first): the chain by which a changed, missing or added event is found. `idempotencyKey` is scoped by the call's method
 * and path; `bodyHash` is that of the call's body, `requestId` what the service's log calls it; all three stand on a command's first event.
 */
export const metadata = z.looseObject({
  $correlationId: z.string(),
  $causationId: z.string(),
  actor: z.string(),
  schemaVersion: z.number().int().positive(),
  idempotencyKey: z.string().optional(),
  bodyHash: z.string().optional(),
  requestId: z.string().optional(),
  hash: z.string(),
  previousHash: z.string().nullable(),
});
export type Metadata = z.infer<typeof metadata>;
