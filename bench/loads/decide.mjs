import { randomUUID } from 'node:crypto';
import { BACKWARDS, END, jsonEvent, NO_STREAM } from '@eventstore/db-client';
import { fileIdOf, fileStream } from '../../dist/src/domain/ids.js';
import { timed } from '../lib/timed.mjs';
import { longStream, MODEL, REPO } from './long-stream.mjs';

const EVENTS_OF_AN_APPEND = 300;
const ROWS_OF_AN_INSERT = 5_000;
const TABLE = `CREATE TABLE bench.judged (file text, seq integer, model text NOT NULL, task text NOT NULL, verdict text NOT NULL,
  pattern text, output text, PRIMARY KEY (file, seq))`;
/** Answers the rule from the index alone. */
const INDEX = 'CREATE INDEX ON bench.judged (file, model, verdict, task, seq) INCLUDE (pattern)';
/** Live failures by pattern: those of tasks that the model did not pass later; and the version that the insert expects. */
const RULE = `SELECT pattern, count(*)::integer AS failures, (SELECT max(seq) FROM bench.judged WHERE file = $1) AS version
  FROM bench.judged f WHERE file = $1 AND model = $2 AND verdict = 'fail' AND NOT EXISTS (SELECT 1 FROM bench.judged p
    WHERE p.file = f.file AND p.model = f.model AND p.verdict = 'pass' AND p.task = f.task AND p.seq > f.seq)
  GROUP BY pattern`;
const INSERT = `INSERT INTO bench.judged SELECT $1, $2::integer, $3, $4, 'fail', $5, $6
  WHERE (SELECT max(seq) FROM bench.judged WHERE file = $1) = $2::integer - 1`;
const OUTPUT = 'fn solve() -> Result<(), Error> { step()?; finish() }';

/** Files of any length, in the log and in a plain table, and the calls that read and decide on them. */
export class DecideLoads {
  #shadows = new Map();
  #small;
  /** Dispatches that a decision was asked for, and that still run. */
  #running = [];

  constructor({ service, pool, client }) {
    Object.assign(this, { service, pool, client });
  }

  async prepare() {
    await this.pool.query('CREATE SCHEMA IF NOT EXISTS bench');
    await this.pool.query(TABLE);
    await this.pool.query(INDEX);
  }

  /** Fills a file's stream and rows. Answers the commit position of its last event. */
  async fill({ targetFile, attempts }) {
    const stream = fileStream(fileIdOf(REPO, targetFile));
    let revision = -1;
    let position = '0';
    const events = [];
    const rows = [];
    let seq = 0;
    const append = async () => {
      const proposed = events.splice(0).map(({ type, data, metadata }) => jsonEvent({ id: randomUUID(), type, data, metadata }));
      const options = { expectedRevision: revision < 0 ? NO_STREAM : BigInt(revision) };
      position = String((await this.client.appendToStream(stream, proposed, options)).position.commit);
      revision += proposed.length;
    };
    for (const { events: more, row } of longStream(targetFile, attempts)) {
      events.push(...more);
      if (row) {
        seq += 1;
        rows.push({ ...row, seq });
        this.#small = more;
      }
      if (events.length >= EVENTS_OF_AN_APPEND) await append();
      if (rows.length >= ROWS_OF_AN_INSERT) await this.#insert(targetFile, rows.splice(0));
    }
    if (events.length > 0) await append();
    if (rows.length > 0) await this.#insert(targetFile, rows);
    return { position, events: revision + 1 };
  }

  /** The read models and the saga begin behind what was filled: they are measured elsewhere. */
  async skipTo({ position }) {
    await this.pool.query('VACUUM (ANALYZE) bench.judged');
    await this.pool.query('UPDATE anvil_read.checkpoints SET position = $1', [position]);
    await this.pool.query(`INSERT INTO anvil_read.checkpoints VALUES ('calibration_saga', 1, $1)`, [position]);
  }

  async serviceDecides(files, round, count) {
    await this.#endRunning();
    const file = (i) => files[i % files.length];
    const dispatches = await this.service.open(
      Array.from({ length: count }, (_, i) => ({
        targetFile: file(i),
        task: { id: `asked-${round}-${i}` },
        model: MODEL,
        frontier: 'large',
      })),
    );
    this.#running = dispatches;
    const body = JSON.stringify({ output: OUTPUT, verdict: 'fail', patterns: ['e0499'] });
    return dispatches.map((id) => () => this.service.post(`/v1/dispatches/${id}/attempts`, body));
  }

  async serviceReads(files, _round, count) {
    await this.#endRunning();
    return calls(files, count, (file) => this.service.get(`/v1/memory?repo=${REPO}&targetFile=${file}&model=${MODEL}`));
  }

  async tableDecides(files, round, count) {
    return calls(files, count, async (file, i) => {
      const { rows } = await this.pool.query({ name: 'rule', text: RULE, values: [file, MODEL] });
      const values = [file, rows[0].version + 1, MODEL, `asked-${round}-${i}`, 'e0499', OUTPUT];
      const { rowCount } = await this.pool.query({ name: 'decide', text: INSERT, values });
      if (rowCount !== 1) throw new Error(`${file} was not at the version that was read`);
    });
  }

  async tableReads(files, _round, count) {
    return calls(files, count, (file) => this.pool.query({ name: 'rule', text: RULE, values: [file, MODEL] }));
  }

  /** Reads the end of the stream and appends as many events as an attempt is, to a stream beside it. */
  async rawDecides(files, _round, count) {
    return calls(files, count, async (file) => {
      await this.#tail(file);
      const shadow = `bench-${file}`;
      const revision = this.#shadows.get(shadow) ?? -1;
      const events = this.#small.map(({ type, data, metadata }) => jsonEvent({ id: randomUUID(), type, data, metadata }));
      await this.client.appendToStream(shadow, events, { expectedRevision: revision < 0 ? NO_STREAM : BigInt(revision) });
      this.#shadows.set(shadow, revision + events.length);
    });
  }

  async rawReads(files, _round, count) {
    return calls(files, count, (file) => this.#tail(file));
  }

  /** A file with hundreds of running dispatches is no longer one of its length: all of them would be told of, and looked through. */
  async #endRunning() {
    await timed(
      this.#running.splice(0).map((id) => () => this.service.post(`/v1/dispatches/${id}/abandon`, '{}')),
      16,
    );
  }

  async #tail(file) {
    const last = this.client.readStream(fileStream(fileIdOf(REPO, file)), { direction: BACKWARDS, fromRevision: END, maxCount: 1 });
    for await (const { event } of last) return event.revision;
    throw new Error(`${file} has no events`);
  }

  async #insert(file, rows) {
    const column = (name) => rows.map((row) => row[name]);
    await this.pool.query(
      `INSERT INTO bench.judged SELECT $1, seq, $2, task, verdict, pattern, $3
       FROM unnest($4::integer[], $5::text[], $6::text[], $7::text[]) AS r(seq, task, verdict, pattern)`,
      [file, MODEL, OUTPUT, column('seq'), column('task'), column('verdict'), column('pattern')],
    );
  }
}

function calls(files, count, call) {
  return Array.from({ length: count }, (_, i) => () => call(files[i % files.length], i));
}
