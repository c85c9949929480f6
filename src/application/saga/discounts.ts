import { fileIdOf, fileStream, uuidOf } from '../../domain/ids.js';
import { policyRevisionOf } from '../../domain/policy-in-force.js';
import { recalibrate } from '../../domain/settle.js';
import type { CommandHandling } from '../handle-command.js';
import type { Policies } from '../policies.js';
import type { ReadModels, StoredEvent } from '../ports.js';
import { caughtUpPage } from '../queries/pages.js';
import { type Reaction, SAGA_CALL } from './reaction.js';

const PAGE = 1_000;

/**
 * Brings signals in line with what is discounted. A discount concerns the file that it names, else the files of its repo with live
 * signals, as the read model has them once it has seen the discount. A decision may have looked at its policy stream before a discount
 * and been appended after it: so the file of each signal that a decision raised is looked at again, where the stream has more by now than
 * that decision saw. Throws NotCaughtUp where the read model takes too long.
 */
export function discounts(handling: CommandHandling, policies: Policies, readModels: ReadModels): Reaction {
  const inLine = (cause: StoredEvent, repo: string, targetFile: string) => {
    const stream = fileStream(fileIdOf(repo, targetFile));
    return handling.handle({
      ...{ stream, where: { repo, targetFile }, call: SAGA_CALL, dispatchId: null },
      commandId: () => uuidOf('discounts', cause.id, stream),
      decide: (state, context) => recalibrate(state, 'discounted', context),
    });
  };
  /** The command that raised a signal last: its decision stands right behind it. */
  let raising = '';
  return async (stored) => {
    const { event } = stored;
    if (event.type === 'EvidenceDiscounted') {
      const { repo, selector } = event.data;
      const files = selector.targetFile === undefined ? await filesWithSignals(readModels, repo, stored.position) : [selector.targetFile];
      await all([...files].map((file) => () => inLine(stored, repo, file)));
    }
    if (event.type === 'CalibrationSignalRaised') raising = causeOf(stored);
    if (event.type === 'NextStepDecided' && raising === causeOf(stored)) {
      const { repo, targetFile, basedOn } = event.data;
      // Mostly nothing came between: then no turn on the file is waited for, which under load is long.
      if ((await policies.current(repo)).state.revision !== policyRevisionOf(basedOn, repo)) await inLine(stored, repo, targetFile);
    }
  };
}

/** One file that fails keeps no other from its turn. */
async function all(pieces: (() => Promise<unknown>)[]): Promise<void> {
  const failed: unknown[] = [];
  for (const piece of pieces) await piece().catch((error: unknown) => failed.push(error));
  if (failed.length > 0) throw failed[0];
}

async function filesWithSignals(readModels: ReadModels, repo: string, after: string): Promise<Set<string>> {
  const files = new Set<string>();
  let cursor: string | undefined;
  do {
    const place = { projection: 'signals', table: 'signals', where: { repo, live: 'true' }, order: ['raisedAt', 'signalId'] };
    const { items, nextCursor } = await caughtUpPage(readModels, after, { ...place, limit: PAGE, cursor });
    for (const { targetFile } of items) files.add(targetFile as string);
    cursor = nextCursor ?? undefined;
  } while (cursor !== undefined);
  return files;
}

function causeOf({ stream, metadata }: StoredEvent): string {
  return `${stream} ${metadata.$causationId}`;
}
