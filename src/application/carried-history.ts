import type { EventData, FileEvent } from '../catalogue/events.js';
import type { CarryMode } from '../catalogue/primitives.js';
import { type CarriedAttempt, type CarryRecord, foldAttempts, type RecordTexts } from '../domain/carry-forward.js';
import { canonicalJson } from '../domain/chain.js';
import { classify } from '../verifier/classify.js';
import { verifierInput } from './attempt-facts.js';
import type { Payloads } from './payloads.js';
import type { EventLog } from './ports.js';
import { loadVerifier } from './recorded-verifier.js';

/** What a dispatch's events say of one attempt. */
interface Told {
  recorded: EventData<'AttemptRecorded'>;
  verdict?: Pick<EventData<'VerdictReached'>, 'verdict' | 'patterns' | 'signature' | 'infraKind' | 'confidence'>;
  diff?: EventData<'SnapshotDiffCaptured'>['diff'];
}

/** A dispatch's attempts as its stream tells them, folded into records, and what their texts are made from. */
export interface DispatchHistory {
  /** How many attempts there were: the next one's number is one more. */
  recorded: number;
  records: CarryRecord[];
  told: ReadonlyMap<string, Told>;
}

/** Reads a dispatch's attempts from the revision that opened it on, up to one (exclusive) where the past is asked for. */
export async function dispatchHistory(
  log: EventLog,
  stream: string,
  { dispatchId, openedAt, before = Number.POSITIVE_INFINITY }: { dispatchId: string; openedAt: number; before?: number },
): Promise<DispatchHistory> {
  const own: FileEvent[] = [];
  for await (const { event, revision } of log.read(stream, openedAt)) {
    if (revision >= before) break;
    if ('dispatchId' in event.data && event.data.dispatchId === dispatchId) own.push(event as FileEvent);
  }
  const told = attemptsTold(own);
  const attempts = [...told.values()].flatMap(carried);
  return { recorded: told.size, records: foldAttempts(attempts), told };
}

/** What a dispatch's events say of its attempts, by id, in order; verdicts as they were corrected. */
export function attemptsTold(events: readonly FileEvent[]): Map<string, Told> {
  const told = new Map<string, Told>();
  for (const event of events) take(told, event);
  return told;
}

function take(told: Map<string, Told>, event: FileEvent): void {
  if (event.type === 'AttemptRecorded') told.set(event.data.attemptId, { recorded: event.data });
  const one = 'attemptId' in event.data ? told.get(event.data.attemptId) : undefined;
  if (one === undefined) return;
  if (event.type === 'SnapshotDiffCaptured') one.diff = event.data.diff;
  if (event.type === 'VerdictReached') one.verdict = event.data;
  if (event.type === 'VerdictCorrected' && one.verdict !== undefined)
    one.verdict = { ...one.verdict, verdict: event.data.verdict, patterns: event.data.patterns };
}

function carried({ recorded, verdict }: Told): CarriedAttempt[] {
  if (verdict === undefined) return [];
  const { attempt, attemptId, seat, output } = recorded;
  return [
    {
      ...{ attempt, attemptId, seat, verdict: verdict.verdict, patterns: verdict.patterns },
      ...{ signature: verdict.signature, infraKind: verdict.infraKind, output: canonicalJson(output) },
      firstFailedStep: firstFailedStep(recorded),
    },
  ];
}

/** Of the harness's steps, else of the verifier's commands. */
function firstFailedStep({ toolSteps, verifier }: EventData<'AttemptRecorded'>): string | null {
  if (toolSteps.length > 0) return toolSteps.find(({ ok }) => !ok)?.name ?? null;
  const failed = verifier?.steps.find(({ exitCode, signal, timedOut }) => (exitCode ?? 0) !== 0 || signal !== null || timedOut);
  return failed?.command ?? null;
}

/**
 * Gives records their texts. The verifier's messages; source lines, and the diff of the newest attempt that has one, only under
 * `diff_feedback`: showing a model its own wrong code can anchor it.
 */
export async function withTexts(
  { records, told }: DispatchHistory,
  mode: CarryMode,
  payloads: Payloads,
): Promise<(CarryRecord & RecordTexts)[]> {
  const numbers = new Map([...told].map(([attemptId, { recorded }]) => [recorded.attempt, attemptId]));
  const withDiffs = mode === 'diff_feedback';
  return Promise.all(
    records.map(async (record) => {
      const { verifier, filesTouched } = told.get(record.newest.attemptId)!.recorded;
      const read = verifier && classify({ ...verifierInput(await loadVerifier(verifier, payloads)), filesTouched });
      const newest = record.attempts.findLast((attempt) => told.get(numbers.get(attempt)!)?.diff !== undefined);
      const diff = withDiffs && newest !== undefined ? told.get(numbers.get(newest)!)!.diff! : null;
      return {
        ...record,
        excerpt: (withDiffs ? read?.sourceExcerpt || read?.excerpt : read?.excerpt) ?? '',
        diff: diff && { attempt: newest!, text: await payloads.load(diff) },
      };
    }),
  );
}
