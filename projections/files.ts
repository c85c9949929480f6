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
  'VerdictCorrected',
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
  version: 3,
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
    const counts: Row = {};
    for (const { name, by } of counted(event)) counts[name] = ((counts[name] ?? row[name]) as number) + by;
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

interface Count {
  name: string;
  by: 1 | -1;
}

/** The columns that an event counts in, and by how much. */
function counted(event: ActivityEvent): Count[] {
  switch (event.type) {
    case 'DispatchOpened':
      return [{ name: 'openDispatches', by: 1 }];
    case 'DispatchClosed':
      return [{ name: 'openDispatches', by: -1 }];
    case 'CalibrationSignalRaised':
      return [{ name: 'liveSignals', by: 1 }];
    case 'CalibrationSignalCleared':
      return [{ name: 'liveSignals', by: -1 }];
    case 'VerdictReached':
      return verdictColumn(event.data, 1);
    case 'VerdictCorrected': {
      const { corrects, verdict } = event.data;
      return corrects === null ? [] : [...verdictColumn(corrects, -1), ...verdictColumn({ seat: corrects.seat, verdict }, 1)];
    }
    default:
      return [];
  }
}

/** A blocked frontier attempt says nothing of the file, nor of the builder. */
function verdictColumn({ seat, verdict }: Pick<EventData<'VerdictReached'>, 'seat' | 'verdict'>, by: Count['by']): Count[] {
  if (seat === 'builder') return [{ name: { pass: 'passed', fail: 'failed', blocked: 'blocked' }[verdict], by }];
  return verdict === 'blocked' ? [] : [{ name: verdict === 'pass' ? 'frontierPassed' : 'frontierFailed', by }];
}
