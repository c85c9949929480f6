import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { wrap } from './pass.mjs';

// Evidence without a decision comes from imports, as another writer of the log would append it: through the service's own client, since
// the embedded node's address is known to nobody else. The runner asks for it by message, with ids that make it count once.
const built = dirname(process.argv[1]);
const load = (path) => import(pathToFileURL(join(built, path)));
const { EventStoreDbLog } = await load('adapters/eventstoredb/event-log.js');
const { chainHash } = await load('domain/chain.js');
const { attemptIdOf, dispatchIdOf, fileIdOf, fileStream, uuidOf } = await load('domain/ids.js');

let log;
wrap(
  EventStoreDbLog.prototype,
  'ping',
  (ping) =>
    function () {
      log = this;
      return ping.call(this);
    },
);

process.on('message', async ({ evidence, id }) => {
  if (evidence === undefined) return;
  try {
    await append(evidence);
    process.send({ id });
  } catch (error) {
    process.send({ id, error: String(error) });
  }
});

/** Failures of imported attempts, all in one append; made before, it is found by its first event's id. */
async function append({ repo, targetFile, unique, code, attempts }) {
  const fileId = fileIdOf(repo, targetFile);
  const causation = uuidOf('imported', unique);
  let revision = -1;
  let previousHash = null;
  for await (const event of log.read(fileStream(fileId))) {
    if (event.metadata.$causationId === causation) return;
    revision = event.revision;
    previousHash = event.metadata.hash;
  }
  const dispatchId = dispatchIdOf(fileId, unique);
  const facts = Array.from({ length: attempts }, (_, index) => {
    const attempt = index + 1;
    const common = {
      ...{ repo, targetFile, at: new Date().toISOString(), dispatchId, attemptId: attemptIdOf(dispatchId, attempt), attempt },
      ...{ seat: 'builder', model: 'builder-9b', configuration: 'builder-9b', taskId: `imported-${unique}`, late: false, imported: true },
    };
    const text = {
      ...{ output: { text: `imported ${unique} ${attempt}` }, prompt: null, verifier: null, toolSteps: [], usage: null, sampling: null },
      ...{ startedAt: null, finishedAt: null, filesTouched: [], leaseUntil: null },
    };
    const pattern = { pattern: `${code.toLowerCase()}_error`, code, category: 'type', file: null };
    const judged = { verdict: 'fail', patterns: [pattern], signature: null, infraKind: null, classifierVersion: null };
    return [
      { type: 'AttemptRecorded', data: { ...common, ...text } },
      { type: 'VerdictReached', data: { ...common, ...judged, confidence: 'high', disagreement: null } },
    ];
  }).flat();
  const linked = facts.map(({ type, data }, index) => {
    const metadata = { $correlationId: causation, $causationId: causation, actor: 'import', schemaVersion: 1, previousHash };
    previousHash = chainHash(type, data, metadata);
    return { id: uuidOf(causation, String(index)), type, data, metadata: { ...metadata, hash: previousHash } };
  });
  await log.append(fileStream(fileId), revision, linked);
}
