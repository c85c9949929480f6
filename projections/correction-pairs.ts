import type { EventData } from '../src/catalogue/events.js';
import type { ErrorPattern, StoredText } from '../src/catalogue/primitives.js';
import type { Change, ProjectedEvent, Projection, Rows } from './projection.js';

/** A failed attempt of the builder, as far as a pair needs it. */
interface Failed {
  attemptId: string;
  verdictEventId: string;
  output: StoredText;
  patterns: ErrorPattern[];
}

/**
 * Correction pairs (domain.md): chosen is the output that passed, rejected the builder's last failed output of the same task before it:
 * of this dispatch or, for a frontier's pass where it has none, the newest earlier one. One pair for one chosen attempt; none from equal
 * outputs. Beside the pairs stands what is needed to derive the next one: attempts that wait for their verdict (or, a frontier's, for
 * its outcome), and the last failure of each dispatch and task.
 */
export const correctionPairs: Projection = {
  name: 'correction_pairs',
  version: 2,
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
  },
  handles: ['DispatchOpened', 'AttemptRecorded', 'VerdictReached', 'FrontierOutcomeRecorded'],

  needs({ event, stream }) {
    if (event.type !== 'VerdictReached' && event.type !== 'FrontierOutcomeRecorded') return [];
    const { attemptId, dispatchId, taskId } = event.data;
    return [
      { table: 'waiting', key: [attemptId] },
      { table: 'dispatches', key: [dispatchId] },
      { table: 'tasks', key: [stream, taskId] },
    ];
  },

  evolve(rows, projected) {
    const { event } = projected;
    switch (event.type) {
      case 'DispatchOpened': {
        const { dispatchId, prompt, description } = event.data;
        return [{ table: 'dispatches', key: [dispatchId], row: { dispatchId, prompt: prompt ?? description, failed: null } }];
      }
      case 'AttemptRecorded': {
        const { attemptId, output, prompt } = event.data;
        return [{ table: 'waiting', key: [attemptId], row: { attemptId, output, prompt, verdictEventId: null } }];
      }
      case 'VerdictReached':
        return verdictReached(rows, projected, event.data);
      case 'FrontierOutcomeRecorded':
        return frontierOutcome(rows, projected, event.data);
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
      ...(dispatch ? [{ table: 'dispatches', key: [dispatchId], row: { ...dispatch, failed } }] : []),
      { table: 'tasks', key: [stream, taskId], row: { stream, taskId, failed } },
    ];
  }
  const rejected = dispatch?.failed as Failed | null | undefined;
  if (verdict !== 'pass' || !rejected) return [seen];
  return [seen, ...pair(data, rejected, { ...waiting, verdictEventId: id }, dispatch?.prompt, 'self_correction', data)];
}

function frontierOutcome(rows: Rows, { stream }: ProjectedEvent, data: EventData<'FrontierOutcomeRecorded'>): Change[] {
  const { attemptId, dispatchId, taskId, verdict, ledBy, model } = data;
  const waiting = rows('waiting', attemptId);
  if (waiting === undefined) return [];
  const dispatch = rows('dispatches', dispatchId);
  const rejected = (dispatch?.failed ?? rows('tasks', stream, taskId)?.failed) as Failed | null | undefined;
  const seen: Change = { table: 'waiting', key: [attemptId], row: null };
  if (verdict !== 'pass' || !rejected) return [seen];
  const kind = ledBy?.kind === 'per_file' ? 'multi_pattern' : 'single_pattern';
  return [seen, ...pair(data, rejected, waiting, dispatch?.prompt, kind, { seat: 'frontier', model })];
}

/** The prompt is what the chosen attempt was really given, else the task's prompt, else its description. */
function pair(
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
  return [{ table: 'pairs', key: [attemptId], row }];
}

/** Long texts are known by the hash of the whole, also where only head and tail were kept. */
function sameText(a: StoredText, b: StoredText): boolean {
  if ('text' in a || 'text' in b) return 'text' in a && 'text' in b && a.text === b.text;
  return (a.whole?.hash ?? a.payload) === (b.whole?.hash ?? b.payload);
}
