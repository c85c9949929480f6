import type { EventData, EventType } from '../src/catalogue/events.js';
import type { Projection, Row } from './projection.js';

/** Every event whose command a file should be seen as active by; those that only ever stand beside one of these in an append are left out. */
const ACTIVITY = [
  'DispatchOpened',
  'LeaseRenewed',
  'DuplicateDispatchPrevented',
  'DispatchSkipped',
  'HistoryInjected',
  'VerdictReached',
  'CalibrationSignalRaised',
  'CalibrationSignalCleared',
  'ProposalResolved',
  'FailureAttributed',
  'AttributionWithdrawn',
  'HistoryInherited',
  'DispatchClosed',
] as const satisfies readonly EventType[];
type Activity = (typeof ACTIVITY)[number];

/**
 * One row a file: how its attempts went (`passed`, `failed`, `blocked` are the builder seat's, of all models), what is open and what is
 * live on it, and when it was last active. Clocks may jump back: the newest activity is the latest time that any of its events says.
 */
export const files: Projection = {
  name: 'files',
  version: 2,
  tables: {
    files: {
      columns: {
        repo: 'text',
        targetFile: 'text',
        passed: 'integer',
        failed: 'integer',
        blocked: 'integer',
        frontierPassed: 'integer',
        frontierFailed: 'integer',
        openDispatches: 'integer',
        liveSignals: 'integer',
        firstSeen: 'time',
        lastActivity: 'time',
      },
      key: ['repo', 'targetFile'],
      indexes: [
        ['lastActivity', 'targetFile', 'repo'],
        ['repo', 'lastActivity', 'targetFile'],
        ['targetFile', 'lastActivity', 'repo'],
      ],
    },
  },
  handles: ACTIVITY,

  needs({ event }) {
    if (!isActivity(event)) return [];
    const { repo, targetFile } = event.data;
    return [{ table: 'files', key: [repo, targetFile] }];
  },

  evolve(rows, { event }) {
    if (!isActivity(event)) return [];
    const { repo, targetFile, at } = event.data;
    const row = rows('files', repo, targetFile) ?? newFile(repo, targetFile, at);
    const lastActivity = Date.parse(at) > Date.parse(row.lastActivity as string) ? at : row.lastActivity;
    const column = counted(event);
    const counts = column && { [column.name]: (row[column.name] as number) + column.by };
    return [{ table: 'files', key: [repo, targetFile], row: { ...row, ...counts, lastActivity } }];
  },
};

type ActivityEvent = { [T in Activity]: { type: T; data: EventData<T> } }[Activity];

function isActivity(event: { type: EventType }): event is ActivityEvent {
  return (ACTIVITY as readonly EventType[]).includes(event.type);
}

function newFile(repo: string, targetFile: string, at: string): Row {
  return {
    ...{ repo, targetFile, passed: 0, failed: 0, blocked: 0, frontierPassed: 0, frontierFailed: 0 },
    ...{ openDispatches: 0, liveSignals: 0, firstSeen: at, lastActivity: at },
  };
}

/** The column that an event counts in, if any, and by how much. */
function counted(event: ActivityEvent): { name: string; by: 1 | -1 } | undefined {
  switch (event.type) {
    case 'DispatchOpened':
      return { name: 'openDispatches', by: 1 };
    case 'DispatchClosed':
      return { name: 'openDispatches', by: -1 };
    case 'CalibrationSignalRaised':
      return { name: 'liveSignals', by: 1 };
    case 'CalibrationSignalCleared':
      return { name: 'liveSignals', by: -1 };
    case 'VerdictReached':
      return verdictColumn(event.data);
    default:
      return undefined;
  }
}

/** A blocked frontier attempt says nothing of the file, nor of the builder. */
function verdictColumn({ seat, verdict }: EventData<'VerdictReached'>): { name: string; by: 1 } | undefined {
  if (seat === 'builder') return { name: { pass: 'passed', fail: 'failed', blocked: 'blocked' }[verdict], by: 1 };
  return verdict === 'blocked' ? undefined : { name: verdict === 'pass' ? 'frontierPassed' : 'frontierFailed', by: 1 };
}
