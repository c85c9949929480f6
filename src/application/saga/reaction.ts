import { canonicalJson } from '../../domain/chain.js';
import { sha256 } from '../../domain/ids.js';
import type { Call } from '../file-command.js';
import type { StoredEvent } from '../ports.js';

/** What appends in the name of the saga says of itself. */
export const SAGA_CALL: Call = { actor: 'calibration-saga', bodyHash: sha256(canonicalJson({})) };

/**
 * What the saga does when it meets an event: events come in the order of the log, and each may come again. So whatever is appended
 * carries ids that follow from the event, and is not appended where the stream already has it.
 */
export type Reaction = (stored: StoredEvent) => Promise<void>;
