import { canonicalJson } from '../domain/chain.js';
import { fileIdOf, fileStream, sha256, uuidOf } from '../domain/ids.js';
import { recalibrate, settleOverdue } from '../domain/settle.js';
import type { Call } from './file-command.js';
import type { CommandHandling } from './handle-command.js';
import type { Checkpoints, Clock, OverdueFiles, StoredEvent } from './ports.js';
import type { Follower } from './run-followers.js';
import { keepGoing, pause } from './timing.js';

const CHECKPOINT = 'calibration_saga';
const LOOK_EVERY_MS = 1_000;
const FILES_AT_A_LOOK = 100;
const CALL: Call = { actor: 'calibration-saga', bodyHash: sha256(canonicalJson({})) };

interface Parts {
  handling: CommandHandling;
  checkpoints: Checkpoints;
  overdueFiles: OverdueFiles;
  clock: Clock;
}

/** Evidence that no decision has taken in yet. */
interface Undecided {
  stream: string;
  eventId: string;
  whyCleared: 'overcome' | 'corrected';
}

/**
 * The part of the calibration saga that follows the log (domain.md): recalibrates files whose evidence came without a decision, such as
 * imports and corrections, each time from the live state. What it appends carries ids that follow from what caused it, at the revision
 * that it was decided on, so doing it again after a crash has no effect.
 */
export function sagaFollower({ handling, checkpoints }: Pick<Parts, 'handling' | 'checkpoints'>): Follower {
  let seen: string | null = null;
  return {
    position: async () => {
      seen = await checkpoints.load(CHECKPOINT);
      return seen;
    },
    take: async (events) => {
      const fresh = events.filter(({ position }) => seen === null || BigInt(position) > BigInt(seen));
      for (const { stream, eventId, whyCleared } of undecidedEvidence(fresh))
        await handling.handle({
          ...{ stream, call: CALL, dispatchId: null },
          commandId: () => uuidOf(CHECKPOINT, eventId),
          decide: (state, context) => recalibrate(state, whyCleared, context),
        });
      if (fresh.length === 0) return;
      seen = fresh.at(-1)!.position;
      await checkpoints.save(CHECKPOINT, seen);
    },
  };
}

/**
 * A command appends its evidence and its decision together: evidence that no decision of the same cause came with has none. Another
 * command's decision behind it is none: it takes in its own builder's evidence only, and opening a dispatch takes in nothing.
 */
export function undecidedEvidence(batch: StoredEvent[]): Undecided[] {
  const undecided = new Map<string, Undecided>();
  for (const { event, stream, id, metadata } of batch) {
    const cause = `${stream} ${metadata.$causationId}`;
    if (event.type === 'VerdictReached' || event.type === 'VerdictCorrected') {
      const whyCleared = event.type === 'VerdictCorrected' ? 'corrected' : 'overcome';
      undecided.set(cause, { stream, eventId: id, whyCleared });
    }
    if (event.type === 'NextStepDecided') undecided.delete(cause);
  }
  // A file is looked at once, whatever it was that came.
  return [...new Map([...undecided.values()].map((evidence) => [evidence.stream, evidence])).values()];
}

/** The part of the saga that time drives: closes dead leases and lets proposals expire, also on files that nobody asks about. */
export async function settleWhatIsOverdue(
  { handling, overdueFiles, clock }: Omit<Parts, 'checkpoints'>,
  signal: AbortSignal,
  report: (message: string) => void,
): Promise<void> {
  await keepGoing('the look for overdue leases and proposals', signal, report, async () => {
    while (!signal.aborted) {
      for (const { repo, targetFile } of await overdueFiles.overdue(clock.now(), FILES_AT_A_LOOK))
        await handling.handle({
          ...{ stream: fileStream(fileIdOf(repo, targetFile)), call: CALL, dispatchId: null },
          commandId: (stream, state) => uuidOf('overdue', stream, String(state.revision)),
          decide: settleOverdue,
        });
      await pause(LOOK_EVERY_MS, signal);
    }
  });
}
