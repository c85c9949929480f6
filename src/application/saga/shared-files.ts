import type { CommandHandling } from '../handle-command.js';
import { announceDispatch, concludeDispatch } from '../shared-files.js';
import { type Reaction, SAGA_CALL } from './reaction.js';

/**
 * Tells the other files of a task that a dispatch works on them, where the command that opened it did not come to it, and that it has
 * ended.
 */
export function sharedFiles(handling: CommandHandling): Reaction {
  return async ({ event }) => {
    if (event.type === 'DispatchOpened' && event.data.targetFiles.length > 1) await announceDispatch(handling, event.data, SAGA_CALL, true);
    if (event.type === 'DispatchClosed' && event.data.otherFiles.length > 0) await concludeDispatch(handling, event.data, SAGA_CALL);
  };
}
