import { z } from 'zod';
import { instant } from '../primitives.js';

/** In `import-log`: from here on the log is being filled from an export. Until it is finished nothing else is to be written. */
export const ImportStarted = z.strictObject({ at: instant });

/** In `import-log`: all of the export is in the log; `events` is how many it held. */
export const ImportFinished = z.strictObject({ at: instant, events: z.number().int().nonnegative() });
