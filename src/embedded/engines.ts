import { startNode } from './node/start-node.js';
import { startPostgres } from './postgres.js';

export interface Engines {
  databaseUrl: string;
  eventStoreUrl: string;
  /** Where a stream stands, if the node is of this process and has that in memory; always undefined for a server. */
  headOf(stream: string): number | undefined;
  /** What a person should know: which engines run, and where their data lies. */
  lines: string[];
  /** Ends what was started here, the node before its database. */
  stop(): Promise<void>;
  /** Resolves with the reason when an engine that was started here ended by itself. */
  failed: Promise<Error>;
}

/** Starts what stands in for the servers that were not given: each alone, or both. With a database alone, the node keeps its log there. */
export async function startEngines(given: {
  dataDir: string;
  databaseUrl: string | undefined;
  eventStoreUrl: string | undefined;
  log: (line: string) => void;
}): Promise<Engines> {
  const lines: string[] = [];
  const stops: (() => Promise<void>)[] = [];
  const stop = async () => {
    for (const end of stops.splice(0).reverse()) await end();
  };
  const failures: Promise<Error>[] = [];
  try {
    let { databaseUrl, eventStoreUrl } = given;
    let headOf: Engines['headOf'] = () => undefined;
    if (databaseUrl === undefined) {
      const postgres = await startPostgres({ dataDir: given.dataDir, log: given.log });
      stops.push(() => postgres.stop());
      failures.push(postgres.failed);
      databaseUrl = postgres.connectionString;
      lines.push(`database     embedded PostgreSQL, data in ${postgres.dataDir}`);
      if (postgres.notice !== null) lines.push(`             ${postgres.notice}`);
    } else lines.push('database     the server that DATABASE_URL names');
    if (eventStoreUrl === undefined) {
      const node = await startNode({ databaseUrl, log: given.log });
      stops.push(() => node.stop());
      eventStoreUrl = node.connectionString;
      headOf = node.headOf;
      failures.push(node.closed.then((reason) => reason ?? new Promise<Error>(() => {})));
      lines.push(`event store  embedded node for one machine, its log in that database (set EVENTSTORE_URL for a real EventStoreDB)`);
    } else lines.push('event store  the server that EVENTSTORE_URL names');
    return { databaseUrl, eventStoreUrl, headOf, lines, stop, failed: Promise.race(failures) };
  } catch (error) {
    await stop();
    throw error;
  }
}
