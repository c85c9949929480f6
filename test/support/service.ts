import 'reflect-metadata';
import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import pg from 'pg';
import { pino } from 'pino';
import type { PostgresReadModels } from '../../src/adapters/postgres/read-models.js';
import { assemble } from '../../src/app.module.js';
import { FileHistories } from '../../src/application/file-histories.js';
import { CommandHandling } from '../../src/application/handle-command.js';
import { InfraCommands, Infrastructure } from '../../src/application/infrastructure.js';
import { projectionLag } from '../../src/application/lag.js';
import { Policies } from '../../src/application/policies.js';
import { EVENT_LOG, type EventLog, PROJECTION_ROWS, type ProjectionRows, READ_MODELS } from '../../src/application/ports.js';
import type { readEvent } from '../../src/catalogue/versions.js';
import { startEngines } from '../../src/embedded/engines.js';
import { createApp } from '../../src/http/create-app.js';
import { Api } from './api.js';
import { makeFolder } from './folder.js';
import { startTestPostgres, type TestPostgres } from './postgres.js';

interface Running {
  url: string;
  app: NestFastifyApplication;
  databaseUrl: string;
  stop(): Promise<void>;
}

interface Options {
  payloadLimit?: number;
  /** Projections and saga do not run before the first restart. */
  idleAtFirst?: boolean;
  /** The projections run from the beginning, the saga not before the first restart. */
  sagaPausedAtFirst?: boolean;
  /** A server of the test's own, in place of the embedded node or of TEST_EVENTSTORE_URL. */
  eventStoreUrl?: string;
  /** How events are read, in place of the catalogue's own way. */
  readEvent?: typeof readEvent;
  /** A database of the test's own, in place of the embedded one or of TEST_DATABASE_URL. */
  databaseUrl?: string;
}

/**
 * The real service in this process: real PostgreSQL, a real event store node spoken to by the real client, HTTP on a free port. The
 * client of the event store shares state within a process, so a test file starts one service; jest gives each file its own modules.
 */
export class Service {
  /** What the service reported, newest last: faults that it works around, and every answer of 5xx. */
  readonly reports: string[] = [];

  private constructor(
    private readonly options: Options,
    private readonly dataDir: string,
    private readonly postgres: TestPostgres | null,
    private running: Running | null,
  ) {}

  static async start(options: Options = {}): Promise<Service> {
    const ownDatabase = options.databaseUrl === undefined && process.env.TEST_DATABASE_URL;
    const postgres = ownDatabase ? await startTestPostgres() : null;
    const service = new Service(options, await makeFolder('anvil-test'), postgres, null);
    await service.begin(options.idleAtFirst, options.sagaPausedAtFirst);
    return service;
  }

  get url(): string {
    return this.now.url;
  }

  get api(): Api {
    return new Api(this.url);
  }

  /** The service's own log: for reading what it stored, and for appending what others may have written. */
  get log(): EventLog {
    return this.now.app.get<EventLog>(EVENT_LOG);
  }

  get readModels(): PostgresReadModels {
    return this.now.app.get<PostgresReadModels>(READ_MODELS);
  }

  get handling(): CommandHandling {
    return this.now.app.get(CommandHandling);
  }

  get histories(): FileHistories {
    return this.now.app.get(FileHistories);
  }

  get policies(): Policies {
    return this.now.app.get(Policies);
  }

  get infrastructure(): Infrastructure {
    return this.now.app.get(Infrastructure);
  }

  get infraCommands(): InfraCommands {
    return this.now.app.get(InfraCommands);
  }

  /** Runs a statement on the database of the read models. */
  async sql(text: string): Promise<Record<string, unknown>[]> {
    const client = new pg.Client({ connectionString: this.now.databaseUrl });
    await client.connect();
    try {
      return (await client.query(text)).rows;
    } finally {
      await client.end();
    }
  }

  /** Ends everything and starts it again on the same data. */
  async restart(between: () => Promise<void> = async () => undefined): Promise<void> {
    await this.pause();
    await between();
    await this.begin();
  }

  async stop(): Promise<void> {
    await this.pause();
    await this.postgres?.stop();
    await rm(this.dataDir, { recursive: true, force: true });
  }

  private get now(): Running {
    if (this.running === null) throw new Error('the service does not run');
    return this.running;
  }

  private async pause(): Promise<void> {
    await this.running?.stop();
    this.running = null;
  }

  private async begin(idle = false, sagaPaused = false): Promise<void> {
    const report = (message: string, level?: 'info') => level === 'info' || this.reports.push(message);
    const databaseUrl = this.options.databaseUrl ?? this.postgres?.connectionString;
    const eventStoreUrl = this.options.eventStoreUrl ?? (process.env.TEST_EVENTSTORE_URL || undefined);
    const engines = await startEngines({ dataDir: this.dataDir, databaseUrl, eventStoreUrl, log: report });
    const parts = await assemble({
      ...engines,
      payloadLimit: this.options.payloadLimit ?? 1024 * 1024,
      readEvent: this.options.readEvent,
      report,
    });
    const app = await createApp(parts.module, pino({ level: 'error', base: undefined }, { write: report }));
    await app.listen(0, '127.0.0.1');
    if (!idle) parts.run(sagaPaused ? 'paused' : undefined);
    // Its read models are new, and a log that other suites have used may be long: what they left is not this one's to wait for.
    if (!idle && eventStoreUrl) await seen(app);
    this.running = {
      app,
      databaseUrl: engines.databaseUrl,
      url: await app.getUrl(),
      stop: async () => {
        parts.drain();
        await app.close();
        await parts.close();
        await engines.stop();
      },
    };
  }
}

/** Resolves when the read models have seen all that the log holds of files. */
async function seen(app: NestFastifyApplication): Promise<void> {
  const [log, rows] = [app.get<EventLog>(EVENT_LOG), app.get<ProjectionRows>(PROJECTION_ROWS)];
  await eventually(async () => (await projectionLag(log, rows, Date.now())).events === 0, 'the read models have caught up', 2_400);
}

/** A repo that no other test, and no earlier run on the same servers, has used. */
export function freshRepo(name = 'repo'): string {
  return `${name}-${randomBytes(6).toString('hex')}`;
}

/** Asks until the answer is truthy, and gives it back. What never comes fails the test by jest's own limit, or after `tries`. */
export async function eventually<T>(ask: () => Promise<T | null | undefined | false>, what: string, tries = 400): Promise<T> {
  for (let tried = 0; tried < tries; tried += 1) {
    const answer = await ask();
    if (answer) return answer;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`never happened: ${what}`);
}
