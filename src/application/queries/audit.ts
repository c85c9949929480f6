import { Inject } from '@nestjs/common';
import { type IQueryHandler, Query, QueryHandler } from '@nestjs/cqrs';
import type { MemoryAnswer } from '../../catalogue/answers.js';
import type { AnvilEvent, FileEvent, InfraEvent, PolicyEvent } from '../../catalogue/events.js';
import { metadata } from '../../catalogue/metadata.js';
import type { AuditEventsQuery, AuditStateQuery, VerifyBody } from '../../catalogue/queries.js';
import type { VerifyAnswer } from '../../catalogue/upkeep-answers.js';
import { readEvent } from '../../catalogue/versions.js';
import { FILE_STREAMS, fileIdOf, fileStream, INFRA_STREAMS, infraStream, POLICY_STREAMS, policyStream } from '../../domain/ids.js';
import {
  type InfraAt,
  type Mismatch,
  type PolicyAt,
  verifyOtherStream,
  verifyPolicyStream,
  verifyStream,
  type WrittenEvent,
} from '../../domain/verify.js';
import { FileHistories } from '../file-histories.js';
import { fold } from '../file-history.js';
import { CommandHandling } from '../handle-command.js';
import { INFRA_STREAM, Infrastructure } from '../infrastructure.js';
import { POLICY_STREAM, Policies } from '../policies.js';
import { EVENT_LOG, type EventLog } from '../ports.js';
import { RepoPast } from '../repo-streams.js';
import { memoryOf } from './live.js';

/** The events of a file's stream as they are stored, lifted to their newest shape. */
export class EventsOfFile extends Query<object> {
  constructor(readonly query: AuditEventsQuery) {
    super();
  }
}

@QueryHandler(EventsOfFile)
export class EventsOfFileHandler implements IQueryHandler<EventsOfFile> {
  constructor(@Inject(EVENT_LOG) private readonly log: EventLog) {}

  async execute({ query: { repo, targetFile, from, limit } }: EventsOfFile) {
    const items = [];
    for await (const { event, revision, id, created, metadata } of this.log.read(fileStream(fileIdOf(repo, targetFile)), from, limit))
      items.push({ type: event.type, revision, eventId: id, created, data: event.data, metadata });
    return { items, nextCursor: null };
  }
}

/** What was known of a file at a revision of its stream, or at a point in time. */
export class StateOfFile extends Query<MemoryAnswer> {
  constructor(readonly query: AuditStateQuery) {
    super();
  }
}

@QueryHandler(StateOfFile)
export class StateOfFileHandler implements IQueryHandler<StateOfFile> {
  constructor(
    private readonly handling: CommandHandling,
    private readonly histories: FileHistories,
    private readonly policies: Policies,
    private readonly infrastructure: Infrastructure,
  ) {}

  async execute({ query }: StateOfFile): Promise<MemoryAnswer> {
    const stream = fileStream(fileIdOf(query.repo, query.targetFile));
    const { events } = await this.histories.whole(stream);
    const past = events.filter(
      ({ revision, event }) =>
        (query.revision === undefined || revision <= query.revision) &&
        (query.at === undefined || Date.parse((event as FileEvent).data.at) <= Date.parse(query.at)),
    );
    const then = query.at ?? (past.at(-1)?.event as FileEvent | undefined)?.data.at;
    const ofThePast = then !== undefined && (query.revision !== undefined || query.at !== undefined);
    const policy = ofThePast ? (await this.policies.past(query.repo)).atTime(then) : (await this.policies.current(query.repo)).state;
    const infra = ofThePast
      ? (await this.infrastructure.past(query.repo)).atTime(then)
      : (await this.infrastructure.current(query.repo)).state;
    const context = { ...this.handling.contextUnder(policy, stream, query), infra };
    const last = (past.at(-1)?.event as FileEvent | undefined)?.data.at ?? context.now;
    return memoryOf(fold(stream, past), query, { ...context, now: last });
  }
}

