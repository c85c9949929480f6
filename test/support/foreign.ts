import { randomUUID } from 'node:crypto';
import type { EventLog, NewEvent } from '../../src/application/ports.js';
import type { EventData, FileEvent, FileEventType } from '../../src/catalogue/events.js';
import { currentVersion } from '../../src/catalogue/versions.js';
import { chainHash } from '../../src/domain/chain.js';
import { attemptIdOf, dispatchIdOf, fileIdOf, fileStream } from '../../src/domain/ids.js';

export interface Place {
  repo: string;
  targetFile: string;
}

export const streamOf = ({ repo, targetFile }: Place) => fileStream(fileIdOf(repo, targetFile));

/** Appends events as another writer of the log would: complete metadata, linked to the stream's hash chain, no decision beside them. */
export async function appendForeign(log: EventLog, place: Place, events: FileEvent[]): Promise<{ position: string; ids: string[] }> {
  const stream = streamOf(place);
  let revision = -1;
  let previousHash: string | null = null;
  for await (const event of log.read(stream)) {
    revision = event.revision;
    previousHash = event.metadata.hash;
  }
  const causation = randomUUID();
  const linked: NewEvent[] = events.map(({ type, data }) => {
    const metadata = {
      $correlationId: causation,
      $causationId: causation,
      actor: 'import',
      schemaVersion: currentVersion(type),
      previousHash,
    };
    const hash = chainHash(type, data, metadata);
    previousHash = hash;
    return { id: randomUUID(), type, data, metadata: { ...metadata, hash } };
  });
  const { position } = await log.append(stream, revision, linked);
  return { position, ids: linked.map(({ id }) => id) };
}

interface Imported {
  model?: string;
  taskId?: string;
  verdict?: 'pass' | 'fail';
  code?: string;
  at?: string;
  unique: string;
}

/** One attempt of the builder that was imported: recorded and judged, and nothing decided. */
export function importedAttempt(
  place: Place,
  { model = 'builder-9b', taskId = 't', verdict = 'fail', code, at, unique }: Imported,
): FileEvent[] {
  const dispatchId = dispatchIdOf(fileIdOf(place.repo, place.targetFile), unique);
  const common = {
    ...{ repo: place.repo, targetFile: place.targetFile, at: at ?? new Date().toISOString(), dispatchId },
    ...{ attemptId: attemptIdOf(dispatchId, 1), attempt: 1, seat: 'builder' as const, model, configuration: model, taskId },
    ...{ late: false, imported: true },
  };
  const pattern = code && { pattern: `${code.toLowerCase()}_error`, code, category: 'type', file: null };
  return [
    event('AttemptRecorded', {
      ...common,
      ...{ output: { text: `imported ${unique}` }, prompt: null, verifier: null, toolSteps: [], usage: null, sampling: null },
      ...{ startedAt: null, finishedAt: null, filesTouched: [], leaseUntil: null, history: null },
    }),
    event('VerdictReached', {
      ...common,
      ...{ verdict, patterns: pattern ? [pattern] : [], signature: null, infraKind: null, classifierVersion: null },
      ...{ confidence: 'high', disagreement: null, trial: null },
    }),
  ];
}

export function event<T extends FileEventType>(type: T, data: EventData<T>): FileEvent {
  return { type, data } as FileEvent;
}
