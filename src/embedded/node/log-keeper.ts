import { setTimeout as sleep } from 'node:timers/promises';
import { LogSession } from './log-session.js';
import type { LogWriter } from './log-writer.js';

/** A node that was killed may hold the lock until PostgreSQL notices. */
const LOCK_WAIT_MS = 2_000;
const RECONNECT_FOR_MS = 60_000;
const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 2_000;

export interface LogKeeperOptions {
  readonly databaseUrl: string;
  readonly schema: string;
  readonly reconnectForMs?: number;
  readonly log: (line: string) => void;
}

/** Keeps the writer in a session that holds the log's lock, and gives up for good when it cannot get one back. */
export class LogKeeper {
  private session: LogSession | null = null;
  private writer: LogWriter | null = null;
  private reconnecting: Promise<void> | null = null;
  private closed = false;

  constructor(
    private readonly options: LogKeeperOptions,
    private readonly onGivenUp: (error: Error) => void,
  ) {}

  /** Takes the log. That another node has it, or that there is no database, is an error here, and not something to wait for. */
  async open(): Promise<void> {
    this.session = await this.newSession();
  }

  /** Hands the session to the writer, and from now on every one that takes its place. */
  async attach(writer: LogWriter): Promise<void> {
    this.writer = writer;
    if (this.session === null) throw new Error('The event log lost its database while it was starting.');
    await writer.connect(this.session);
  }

  /** The session is of no more use: ends it, so that its lock goes, and gets another. */
  replace(session: LogSession, reason: Error): void {
    if (session !== this.session || this.closed) return;
    this.session = null;
    this.writer?.disconnect();
    this.options.log(`The event log lost its session (${reason.message}), and is connecting again.`);
    const ended = session.close();
    if (this.writer !== null) this.reconnecting ??= this.reconnect(ended);
  }

  private async reconnect(ended: Promise<void>): Promise<void> {
    await ended;
    const until = performance.now() + (this.options.reconnectForMs ?? RECONNECT_FOR_MS);
    let pause = FIRST_PAUSE_MS;
    while (!this.closed && this.session === null) {
      try {
        await this.tryAgain();
      } catch (error) {
        const failure = error instanceof Error ? error : new Error(String(error));
        if (performance.now() >= until) {
          this.onGivenUp(new Error(`The event log could not get its database back: ${failure.message}`, { cause: failure }));
          break;
        }
        await sleep(pause);
        pause = Math.min(2 * pause, LONGEST_PAUSE_MS);
      }
    }
    this.reconnecting = null;
  }

  private async tryAgain(): Promise<void> {
    const session = await this.newSession();
    try {
      await this.writer?.connect(session);
      // It may have been lost while it was not yet the session in use.
      if (session.lost !== null) throw session.lost;
    } catch (error) {
      this.writer?.disconnect();
      await session.close();
      throw error;
    }
    this.session = session;
    this.options.log('The event log is connected again.');
  }

  private newSession(): Promise<LogSession> {
    const { databaseUrl, schema } = this.options;
    return LogSession.open({ databaseUrl, schema, lockWaitMs: LOCK_WAIT_MS, onLost: (session, error) => this.replace(session, error) });
  }

  /** Ends the session, and with it the lock. */
  async close(): Promise<void> {
    this.closed = true;
    await this.reconnecting;
    await this.session?.close();
    this.session = null;
  }
}
