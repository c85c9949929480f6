import { randomBytes, randomUUID } from 'node:crypto';
import { type DynamicModule, Module } from '@nestjs/common';
import { CqrsModule } from '@nestjs/cqrs';
import { projections } from '../projections/all.js';
import { MEASURES } from '../projections/measured.js';
import { EventStoreDbLog } from './adapters/eventstoredb/event-log.js';
import { PostgresLeadership } from './adapters/postgres/leadership.js';
import { PostgresMeasuredRows } from './adapters/postgres/measured-rows.js';
import { PostgresParkedEvents } from './adapters/postgres/parked-events.js';
import { createPool } from './adapters/postgres/pool.js';
import { ProjectionStore } from './adapters/postgres/projection-store.js';
import { PostgresReadModels } from './adapters/postgres/read-models.js';
import { PostgresRebuilds } from './adapters/postgres/rebuild-store.js';
import { PostgresSignalQualityRows } from './adapters/postgres/signal-quality-rows.js';
import { PostgresSnapshots } from './adapters/postgres/snapshots.js';
import { PostgresWhatIfs } from './adapters/postgres/what-if-store.js';
import { AdoptPolicyHandler } from './application/commands/adopt-policy.js';
import { CarryForwardHandler } from './application/commands/carry-forward.js';
import { CorrectVerdictHandler } from './application/commands/correct-verdict.js';
import { DiscountEvidenceHandler } from './application/commands/discount-evidence.js';
import { OpenDispatchHandler } from './application/commands/open-dispatch.js';
import { CancelRebuildHandler, RebuildByIdHandler, StartRebuildHandler } from './application/commands/rebuild.js';
import { RecordAttemptHandler } from './application/commands/record-attempt.js';
import { RecordFrontierOutcomeHandler } from './application/commands/record-frontier-outcome.js';
import { RetryParkedHandler, retryParkedAtStart } from './application/commands/retry-parked.js';
import { AbandonDispatchHandler, HeartbeatHandler, ResolveProposalHandler } from './application/commands/settle.js';
import { CancelWhatIfHandler, StartWhatIfHandler, WhatIfByIdHandler } from './application/commands/what-if.js';
import { WithdrawPairHandler } from './application/commands/withdraw-pair.js';
import { LogExport } from './application/export-log.js';
import { FileHistories } from './application/file-histories.js';
import { CommandHandling } from './application/handle-command.js';
import { ClaimImport } from './application/import-claims.js';
import { LogImport } from './application/import-log.js';
import { Imports, StillWhileImporting } from './application/imports.js';
import { InfraCommands, Infrastructure } from './application/infrastructure.js';
import { LiveEvents } from './application/live-events.js';
import { Metrics } from './application/metrics.js';
import { Payloads } from './application/payloads.js';
import { Policies } from './application/policies.js';
import { PolicyCommands } from './application/policy-commands.js';
import {
  CLOCK,
  type Clock,
  EVENT_LOG,
  IDS,
  type Ids,
  MEASURED_ROWS,
  PARKED_EVENTS,
  PROJECTION_NAMES,
  PROJECTION_ROWS,
  READ_MODELS,
  REBUILDS,
  SIGNAL_QUALITY_ROWS,
  WHAT_IFS,
} from './application/ports.js';
import { EventsOfFileHandler, StateOfFileHandler, VerifyLogHandler } from './application/queries/audit.js';
import { CohortHandler } from './application/queries/cohorts.js';
import { PageOfHandler } from './application/queries/lists.js';
import { AttemptByIdHandler, DispatchByIdHandler, MemoryOfFileHandler } from './application/queries/live.js';
import { MeasurementsHandler } from './application/queries/measurements.js';
import { PolicyOfRepoHandler, PolicyVersionsHandler } from './application/queries/policy.js';
import { SignalQualityHandler } from './application/queries/signal-quality.js';
import { StoryOfDispatchHandler } from './application/queries/story.js';
import { projectionFollower, runFollowers } from './application/run-followers.js';
import { runRebuilds, workOffRebuilds } from './application/run-rebuilds.js';
import { SagaFollower } from './application/run-saga.js';
import { runWhatIfs } from './application/run-what-ifs.js';
import { attribution } from './application/saga/attribution.js';
import { breaker } from './application/saga/breaker.js';
import { discounts } from './application/saga/discounts.js';
import { notices } from './application/saga/notices.js';
import { renames } from './application/saga/renames.js';
import { sharedFiles } from './application/saga/shared-files.js';
import { settleWhatIsOverdue } from './application/settle-overdue.js';
import { TrainingRows } from './application/training-rows.js';
import type { readEvent } from './catalogue/versions.js';
import { AuditController } from './http/audit.controller.js';
import { CommandsController } from './http/commands.controller.js';
import { EventsController } from './http/events.controller.js';
import { HealthController } from './http/health.controller.js';
import { LateTruthController } from './http/late-truth.controller.js';
import { ParkedEventsController } from './http/parked-events.controller.js';
import { PolicyController } from './http/policy.controller.js';
import { QueriesController } from './http/queries.controller.js';
import { RebuildsController } from './http/rebuilds.controller.js';
import { TrainingController } from './http/training.controller.js';
import { TransferController } from './http/transfer.controller.js';
import { WhatIfController } from './http/what-if.controller.js';
import { runInThread } from './rebuild-thread.js';