/** Holds the log against itself: every hash chain, and every decision decided again. Changes nothing. */
export class VerifyLog extends Query<VerifyAnswer> {
  constructor(readonly body: VerifyBody) {
    super();
  }
}

/** Mismatches that are listed; all are counted. */
const MOST_LISTED = 1_000;

@QueryHandler(VerifyLog)
export class VerifyLogHandler implements IQueryHandler<VerifyLog> {
  constructor(@Inject(EVENT_LOG) private readonly log: EventLog) {}

  async execute({ body: { repo, targetFile } }: VerifyLog): Promise<VerifyAnswer> {
    const answer: VerifyAnswer = { checked: 0, events: 0, streams: 0, found: 0, mismatches: [] };
    const take = (events: unknown[], mismatches: Mismatch[], checked = 0) => {
      answer.checked += checked;
      answer.events += events.length;
      answer.streams += 1;
      answer.found += mismatches.length;
      answer.mismatches.push(...mismatches.slice(0, Math.max(0, MOST_LISTED - answer.mismatches.length)));
    };
    // What holds for repos first: it is what decisions are held against.
    const all = repo === undefined && targetFile === undefined;
    const policies = new Map<string, PolicyAt>();
    for await (const stream of all ? this.log.streams(POLICY_STREAMS) : [policyStream(repo ?? 'default')]) {
      const events = await this.written<PolicyEvent>(stream);
      if (events.length > 0) take(events, verifyPolicyStream(stream, events));
      const past = new RepoPast(
        POLICY_STREAM,
        events.map(({ event }) => event),
      );
      policies.set(stream, (revision) => past.at(revision));
    }
    const infra = new Map<string, InfraAt>();
    for await (const stream of all ? this.log.streams(INFRA_STREAMS) : [infraStream(repo ?? 'default')]) {
      const events = await this.written<InfraEvent>(stream);
      if (events.length > 0) take(events, verifyOtherStream(stream, events));
      const past = new RepoPast(
        INFRA_STREAM,
        events.map(({ event }) => event),
      );
      infra.set(stream, (revision) => past.at(revision));
    }
    const noPolicies: PolicyAt = (revision) => new RepoPast(POLICY_STREAM, []).at(revision);
    const noInfra: InfraAt = (revision) => new RepoPast(INFRA_STREAM, []).at(revision);
    for await (const stream of targetFile === undefined
      ? this.log.streams(FILE_STREAMS)
      : [fileStream(fileIdOf(repo ?? 'default', targetFile))]) {
      const events = await this.written<FileEvent>(stream);
      const of = events.find(({ event }) => event !== null)?.event?.data.repo;
      if (repo !== undefined && of !== repo) continue;
      const policyAt = policies.get(policyStream(of ?? '')) ?? noPolicies;
      const { checked, mismatches } = verifyStream(stream, events, policyAt, infra.get(infraStream(of ?? '')) ?? noInfra);
      take(events, mismatches, checked);
    }
    return answer;
  }

  private async written<E extends AnvilEvent>(stream: string): Promise<WrittenEvent<E>[]> {
    const events: WrittenEvent<E>[] = [];
    for await (const { id, revision, type, data, metadata: said } of this.log.readWritten(stream)) {
      const parsed = metadata.safeParse(said);
      events.push({
        id,
        revision,
        type,
        data,
        metadata: parsed.success ? parsed.data : null,
        ...read<E>(type, data, parsed.data?.schemaVersion),
      });
    }
    return events;
  }
}

function read<E extends AnvilEvent>(
  type: string,
  data: unknown,
  version: number | undefined,
): Pick<WrittenEvent<E>, 'event' | 'unreadable'> {
  try {
    return { event: readEvent(type, version ?? 1, data) as E };
  } catch (error) {
    return { event: null, unreadable: error instanceof Error ? error.message : String(error) };
  }
}
