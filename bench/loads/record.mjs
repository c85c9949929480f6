import { createHash, randomUUID } from 'node:crypto';
import { BACKWARDS, END, jsonEvent, NO_STREAM } from '@eventstore/db-client';
import { attemptBody, attemptTexts } from '../lib/texts.mjs';

const FILES = 512;
const ATTEMPTS_OF_A_DISPATCH = 4;
const ATTEMPTS = `CREATE TABLE IF NOT EXISTS bench.attempts (file text, version integer, id text NOT NULL, model text NOT NULL,
  task text NOT NULL, at timestamptz NOT NULL, verdict text NOT NULL, pattern text, output text, diff text, verifier text,
  PRIMARY KEY (file, version))`;
/** One statement, so one transaction and one round trip: nothing is stored unless the file is at the version that the caller read. */
const INSERT = `INSERT INTO bench.attempts SELECT $1, $2::integer, $3, 'small-9b', $4, now(), 'fail', $5, $6, $7, $8
  WHERE (SELECT coalesce(max(version), 0) FROM bench.attempts WHERE file = $1) = $2::integer - 1`;

/** Recording attempts: through the service, into a plain table, and with the raw client. Each makes calls that are ready to be timed. */
export class RecordLoads {
  #versions = new Map();
  #templates;

  constructor({ service, pool, client }) {
    Object.assign(this, { service, pool, client });
  }

  /** Makes the table, and looks at what the service appends for an attempt, so that the raw client appends the same. */
  async prepare() {
    await this.pool.query('CREATE SCHEMA IF NOT EXISTS bench');
    await this.pool.query(ATTEMPTS);
    const [call] = await this.viaService('template', 1);
    const { position } = await call();
    const events = [];
    for await (const { event } of this.client.readStream(position.stream, { direction: BACKWARDS, fromRevision: END }))
      events.unshift(event);
    const command = events.filter(({ metadata }) => metadata.$causationId === events.at(-1).metadata.$causationId);
    const { payload } = command.find(({ type }) => type === 'AttemptRecorded').data.output;
    const stored = [];
    for await (const { event } of this.client.readStream(`payload-${payload}`)) stored.push(event);
    this.#templates = { command, payload: stored[0] };
    return { events: command.length + stored.length };
  }

  async viaService(round, count) {
    const each = Math.ceil(count / ATTEMPTS_OF_A_DISPATCH);
    const dispatches = await this.service.open(
      Array.from({ length: each }, (_, i) => ({
        targetFile: `src/file-${i % FILES}.rs`,
        task: { id: `task-${round}-${i}` },
        ...{ model: 'small-9b', frontier: 'large', budget: ATTEMPTS_OF_A_DISPATCH },
      })),
    );
    return texts(`service ${round}`, count).map((text, i) => {
      const body = attemptBody(text);
      return () => this.service.post(`/v1/dispatches/${dispatches[i % each]}/attempts`, body);
    });
  }

  async table(round, count) {
    return texts(`table ${round}`, count).map(({ code, output, diff, verifier }, i) => {
      const file = `src/file-${i % FILES}.rs`;
      const values = [file, this.#next(`table ${file}`), randomUUID(), `task-${round}-${i}`, code, output, diff, verifier];
      return async () => {
        const { rowCount } = await this.pool.query({ name: 'record', text: INSERT, values });
        if (rowCount !== 1) throw new Error(`${file} was not at the version that was expected`);
      };
    });
  }

  async raw(round, count) {
    return texts(`raw ${round}`, count).map((text, i) => {
      const stream = `bench-file-${i % FILES}`;
      const events = this.#templates.command.map((event) => proposed(event, text));
      const payload = proposed(this.#templates.payload, text);
      const first = this.#next(`raw ${stream}`, events.length) - 1;
      return async () => {
        await this.client.appendToStream(`bench-payload-${payload.data.hash}`, [payload], { expectedRevision: NO_STREAM });
        await this.client.appendToStream(stream, events, { expectedRevision: first === 0 ? NO_STREAM : BigInt(first - 1) });
      };
    });
  }

  #next(key, step = 1) {
    const version = this.#versions.get(key) ?? 1;
    this.#versions.set(key, version + step);
    return version;
  }
}

function texts(round, count) {
  return Array.from({ length: count }, (_, i) => attemptTexts(`${round} ${i}`));
}

/** An event like the template, with an id and texts of its own. */
function proposed({ type, data, metadata }, { output, diff, verifier }) {
  const hash = () => createHash('sha256').update(output).digest('hex');
  const own = {
    PayloadStored: () => ({ ...data, hash: hash(), text: output }),
    AttemptRecorded: () => ({
      ...data,
      output: { ...data.output, payload: hash() },
      verifier: { ...data.verifier, stderr: { text: verifier } },
    }),
    SnapshotDiffCaptured: () => ({ ...data, diff: { text: diff } }),
  }[type];
  return jsonEvent({ id: randomUUID(), type, data: own ? own() : data, metadata });
}
