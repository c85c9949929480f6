import { fork } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { basename, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { eventually, kill, killAllOf, postmasterOf } from './processes.mjs';

const preload = (name) => ['--import', fileURLToPath(new URL(`../preload/${name}.mjs`, import.meta.url))];
const STOP_WITHIN_TRIES = 1_200;

/** One place that a built program runs in, again and again: the service by default. Its data directory and its port stay. */
export class Service {
  #calls = 0;
  #answers = new Map();
  child = null;
  exited = Promise.resolve();
  startedTimes = 0;

  constructor({ dist, dataDir, port, program = 'src/main.js', preloads = [], env = {} }) {
    Object.assign(this, { dist, dataDir, port, program, preloads, env });
    this.name = basename(dataDir);
    this.logFile = `${dataDir}.log`;
    mkdirSync(dataDir, { recursive: true });
  }

  get url() {
    return `http://127.0.0.1:${this.port}`;
  }

  get running() {
    return this.child !== null && this.child.exitCode === null && this.child.signalCode === null;
  }

  /** Starts it, armed for the n-th pass of a kill point where one is given; does not wait. */
  start({ point = '', pass = 1 } = {}) {
    const log = openSync(this.logFile, 'a');
    const env = {
      ...{ PATH: process.env.PATH, ANVIL_HOST: '127.0.0.1', ANVIL_PORT: String(this.port), ANVIL_DATA_DIR: this.dataDir },
      ...{ ANVIL_FAULTS_POINT: point, ANVIL_FAULTS_PASS: String(pass), ANVIL_FAULTS_HITS: `${this.dataDir}.hits` },
      ...{ ANVIL_FAULTS_REQUESTS: `${this.dataDir}.requests`, ...this.env },
    };
    const child = fork(resolve(this.dist, this.program), [], {
      ...{ cwd: this.dataDir, env, execArgv: this.preloads.flatMap(preload), stdio: ['ignore', log, log, 'ipc'] },
    });
    closeSync(log);
    this.child = child;
    this.startedTimes += 1;
    child.on('message', ({ id, error }) => {
      this.#answers.get(id)?.(error);
      this.#answers.delete(id);
    });
    this.exited = new Promise((resolve) => {
      child.once('exit', (code, signal) => {
        for (const [, answer] of this.#answers) answer('the process ended');
        this.#answers.clear();
        resolve({ code, signal });
      });
    });
  }

  /** Says something to the preloads, and waits for their answer. Throws when there is none. */
  async tell(message) {
    this.#calls += 1;
    const id = this.#calls;
    if (!this.child?.connected) throw new Error('the process has ended');
    const answered = new Promise((resolve) => {
      this.#answers.set(id, resolve);
    });
    this.child.send({ ...message, id }, () => {});
    const error = await answered;
    if (error !== undefined) throw new Error(error);
  }

  /** Resolves once both stores answer through it. Throws if the process ends before. */
  async ready() {
    await eventually(async () => {
      if (!this.running) throw new Error(`the process ended before it was ready; its log ends:\n${this.lastWords()}`);
      return fetch(`${this.url}/health/ready`, { signal: AbortSignal.timeout(5_000) }).then(
        async (answer) => (await answer.text()) && answer.ok,
        () => false,
      );
    }, `the service in ${this.dataDir} is ready`);
  }

  async begin(armed) {
    this.start(armed);
    await this.ready();
  }

  /** kill -9, of the service alone (its PostgreSQL is orphaned), or of its postmaster too. */
  async kill({ postmaster = false } = {}) {
    if (this.running) this.child.kill('SIGKILL');
    await this.exited;
    if (!postmaster) return;
    const pid = postmasterOf(this.dataDir);
    if (pid !== null) kill(pid, 'SIGKILL');
    await killAllOf(join(this.dataDir, 'postgres'));
  }

  /** SIGTERM; answers how it ended. */
  async terminate() {
    if (this.running) this.child.kill('SIGTERM');
    let ended = null;
    void this.exited.then((how) => {
      ended = how;
    });
    await eventually(() => ended, `the service in ${this.dataDir} ends after SIGTERM`, STOP_WITHIN_TRIES);
    return ended;
  }

  /** A setting as the program printed it, the newest first. */
  said(name) {
    return [...readFileSync(this.logFile, 'utf8').matchAll(new RegExp(`^${name}='(.*)'$`, 'gm'))].at(-1)?.[1];
  }

  lastWords(characters = 1_500) {
    return readFileSync(this.logFile, 'utf8').slice(-characters);
  }
}

export function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}
