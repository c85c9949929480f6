import type { EventData, FileEvent } from '../catalogue/events.js';
import { patternKey } from '../catalogue/primitives.js';
import type { WhatIfBody, WhatIfResult } from '../catalogue/what-if.js';
import { cutShort, SideSums } from './course.js';
import type { Difference, Shadow } from './shadow.js';

const MOST_LISTED = 100;
/** Kinds of regrouping that are told apart while they are counted. */
const MOST_REGROUPINGS = 10_000;

type Reached = EventData<'VerdictReached'>;
type Regrouping = WhatIfResult['regrouped']['items'][number];

const NOTES = [
  'Recorded attempts are facts: the other rules decide after each of them, and outcomes that nobody saw are not made up. A dispatch that stopped early in the log has no later attempts to save, or to prove a decision wrong.',
  'Budgets, leases, expiry of proposals and the breaker of a repo are as they were recorded: they decided which attempts there were.',
];
const ATTRIBUTION_NOTE =
  'What other files learned of a task is as it was recorded: the attribution that was asked for changes nothing here.';

/** What a what-if comes to, file by file. Holds sums and bounded lists, however long the log is. */
export class WhatIfSums {
  files = 0;
  unreadable = 0;
  private readonly recorded = new SideSums();
  private readonly other = new SideSums();
  private decisions = 0;
  private cutShort = 0;
  private differing = 0;
  private readonly differences: WhatIfResult['differences']['items'] = [];
  private readonly regroupings = new Map<string, Regrouping>();
  private regroupedAttempts = 0;
  private changedVerdicts = 0;

  get attempts(): number {
    return this.recorded.attempts;
  }

  add(shadow: Shadow): void {
    this.files += 1;
    this.recorded.add(shadow.recorded);
    this.other.add(shadow.other);
    this.decisions += shadow.decisions;
    this.cutShort += cutShort(shadow.recorded, shadow.other);
  }

  differs({ recorded, other }: Difference): void {
    this.differing += 1;
    if (this.differences.length >= MOST_LISTED) return;
    const { repo, targetFile, inputs, at } = recorded;
    const attemptId = inputs.command === 'open_dispatch' ? null : inputs.attemptId;
    const place = { repo, targetFile, dispatchId: inputs.dispatchId, attemptId, at };
    this.differences.push({ ...place, recorded: told(recorded), other: told(other) });
  }

  /** Takes note of an attempt whose verdict or patterns are read otherwise now. */
  regroups(before: Reached, now: Reached): void {
    const [from, to] = [grouping(before), grouping(now)];
    const key = JSON.stringify([from, to]);
    if (JSON.stringify(from) === JSON.stringify(to)) return;
    this.regroupedAttempts += 1;
    this.changedVerdicts += from.verdict === to.verdict ? 0 : 1;
    const known = this.regroupings.get(key);
    if (known !== undefined) known.attempts += 1;
    else if (this.regroupings.size < MOST_REGROUPINGS) this.regroupings.set(key, { attempts: 1, from, to });
  }

  result(upTo: string | null, asked: WhatIfBody): WhatIfResult {
    const { dispatches, attempts } = this.recorded;
    const regroupings = [...this.regroupings.values()].sort((a, b) => b.attempts - a.attempts);
    return {
      ...{ upTo, files: this.files, dispatches, attempts, decisions: this.decisions },
      ...{ recorded: this.recorded.side(), other: this.other.side(), cutShort: this.cutShort },
      differences: { decisions: this.differing, items: this.differences },
      regrouped: { attempts: this.regroupedAttempts, verdicts: this.changedVerdicts, items: regroupings.slice(0, MOST_LISTED) },
      unreadable: this.unreadable,
      notes: asked.policy.attribution === undefined ? NOTES : [...NOTES, ATTRIBUTION_NOTE],
    };
  }
}

/** The verdict in an event's place, where there is another one: for {@link WhatIfSums.regroups}. */
export function regroupedVerdict(event: FileEvent, instead: FileEvent | undefined): [Reached, Reached] | null {
  return event.type === 'VerdictReached' && instead?.type === 'VerdictReached' ? [event.data, instead.data] : null;
}

function told({ step, rule, pattern, detail, evidence }: Difference['other']) {
  return { step, rule, pattern, detail, evidence };
}

function grouping({ verdict, patterns }: Reached): Regrouping['from'] {
  const byKey = new Map(patterns.map((pattern) => [patternKey(pattern), pattern.pattern]));
  return { verdict, patterns: [...byKey].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, pattern]) => pattern) };
}
