import type { EventData } from '../src/catalogue/events.js';
import type { Projection, Row, Table } from './projection.js';

/** What an attempt's own record and the dispatch say; the verdict completes it. */
const recorded: Table['columns'] = {
  attemptId: 'text',
  dispatchId: 'text',
  repo: 'text',
  targetFile: 'text',
  taskId: 'text',
  parentTaskId: 'text',
  arm: 'text',
  batch: 'text',
  profile: 'text',
  carry: 'text',
  cold: 'boolean',
  seat: 'text',
  model: 'text',
  configuration: 'text',
  attempt: 'integer',
  late: 'boolean',
  imported: 'boolean',
  prompt: 'json',
  promptSource: 'text',
  output: 'json',
  diff: 'json',
  filesTouched: 'json',
  toolSteps: 'json',
  usage: 'json',
  sampling: 'json',
  startedAt: 'time',
  finishedAt: 'time',
  at: 'time',
};

/** What a dispatch gives to each of its attempts. */
const condition: Table['columns'] = {
  parentTaskId: 'text',
  arm: 'text',
  batch: 'text',
  profile: 'text',
  carry: 'text',
  cold: 'boolean',
};

const CONDITIONS = Object.keys(condition);

/**
 * Every attempt of both seats as one record, for who trains on them or checks them: who was asked what under which condition, what came
 * of it, and how it was judged. `prompt` is what the attempt was really given, else the task's prompt, else its description;
 * `promptSource` says which. Texts are stored texts. An attempt is listed once its verdict is there: until then it waits, so that who
 * reads along never takes half a record for the whole. A
 * verdict is the one that stands; `correction` says what it was at first, and who corrected it last and why.
 */
export const captures: Projection = {
  name: 'captures',
  version: 2,
  tables: {
    captures: {
      columns: {
        ...recorded,
        verdict: 'text',
        patterns: 'json',
        signature: 'text',
        infraKind: 'text',
        confidence: 'text',
        classifierVersion: 'text',
        disagreement: 'json',
        verdictEventId: 'text',
        correction: 'json',
      },
      key: ['attemptId'],
      indexes: [
        ['at', 'attemptId'],
        ['repo', 'at', 'attemptId'],
        ['targetFile', 'at', 'attemptId'],
        ['batch', 'at', 'attemptId'],
        ['arm', 'at', 'attemptId'],
        ['model', 'at', 'attemptId'],
        ['dispatchId', 'at', 'attemptId'],
      ],
    },
    waiting: { columns: recorded, key: ['attemptId'] },
    dispatches: { columns: { dispatchId: 'text', ...condition, prompt: 'json', description: 'json' }, key: ['dispatchId'] },
  },
  handles: ['DispatchOpened', 'AttemptRecorded', 'SnapshotDiffCaptured', 'VerdictReached', 'VerdictCorrected'],

  needs({ event }) {
    switch (event.type) {
      case 'AttemptRecorded':
        return [{ table: 'dispatches', key: [event.data.dispatchId] }];
      case 'SnapshotDiffCaptured':
      case 'VerdictReached':
        return [{ table: 'waiting', key: [event.data.attemptId] }];
      case 'VerdictCorrected':
        return [{ table: 'captures', key: [event.data.attemptId] }];
      default:
        return [];
    }
  },

  evolve(rows, { event, id }) {
    switch (event.type) {
      case 'DispatchOpened': {
        const { dispatchId, parentTaskId, arm, batch, profile, carry, cold, prompt, description } = event.data;
        const row = { dispatchId, parentTaskId, arm, batch, profile, carry, cold, prompt, description };
        return [{ table: 'dispatches', key: [dispatchId], row }];
      }
      case 'AttemptRecorded': {
        const { attemptId, dispatchId } = event.data;
        return [{ table: 'waiting', key: [attemptId], row: waitingFor(event.data, rows('dispatches', dispatchId)) }];
      }
      case 'SnapshotDiffCaptured': {
        const { attemptId, diff } = event.data;
        const waiting = rows('waiting', attemptId);
        return waiting === undefined ? [] : [{ table: 'waiting', key: [attemptId], row: { ...waiting, diff } }];
      }
      case 'VerdictReached': {
        const { attemptId, verdict, patterns, signature, infraKind, confidence, classifierVersion, disagreement } = event.data;
        const waiting = rows('waiting', attemptId);
        if (waiting === undefined) return [];
        const judged = { verdict, patterns, signature, infraKind, confidence, classifierVersion, disagreement };
        const said = { verdictEventId: id, correction: null };
        return [
          { table: 'waiting', key: [attemptId], row: null },
          { table: 'captures', key: [attemptId], row: { ...waiting, ...judged, ...said } },
        ];
      }
      case 'VerdictCorrected': {
        const { attemptId, verdict, patterns, reason, source, at } = event.data;
        const row = rows('captures', attemptId);
        if (row === undefined) return [];
        // What the verifier said at first stays beside every later word.
        const first = (row.correction as { first: unknown } | null)?.first ?? { verdict: row.verdict, patterns: row.patterns };
        return [{ table: 'captures', key: [attemptId], row: { ...row, verdict, patterns, correction: { first, reason, source, at } } }];
      }
      default:
        return [];
    }
  },
};

function waitingFor(
  { leaseUntil: _lease, verifier: _verifier, history: _block, ...facts }: EventData<'AttemptRecorded'>,
  dispatch: Row | undefined,
): Row {
  const row: Row = { ...facts, promptSource: 'attempt', diff: null };
  for (const column of CONDITIONS) row[column] = dispatch?.[column] ?? null;
  if (facts.prompt != null) return row;
  if (dispatch?.prompt != null) return { ...row, prompt: dispatch.prompt, promptSource: 'task' };
  if (dispatch?.description != null) return { ...row, prompt: dispatch.description, promptSource: 'description' };
  return { ...row, prompt: null, promptSource: null };
}
