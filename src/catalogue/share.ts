import { z } from 'zod';

/** A share: `count` of `of`, with Wilson's 95% interval; null where there was nothing to count. */
export const share = z.strictObject({
  count: z.number().int(),
  of: z.number().int(),
  rate: z.number().nullable(),
  interval: z.tuple([z.number(), z.number()]).nullable(),
});
