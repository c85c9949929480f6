import type { FileEvent, FileEventType } from '../catalogue/events.js';
import type { WhatIfBody, WhatIfResult } from '../catalogue/what-if.js';
import { FILE_STREAMS, infraStream } from '../domain/ids.js';
import { policyRevisionOf } from '../domain/policy-in-force.js';
import { Shadow } from '../domain/shadow.js';
import { regroupedVerdict, WhatIfSums } from '../domain/what-if.js';
import { judge } from './attempt-facts.js';
import type { Infrastructure } from './infrastructure.js';
import type { Payloads } from './payloads.js';
import type { Policies } from './policies.js';
import { type EventLog, isUnread, type StoredEvent } from './ports.js';
import { loadVerifier } from './recorded-verifier.js';
import { pause } from './timing.js';

/** Work goes on for so long before commands get as much time for themselves. */
const SLICE_MS = 10;
/** Repos whose past policies are held at a time. */
const MOST_REPOS = 100;

export interface ReplayParts {
  log: EventLog;
  payloads: Payloads;
  policies: Policies;
  infrastructure: Infrastructure;
}

export interface Progress {
  /** Of the log, by where the file's first event lies. */
  fraction: number;
  files: number;
  attempts: number;
}

type InForce = Awaited<ReturnType<typeof pastOf>>;

/**
 * Runs the log up to where it ends now again under other rules, in a shadow: file by file, command by command, appending nothing. Holds
 * one file's state and the sums. Takes no more than half of the processor's time, so that commands are not held up.
 */
export async function replayWhatIf(
  parts: ReplayParts,
  asked: WhatIfBody,
  signal: AbortSignal,
  tell: (progress: Progress) => void,
): Promise<WhatIfResult> {
  const { log } = parts;
  const upTo = await log.head();
  const end = BigInt(upTo ?? -1);
  const sums = new WhatIfSums();
  const repos = new Map<string, InForce>();
  const breathe = pacing(signal);
  for await (const stream of log.streams(FILE_STREAMS)) {
    let shadow: Shadow | undefined;
    for await (const command of commandsOf(log, stream, end, () => (sums.unreadable += 1))) {
      signal.throwIfAborted();
      const [{ event, position }] = command as [StoredEvent];
      const { repo } = (event as FileEvent).data;
      if (asked.repo !== undefined && repo !== asked.repo) break;
      if (shadow === undefined) tell({ fraction: Number((BigInt(position) * 10_000n) / (end + 1n)) / 10_000, ...countsOf(sums) });
      shadow ??= new Shadow(asked);
      const under = repos.get(repo) ?? (await pastOf(parts, repo));
      if (repos.size >= MOST_REPOS) repos.clear();
      repos.set(repo, under);
      const events = asked.classifierVersion === undefined ? plain(command) : await classifiedAnew(command, parts.payloads);
      for (const { event: before, instead } of events) {
        const verdicts = regroupedVerdict(before, instead);
        if (verdicts !== null) sums.regroups(...verdicts);
      }
      const difference = shadow.take({ events, ...inForceAt(under, repo, events) });
      if (difference !== null) sums.differs(difference);
      await breathe();
    }
    if (shadow !== undefined) sums.add(shadow);
  }
  return sums.result(upTo, asked);
}

function countsOf({ files, attempts }: WhatIfSums): Pick<Progress, 'files' | 'attempts'> {
  return { files, attempts };
}

/** A stream's events up to a position of the log, those of one command together. Ends before an event that cannot be read. */
async function* commandsOf(log: EventLog, stream: string, end: bigint, unreadable: () => void): AsyncIterable<StoredEvent[]> {
  let command: StoredEvent[] = [];
  for await (const event of log.readFollowed(stream, 0)) {
    if (BigInt(event.position) > end) break;
    if (isUnread(event)) {
      unreadable();
      break;
    }
    if (command.length > 0 && command[0]!.metadata.$causationId !== event.metadata.$causationId) {
      yield command;
      command = [];
    }
    command.push(event);
  }
  if (command.length > 0) yield command;
}

type Told = { revision: number; event: FileEvent; instead?: FileEvent };

function plain(command: StoredEvent[]): Told[] {
  return command.map(({ revision, event }) => ({ revision, event: event as FileEvent }));
}

/**
 * With the verdicts that the current classifier reads out of the stored texts. A verdict that the caller gave against the text stays, and
 * one without any text.
 */
async function classifiedAnew(command: StoredEvent[], payloads: Payloads): Promise<Told[]> {
  const events = plain(command);
  const verifier = find(events, 'AttemptRecorded')?.data.verifier ?? null;
  const reached = find(events, 'VerdictReached');
  if (verifier === null || reached === undefined || reached.data.disagreement !== null) return events;
  const read = judge({ verifier: await loadVerifier(verifier, payloads) });
  const instead: FileEvent = { ...reached, data: { ...reached.data, ...read } };
  return events.map((told) => (told.event === reached ? { ...told, instead } : told));
}

function find<T extends FileEventType>(events: Told[], type: T): Extract<FileEvent, { type: T }> | undefined {
  return events.find(({ event }) => event.type === type)?.event as Extract<FileEvent, { type: T }> | undefined;
}

async function pastOf({ policies, infrastructure }: ReplayParts, repo: string) {
  const [policy, infra] = await Promise.all([policies.past(repo), infrastructure.past(repo)]);
  return { policy, infra };
}

/** What a command was decided under: as its decision says, or by its time where it decided nothing. */
function inForceAt({ policy, infra }: InForce, repo: string, events: Told[]) {
  const decided = find(events, 'NextStepDecided')?.data;
  const { at } = events[0]!.event.data;
  if (decided === undefined) return { policy: policy.atTime(at), infra: infra.atTime(at) };
  const named = decided.basedOn.find(({ stream }) => stream === infraStream(repo))?.revision ?? -1;
  return { policy: policy.at(policyRevisionOf(decided.basedOn, repo)) ?? policy.atTime(at), infra: infra.at(named) ?? infra.atTime(at) };
}

/** Lets others have as much time as was just used. */
function pacing(signal: AbortSignal): () => Promise<void> {
  let began = performance.now();
  return async () => {
    const used = performance.now() - began;
    if (used < SLICE_MS) return;
    await pause(used, signal);
    began = performance.now();
  };
}
