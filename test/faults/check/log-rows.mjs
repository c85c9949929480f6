import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const PAGE = 1_000;

/** The address of the embedded PostgreSQL of a data directory, from what the postmaster itself wrote down. */
export function databaseOf(dataDir) {
  const [, , , port, socketDir] = readFileSync(join(dataDir, 'postgres/postmaster.pid'), 'utf8').split('\n');
  return `postgresql:///anvil?host=${encodeURIComponent(socketDir)}&port=${port}&user=anvil&ssl=0`;
}

/**
 * The log as it really lies there, past service, client and node: every event of every stream in the order of commits. Of payload
 * streams only what is needed to judge them is kept.
 */
export async function readLog(dist, connectionString) {
  const pg = createRequire(join(dist, 'src/main.js'))('pg');
  const client = new pg.Client({ connectionString });
  await client.connect();
  const streams = new Map();
  try {
    for (let position = 0; ; ) {
      const { rows } = await client.query(
        `SELECT e.position, s.name AS stream, e.revision, e.event_id AS id, e.type, e.created_us / 1000 AS created_ms,
                convert_from(e.data, 'UTF8') AS data, convert_from(e.metadata, 'UTF8') AS metadata
         FROM anvil_log.events e JOIN anvil_log.streams s ON s.id = e.stream_id WHERE e.position > $1 ORDER BY e.position LIMIT ${PAGE}`,
        [position],
      );
      if (rows.length === 0) return streams;
      for (const row of rows) {
        const event = { ...row, position: Number(row.position), revision: Number(row.revision), createdMs: Number(row.created_ms) };
        Object.assign(event, { data: JSON.parse(row.data), metadata: JSON.parse(row.metadata) });
        const events = streams.get(row.stream) ?? [];
        streams.set(row.stream, events);
        events.push(event);
      }
      position = Number(rows.at(-1).position);
    }
  } finally {
    await client.end();
  }
}
