import type { EventData, FileEvent } from '../../src/catalogue/events.js';
import { defaultPolicy, type Policy } from '../../src/catalogue/policy.js';
import type { ErrorPattern, Verdict } from '../../src/catalogue/primitives.js';
import { checkEvent } from '../../src/catalogue/versions.js';
import { correctVerdict } from '../../src/domain/correct-verdict.js';
import { composeHint } from '../../src/domain/hint.js';
import { proposalIdOf } from '../../src/domain/ids.js';
import { all, fail, type Outcome } from './builders.js';
import {
  abandoning,
  at,
  attempting,
  BUILDER,
  type Command,
  contextAt,
  dispatchId,
  dispatchOf,
  fold,
  frontierOutcome,
  type Opening,
  opening,
  resolving,
} from './specification.js';

/** What one command appended, and what it decided. */
export interface Turn {
  dispatchId: string;
  attemptId: string;
  proposalId: string;
  events: FileEvent[];
  types: string[];
  next: EventData<'NextStepDecided'>;
}

/** A file's stream, grown by real commands on a hand-set clock; every event is checked against its schema on the way in. */
export class FileHistory {
  readonly events: FileEvent[] = [];
  seconds = 0;
  private dispatches = 0;

  constructor(public policy: Policy = defaultPolicy) {}

  get now(): string {
    return at(this.seconds);
  }

  get state() {
    return fold(this.events);
  }

  wait(seconds: number): this {
    this.seconds += seconds;
    return this;
  }

  run(command: Command): FileEvent[] {
    return this.append(command(this.state, contextAt(this.now, this.policy)));
  }

  append(events: FileEvent[]): FileEvent[] {
    const checked = events.map((event) => checkEvent(event) as FileEvent);
    this.events.push(...checked);
    return checked;
  }

  open(asked: Opening = {}): Turn {
    this.dispatches += 1;
    const unique = asked.unique ?? `n${this.dispatches}`;
    return turn(dispatchId(unique), this.run(opening({ ...asked, unique })));
  }

  attempt(dispatch: { dispatchId: string } | string, outcome: Outcome): Turn {
    const id = typeof dispatch === 'string' ? dispatch : dispatch.dispatchId;
    return turn(id, this.run(attempting(id, outcome)));
  }

  frontier(dispatch: { dispatchId: string }, outcome: Outcome, model?: string): Turn {
    return turn(dispatch.dispatchId, this.run(frontierOutcome(dispatch.dispatchId, outcome, model)));
  }

  abandon(dispatch: { dispatchId: string }): FileEvent[] {
    return this.run(abandoning(dispatch.dispatchId));
  }

  accept(proposalId: string): FileEvent[] {
    return this.run(resolving(proposalId, 'accepted'));
  }

  /** One dispatch of its own for each failure, abandoned after it; a list of codes is one failure with several patterns. */
  failedBefore(task: string, failures: (string | string[])[], asked: Opening = {}): string[] {
    return failures.map((codes) => {
      const opened = this.open({ task, force: true, ...asked });
      const { attemptId } = this.attempt(opened, fail(...[codes].flat()));
      this.abandon(opened);
      return attemptId;
    });
  }

  /** A verdict that turned out wrong, and what it makes of the signals. */
  correct(attemptId: string, verdict: Verdict, patterns: ErrorPattern[] = []): FileEvent[] {
    const correction = { verdict, patterns, reason: 'hidden tests', source: 'ci' };
    return this.run((state, context) => correctVerdict(state, state.attempts.get(attemptId)!, correction, context));
  }

  hint(asker: { task?: string | null; model?: string } = {}) {
    const { task = 'task-12', model = BUILDER } = asker;
    return composeHint(this.state, { taskId: task, model, configuration: model }, this.policy, this.now);
  }

  dispatch(id: string | { dispatchId: string }) {
    return dispatchOf(this.state, typeof id === 'string' ? id : id.dispatchId);
  }

  /** The raised and not cleared signals, as the stream tells them. */
  get signals(): string[] {
    return [...this.state.signals.values()].map(({ kind, code, pattern }) => `${kind}:${code ?? pattern ?? ''}`).sort();
  }
}

function turn(id: string, events: FileEvent[]): Turn {
  const next = all(events, 'NextStepDecided')[0]!;
  const attemptId = all(events, 'VerdictReached')[0]?.attemptId ?? '';
  return { dispatchId: id, attemptId, proposalId: proposalIdOf(attemptId), events, types: events.map(({ type }) => type), next };
}

/** step and rule, as the tables of domain.md name them. */
export function decided({ next }: Turn): string {
  return `${next.step} ${next.rule}`;
}
