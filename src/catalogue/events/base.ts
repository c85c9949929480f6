import { z } from 'zod';
import { instant, name } from '../primitives.js';

/** What every event of a file stream says: where, and the time of the command that caused it (never a clock of the store). */
export const fileEvent = { repo: name, targetFile: z.string(), at: instant };

/** A file event of one dispatch. */
export const dispatchEvent = { ...fileEvent, dispatchId: z.string() };
