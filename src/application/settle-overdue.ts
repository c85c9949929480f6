import { fileIdOf, fileStream, uuidOf } from '../domain/ids.js';
import { settleOverdue } from '../domain/settle.js';
import type { CommandHandling } from './handle-command.js';
import type { Imports } from './imports.js';
import { type Clock, type FilePlace, type OverdueFiles, type ParkedEvents, UnreadableStream } from './ports.js';
import { messageOf, passes, SAGA } from './run-saga.js';
import { SAGA_CALL } from './saga/reaction.js';
import { keepGoing, pause } from './timing.js';

const LOOK_EVERY_MS = 1_000;
const FILES_AT_A_LOOK = 100;
/** A file whose overdue leases and proposals could not be settled is left alone for so long. */
const LEAVE_ALONE_MS = 60_000;

interface Parts {
  handling: CommandHandling;
  parked: ParkedEvents;
  overdueFiles: OverdueFiles;
  clock: Clock;
  imports: Imports;
}

/**
 * The part of the saga that time drives: closes dead leases and lets proposals expire, also on files that nobody asks about. A file that
 * cannot be read or decided on is parked or said, and left alone for a while; the others go on.
 */
export async function settleWhatIsOverdue(
  { handling, parked, overdueFiles, clock, imports }: Parts,
  signal: AbortSignal,
  report: (message: string) => void,
): Promise<void> {
  const leftAlone = new Map<string, number>();
  const settle = async ({ repo, targetFile }: FilePlace) => {
    const stream = fileStream(fileIdOf(repo, targetFile));
    if (performance.now() < (leftAlone.get(stream) ?? 0)) return;
    leftAlone.delete(stream);
    try {
      await handling.handle({
        ...{ stream, call: SAGA_CALL, dispatchId: null },
        commandId: (stream, state) => uuidOf('overdue', stream, String(state.revision)),
        decide: settleOverdue,
      });
    } catch (error) {
      if (passes(error)) throw error;
      if (error instanceof UnreadableStream) await parked.park(SAGA, error.event, error.event.unreadable, error.event.revision);
      else report(`what is overdue on ${stream} could not be settled: ${messageOf(error)}`);
      leftAlone.set(stream, performance.now() + LEAVE_ALONE_MS);
    }
  };
  const settleAll = async () => {
    let last: FilePlace | null = null;
    do {
      const files: FilePlace[] = await overdueFiles.overdue(clock.now(), FILES_AT_A_LOOK, last);
      for (const file of files) await settle(file);
      last = files.length < FILES_AT_A_LOOK ? null : files.at(-1)!;
    } while (last !== null && !signal.aborted);
  };
  await keepGoing('the look for overdue leases and proposals', signal, report, async () => {
    while (!signal.aborted) {
      // What is overdue in an export was settled where it comes from, or will be when all of it is here.
      if (!imports.unfinished) await settleAll();
      await pause(LOOK_EVERY_MS, signal);
    }
  });
}
