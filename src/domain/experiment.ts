import type { EventData } from '../catalogue/events.js';
import type { Policy } from '../catalogue/policy.js';
import type { CarryMode } from '../catalogue/primitives.js';
import { chanceOf } from './ids.js';

/** The condition of a dispatch: what its caller asked for, or what chance gave it. */
export type Condition = Pick<EventData<'DispatchOpened'>, 'arm' | 'carry' | 'assigned'>;

const DEFAULT_CARRY: CarryMode = 'hint';

/**
 * The condition that a dispatch is opened under. A caller who names an arm or a mode decides for itself. Otherwise, where the policy runs
 * an experiment, the task's name decides by chance, cold files and others apart: the same task comes to the same arm again, whoever asks
 * and however often. `propensity` is the chance that it had of that arm.
 */
export function conditionOf(
  asked: { arm: string | null; carry: CarryMode | null },
  task: { repo: string; targetFile: string; taskId: string; cold: boolean },
  experiment: Policy['experiment'],
): Condition {
  const { arm, carry } = asked;
  if (arm !== null || carry !== null || experiment === undefined) return { arm, carry: carry ?? DEFAULT_CARRY, assigned: null };
  const stratum = task.cold ? 'cold' : 'history';
  const chance = chanceOf(['arm', experiment.name, stratum, task.repo, task.targetFile, task.taskId].join('\0'));
  const total = experiment.arms.reduce((sum, { weight }) => sum + weight, 0);
  let passed = 0;
  const chosen = experiment.arms.find(({ weight }) => {
    passed += weight;
    return chance < passed / total;
  });
  const given = chosen ?? experiment.arms.at(-1)!;
  return {
    arm: given.arm,
    carry: given.carry,
    assigned: { experiment: experiment.name, stratum, propensity: given.weight / total },
  };
}
