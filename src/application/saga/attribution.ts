import { LRUCache } from 'lru-cache';
import type { EventData, FileEvent } from '../../catalogue/events.js';
import { defaultPolicy, type Policy } from '../../catalogue/policy.js';
import {
  attributeFailure,
  attributionOf,
  correctAttributed,
  type HomeAttempt,
  overcomeAttributed,
  taskOf,
} from '../../domain/attribute.js';
import { fileIdOf, fileStream, uuidOf } from '../../domain/ids.js';
import { policyRevisionOf } from '../../domain/policy-in-force.js';
import type { Context } from '../../domain/recorder.js';
import type { FileState } from '../../domain/state.js';
import type { FileCommand } from '../file-command.js';
import type { FileHistories } from '../file-histories.js';
import { fold, type WholeHistory } from '../file-history.js';
import type { CommandHandling } from '../handle-command.js';
import type { Policies } from '../policies.js';
import type { EventLog, StoredEvent } from '../ports.js';
import { type Reaction, SAGA_CALL } from './reaction.js';

/** Events of an append that stand before its verdict: the attempt, and its diff where it has one. */
const BEFORE_VERDICT = 2;
const MOST_RULES = 1_000;

type Rule = Exclude<Policy['attribution'], 'target'>;

/** A builder's attempt of a task with several files, as it is recorded at its home. */
interface Recorded {
  reached: EventData<'VerdictReached'>;
  verdictAt: number;
  files: string[];
  /** Those that any dispatch of its task named beside the home. */
  filesOfTask: string[];
  filesTouched: string[];
  profile: string | null;
}

/**
 * Attributes the builder's failures to the other files of a task, as the policy says that the attempt was decided under, and takes them
 * back there when the builder passes the task or the verdict is corrected. Under `target` there is nothing to do, and nothing is read.
 */
export function attribution(handling: CommandHandling, histories: FileHistories, policies: Policies, log: EventLog): Reaction {
  /** Tells one other file; what it learns is in one append with the signals that this raises or clears there. */
  const tell = async (
    file: string,
    repo: string,
    cause: string,
    attempt: HomeAttempt,
    decide: (state: FileState, context: Context) => FileEvent[],
    needs: Pick<FileCommand, 'knows'> = {},
  ) => {
    const stream = fileStream(fileIdOf(repo, file));
    await handling.handle({
      ...{ stream, where: { repo, targetFile: file }, call: SAGA_CALL, dispatchId: attempt.dispatchId },
      commandId: () => uuidOf('attribution', cause, stream),
      repeats: {
        suspects: (state) => (state.learnedFrom.get(attempt.homeFile) ?? -1) >= attempt.homeRevision,
        find: (whole) => toldOf(whole, attempt.attemptId).find(({ data }) => data.homeRevision === attempt.homeRevision)?.cause ?? null,
      },
      // Who was told what came later there was told this, or had nothing to learn of it: as it stands now it may have.
      decide: (state, context) => ((state.learnedFrom.get(attempt.homeFile) ?? -1) > attempt.homeRevision ? [] : decide(state, context)),
      ...needs,
    });
  };

  /** By repo and revision of its policy stream. */
  const rules = new LRUCache<string, Policy['attribution']>({ max: MOST_RULES });
  const ruleOf = async ({ repo, basedOn }: EventData<'NextStepDecided'>): Promise<Policy['attribution']> => {
    const revision = policyRevisionOf(basedOn, repo);
    if (revision < 0) return defaultPolicy.attribution;
    const known = rules.get(`${repo} ${revision}`) ?? (await policies.asOf(repo, revision)).policy.attribution;
    rules.set(`${repo} ${revision}`, known);
    return known;
  };

  const recordedAt = async (stream: string, attemptId: string): Promise<Recorded | null> => {
    const place =
      (await histories.look(stream, ({ state }) => placeOf(state, attemptId))) ?? placeOf((await histories.whole(stream)).state, attemptId);
    if (place === null || place.filesOfTask.length === 0) return null;
    let filesTouched: string[] = [];
    for await (const { event } of log.read(stream, Math.max(0, place.verdictAt - BEFORE_VERDICT), BEFORE_VERDICT + 1)) {
      if (event.type === 'AttemptRecorded' && event.data.attemptId === attemptId) filesTouched = event.data.filesTouched;
      if (event.type === 'VerdictReached' && event.data.attemptId === attemptId) return { ...place, reached: event.data, filesTouched };
    }
    return null;
  };

  const decided = async ({ id, stream }: StoredEvent, { repo }: EventData<'NextStepDecided'>, attemptId: string, rule: Rule) => {
    const recorded = await recordedAt(stream, attemptId);
    if (recorded === null) return;
    const { reached, verdictAt, files, filesOfTask } = recorded;
    const attempt = homeAttempt(recorded, verdictAt);
    if (reached.verdict === 'pass')
      for (const file of filesOfTask) await tell(file, repo, id, attempt, (state, at) => overcomeAttributed(state, attempt, at));
    if (reached.verdict !== 'fail' || reached.confidence === 'low') return;
    for (const file of files.slice(1)) {
      const patterns = learnedBy(file, recorded, reached, rule);
      if (patterns !== null) await tell(file, repo, id, attempt, (state, at) => attributeFailure(state, attempt, patterns, at));
    }
  };

  const corrected = async (stored: StoredEvent, data: EventData<'VerdictCorrected'>) => {
    const recorded = await recordedAt(stored.stream, data.attemptId);
    if (recorded === null) return;
    const { events } = await histories.whole(stored.stream);
    const decision = events.find(({ event }) => event.type === 'NextStepDecided' && attemptOf(event.data) === data.attemptId);
    if (decision?.event.type !== 'NextStepDecided') return;
    const rule = await ruleOf(decision.event.data);
    if (rule === 'target') return;
    const attempt = homeAttempt(recorded, stored.revision);
    // As it stood right after the correction: what came since is told when it is met.
    const task = taskOf(fold(stored.stream, events.slice(0, stored.revision + 1)).state, attempt);
    for (const file of recorded.filesOfTask) {
      const newest = toldOf(await histories.whole(fileStream(fileIdOf(data.repo, file))), data.attemptId).at(-1);
      const before = newest?.type === 'FailureAttributed' ? newest.data.patterns : null;
      const now = data.verdict === 'fail' ? learnedBy(file, recorded, data, rule) : null;
      const decide = (state: FileState, at: Context) => correctAttributed(state, attempt, { before, now }, task, at);
      await tell(file, data.repo, stored.id, attempt, decide, { knows: () => false });
    }
  };

  return async (stored) => {
    const { event } = stored;
    if (event.type === 'VerdictCorrected') await corrected(stored, event.data);
    if (event.type !== 'NextStepDecided') return;
    const attemptId = attemptOf(event.data);
    const rule = attemptId === null ? 'target' : await ruleOf(event.data);
    if (attemptId !== null && rule !== 'target') await decided(stored, event.data, attemptId, rule);
  };
}

