import { z } from 'zod';

const port = z.coerce.number().int().min(0).max(65_535);
const url = (protocols: string[]) =>
  z.string().refine((value) => protocols.some((protocol) => value.startsWith(`${protocol}:`)), {
    message: `must begin with ${protocols.map((protocol) => `${protocol}:`).join(' or ')}`,
  });

/** What the environment may say; the only place that reads it. */
const environment = z.object({
  /** Where the service listens. */
  ANVIL_HOST: z.string().min(1).default('127.0.0.1'),
  ANVIL_PORT: port.default(7302),
  /** Where the embedded engines keep their data. */
  ANVIL_DATA_DIR: z.string().min(1).default('.anvil'),
  /** A real EventStoreDB; absent: the embedded node. */
  EVENTSTORE_URL: url(['esdb', 'esdb+discover', 'eventstore', 'kurrentdb']).optional(),
  /** A real PostgreSQL; absent: the embedded one. */
  DATABASE_URL: url(['postgres', 'postgresql']).optional(),
  /** Bytes of a text above which only its head and tail are kept. */
  ANVIL_PAYLOAD_LIMIT: z.coerce
    .number()
    .int()
    .min(4096)
    .max(16 * 1024 * 1024)
    .default(1024 * 1024),
  /** How much the log says. */
  ANVIL_LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
  /** Where the embedded node listens when it runs as a process of its own. */
  ANVIL_EVENTSTORE_PORT: port.default(2113),
});

export interface Config {
  host: string;
  port: number;
  dataDir: string;
  eventStoreUrl: string | undefined;
  databaseUrl: string | undefined;
  payloadLimit: number;
  eventStorePort: number;
  logLevel: string;
}

/** Throws an error that names each variable and what it should be. */
export function readConfig(env: NodeJS.ProcessEnv = process.env): Config {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''));
  const parsed = environment.safeParse(given);
  if (!parsed.success)
    throw new Error(
      `the environment is not right: ${parsed.error.issues.map((issue) => `${issue.path.join('.')} ${issue.message}`).join('; ')}`,
    );
  const {
    ANVIL_HOST,
    ANVIL_PORT,
    ANVIL_DATA_DIR,
    EVENTSTORE_URL,
    DATABASE_URL,
    ANVIL_PAYLOAD_LIMIT,
    ANVIL_EVENTSTORE_PORT,
    ANVIL_LOG_LEVEL,
  } = parsed.data;
  return {
    host: ANVIL_HOST,
    port: ANVIL_PORT,
    dataDir: ANVIL_DATA_DIR,
    eventStoreUrl: EVENTSTORE_URL,
    databaseUrl: DATABASE_URL,
    payloadLimit: ANVIL_PAYLOAD_LIMIT,
    eventStorePort: ANVIL_EVENTSTORE_PORT,
    logLevel: ANVIL_LOG_LEVEL,
  };
}
