import type { EventData, InfraEvent } from '../catalogue/events.js';
import type { Policy } from '../catalogue/policy.js';

/** Blocked attempts that may still open a breaker: the newest of each kind and file, so many at most. */
const MOST_NOTICED = 200;

/** A repo's infrastructure stream, folded. */
export interface InfraState {
  /** Of the last event; -1: the repo has no such stream. */
  readonly revision: number;
  readonly open: OpenBreaker | null;
  readonly noticed: readonly Pick<EventData<'InfraBlockNoticed'>, 'infraKind' | 'targetFile' | 'at'>[];
}

/** No dispatch is opened until then; after that, `probe` is the one that may be. */
export interface OpenBreaker {
  readonly infraKind: string;
  readonly targetFiles: readonly string[];
  readonly openedAt: string;
  readonly until: string;
  readonly probe: { readonly dispatchId: string; readonly until: string } | null;
}

export const noInfraTrouble: InfraState = { revision: -1, open: null, noticed: [] };

export function evolveInfra(state: InfraState, event: InfraEvent): InfraState {
  const revision = state.revision + 1;
  switch (event.type) {
    case 'InfraBlockNoticed': {
      const { infraKind, targetFile, at } = event.data;
      const others = state.noticed.filter((one) => one.infraKind !== infraKind || one.targetFile !== targetFile);
      return { ...state, revision, noticed: [...others, { infraKind, targetFile, at }].slice(-MOST_NOTICED) };
    }
    case 'InfraBreakerOpened': {
      const { infraKind, targetFiles, at: openedAt, until } = event.data;
      return { ...state, revision, open: { infraKind, targetFiles, openedAt, until, probe: null } };
    }
    case 'InfraProbeStarted': {
      const { dispatchId, until } = event.data;
      return { ...state, revision, open: state.open && { ...state.open, probe: { dispatchId, until } } };
    }
    case 'InfraBreakerClosed':
      return { revision, open: null, noticed: [] };
    default:
      event satisfies never;
      return { ...state, revision };
  }
}

/** How long a kind of infrastructure failure is given to end, in seconds. */
export function cooldownOf(infraKind: string, { infraCooldown: { seconds, otherSeconds } }: Policy): number {
  return Object.hasOwn(seconds, infraKind) ? seconds[infraKind]! : otherSeconds;
}

/** Seconds until a dispatch may be opened, or may be tried to be; 0: it may be, though perhaps only as the probe. */
export function heldUpFor({ open }: InfraState, dispatchId: string, now: string): number {
  if (open === null) return 0;
  const until = open.until > now ? open.until : open.probe !== null && open.probe.dispatchId !== dispatchId ? open.probe.until : now;
  return Math.max(0, Math.ceil((Date.parse(until) - Date.parse(now)) / 1000));
}

/** Whether a dispatch may be opened only as the probe of an open breaker, and is not that yet. */
export function needsProbe(infra: InfraState, dispatchId: string, now: string): boolean {
  return infra.open !== null && infra.open.probe?.dispatchId !== dispatchId && heldUpFor(infra, dispatchId, now) === 0;
}

type Reached = Pick<EventData<'VerdictReached'>, 'repo' | 'targetFile' | 'at' | 'dispatchId' | 'attemptId' | 'verdict' | 'infraKind'>;

/**
 * What a verdict on a file says of the infrastructure of its repo. Blocked: it is noticed; where as many files as the policy says were
 * blocked by its kind within the time that it says, the breaker opens; where it was the probe, the cooldown begins again. Anything else
 * closes a breaker that was open by then. All times are those of verdicts, so that it does not matter when this is asked.
 */
export function noticeVerdict(state: InfraState, reached: Reached, policy: Policy): InfraEvent[] {
  const { repo, targetFile, at, dispatchId, attemptId, verdict } = reached;
  if (verdict !== 'blocked') {
    if (state.open === null || Date.parse(at) < Date.parse(state.open.openedAt)) return [];
    return [{ type: 'InfraBreakerClosed', data: { repo, at, infraKind: state.open.infraKind, attemptId } }];
  }
  const infraKind = reached.infraKind ?? 'unknown';
  const noticed: InfraEvent = { type: 'InfraBlockNoticed', data: { repo, at, infraKind, targetFile, dispatchId, attemptId } };
  const until = new Date(Date.parse(at) + cooldownOf(infraKind, policy) * 1000).toISOString();
  if (state.open !== null) {
    if (state.open.probe?.dispatchId !== dispatchId) return [noticed];
    return [noticed, { type: 'InfraBreakerOpened', data: { repo, at, infraKind, targetFiles: [targetFile], until } }];
  }
  const { files, withinSeconds } = policy.infraBreaker;
  const since = Date.parse(at) - withinSeconds * 1000;
  const alike = evolveInfra(state, noticed).noticed.filter((one) => one.infraKind === infraKind && Date.parse(one.at) >= since);
  if (alike.length < files) return [noticed];
  const targetFiles = alike.map((one) => one.targetFile);
  return [noticed, { type: 'InfraBreakerOpened', data: { repo, at, infraKind, targetFiles, until } }];
}

type Probe = Pick<EventData<'InfraProbeStarted'>, 'repo' | 'targetFile' | 'dispatchId'>;

/** Lets a dispatch through an open breaker whose cooldown is over, and no other for so many seconds. Nothing where it is too late for that. */
export function startProbe(state: InfraState, probe: Probe, seconds: number, now: string): InfraEvent[] {
  if (!needsProbe(state, probe.dispatchId, now)) return [];
  const until = new Date(Date.parse(now) + seconds * 1000).toISOString();
  return [{ type: 'InfraProbeStarted', data: { ...probe, at: now, until } }];
}