/** The builder's attempt that a decision was made after, if it was. */
function attemptOf({ inputs }: EventData<'NextStepDecided'>): string | null {
  return inputs.command === 'record_attempt' ? inputs.attemptId : null;
}

function learnedBy(file: string, { files, filesTouched }: Recorded, verdict: Pick<EventData<'VerdictReached'>, 'patterns'>, rule: Rule) {
  return attributionOf(file, files, { patterns: verdict.patterns, filesTouched }, rule);
}

/** Null for what is no builder's, or is not known to the state. */
function placeOf({ attempts, dispatches }: FileState, attemptId: string): Omit<Recorded, 'reached' | 'filesTouched'> | null {
  const attempt = attempts.get(attemptId);
  const dispatch = attempt && dispatches.get(attempt.dispatchId);
  if (attempt?.seat !== 'builder' || dispatch === undefined) return null;
  const ofTask = [...dispatches.values()].filter(({ taskId }) => taskId === attempt.taskId);
  const filesOfTask = [...new Set(ofTask.flatMap(({ targetFiles }) => targetFiles.slice(1)))];
  return { verdictAt: attempt.revision, files: dispatch.targetFiles, filesOfTask, profile: dispatch.profile };
}

function homeAttempt({ reached, profile }: Recorded, homeRevision: number): HomeAttempt {
  const { dispatchId, attemptId, targetFile: homeFile, taskId, model, configuration } = reached;
  return { dispatchId, attemptId, homeFile, homeRevision, taskId, model, configuration, profile };
}

type Told = { [T in 'FailureAttributed' | 'AttributionWithdrawn']: { type: T; data: EventData<T>; cause: string } }[
  | 'FailureAttributed'
  | 'AttributionWithdrawn'];

/** What a file was told of an attempt, in order. */
function toldOf({ events }: WholeHistory, attemptId: string): Told[] {
  return events.flatMap(({ event, metadata }): Told[] =>
    (event.type === 'FailureAttributed' || event.type === 'AttributionWithdrawn') && event.data.attemptId === attemptId
      ? [{ type: event.type, data: event.data, cause: metadata.$causationId } as Told]
      : [],
  );
}
