import { targetFile as targetFileSchema } from '../../catalogue/target-file.js';
import { fileIdOf, fileStream, uuidOf } from '../../domain/ids.js';
import { inheritHistory, legacyOf } from '../../domain/inherit.js';
import type { FileHistories } from '../file-histories.js';
import { fold } from '../file-history.js';
import type { CommandHandling } from '../handle-command.js';
import type { EventLog, StoredEvent } from '../ports.js';
import { type Reaction, SAGA_CALL } from './reaction.js';

/** Carries the history of a file over to the path that it was renamed to by an attempt that passed. */
export function renames(handling: CommandHandling, histories: FileHistories, log: EventLog): Reaction {
  const inherit = async (captured: StoredEvent, verdict: StoredEvent, repo: string, from: string, to: string) => {
    const { events } = await histories.whole(fileStream(fileIdOf(repo, from)));
    const past = events.filter((event) => isPastOf(verdict, event));
    if (past.length === 0 || captured.event.type !== 'SnapshotDiffCaptured') return;
    const { dispatchId, attemptId } = captured.event.data;
    const upToRevision = past.at(-1)!.revision;
    const legacy = legacyOf(fold('', past).state, from, upToRevision);
    const stream = fileStream(fileIdOf(repo, to));
    await handling.handle({
      ...{ stream, where: { repo, targetFile: to }, call: SAGA_CALL, dispatchId },
      commandId: () => uuidOf('inheritance', captured.id, stream, from),
      repeats: {
        suspects: (state) => state.learnedFrom.has(from),
        find: ({ events: told }) =>
          told.find(({ event }) => event.type === 'HistoryInherited' && event.data.attemptId === attemptId && event.data.fromFile === from)
            ?.metadata.$causationId ?? null,
      },
      decide: (state, context) => inheritHistory(state, { dispatchId, attemptId, fromFile: from, upToRevision, ...legacy }, context),
    });
  };

  return async (captured) => {
    const { event, stream, revision } = captured;
    if (event.type !== 'SnapshotDiffCaptured' || event.data.renames.length === 0) return;
    for await (const verdict of log.read(stream, revision + 1, 1)) {
      if (verdict.event.type !== 'VerdictReached' || verdict.event.data.verdict !== 'pass') return;
      for (const renamed of event.data.renames) {
        const [from, to] = [targetFileSchema.safeParse(renamed.from), targetFileSchema.safeParse(renamed.to)];
        // A diff may say anything: what names no file of the repo renames none.
        if (from.success && to.success && from.data !== to.data) await inherit(captured, verdict, event.data.repo, from.data, to.data);
      }
    }
  };
}

/**
 * What a file had when an attempt passed: what stood in the log by then, and what the saga appended since because of that. So it is the
 * same whenever the saga comes to it.
 */
function isPastOf(verdict: StoredEvent, { event, position }: StoredEvent): boolean {
  const learned = event.type === 'FailureAttributed' || event.type === 'AttributionWithdrawn' || event.type === 'HistoryInherited';
  return learned || BigInt(position) <= BigInt(verdict.position);
}
