import gossipService from '@eventstore/db-client/generated/gossip_grpc_pb.js';
import featuresService from '@eventstore/db-client/generated/serverfeatures_grpc_pb.js';
import streamsService from '@eventstore/db-client/generated/streams_grpc_pb.js';
import { Server, ServerCredentials } from '@grpc/grpc-js';
import pg from 'pg';
import { createAppendCall } from './append-call.js';
import { createBatchAppendCall } from './batch-append-call.js';
import { createDeleteCall, createTombstoneCall } from './delete-calls.js';
import { unavailable } from './errors.js';
import { createGossipRead, getSupportedMethods } from './features.js';
import { LiveTail } from './live-tail.js';
import { LogKeeper } from './log-keeper.js';
import { LogReader } from './log-reader.js';
import { quoteSchema, SESSION_OPTIONS } from './log-schema.js';
import { LogWriter } from './log-writer.js';
import type { NodeContext } from './node-context.js';
import { OpenCalls } from './open-calls.js';
import { createReadCall } from './read-call.js';
import { sendAhead } from './send-ahead.js';
import { StreamStates } from './stream-states.js';

const DEFAULT_SCHEMA = 'anvil_log';
const DEFAULT_MAX_APPEND_SIZE = 1024 * 1024;
const READ_CONNECTIONS = 4;
/** A read of one page that takes this long will not come; the client is told, and may ask again. */
const READ_TIMEOUT_MS = 60_000;
const SHUTDOWN_GRACE_MS = 1_000;
/** The client sends up to 3 MiB of a batch in a message; above the append limit, so that an append is refused by the protocol's own error. */
const MIN_MESSAGE_BYTES = 17 * 1024 * 1024;

export interface EmbeddedNodeOptions {
  readonly databaseUrl: string;
  readonly schema?: string;
  /** 0, the default, for any free one. */
  readonly port?: number;
  /** An address of this machine only. */
  readonly host?: string;
  /** Bytes of one whole append. */
  readonly maxAppendSize?: number;
  readonly log?: (line: string) => void;
  /** How long a lost database is waited for before the node ends. */
  readonly reconnectForMs?: number;
}

/** A running event store node. */
export interface EmbeddedNode {
  /** For the client. */
  readonly connectionString: string;
  readonly port: number;
  /** The revision that a stream is at, if that is in memory: as exact as a read, since nobody else writes this log. Undefined otherwise. */
  headOf(stream: string): number | undefined;
  /** Ends all streaming calls, as a server does that sends its callers elsewhere; it goes on and takes new ones. */
  endCalls(): void;
  /** Answers the appends that are queued, ends all calls, and gives the log free. */
  stop(): Promise<void>;
  /** Resolves when the node has ended: with null if it was stopped, with the reason if it had to end by itself. */
  readonly closed: Promise<Error | null>;
}

/**
 * Starts an event store in this process: a gRPC server that speaks the EventStoreDB protocol over a log in PostgreSQL. It is meant for one
 * machine, has no users and no encryption, and therefore listens on this machine's own addresses only.
 */
export async function startNode(options: EmbeddedNodeOptions): Promise<EmbeddedNode> {
  const { schema = DEFAULT_SCHEMA, host = '127.0.0.1', maxAppendSize = DEFAULT_MAX_APPEND_SIZE, log = () => undefined } = options;
  requireLoopback(host);
  quoteSchema(schema);
  let close: (reason: Error | null) => Promise<void> = async () => undefined;
  const keeper = new LogKeeper({ databaseUrl: options.databaseUrl, schema, reconnectForMs: options.reconnectForMs, log }, (error) => {
    log(error.message);
    void close(error);
  });
  await keeper.open();
  const pool = new pg.Pool({
    connectionString: options.databaseUrl,
    options: SESSION_OPTIONS,
    application_name: 'anvil event log reader',
    max: READ_CONNECTIONS,
    connectionTimeoutMillis: READ_TIMEOUT_MS,
    query_timeout: READ_TIMEOUT_MS,
  });
  // An idle connection that breaks is replaced at the next read. Those of a pool that has ended may still be closing when the server goes.
  pool.on('error', (error) => pool.ending || log(`The event log lost an idle connection: ${error.message}`));
  const states = new StreamStates(schema);
  const tail = new LiveTail(0);
  const writer = new LogWriter(schema, states, tail, (session, error) => keeper.replace(session, error));
  const openCalls = new OpenCalls();
  const node: NodeContext = { writer, tail, openCalls, maxAppendSize, reader: new LogReader(pool, schema, states) };
  const server = createServer(node, host, () => port);
  let port = 0;

  let closing: Promise<void> | null = null;
  let resolveClosed: (reason: Error | null) => void;
  const closed = new Promise<Error | null>((resolve) => {
    resolveClosed = resolve;
  });
  close = (reason) => {
    closing ??= (async () => {
      await writer.close();
      openCalls.stop(unavailable(reason === null ? 'The node is stopping.' : reason.message));
      await shutDown(server);
      await keeper.close();
      await pool.end();
      resolveClosed(reason);
    })();
    return closing;
  };

  try {
    await keeper.attach(writer);
    port = await bind(server, host, options.port ?? 0);
  } catch (error) {
    await close(null);
    throw error;
  }
  return {
    connectionString: `esdb://${host.includes(':') ? `[${host}]` : host}:${port}?tls=false`,
    port,
    headOf: (stream) => states.get(stream)?.head,
    closed,
    endCalls: () => openCalls.endAll(unavailable('The node lets go of its calls.')),
    stop: () => close(null),
  };
}

function requireLoopback(host: string): void {
  if (host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host)) return;
  throw new Error(
    `The embedded event store has no users and no encryption: it listens on 127.0.0.1, ::1 or localhost only, not on ${host}.`,
  );
}

function createServer(node: NodeContext, host: string, port: () => number): Server {
  const server = new Server({
    'grpc.max_receive_message_length': Math.max(MIN_MESSAGE_BYTES, 2 * node.maxAppendSize),
    interceptors: [sendAhead],
  });
  const definition = streamsService.StreamsService;
  server.addService(
    // Answers to reads are encoded already.
    { ...definition, read: { ...definition.read, responseSerialize: (bytes: Buffer) => bytes } },
    {
      append: createAppendCall(node),
      batchAppend: createBatchAppendCall(node),
      delete: createDeleteCall(node),
      tombstone: createTombstoneCall(node),
      read: createReadCall(node),
    },
  );
  server.addService(featuresService.ServerFeaturesService, { getSupportedMethods });
  server.addService(gossipService.GossipService, { read: createGossipRead(host, port) });
  return server;
}

function bind(server: Server, host: string, port: number): Promise<number> {
  const address = host.includes(':') ? `[${host}]` : host;
  return new Promise((resolve, reject) => {
    server.bindAsync(`${address}:${port}`, ServerCredentials.createInsecure(), (error, bound) => {
      if (error === null) resolve(bound);
      else reject(new Error(`The embedded event store cannot listen on ${address}:${port}: ${error.message}`, { cause: error }));
    });
  });
}

/** Lets calls that were just answered finish, but not those that nobody ends. */
async function shutDown(server: Server): Promise<void> {
  await new Promise<void>((resolve) => {
    const timer = setTimeout(() => {
      server.forceShutdown();
      resolve();
    }, SHUTDOWN_GRACE_MS);
    server.tryShutdown(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}
