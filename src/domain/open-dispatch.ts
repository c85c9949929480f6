import type { DecidingInputs } from '../catalogue/events/shapes.js';
import type { EventData, FileEvent } from '../catalogue/events.js';
import { configurationOf } from './calibrate.js';
import { conditionOf } from './experiment.js';
import { composeHint } from './hint.js';
import { sha256 } from './ids.js';
import { needsProbe } from './infra-breaker.js';
import { priorResults } from './learned.js';
import { decideNext, openDispatches } from './next-step.js';
import { basisOf, type Context, Recorder } from './recorder.js';
import type { FileState } from './state.js';

type Opened = EventData<'DispatchOpened'>;
/** `carry` null: that of the arm, or the usual one. */
export type OpenDispatch = Omit<Opened, 'repo' | 'targetFile' | 'at' | 'configuration' | 'cold' | 'leaseUntil' | 'assigned' | 'carry'> & {
  carry: Opened['carry'] | null;
};

/** A dispatch that may be opened only as the probe of its repo's breaker, which is to be started first. */
export class ProbeNeeded extends Error {
  override name = 'ProbeNeeded';
}

/**
 * Opens a dispatch, or says why not. Dispatches whose lease ran out are closed first, so that the decision is made on a stream without
 * dead ones; the decision comes before its own events, so it is computed first and recorded after them. Throws {@link ProbeNeeded}.
 */
export function openDispatch(state: FileState, command: OpenDispatch, context: Context): FileEvent[] {
  const recorder = new Recorder(state, context);
  closeDead(recorder, context.now);
  const { dispatchId, taskId, descriptionHash, model, frontier, baseHash, force } = command;
  const configuration = configurationOf(model);
  const inputs: DecidingInputs = {
    command: 'open_dispatch',
    dispatchId,
    taskId,
    descriptionHash,
    configuration,
    frontier,
    baseHash,
    force,
  };
  const before = recorder.draft.revision;
  const ruling = decideNext(recorder.draft, inputs, context.policy, context.now, context.infra);
  const decidedOn = basisOf(context, before);

  switch (ruling.rule) {
    case 'existing_proposal':
    case 'already_running': {
      const { rule, proposalId, runningDispatchId } = ruling;
      recorder.add('DuplicateDispatchPrevented', { taskId, model, rule, proposalId, runningDispatchId });
      recorder.record(null, taskId, inputs, ruling, decidedOn);
      return recorder.events;
    }
    case 'infra_cooldown':
    case 'task_hardness':
    case 'infra_breaker':
      recorder.add('DispatchSkipped', { taskId, model, rule: ruling.rule, retryAfterSeconds: ruling.retryAfterSeconds });
      recorder.record(null, taskId, inputs, ruling, decidedOn);
      return recorder.events;
    default: {
      if (!force && context.infra && needsProbe(context.infra, dispatchId, context.now)) throw new ProbeNeeded();
      const hint = composeHint(recorder.draft, { taskId, model, configuration }, context.policy, context.now);
      const cold = priorResults(recorder.draft) === 0;
      const leaseUntil = after(context.now, command.leaseSeconds);
      const { repo, targetFile } = context;
      const condition = conditionOf(command, { repo, targetFile, taskId, cold }, context.policy.experiment);
      recorder.add('DispatchOpened', { ...command, ...condition, configuration, cold, leaseUntil });
      if (condition.carry !== 'none' && hint.text !== '')
        recorder.add('HistoryInjected', {
          dispatchId,
          forAttempt: 1,
          mode: condition.carry,
          source: 'hint',
          records: hint.patterns.length,
          leftOut: [],
          characters: hint.text.length,
          tokens: null,
          contentHash: sha256(hint.text),
          leaseUntil: null,
        });
      recorder.record(dispatchId, taskId, inputs, ruling, decidedOn);
      return recorder.events;
    }
  }
}

/** Closes the open dispatches whose lease has run out. */
export function closeDead(recorder: Recorder, now: string): void {
  for (const { dispatchId, taskId, leaseUntil, targetFiles } of openDispatches(recorder.draft)) {
    if (leaseUntil > now) continue;
    recorder.add('DispatchClosed', {
      ...{ dispatchId, taskId, outcome: 'abandoned', cause: 'lease_lost', note: null, otherFiles: targetFiles.slice(1) },
    });
  }
}

export function after(now: string, seconds: number): string {
  return new Date(Date.parse(now) + seconds * 1000).toISOString();
}
