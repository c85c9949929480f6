import type { EventData } from '../src/catalogue/events.js';
import type { ErrorPattern, StoredText } from '../src/catalogue/primitives.js';
import type { Change, ProjectedEvent, Projection, Row, RowKey, Rows } from './projection.js';

/** An attempt, as far as a pair needs it: the builder's failed ones with their patterns, others while they wait to be judged. */
interface Attempt {
  attemptId: string;
  verdictEventId: string;
  output: StoredText;
  prompt: StoredText | null;
  patterns: ErrorPattern[] | null;
}

/** Failures that a dispatch and a task remember: should the last be corrected, the one before it is the last. */
const KEPT_FAILED = 10;

/**
 * Correction pairs (domain.md): chosen is the output that passed, rejected the builder's last failed output of the same task before it:
 * of this dispatch or, for a frontier's pass where it has none, the newest earlier one. One pair for one chosen attempt; none from equal
 * outputs. Beside the pairs stands what is needed to derive the next one: attempts that wait for their verdict (or, a frontier's, for
 * its outcome) or failed, and which failures were the last of each dispatch and task. A correction that changed either verdict, and a
 * withdrawal, take a pair away.
 */
export const correctionPairs: Projection = {
  name: 'correction_pairs',
  version: 4,
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
    attempts: {
      columns: { attemptId: 'text', output: 'json', prompt: 'json', verdictEventId: 'text', patterns: 'json' },
      key: ['attemptId'],
    },
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
        return [...ofAttempt(attemptId), ...placesOf(stream, dispatchId, taskId)];
      }
      case 'VerdictCorrected': {
        const { attemptId, dispatchId, corrects } = event.data;
        return [{ table: 'pairs', key: [attemptId] }, ...ofAttempt(attemptId), ...placesOf(stream, dispatchId, corrects?.taskId)];
      }
      case 'CorrectionPairWithdrawn':
        return [{ table: 'pairs', key: [event.data.chosenAttemptId] }];
      default:
        return [];
    }
  },

  needsNext(rows, { event, stream }) {
    if (event.type === 'VerdictCorrected') {
      const { attemptId, dispatchId, corrects } = event.data;
      const pairs = chosenOver(rows, attemptId).map((chosen) => ({ table: 'pairs', key: [chosen] }));
      // Any of them may come to be the last.
      return [
        ...pairs,
        ...placesOf(stream, dispatchId, corrects?.taskId).flatMap((place) => failedIn(rowAt(rows, place)).flatMap(ofAttempt)),
      ];
    }
    if (event.type !== 'VerdictReached' && event.type !== 'FrontierOutcomeRecorded') return [];
    const { dispatchId, taskId } = event.data;
    return placesOf(stream, dispatchId, taskId).flatMap((place) => failedIn(rowAt(rows, place)).slice(-1).flatMap(ofAttempt));
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
        return [{ table: 'attempts', key: [attemptId], row: { attemptId, output, prompt, verdictEventId: null, patterns: null } }];
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
  const attempt = attemptOf(rows, attemptId);
  if (attempt === undefined) return [];
  // A frontier's pass waits for the event behind it, which says what led to it and so of which kind the pair is.
  if (seat === 'frontier') return [{ table: 'attempts', key: [attemptId], row: { ...attempt, verdictEventId: id } }];
  const dispatch = rows('dispatches', dispatchId);
  if (verdict === 'fail') {
    const failed = (row: Row | undefined) => [...failedIn(row), attemptId].slice(-KEPT_FAILED);
    return [
      { table: 'attempts', key: [attemptId], row: { ...attempt, prompt: null, verdictEventId: id, patterns } },
      ...(dispatch ? [{ table: 'dispatches', key: [dispatchId], row: { ...dispatch, failed: failed(dispatch) } }] : []),
      { table: 'tasks', key: [stream, taskId], row: { stream, taskId, failed: failed(rows('tasks', stream, taskId)) } },
    ];
  }
  const seen: Change = { table: 'attempts', key: [attemptId], row: null };
  const rejected = lastFailed(rows, dispatch);
  if (verdict !== 'pass' || !rejected) return [seen];
  return [seen, ...pair(rows, data, rejected, { ...attempt, verdictEventId: id }, dispatch?.prompt, 'self_correction', data)];
}

