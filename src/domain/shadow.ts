import type { EventData, FileEvent } from '../catalogue/events.js';
import type { WhatIfBody } from '../catalogue/what-if.js';
import { FileCourse } from './course.js';
import { evolve } from './evolve.js';
import type { InfraState } from './infra-breaker.js';
import { distinctPatterns } from './learned.js';
import { decideNext } from './next-step.js';
import { inForce, type PolicyState } from './policy-in-force.js';
import { type Context, Recorder } from './recorder.js';
import { calibrateAll, recalibrate } from './settle.js';
import { emptyState } from './state.js';

/** The rules that recorded attempts are decided by anew. */
export type OtherRules = Pick<WhatIfBody, 'policy' | 'escalation' | 'patterns'>;

/**
 * The events of one command with their revisions, beside what was in force for the repo when it was decided. `instead`: what is folded in
 * the place of an event.
 */
export interface RecordedCommand {
  events: { revision: number; event: FileEvent; instead?: FileEvent }[];
  policy: PolicyState;
  infra: InfraState;
}

/** A decision that comes out otherwise under the other rules. */
export interface Difference {
  recorded: EventData<'NextStepDecided'>;
  other: ReturnType<typeof decideNext>;
}

type Decided = EventData<'NextStepDecided'>;
type WhyCleared = Parameters<typeof recalibrate>[1];
/** Whose signals a command may have changed (null: those of every configuration), and the trials that it may have contradicted. */
type Touched = { configurations: Map<string, string> | null; why: WhyCleared; contradicts: string[] };

/**
 * One file's stream, folded anew under other rules, beside how it was decided. What was recorded is taken as it is: attempts, verdicts,
 * what the frontier did, what other files told, when dispatches were closed. What rules made of it is not: signals and decisions are made
 * again after each recorded attempt, by the code that decides live.
 */
export class Shadow {
  readonly recorded = new FileCourse();
  readonly other = new FileCourse();
  decisions = 0;
  private readonly state = emptyState();

  constructor(private readonly rules: OtherRules) {}

  /** Takes one command more; answers with the decision, where it comes out otherwise. */
  take(command: RecordedCommand): Difference | null {
    for (const { event } of command.events) this.recorded.take(event);
    const decided = command.events.find(({ event }) => event.type === 'NextStepDecided')?.event.data as Decided | undefined;
    const base = decided?.basedOn[0]?.revision ?? Number.POSITIVE_INFINITY;
    const facts = command.events.filter(({ event }) => !isMade(event));
    for (const { event, instead } of facts.filter(({ revision }) => revision <= base)) this.fold(instead ?? event);
    this.calibrate(command);
    const difference = decided === undefined ? null : this.decide(decided, command);
    for (const { event, instead } of facts.filter(({ revision }) => revision > base)) this.fold(instead ?? event);
    return difference;
  }

  private fold(recorded: FileEvent): void {
    const event = this.rules.patterns === 'primary' ? withPrimary(recorded) : recorded;
    evolve(this.state, event);
    this.other.take(event);
  }

  private calibrate(command: RecordedCommand): void {
    const touched = touchedBy(command.events.map(({ event, instead }) => instead ?? event));
    if (touched === null) return;
    const context = this.contextOf(command);
    for (const event of this.recalibrated(touched, context)) {
      evolve(this.state, event);
      this.other.take(event);
    }
  }

  /** As live: the configurations in question first, then all of them where a verdict contradicts one of an equal output. */
  private recalibrated({ configurations, why, contradicts }: Touched, context: Context): FileEvent[] {
    if (configurations === null) return recalibrate(this.state, why, context);
    const recorder = new Recorder(this.state, context);
    for (const [configuration, model] of configurations) recorder.calibrate(configuration, model, why);
    if (contradicts.some((trial) => this.state.trials.get(trial) === 'both')) calibrateAll(recorder, 'discounted');
    return recorder.events;
  }

  private decide(recorded: Decided, command: RecordedCommand): Difference | null {
    const { policy } = this.contextOf(command);
    const other = this.escalated(decideNext(this.state, recorded.inputs, policy, recorded.decidedAt, command.infra), recorded);
    this.decisions += 1;
    const event = { type: 'NextStepDecided', data: { ...recorded, ...other } } as const;
    evolve(this.state, event);
    this.other.take(event);
    const same = other.step === recorded.step && other.rule === recorded.rule && other.pattern === recorded.pattern;
    return same ? null : { recorded, other };
  }

