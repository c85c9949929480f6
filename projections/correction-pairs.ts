import type { EventData } from '../src/catalogue/events.js';
import type { ErrorPattern, StoredText } from '../src/catalogue/primitives.js';
import type { Change, ProjectedEvent, Projection, Row, RowKey, Rows } from './projection.js';

/** A failed attempt of the builder, as far as a pair needs it. */
interface Failed {
  attemptId: string;
  verdictEventId: string;
  output: StoredText;
  patterns: ErrorPattern[];
}

/** Failures that a dispatch and a task keep: should the last be corrected, the one before it is the last. */
const KEPT_FAILED = 10;

/**
 * Correction pairs (domain.md): chosen is the output that passed, rejected the builder's last failed output of the same task before it:
 * of this dispatch or, for a frontier's pass where it has none, the newest earlier one. One pair for one chosen attempt; none from equal
 * outputs. Beside the pairs stands what is needed to derive the next one: attempts that wait for their verdict (or, a frontier's, for
 * its outcome), and the last failures of each dispatch and task. A correction that changed either verdict, and a withdrawal, take a pair away.
 */
export const correctionPairs: Projection = {
  name: 'correction_pairs',
  version: 3,
  tables: {
    pairs: {
      columns: {
        chosenAttemptId: 'text',
        rejectedAttemptId: 'text',
        chosenVerdictEventId: 'text',
        rejectedVerdictEventId: 'text',
        repo: 'text',
        targetFile: 'text',
        taskId: 'text',
        dispatchId: 'text',
        kind: 'text',
        seat: 'text',
        model: 'text',
        prompt: 'json',
        chosen: 'json',
        rejected: 'json',
        patterns: 'json',
        at: 'time',
      },
      key: ['chosenAttemptId'],
      indexes: [
        ['at', 'chosenAttemptId'],
        ['repo', 'at', 'chosenAttemptId'],
        ['targetFile', 'at', 'chosenAttemptId'],
        ['kind', 'at', 'chosenAttemptId'],
      ],
    },
    waiting: { columns: { attemptId: 'text', output: 'json', prompt: 'json', verdictEventId: 'text' }, key: ['attemptId'] },
    dispatches: { columns: { dispatchId: 'text', prompt: 'json', failed: 'json' }, key: ['dispatchId'] },
    tasks: { columns: { stream: 'text', taskId: 'text', failed: 'json' }, key: ['stream', 'taskId'] },
    // The pairs that an attempt was rejected in, by their chosen attempts.
    rejections: { columns: { rejectedAttemptId: 'text', chosen: 'json' }, key: ['rejectedAttemptId'] },
  },
  handles: [
    ...(['DispatchOpened', 'AttemptRecorded', 'VerdictReached', 'FrontierOutcomeRecorded'] as const),
    ...(['VerdictCorrected', 'CorrectionPairWithdrawn'] as const),
  ],

  needs({ event, stream }) {
    switch (event.type) {
      case 'VerdictReached':
      case 'FrontierOutcomeRecorded': {
        const { attemptId, dispatchId, taskId } = event.data;
        return [{ table: 'waiting', key: [attemptId] }, { table: 'rejections', key: [attemptId] }, ...placesOf(stream, dispatchId, taskId)];
      }
      case 'VerdictCorrected': {
        const { attemptId, dispatchId, corrects } = event.data;
        const own = ['pairs', 'rejections'].map((table) => ({ table, key: [attemptId] }));
        return [...own, ...placesOf(stream, dispatchId, corrects?.taskId)];
      }
      case 'CorrectionPairWithdrawn':
        return [{ table: 'pairs', key: [event.data.chosenAttemptId] }];
      default:
        return [];
    }
  },

  needsNext(rows, { event, stream }) {
    if (event.type === 'VerdictCorrected')
      return chosenOver(rows, event.data.attemptId).map((chosen) => ({ table: 'pairs', key: [chosen] }));
    if (event.type !== 'VerdictReached' && event.type !== 'FrontierOutcomeRecorded') return [];
    const { dispatchId, taskId } = event.data;
    const failed = placesOf(stream, dispatchId, taskId).map(({ table, key }) => lastOf(rows(table, ...key)));
    return failed.flatMap((last) => (last ? [{ table: 'rejections', key: [last.attemptId] }] : []));
  },

  evolve(rows, projected) {
    const { event } = projected;
    switch (event.type) {
      case 'DispatchOpened': {
        const { dispatchId, prompt, description } = event.data;
        return [{ table: 'dispatches', key: [dispatchId], row: { dispatchId, prompt: prompt ?? description, failed: [] } }];
      }
      case 'AttemptRecorded': {
        const { attemptId, output, prompt } = event.data;
        return [{ table: 'waiting', key: [attemptId], row: { attemptId, output, prompt, verdictEventId: null } }];
      }
      case 'VerdictReached':
        return verdictReached(rows, projected, event.data);
      case 'FrontierOutcomeRecorded':
        return frontierOutcome(rows, projected, event.data);
      case 'VerdictCorrected':
        return verdictCorrected(rows, projected, event.data);
      case 'CorrectionPairWithdrawn': {
        const { chosenAttemptId } = event.data;
        return rows('pairs', chosenAttemptId) === undefined ? [] : [{ table: 'pairs', key: [chosenAttemptId], row: null }];
      }
      default:
        return [];
    }
  },
};

