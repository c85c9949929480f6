import type { EventData } from '../catalogue/events.js';
import { fileIdOf, fileStream, uuidOf } from '../domain/ids.js';
import { closeForeign, openForeign } from '../domain/share.js';
import { eventOf } from './answers.js';
import type { Call } from './file-command.js';
import type { CommandHandling } from './handle-command.js';

type Opened = Pick<EventData<'DispatchOpened'>, 'repo' | 'targetFile' | 'targetFiles' | 'dispatchId' | 'taskId' | 'model'>;

/**
 * Notes in the streams of a dispatch's other files that it names them, and answers which running dispatches each of them knew of: the
 * same each time that it is asked. Of two dispatches that share a file, the one whose note comes second finds the first. `again`: the
 * dispatch may have been announced before, so that the whole streams are looked at where their heads do not show it.
 */
export async function announceDispatch(
  handling: CommandHandling,
  opened: Opened,
  call: Call,
  again: boolean,
): Promise<{ targetFile: string; beside: string[] }[]> {
  const { repo, targetFile: homeFile, targetFiles, dispatchId, taskId, model } = opened;
  return Promise.all(
    targetFiles.slice(1).map(async (targetFile) => {
      const stream = fileStream(fileIdOf(repo, targetFile));
      const handled = await handling.handle({
        ...{ stream, where: { repo, targetFile }, call, dispatchId },
        commandId: () => uuidOf('shared', dispatchId, stream),
        repeats: {
          suspects: () => again,
          find: ({ events }) =>
            events.find(({ event }) => event.type === 'ForeignDispatchOpened' && event.data.dispatchId === dispatchId)?.metadata
              .$causationId ?? null,
        },
        decide: (state, context) => openForeign(state, { dispatchId, homeFile, taskId, model }, context),
      });
      return { targetFile, beside: eventOf(handled, 'ForeignDispatchOpened')?.beside ?? [] };
    }),
  );
}

/** Notes in the streams of a closed dispatch's other files that it works on them no more. */
export async function concludeDispatch(handling: CommandHandling, closed: EventData<'DispatchClosed'>, call: Call): Promise<void> {
  const { repo, dispatchId, otherFiles } = closed;
  for (const targetFile of otherFiles) {
    const stream = fileStream(fileIdOf(repo, targetFile));
    await handling.handle({
      ...{ stream, where: { repo, targetFile }, call, dispatchId },
      commandId: () => uuidOf('shared until', dispatchId, stream),
      decide: (state, context) => closeForeign(state, dispatchId, context),
    });
  }
}
