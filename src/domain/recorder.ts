import type { DecidingInputs } from '../catalogue/events/shapes.js';
import type { EventData, FileEvent, FileEventType } from '../catalogue/events.js';
import { liveSignals } from './calibrate.js';
import { evolve } from './evolve.js';
import type { InfraState } from './infra-breaker.js';
import { decideNext } from './next-step.js';
import type { PolicyInForce } from './policy-in-force.js';
import { type FileState, fork, signalKey } from './state.js';

/**
 * Where and when a command is decided. `policyHash` names `policy` in the events; `policyBasis` is the place in the repo's policy stream
 * that both policy and discounts are of, absent where the repo has none.
 */
export interface Context {
  repo: string;
  targetFile: string;
  stream: string;
  now: string;
  policy: PolicyInForce;
  policyHash: string;
  policyBasis?: { stream: string; revision: number };
  /** For openings: what is known of the infrastructure of the repo, and the place in its stream, absent where the repo has none. */
  infra?: InfraState;
  infraBasis?: { stream: string; revision: number };
}

/** What a decision on a file that was folded up to a revision is based on: the file, and those streams of the repo that there are. */
export function basisOf({ stream, policyBasis, infraBasis }: Context, revision: number): { stream: string; revision: number }[] {
  return [{ stream, revision }, ...[policyBasis, infraBasis].filter((basis) => basis !== undefined)];
}

/** A command that the stream's state does not allow: HTTP answers it as 409, and nothing is stored. */
export class Conflict extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'Conflict';
  }
}

type Facts<T extends FileEventType> = Omit<EventData<T>, 'repo' | 'targetFile' | 'at'>;

/**
 * Collects the events of one command while taking a fork of the state along, so that each rule sees what the command itself brought:
 * its facts first, then signals, then the decision, then what that closes or stages.
 */
export class Recorder {
  readonly events: FileEvent[] = [];
  readonly draft: FileState;

  constructor(
    state: FileState,
    private readonly context: Context,
  ) {
    this.draft = fork(state);
  }

  add<T extends FileEventType>(type: T, facts: Facts<T>): void {
    const { repo, targetFile, now } = this.context;
    const event = { type, data: { repo, targetFile, at: now, ...facts } } as unknown as FileEvent;
    this.events.push(event);
    evolve(this.draft, event);
  }

  /** Raises the signals that have come to hold for a configuration, and clears those that no longer do. */
  calibrate(configuration: string, model: string, whyCleared: 'overcome' | 'corrected' | 'discounted'): void {
    const { policy, now } = this.context;
    const live = liveSignals(this.draft, configuration, policy, now).map((signal) => ({ ...signal, configuration, model }));
    const liveKeys = new Set(live.map(signalKey));
    const before = [...this.draft.signals.values()].filter((signal) => signal.configuration === configuration);
    const raised = live.filter((signal) => !this.draft.signals.has(signalKey(signal)));
    for (const { newest: _newest, ...signal } of raised) this.add('CalibrationSignalRaised', signal);
    for (const { model: owner, kind, pattern, code } of before.filter((signal) => !liveKeys.has(signalKey(signal)))) {
      const superseded = kind === 'per_file' && raised.some((signal) => signal.kind === 'per_pattern');
      this.add('CalibrationSignalCleared', {
        configuration,
        model: owner,
        kind,
        pattern,
        code,
        reason: superseded ? 'superseded' : whyCleared,
      });
    }
  }

  /** Decides the next step on everything recorded so far. */
  decide(dispatchId: string | null, taskId: string, inputs: DecidingInputs): EventData<'NextStepDecided'> {
    const basedOn = basisOf(this.context, this.draft.revision);
    return this.record(dispatchId, taskId, inputs, decideNext(this.draft, inputs, this.context.policy, this.context.now), basedOn);
  }

  /** Records a decision that was computed before the facts which follow from it. */
  record(
    dispatchId: string | null,
    taskId: string,
    inputs: DecidingInputs,
    ruling: ReturnType<typeof decideNext>,
    basedOn: { stream: string; revision: number }[],
  ): EventData<'NextStepDecided'> {
    this.add('NextStepDecided', {
      ...ruling,
      dispatchId,
      taskId,
      inputs,
      decidedAt: this.context.now,
      basedOn,
      policy: this.context.policyHash,
    });
    return this.events.at(-1)!.data as EventData<'NextStepDecided'>;
  }
}