function frontierOutcome(rows: Rows, { stream }: ProjectedEvent, data: EventData<'FrontierOutcomeRecorded'>): Change[] {
  const { attemptId, dispatchId, taskId, verdict, ledBy, model } = data;
  const attempt = attemptOf(rows, attemptId);
  if (attempt === undefined) return [];
  const dispatch = rows('dispatches', dispatchId);
  const rejected = lastFailed(rows, dispatch) ?? lastFailed(rows, rows('tasks', stream, taskId));
  const seen: Change = { table: 'attempts', key: [attemptId], row: null };
  if (verdict !== 'pass' || !rejected) return [seen];
  const kind = ledBy?.kind === 'per_file' ? 'multi_pattern' : 'single_pattern';
  return [seen, ...pair(rows, data, rejected, attempt, dispatch?.prompt, kind, { seat: 'frontier', model })];
}

/** The prompt is what the chosen attempt was really given, else the task's prompt, else its description. */
function pair(
  rows: Rows,
  chosen: { attemptId: string; dispatchId: string; taskId: string; repo: string; targetFile: string; at: string },
  rejected: Attempt,
  passed: Attempt,
  taskPrompt: unknown,
  kind: string,
  by: { seat: string; model: string },
): Change[] {
  if (sameText(passed.output, rejected.output)) return [];
  const { attemptId, dispatchId, taskId, repo, targetFile, at } = chosen;
  const row = {
    ...{ chosenAttemptId: attemptId, rejectedAttemptId: rejected.attemptId, repo, targetFile, taskId, dispatchId, kind, at },
    ...{ chosenVerdictEventId: passed.verdictEventId, rejectedVerdictEventId: rejected.verdictEventId, seat: by.seat, model: by.model },
    ...{ prompt: passed.prompt ?? taskPrompt ?? null, chosen: passed.output, rejected: rejected.output, patterns: rejected.patterns },
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
  const lists = placesOf(stream, dispatchId, corrects?.taskId).flatMap((place): Change[] => {
    const row = rowAt(rows, place);
    const failed = failedIn(row);
    if (!changed || !failed.includes(attemptId)) return [];
    return [{ ...place, row: { ...row, failed: failed.filter((one) => one !== attemptId) } }];
  });
  const attempt = attemptOf(rows, attemptId);
  const own: Change[] =
    attempt === undefined ? [] : [{ table: 'attempts', key: [attemptId], row: changed ? null : { ...attempt, patterns } }];
  const pairs = [attemptId, ...chosenOver(rows, attemptId)].flatMap((chosen): Change[] => {
    const row = rows('pairs', chosen);
    if (row === undefined) return [];
    if (changed) return [{ table: 'pairs', key: [chosen], row: null }];
    return row.rejectedAttemptId === attemptId ? [{ table: 'pairs', key: [chosen], row: { ...row, patterns } }] : [];
  });
  return [...own, ...lists, ...pairs];
}

/** The rows that remember the last failures that an attempt of a dispatch and a task may correct. */
function placesOf(stream: string, dispatchId: string, taskId: string | undefined): RowKey[] {
  return [{ table: 'dispatches', key: [dispatchId] }, ...(taskId === undefined ? [] : [{ table: 'tasks', key: [stream, taskId] }])];
}

function rowAt(rows: Rows, { table, key }: RowKey): Row | undefined {
  return rows(table, ...key);
}

function ofAttempt(attemptId: string): RowKey[] {
  return ['attempts', 'rejections'].map((table) => ({ table, key: [attemptId] }));
}

function attemptOf(rows: Rows, attemptId: string): (Attempt & Row) | undefined {
  return rows('attempts', attemptId) as (Attempt & Row) | undefined;
}

/** The attempts that a dispatch or a task remembers as its last failures, the newest at the end. */
function failedIn(row: Row | undefined): string[] {
  return (row?.failed ?? []) as string[];
}

function lastFailed(rows: Rows, row: Row | undefined): Attempt | undefined {
  return failedIn(row)
    .slice(-1)
    .map((attemptId) => attemptOf(rows, attemptId))[0];
}

function chosenOver(rows: Rows, attemptId: string): string[] {
  return (rows('rejections', attemptId)?.chosen ?? []) as string[];
}

/** Long texts are known by the hash of the whole, also where only head and tail were kept. */
function sameText(a: StoredText, b: StoredText): boolean {
  if ('text' in a || 'text' in b) return 'text' in a && 'text' in b && a.text === b.text;
  return (a.whole?.hash ?? a.payload) === (b.whole?.hash ?? b.payload);
}
