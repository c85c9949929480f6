import type { FileEvent } from '../catalogue/events.js';
import { evolve } from '../domain/evolve.js';
import { emptyState, type FileState } from '../domain/state.js';
import type { EventLog, StoredEvent } from './ports.js';

/** A file's stream, read to its head, and what it folds to. */
export interface FileHistory {
  stream: string;
  events: StoredEvent[];
  state: FileState;
}

export async function readHistory(log: EventLog, stream: string): Promise<FileHistory> {
  const events: StoredEvent[] = [];
  for await (const event of log.read(stream)) events.push(event);
  return { stream, events, state: fold(events) };
}

export function fold(events: StoredEvent[]): FileState {
  return events.reduce((state, { event }) => evolve(state, event as FileEvent), emptyState());
}

/** Where a stream's events say that they belong; undefined for an empty stream. */
export function whereabouts({ events }: FileHistory): { repo: string; targetFile: string } | undefined {
  const first = events[0]?.event.data;
  return first && 'targetFile' in first ? { repo: first.repo, targetFile: first.targetFile } : undefined;
}

/** The place of a stream's head, as answers give it. */
export function positionOf({ stream, events }: FileHistory): { stream: string; revision: number; commit: string | null } {
  const head = events.at(-1);
  return { stream, revision: head?.revision ?? -1, commit: head?.position ?? null };
}
