import type { StoredEvent } from '../../src/application/ports.js';
import type { EventData, FileEvent } from '../../src/catalogue/events.js';
import { defaultPolicy } from '../../src/catalogue/policy.js';
import type { StoredText, Verdict } from '../../src/catalogue/primitives.js';
import { correctVerdict } from '../../src/domain/correct-verdict.js';
import { evolve } from '../../src/domain/evolve.js';
import { dispatchIdOf, fileIdOf, sha256, uuidOf } from '../../src/domain/ids.js';
import { openDispatch } from '../../src/domain/open-dispatch.js';
import { type AttemptFacts, recordAttempt, recordFrontierOutcome } from '../../src/domain/record-attempt.js';
import type { Context } from '../../src/domain/recorder.js';
import { abandonDispatch, resolveProposal, settleOverdue } from '../../src/domain/settle.js';
import { emptyState, type FileState } from '../../src/domain/state.js';
import { withdrawPair } from '../../src/domain/withdraw-pair.js';
import { streamOf } from './foreign.js';

export type Opening = Partial<Parameters<typeof openDispatch>[1]> & { file?: string };
export interface Result {
  codes?: string[];
  output?: string | StoredText;
  prompt?: string;
}

const textOf = (text: string | StoredText): StoredText => (typeof text === 'string' ? { text } : text);

/** A log as the service would have written it: the real rules on each command, one second after the other. */
export class History {
  readonly events: StoredEvent[] = [];
  private readonly states = new Map<string, FileState>();
  private readonly homes = new Map<string, string>();
  private seconds = 0;

  constructor(readonly repo = 'repo') {}

  open({ file = 'src/a.rs', ...more }: Opening = {}): string {
    const dispatchId = dispatchIdOf(fileIdOf(this.repo, file), `x${this.homes.size}`);
    this.homes.set(dispatchId, file);
    const task = { taskId: 't', description: { text: 'the description' }, descriptionHash: sha256('d'), prompt: null, parentTaskId: null };
    const how = { model: 'm', frontier: 'f', budget: 9, profile: null, arm: 'a', batch: null, carry: 'hint' as const, baseHash: null };
    const command = { dispatchId, targetFiles: [file], ...task, ...how, leaseSeconds: 900, force: true, ...more };
    this.command(file, (state, context) => openDispatch(state, command, context));
    return dispatchId;
  }

  attempt(dispatchId: string, verdict: Verdict, result: Result = {}): string {
    return this.record(dispatchId, (state, context) =>
      recordAttempt(state, state.dispatches.get(dispatchId)!, this.facts(verdict, result), context),
    );
  }

  frontier(dispatchId: string, verdict: Verdict, result: Result = {}): string {
    return this.record(dispatchId, (state, context) =>
      recordFrontierOutcome(state, state.dispatches.get(dispatchId)!, this.facts(verdict, result), 'f', context),
    );
  }

  abandon(dispatchId: string): void {
    this.command(this.homes.get(dispatchId)!, (state, context) => abandonDispatch(state, state.dispatches.get(dispatchId)!, null, context));
  }

  resolve(attemptId: string, resolution: 'accepted' | 'rejected'): void {
    const proposalId = `p${attemptId.slice(1)}`;
    for (const [dispatchId, file] of this.homes)
      if (attemptId.includes(dispatchId.slice(1)))
        this.command(file, (state, context) => resolveProposal(state, proposalId, resolution, context));
  }

  /** Says that the verdict on an attempt of a file was another. */
  correct(attemptId: string, verdict: Verdict, codes: string[] = []): void {
    const { patterns } = this.facts(verdict, { codes }).verdict;
    for (const [dispatchId, file] of this.homes)
      if (attemptId.includes(dispatchId.slice(1)))
        this.command(file, (state, context) =>
          correctVerdict(state, state.attempts.get(attemptId)!, { verdict, patterns, reason: 'hidden tests', source: 'ci' }, context),
        );
  }

  /** Takes the pair of a chosen attempt out. */
  withdraw(attemptId: string): void {
    for (const [dispatchId, file] of this.homes)
      if (attemptId.includes(dispatchId.slice(1)))
        this.command(file, (state, context) => withdrawPair(state, state.attempts.get(attemptId)!, 'not to be learned from', context));
  }

  /** Lets leases run out on a file. */
  letLeasesEnd(file = 'src/a.rs'): void {
    this.seconds += 1000;
    this.command(file, settleOverdue);
  }

  isOpen(dispatchId: string): boolean {
    return [...this.states.values()].some((state) => state.dispatches.get(dispatchId)?.status === 'open');
  }

  eventId(attemptId: string): string | undefined {
    return this.events.find(({ event }) => event.type === 'VerdictReached' && event.data.attemptId === attemptId)?.id;
  }

  private facts(verdict: Verdict, { codes = [], output = `${verdict} ${this.events.length}`, prompt }: Result): AttemptFacts {
    const patterns = codes.map((code) => ({ pattern: `${code.toLowerCase()}_x`, code, category: 'type', file: null }));
    const none = { verifier: null, toolSteps: [], usage: null, sampling: null, startedAt: null, finishedAt: null, filesTouched: [] };
    const infraKind = verdict === 'blocked' ? 'dns' : null;
    return {
      attempt: { output: textOf(output), prompt: prompt === undefined ? null : { text: prompt }, ...none },
      promptSent: null,
      diff: null,
      verdict: { verdict, patterns, signature: null, infraKind, classifierVersion: null, confidence: 'high', disagreement: null },
    };
  }

  private record(dispatchId: string, decide: (state: FileState, context: Context) => FileEvent[]): string {
    const events = this.command(this.homes.get(dispatchId)!, decide);
    return (events[0]!.data as EventData<'AttemptRecorded'>).attemptId;
  }

  private command(file: string, decide: (state: FileState, context: Context) => FileEvent[]): FileEvent[] {
    const place = { repo: this.repo, targetFile: file };
    const stream = streamOf(place);
    const state = this.states.get(stream) ?? emptyState();
    this.states.set(stream, state);
    this.seconds += 1;
    const now = new Date(Date.UTC(2026, 0, 1) + this.seconds * 1000).toISOString();
    const events = decide(state, { ...place, stream, now, policy: defaultPolicy, policyHash: 'p' });
    for (const event of events) {
      evolve(state, event);
      const position = String((this.events.length + 1) * 10);
      const metadata = {
        $correlationId: 'c',
        $causationId: String(this.seconds),
        actor: 'test',
        schemaVersion: 1,
        hash: 'h',
        previousHash: null,
      };
      const where = { id: uuidOf(this.repo, position), stream, revision: state.revision, position, created: new Date(now) };
      this.events.push({ ...where, written: event, metadata, event });
    }
    return events;
  }
}