const clock: Clock = { now: () => new Date().toISOString() };
const ids: Ids = {
  uuid: randomUUID,
  short: () =>
    BigInt(`0x${randomBytes(10).toString('hex')}`)
      .toString(36)
      .padStart(16, '0')
      .slice(-16),
};

/** What a running service is made of, beside Nest: built once, closed in reverse order. */
export interface Parts {
  module: DynamicModule;
  /** Starts the projections and the saga; `paused`: the projections alone, and the saga goes on from its place when it is run again. */
  run(saga?: 'paused'): void;
  /** Lets go who waits for something, so that open requests can end. */
  drain(): void;
  close(): Promise<void>;
}

export async function assemble(given: {
  databaseUrl: string;
  eventStoreUrl: string;
  headOf(stream: string): number | undefined;
  payloadLimit: number;
  /** How what lies in the log becomes an event, if not by the catalogue. */
  readEvent?: typeof readEvent;
  /** The compiled rebuild-worker.js, for rebuilds to have a thread of their own; without it they share this one. */
  rebuildWorker?: URL;
  /** Faults that are worked around, and (as `info`) what an operator may want to know. */
  report: (message: string, level?: 'info') => void;
}): Promise<Parts> {
  const { report } = given;
  const metrics = new Metrics();
  const pool = createPool(given.databaseUrl, report);
  const log = new EventStoreDbLog(given.eventStoreUrl, report, given.headOf, given.readEvent);
  const rows = new ProjectionStore(pool, projections);
  const readModels = new PostgresReadModels(pool);
  const leadership = new PostgresLeadership(given.databaseUrl, report);
  const snapshots = new PostgresSnapshots(pool);
  const rebuilds = new PostgresRebuilds(pool, projections);
  const whatIfs = new PostgresWhatIfs(pool);
  const payloads = new Payloads(log, given.payloadLimit);
  const histories = new FileHistories(log, snapshots, metrics, report);
  const policies = new Policies(log);
  const imports = new Imports(log, clock);
  const handling = new CommandHandling(log, histories, policies, clock, ids, metrics, imports);
  const infrastructure = new Infrastructure(log);
  const infraCommands = new InfraCommands(log, clock, ids, imports);
  const reactions = [
    ...[sharedFiles(handling, histories), attribution(handling, histories, policies, log), renames(handling, histories, log)],
    breaker(infrastructure, infraCommands, policies),
    discounts(handling, policies, readModels),
    notices(handling, histories, log),
  ];
  const parked = new PostgresParkedEvents(pool);
  const saga = new SagaFollower({ handling, checkpoints: readModels, parked, reactions });
  const live = new LiveEvents(log, report);
  const exporting = new LogExport(log);
  const { rebuildWorker, databaseUrl, eventStoreUrl } = given;
  const workOff = (signal: AbortSignal) =>
    rebuildWorker === undefined
      ? workOffRebuilds({ log, rebuilds, clock, report }, signal)
      : runInThread(rebuildWorker, { databaseUrl, eventStoreUrl }, report, signal);
  const stopping = new AbortController();
  let running: Promise<unknown> = Promise.resolve();
  let listening: Promise<unknown> = Promise.resolve();
  // The first of several appends at once on a cold client may land last: one round trip warms it up.
  const [stale] = await Promise.all([rows.prepare(), log.ping()]);
  await Promise.all([snapshots.prepare(), rebuilds.prepare(), whatIfs.prepare(), imports.look()]);
  if (stale.length > 0)
    await rebuilds.createUnlessRunning(
      stale.map(({ name }) => name),
      clock.now(),
    );
  return {
    module: {
      module: AppModule,
      imports: [CqrsModule.forRoot()],
      controllers: [
        ...[AuditController, CommandsController, LateTruthController, EventsController, QueriesController, PolicyController],
        ...[RebuildsController, TransferController, ParkedEventsController, WhatIfController, TrainingController, HealthController],
      ],
      providers: [
        { provide: EVENT_LOG, useValue: log },
        { provide: IDS, useValue: ids },
        { provide: CLOCK, useValue: clock },
        { provide: REBUILDS, useValue: rebuilds },
        { provide: WHAT_IFS, useValue: whatIfs },
        { provide: PROJECTION_NAMES, useValue: projections.map(({ name }) => name) },
        { provide: PROJECTION_ROWS, useValue: rows },
        { provide: READ_MODELS, useValue: readModels },
        { provide: TrainingRows, useFactory: (payloads: Payloads) => new TrainingRows(readModels, payloads), inject: [Payloads] },
        { provide: MEASURED_ROWS, useValue: new PostgresMeasuredRows(pool, MEASURES) },
        { provide: SIGNAL_QUALITY_ROWS, useValue: new PostgresSignalQualityRows(pool) },
        { provide: PARKED_EVENTS, useValue: parked },
        { provide: SagaFollower, useValue: saga },
        { provide: LiveEvents, useValue: live },
        { provide: Metrics, useValue: metrics },
        { provide: FileHistories, useValue: histories },
        { provide: CommandHandling, useValue: handling },
        { provide: Policies, useValue: policies },
        { provide: Infrastructure, useValue: infrastructure },
        { provide: InfraCommands, useValue: infraCommands },
        { provide: PolicyCommands, useValue: new PolicyCommands(log, clock, ids, imports) },
        { provide: Payloads, useValue: payloads },
        { provide: LogExport, useValue: exporting },
        { provide: LogImport, useValue: new LogImport(log, imports) },
        { provide: ClaimImport, useValue: new ClaimImport(handling, histories, payloads, log) },
        ...[
          CarryForwardHandler,
          OpenDispatchHandler,
          RecordAttemptHandler,
          RecordFrontierOutcomeHandler,
          AbandonDispatchHandler,
          HeartbeatHandler,
          ResolveProposalHandler,
        ],
        ...[AdoptPolicyHandler, PolicyOfRepoHandler, PolicyVersionsHandler],
        ...[CorrectVerdictHandler, DiscountEvidenceHandler, WithdrawPairHandler],
        ...[MemoryOfFileHandler, DispatchByIdHandler, AttemptByIdHandler, EventsOfFileHandler, StateOfFileHandler, VerifyLogHandler],
        StoryOfDispatchHandler,
        ...[PageOfHandler, MeasurementsHandler, CohortHandler, SignalQualityHandler],
        ...[StartWhatIfHandler, CancelWhatIfHandler, WhatIfByIdHandler],
        ...[StartRebuildHandler, CancelRebuildHandler, RebuildByIdHandler, RetryParkedHandler],
      ],
    },
    run: (whether) => {
      listening = imports.follow(stopping.signal, report);
      const follows = whether !== 'paused';
      running = leadership.whileLeading(stopping.signal, async (leading) => {
        metrics.leading.set(1);
        await Promise.all([
          follows && retryParkedAtStart({ log, rows, saga }, leading, report),
          runFollowers(log, [projectionFollower(rows), ...(follows ? [new StillWhileImporting(saga, imports)] : [])], leading, report),
          runRebuilds({ rebuilds, report, workOff }, leading),
          runWhatIfs({ log, payloads, policies, infrastructure, whatIfs, clock, report }, leading),
          follows && settleWhatIsOverdue({ handling, parked, overdueFiles: readModels, clock, imports }, leading, report),
        ]);
        metrics.leading.set(0);
      });
    },
    drain: () => {
      histories.close();
      void live.close();
      exporting.close();
    },
    close: async () => {
      stopping.abort();
      await Promise.all([running, listening, live.close()]);
      await log.close();
      await pool.end();
    },
  };
}

@Module({})
class AppModule {}
