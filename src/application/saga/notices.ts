import { uuidOf } from '../../domain/ids.js';
import { noticeSignal, untold } from '../../domain/notice-signal.js';
import type { FileState } from '../../domain/state.js';
import type { FileHistories } from '../file-histories.js';
import type { FileHistory } from '../file-history.js';
import type { CommandHandling } from '../handle-command.js';
import type { EventLog, StoredEvent } from '../ports.js';
import { type Reaction, SAGA_CALL } from './reaction.js';

/**
 * Tells the running dispatches of a file of a signal that was raised there by what was not their own attempt. Mostly nobody else runs:
 * then nothing but the head of the file is looked at.
 */
export function notices(handling: CommandHandling, histories: FileHistories, log: EventLog): Reaction {
  /** The dispatch whose attempt raised the signal. A correction is of a dispatch too, and nothing that its builder was answered with. */
  const raisedBy = async ({ stream, metadata }: StoredEvent, verdictAt: number): Promise<string | null> => {
    for await (const verdict of log.read(stream, verdictAt, 1))
      if (verdict.metadata.$causationId === metadata.$causationId) return metadata.$correlationId;
    return null;
  };

  return async (stored) => {
    const { event, stream, revision: raisedAtRevision, id, metadata } = stored;
    if (event.type !== 'CalibrationSignalRaised') return;
    const raised = { ...event.data, raisedAtRevision };
    const dispatchId = metadata.$correlationId;
    const lookFor = ({ state }: FileHistory) => ({
      told: untold(state, raised).map((dispatch) => dispatch.dispatchId),
      verdictAt: newestVerdict(state, dispatchId, raisedAtRevision),
    });
    const { told, verdictAt } = await histories.look(stream, lookFor, raisedAtRevision);
    if (told.length === 0) return;
    const by = told.includes(dispatchId) && verdictAt >= 0 ? await raisedBy(stored, verdictAt) : null;
    if (told.every((one) => one === by)) return;
    const { repo, targetFile } = event.data;
    await handling.handle({
      ...{ stream, where: { repo, targetFile }, call: SAGA_CALL, dispatchId: null },
      commandId: () => uuidOf('noticed', id),
      decide: (state, context) => noticeSignal(state, raised, by, context),
    });
  };
}

/** Where the newest verdict of a dispatch before a revision stands; -1: it had none. */
function newestVerdict({ attempts }: FileState, dispatchId: string, before: number): number {
  const verdicts = [...attempts.values()].filter((attempt) => attempt.dispatchId === dispatchId && attempt.revision < before);
  return Math.max(-1, ...verdicts.map(({ revision }) => revision));
}
