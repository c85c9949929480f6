import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

const PATIENCE_MS = 40_000;
const PAUSE_MS = 60;
const MOST_TRIES = 2_000;
/** The service itself holds a query back for five seconds. */
const MOST_WAITS = 8;

/** A client as it should be: every command carries a key, and is repeated under it until it is answered. */
export class Client {
  /** How often the service answered that a store is away. */
  unavailable = 0;

  constructor(bases, ledger, random) {
    Object.assign(this, { bases, ledger, random });
  }

  /** One call, on any of the instances. Answers null where there was no answer, or none that counts (503). */
  async once(entry) {
    const { method, path, key, body, text } = entry;
    entry.asked += 1;
    const requestId = randomUUID();
    const { round } = this.ledger;
    try {
      const response = await fetch(`${this.random.pick(this.bases)}${path}`, {
        method,
        headers: { 'content-type': 'application/json', 'idempotency-key': key, 'x-request-id': requestId },
        body: text ?? JSON.stringify(body),
        signal: AbortSignal.timeout(PATIENCE_MS),
      });
      const answer = { status: response.status, body: JSON.parse(await response.text()) };
      if (answer.status === 503) this.unavailable += 1;
      if (answer.status < 500) return answer;
      if (answer.status !== 503) this.ledger.unexpected(entry, answer);
      return null;
    } catch (error) {
      // Where nobody listens, nothing was asked.
      if (error.cause?.code !== 'ECONNREFUSED') entry.cutOff.push({ round, requestId });
      return null;
    }
  }

  /** Repeats until it is answered; one that may be given up answers null then, and what came of it stays unknown. */
  async until(entry, { giveUp = 0 } = {}) {
    for (let tried = 0; tried < MOST_TRIES; tried += 1) {
      const answer = await this.once(entry);
      if (answer !== null) {
        this.ledger.answered(entry, answer);
        return answer;
      }
      entry.unanswered += 1;
      if (this.random.chance(giveUp)) return null;
      await sleep(PAUSE_MS);
    }
    this.ledger.wrong.push(`${entry.what} was never answered`);
    return null;
  }

  /** Gets a page of a query, or null where the service cannot answer it now. */
  async query(path, parameters = {}) {
    const given = Object.entries(parameters).filter(([, value]) => value !== undefined && value !== null);
    const response = await fetch(`${this.bases[0]}${path}?${new URLSearchParams(given)}`, { signal: AbortSignal.timeout(PATIENCE_MS) });
    const body = await response.json();
    if (response.status === 503) return null;
    if (!response.ok) throw new Error(`${path} answered ${response.status}: ${JSON.stringify(body)}`);
    return body;
  }

  /** All items of a paged query. */
  async all(path, parameters = {}) {
    const items = [];
    for (let [cursor, tries] = [null, 0]; tries < MOST_WAITS; ) {
      const page = await this.query(path, { ...parameters, cursor });
      if (page === null) tries += 1;
      else items.push(...page.items);
      if (page?.nextCursor === null) return items;
      cursor = page?.nextCursor ?? cursor;
    }
    throw new Error(`${path} does not catch up`);
  }
}