function verdictReached(rows: Rows, { id, stream }: ProjectedEvent, data: EventData<'VerdictReached'>): Change[] {
  const { attemptId, dispatchId, taskId, seat, verdict, patterns } = data;
  const waiting = rows('waiting', attemptId);
  if (waiting === undefined) return [];
  // A frontier's pass waits for the event behind it, which says what led to it and so of which kind the pair is.
  if (seat === 'frontier') return [{ table: 'waiting', key: [attemptId], row: { ...waiting, verdictEventId: id } }];
  const seen: Change = { table: 'waiting', key: [attemptId], row: null };
  const dispatch = rows('dispatches', dispatchId);
  if (verdict === 'fail') {
    const failed: Failed = { attemptId, verdictEventId: id, output: waiting.output as StoredText, patterns };
    return [
      seen,
      ...(dispatch ? [{ table: 'dispatches', key: [dispatchId], row: { ...dispatch, failed: further(dispatch, failed) } }] : []),
      { table: 'tasks', key: [stream, taskId], row: { stream, taskId, failed: further(rows('tasks', stream, taskId), failed) } },
    ];
  }
  const rejected = lastOf(dispatch);
  if (verdict !== 'pass' || !rejected) return [seen];
  return [seen, ...pair(rows, data, rejected, { ...waiting, verdictEventId: id }, dispatch?.prompt, 'self_correction', data)];
}

function frontierOutcome(rows: Rows, { stream }: ProjectedEvent, data: EventData<'FrontierOutcomeRecorded'>): Change[] {
  const { attemptId, dispatchId, taskId, verdict, ledBy, model } = data;
  const waiting = rows('waiting', attemptId);
  if (waiting === undefined) return [];
  const dispatch = rows('dispatches', dispatchId);
  const rejected = lastOf(dispatch) ?? lastOf(rows('tasks', stream, taskId));
  const seen: Change = { table: 'waiting', key: [attemptId], row: null };
  if (verdict !== 'pass' || !rejected) return [seen];
  const kind = ledBy?.kind === 'per_file' ? 'multi_pattern' : 'single_pattern';
  return [seen, ...pair(rows, data, rejected, waiting, dispatch?.prompt, kind, { seat: 'frontier', model })];
}

/** The prompt is what the chosen attempt was really given, else the task's prompt, else its description. */
function pair(
  rows: Rows,
  chosen: { attemptId: string; dispatchId: string; taskId: string; repo: string; targetFile: string; at: string },
  rejected: Failed,
  waiting: Record<string, unknown>,
  taskPrompt: unknown,
  kind: string,
  by: { seat: string; model: string },
): Change[] {
  if (sameText(waiting.output as StoredText, rejected.output)) return [];
  const { attemptId, dispatchId, taskId, repo, targetFile, at } = chosen;
  const row = {
    ...{ chosenAttemptId: attemptId, rejectedAttemptId: rejected.attemptId, repo, targetFile, taskId, dispatchId, kind, at },
    ...{ chosenVerdictEventId: waiting.verdictEventId, rejectedVerdictEventId: rejected.verdictEventId, seat: by.seat, model: by.model },
    ...{ prompt: waiting.prompt ?? taskPrompt ?? null, chosen: waiting.output, rejected: rejected.output, patterns: rejected.patterns },
  };
  const rejection = { rejectedAttemptId: rejected.attemptId, chosen: [...chosenOver(rows, rejected.attemptId), attemptId] };
  return [
    { table: 'pairs', key: [attemptId], row },
    { table: 'rejections', key: [rejected.attemptId], row: rejection },
  ];
}

/** A verdict that was corrected is neither chosen nor rejected any more, whatever it is now. Where only patterns changed, they are put right. */
function verdictCorrected(rows: Rows, { stream }: ProjectedEvent, data: EventData<'VerdictCorrected'>): Change[] {
  const { attemptId, dispatchId, verdict, patterns, corrects } = data;
  const changed = corrects === null || corrects.verdict !== verdict;
  const lists = placesOf(stream, dispatchId, corrects?.taskId).flatMap(({ table, key }): Change[] => {
    const row = rows(table, ...key);
    const before = (row?.failed ?? []) as Failed[];
    if (!before.some((failed) => failed.attemptId === attemptId)) return [];
    const failed = changed
      ? before.filter((one) => one.attemptId !== attemptId)
      : before.map((one) => (one.attemptId === attemptId ? { ...one, patterns } : one));
    return [{ table, key, row: { ...row, failed } }];
  });
  const pairs = [attemptId, ...chosenOver(rows, attemptId)].flatMap((chosen): Change[] => {
    const row = rows('pairs', chosen);
    if (row === undefined) return [];
    if (changed) return [{ table: 'pairs', key: [chosen], row: null }];
    return row.rejectedAttemptId === attemptId ? [{ table: 'pairs', key: [chosen], row: { ...row, patterns } }] : [];
  });
  return [...lists, ...pairs];
}

/** The rows that keep the last failures that an attempt of a dispatch and a task may correct. */
function placesOf(stream: string, dispatchId: string, taskId: string | undefined): RowKey[] {
  return [{ table: 'dispatches', key: [dispatchId] }, ...(taskId === undefined ? [] : [{ table: 'tasks', key: [stream, taskId] }])];
}

function further(row: Row | undefined, failed: Failed): Failed[] {
  return [...((row?.failed ?? []) as Failed[]), failed].slice(-KEPT_FAILED);
}

function lastOf(row: Row | undefined): Failed | undefined {
  return ((row?.failed ?? []) as Failed[]).at(-1);
}

function chosenOver(rows: Rows, attemptId: string): string[] {
  return (rows('rejections', attemptId)?.chosen ?? []) as string[];
}

/** Long texts are known by the hash of the whole, also where only head and tail were kept. */
function sameText(a: StoredText, b: StoredText): boolean {
  if ('text' in a || 'text' in b) return 'text' in a && 'text' in b && a.text === b.text;
  return (a.whole?.hash ?? a.payload) === (b.whole?.hash ?? b.payload);
}
