import { randomUUID } from 'node:crypto';
import { jsonEvent, NO_STREAM } from '@eventstore/db-client';
import { fileIdOf, fileStream } from '../../dist/src/domain/ids.js';
import { seeded } from '../lib/random.mjs';
import { attemptTexts } from '../lib/texts.mjs';
import { longStream, REPO } from './long-stream.mjs';

/** Files that are being worked on at once, and appends that are under way. */
const OPEN_FILES = 500;
const AT_ONCE = 32;
const EVENTS_OF_AN_APPEND = 25;
/** What the rules make of one attempt: opening, closing and deciding included. */
const EVENTS_OF_AN_ATTEMPT = 5.2;
/** The longest text that stands in an event. */
const INLINE_CHARACTERS = 2_000;
const DIFFERENT_TEXTS = 500;
const texts = [];

/** A log of many files at once, most of them short and few very long, for those who read it from its start. */
export class RebuildLoads {
  constructor({ service, pool, client }) {
    Object.assign(this, { service, pool, client });
  }

  /** Appends about so many events on so many files; their number on a file falls with its rank (Zipf's law). Answers the exact number. */
  async fill({ events, files }) {
    const shares = Array.from({ length: files }, (_, rank) => 1 / (rank + 1));
    const all = shares.reduce((sum, share) => sum + share);
    const random = seeded(events);
    const waiting = shares
      .map((share, rank) => ({ rank, attempts: Math.max(1, Math.round((share / all) * (events / EVENTS_OF_AN_ATTEMPT))) }))
      .map((file) => ({ ...file, turn: random() }))
      .sort((a, b) => (a.attempts > 1_000 === b.attempts > 1_000 ? a.turn - b.turn : b.attempts - a.attempts));
    const open = [];
    let appended = 0;
    const work = async () => {
      for (;;) {
        while (open.length < OPEN_FILES && waiting.length > 0) open.push(new File(waiting.shift()));
        // A file is one worker's while its append is under way.
        const [file] = open.splice(Math.floor(random() * open.length), 1);
        if (file === undefined) return;
        const more = file.take(EVENTS_OF_AN_APPEND);
        if (more.length === 0) continue;
        const options = { expectedRevision: file.revision < 0 ? NO_STREAM : BigInt(file.revision) };
        await this.client.appendToStream(file.stream, more, options);
        file.revision += more.length;
        appended += more.length;
        open.push(file);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    return { events: appended };
  }

  /** The live read models and the saga begin behind what was filled. */
  async skipToHead() {
    const { rows } = await this.pool.query('SELECT max(position)::text AS head FROM anvil_log.events');
    await this.pool.query('UPDATE anvil_read.checkpoints SET position = $1', [rows[0].head]);
    await this.pool.query(`INSERT INTO anvil_read.checkpoints VALUES ('calibration_saga', 1, $1)`, [rows[0].head]);
  }

  start({ compare = false }) {
    return this.service.post(`/v1/rebuilds?compare=${compare}`, '{"projection":"all"}');
  }

  progress({ id }) {
    return this.service.get(`/v1/rebuilds/${id}`);
  }
}

class File {
  revision = -1;

  constructor({ rank, attempts }) {
    this.targetFile = `src/file-${rank}.rs`;
    this.stream = fileStream(fileIdOf(REPO, this.targetFile));
    this.commands = longStream(this.targetFile, attempts);
  }

  /** At least so many of the next events, as far as there are any. */
  take(least) {
    const taken = [];
    while (taken.length < least) {
      const { value, done } = this.commands.next();
      if (done) break;
      for (const { type, data, metadata } of value.events)
        taken.push(jsonEvent({ id: randomUUID(), type, data: type === 'AttemptRecorded' ? withTexts(data) : data, metadata }));
    }
    return taken;
  }
}

/** With the texts of an attempt, each as long as it may stand in an event. The hash chain is of the event without them. */
function withTexts(data) {
  texts.push(texts.length < DIFFERENT_TEXTS ? textsOf(data.attemptId) : texts.shift());
  return { ...data, ...texts.at(-1) };
}

function textsOf(name) {
  const { output, diff, verifier } = attemptTexts(name);
  const text = (long) => ({ text: long.slice(0, INLINE_CHARACTERS) });
  const run = {
    command: 'cargo check',
    exitCode: 101,
    signal: null,
    timedOut: false,
    stdout: text(diff),
    stderr: text(verifier),
    output: null,
  };
  return {
    ...{ output: text(output), prompt: text(output.slice(INLINE_CHARACTERS)) },
    verifier: { tool: 'cargo', durationMs: 4100, steps: [], ...run },
  };
}
