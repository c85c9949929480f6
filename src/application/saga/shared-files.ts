import type { EventData } from '../../catalogue/events.js';
import { fileIdOf, fileStream } from '../../domain/ids.js';
import type { FileHistories } from '../file-histories.js';
import type { CommandHandling } from '../handle-command.js';
import { announceDispatch, concludeDispatch } from '../shared-files.js';
import { type Reaction, SAGA_CALL } from './reaction.js';

/**
 * Tells the other files of a task that a dispatch works on them, where the command that opened it did not come to it, and that it has
 * ended.
 */
export function sharedFiles(handling: CommandHandling, histories: FileHistories): Reaction {
  /** Mostly the case: then nothing but the head of the other file is looked at. */
  const knows = (repo: string, file: string, dispatchId: string) =>
    histories.look(fileStream(fileIdOf(repo, file)), ({ state }) => state.foreign.has(dispatchId));
  const allKnow = async ({ repo, targetFiles, dispatchId }: EventData<'DispatchOpened'>) =>
    (await Promise.all(targetFiles.slice(1).map((file) => knows(repo, file, dispatchId)))).every(Boolean);
  return async ({ event }) => {
    if (event.type === 'DispatchOpened' && event.data.targetFiles.length > 1 && !(await allKnow(event.data)))
      await announceDispatch(handling, event.data, SAGA_CALL, true);
    if (event.type === 'DispatchClosed' && event.data.otherFiles.length > 0) await concludeDispatch(handling, event.data, SAGA_CALL);
  };
}
