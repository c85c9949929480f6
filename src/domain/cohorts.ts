import { mcNemarExact } from './statistics.js';

/** Values of the read model's columns that all dispatches of a cohort have. */
export type CohortFilter = Readonly<Record<string, string | number | boolean>>;

/** Dispatches that are worth another run, or a look at what held them back. */
export const COHORTS = {
  hint_resistant: {
    says: 'had history, was shown it, and failed the first try',
    has: { cold: false, shownAtFirst: true, firstTries: 1, firstTryPassed: 0 },
  },
  escalated: { says: 'was sent to the frontier', has: { escalations: 1 } },
  frontier_failed: { says: 'the frontier failed it too', has: { outcome: 'escalated_failed' } },
  exhausted: { says: 'spent its budget without a pass', has: { outcome: 'exhausted' } },
  flaky: { says: 'an output of it was judged pass once and fail once', has: { flaky: true } },
  cold_failed: { says: 'failed the first try on a file without earlier results', has: { cold: true, firstTries: 1, firstTryPassed: 0 } },
} as const satisfies Record<string, { says: string; has: CohortFilter }>;

export type CohortName = keyof typeof COHORTS;
export const COHORT_NAMES = Object.keys(COHORTS) as [CohortName, ...CohortName[]];

export function isCohort(name: string): name is CohortName {
  return Object.hasOwn(COHORTS, name);
}

/** How many tasks of a cohort came out how: in their first run, and in another one. */
export interface Reruns {
  bothPassed: number;
  onlyFirst: number;
  onlyRerun: number;
  neither: number;
}

/** The first run against the other, task by task, by McNemar's exact test. */
export function rerunOf(counts: Reruns) {
  const { bothPassed, onlyFirst, onlyRerun, neither } = counts;
  const tasks = bothPassed + onlyFirst + onlyRerun + neither;
  const pValue = mcNemarExact(onlyFirst, onlyRerun);
  const figures = `${onlyRerun} of ${tasks} tasks passed in the second run only, ${onlyFirst} in the first only, p = ${pValue.toPrecision(2)}`;
  const note = 'tasks that were chosen because they failed pass more often the second time by chance alone';
  return { tasks, ...counts, pValue, sentence: tasks === 0 ? 'none of the tasks ran again' : `${figures}; ${note}` };
}