  /** What the rule about a number of failures says in the place of those about signals and repeated signatures. */
  private escalated(ruling: Difference['other'], { inputs }: Decided): Difference['other'] {
    const { escalation } = this.rules;
    const replaced = ['per_pattern', 'per_file', 'repeated_signature', 'budget_exhausted', 'within_budget'].includes(ruling.rule);
    if (escalation === undefined || inputs.command !== 'record_attempt' || !replaced) return ruling;
    const dispatch = this.state.dispatches.get(inputs.dispatchId)!;
    const ofTask = [...(this.state.evidence.get(dispatch.configuration)?.failures.values() ?? [])].filter(
      ({ taskId }) => taskId === dispatch.taskId,
    );
    const failures = escalation.of === 'dispatch' ? this.other.failuresOf(inputs.dispatchId) : ofTask.map(({ attemptId }) => attemptId);
    const plain = { ...ruling, pattern: null, evidence: [] };
    if (failures.length >= escalation.afterFailures) {
      const step = dispatch.frontier === null ? ('stop' as const) : ('escalate' as const);
      const detail = `${failures.length} failures of this ${escalation.of} (threshold ${escalation.afterFailures})`;
      const counts = { occurrences: failures.length, threshold: escalation.afterFailures };
      return { ...plain, ...counts, step, rule: 'after_failures', terminal: step === 'stop', detail, evidence: failures.slice(-20) };
    }
    const spent = dispatch.counted >= dispatch.budget;
    const counts = spent ? { occurrences: dispatch.counted, threshold: dispatch.budget } : { occurrences: null, threshold: null };
    const detail = `${dispatch.counted} of ${dispatch.budget} attempts ${spent ? 'failed' : 'spent'}`;
    if (spent) return { ...plain, ...counts, step: 'stop', rule: 'budget_exhausted', terminal: true, detail };
    return { ...plain, ...counts, step: 'retry', rule: 'within_budget', terminal: false, detail };
  }

  private contextOf({ events, policy, infra }: RecordedCommand): Context {
    const { repo, targetFile, at } = events[0]!.event.data;
    const under = inForce(policy, repo, targetFile);
    return { repo, targetFile, stream: '', now: at, ...under, policy: { ...under.policy, ...this.rules.policy }, infra };
  }
}

/** Whether an event says what rules made of the facts, and is made anew. */
function isMade({ type }: FileEvent): boolean {
  return type === 'NextStepDecided' || type === 'CalibrationSignalRaised' || type === 'CalibrationSignalCleared';
}

/** Whose signals a command may have changed, and why they would be cleared; null: it brought nothing that they are computed from. */
function touchedBy(events: FileEvent[]): Touched | null {
  const decides = events.some(({ type }) => type === 'NextStepDecided');
  const touched = events.map((event) => touchOf(event, decides)).filter((touch) => touch !== null);
  // Signals alone: evidence came, or ceased to count, without a decision.
  const facts = touched.filter(({ made }) => !made);
  const [first, ...others] = facts.length > 0 ? facts : touched;
  if (first === undefined) return null;
  const all = [first, ...others].map(({ configurations }) => configurations);
  const contradicts = touched.flatMap((touch) => touch.contradicts);
  return { why: first.why, configurations: all.includes(null) ? null : new Map(all.flatMap((some) => [...some!])), contradicts };
}

function touchOf(event: FileEvent, decides: boolean): (Touched & { made: boolean }) | null {
  const touch = (configurations: Touched['configurations'], why: WhyCleared, made = false) => ({
    configurations,
    why,
    made,
    contradicts: [],
  });
  switch (event.type) {
    case 'VerdictReached': {
      const { seat, configuration, model, verdict, trial } = event.data;
      const own = seat === 'builder' ? new Map([[configuration, model]]) : new Map<string, string>();
      const touched = touch(decides ? own : null, verdict === 'pass' ? 'overcome' : 'discounted');
      return { ...touched, contradicts: trial === null ? [] : [trial] };
    }
    case 'FailureAttributed':
      return touch(new Map([[event.data.configuration, event.data.model]]), 'overcome');
    case 'AttributionWithdrawn':
      return touch(new Map([[event.data.configuration, event.data.model]]), event.data.reason === 'overcome' ? 'overcome' : 'corrected');
    case 'HistoryInherited':
      return touch(new Map(event.data.failures.map(({ configuration, model }) => [configuration, model])), 'overcome');
    case 'VerdictCorrected':
      return touch(null, 'corrected');
    case 'CalibrationSignalRaised':
      return touch(null, 'discounted', true);
    case 'CalibrationSignalCleared':
      return touch(null, event.data.reason === 'superseded' ? 'discounted' : event.data.reason, true);
    default:
      return null;
  }
}

/** An event as it would be if an attempt had only its first pattern. */
function withPrimary(event: FileEvent): FileEvent {
  switch (event.type) {
    case 'VerdictReached':
    case 'VerdictCorrected':
    case 'FailureAttributed':
      return { ...event, data: { ...event.data, patterns: distinctPatterns(event.data.patterns).slice(0, 1) } } as FileEvent;
    case 'HistoryInherited': {
      const failures = event.data.failures.map((failure) => ({ ...failure, patterns: failure.patterns.slice(0, 1) }));
      return { ...event, data: { ...event.data, failures } };
    }
    default:
      return event;
  }
}
