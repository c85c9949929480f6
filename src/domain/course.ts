import type { EventData, FileEvent } from '../catalogue/events.js';
import type { Verdict } from '../catalogue/primitives.js';
import type { Firings, Side } from '../catalogue/what-if.js';
import { shareOf } from './statistics.js';

/** How one dispatch went with the builder, and where rules took it away: by how many of its verdicts had come by then. */
interface DispatchCourse {
  verdicts: Map<string, Verdict>;
  budget: number | null;
  taken: { after: number; rule: string } | null;
  bySignal: { after: number } | null;
}

const SIGNAL_RULES = ['per_pattern', 'per_file'];
const TAKING_RULES = [...SIGNAL_RULES, 'after_failures'];

/** How one file's dispatches went under one set of rules: the recorded ones, or others. Verdicts are those that hold in the end. */
export class FileCourse {
  readonly dispatches = new Map<string, DispatchCourse>();
  readonly signals = { raised: 0, overcome: 0, clearedOtherwise: 0 };

  take(event: FileEvent): void {
    switch (event.type) {
      case 'DispatchOpened':
        this.of(event.data.dispatchId).budget = event.data.budget;
        return;
      case 'VerdictReached':
        if (event.data.seat === 'builder') this.of(event.data.dispatchId).verdicts.set(event.data.attemptId, event.data.verdict);
        return;
      case 'VerdictCorrected': {
        const verdicts = this.dispatches.get(event.data.dispatchId)?.verdicts;
        if (verdicts?.has(event.data.attemptId)) verdicts.set(event.data.attemptId, event.data.verdict);
        return;
      }
      case 'NextStepDecided':
        this.decided(event.data);
        return;
      case 'CalibrationSignalRaised':
        this.signals.raised += 1;
        return;
      case 'CalibrationSignalCleared':
        this.signals[event.data.reason === 'overcome' ? 'overcome' : 'clearedOtherwise'] += 1;
        return;
      default:
    }
  }

  /** The newest failed attempts of a dispatch, oldest first. */
  failuresOf(dispatchId: string): string[] {
    return [...(this.dispatches.get(dispatchId)?.verdicts ?? [])].filter(([, verdict]) => verdict === 'fail').map(([id]) => id);
  }

  /** The first decision that takes a dispatch from the builder counts; without a frontier, that is one to stop. */
  private decided({ step, rule, inputs }: EventData<'NextStepDecided'>): void {
    if (inputs.command === 'record_frontier_outcome') return;
    const course = this.of(inputs.dispatchId);
    const after = course.verdicts.size;
    if (step === 'escalate' || TAKING_RULES.includes(rule)) course.taken ??= { after, rule };
    if (SIGNAL_RULES.includes(rule)) course.bySignal ??= { after };
  }

  private of(dispatchId: string): DispatchCourse {
    const known = this.dispatches.get(dispatchId);
    if (known !== undefined) return known;
    const course: DispatchCourse = { verdicts: new Map(), budget: null, taken: null, bySignal: null };
    this.dispatches.set(dispatchId, course);
    return course;
  }
}

interface FiringSums {
  dispatches: number;
  wrong: number;
  saved: number;
  atAttempt: Map<number, number>;
}

/** Sums over the files of one side. */
export class SideSums {
  dispatches = 0;
  attempts = 0;
  private readonly signals = { raised: 0, overcome: 0, clearedOtherwise: 0, files: 0, filesOvercome: 0 };
  private readonly taken = noFirings();
  private readonly bySignal = noFirings();
  private readonly byRule = new Map<string, number>();

  add(file: FileCourse): void {
    const { raised, overcome, clearedOtherwise } = file.signals;
    this.signals.raised += raised;
    this.signals.overcome += overcome;
    this.signals.clearedOtherwise += clearedOtherwise;
    this.signals.files += raised > 0 ? 1 : 0;
    this.signals.filesOvercome += overcome > 0 ? 1 : 0;
    for (const { verdicts, taken, bySignal } of file.dispatches.values()) {
      const all = [...verdicts.values()];
      const counted = countedOf(all);
      this.dispatches += counted > 0 ? 1 : 0;
      this.attempts += counted;
      if (bySignal !== null) addFiring(this.bySignal, all, bySignal.after);
      if (taken === null) continue;
      addFiring(this.taken, all, taken.after);
      this.byRule.set(taken.rule, (this.byRule.get(taken.rule) ?? 0) + 1);
    }
  }

  side(): Side {
    const { raised, overcome, clearedOtherwise } = this.signals;
    return {
      signals: { ...this.signals, live: raised - overcome - clearedOtherwise },
      escalations: firingsOf(this.taken),
      bySignal: firingsOf(this.bySignal),
      byRule: Object.fromEntries([...this.byRule].sort(([a], [b]) => (a < b ? -1 : 1))),
    };
  }
}

/**
 * How many dispatches the recorded decisions took from the builder for good before their budget was spent, and the other ones would have
 * left to it: what it would have done with them is not in the log.
 */
export function cutShort(recorded: FileCourse, other: FileCourse): number {
  return [...recorded.dispatches].filter(([dispatchId, { verdicts, taken, budget }]) => {
    if (taken === null || other.dispatches.get(dispatchId)?.taken !== null) return false;
    const all = [...verdicts.values()];
    return countedOf(all.slice(taken.after)) === 0 && countedOf(all) < (budget ?? 0);
  }).length;
}

function noFirings(): FiringSums {
  return { dispatches: 0, wrong: 0, saved: 0, atAttempt: new Map() };
}

function addFiring(sums: FiringSums, verdicts: Verdict[], after: number): void {
  const attempt = countedOf(verdicts.slice(0, after));
  const later = verdicts.slice(after);
  sums.dispatches += 1;
  sums.wrong += later.includes('pass') ? 1 : 0;
  sums.saved += countedOf(later);
  sums.atAttempt.set(attempt, (sums.atAttempt.get(attempt) ?? 0) + 1);
}

function firingsOf({ dispatches, wrong, saved, atAttempt }: FiringSums): Firings {
  return { dispatches, wrong: shareOf(wrong, dispatches), saved, atAttempt: Object.fromEntries(atAttempt) };
}

function countedOf(verdicts: Verdict[]): number {
  return verdicts.filter((verdict) => verdict !== 'blocked').length;
}
