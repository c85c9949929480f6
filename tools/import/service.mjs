/** A running Anvil, over fetch. Every command is sent with a key, so that sending it again, in this run or a later one, adds nothing. */
export class Service {
  /** Commit position of the newest command: read models asked with it have seen everything. */
  #seen = 0n;

  /** `keyPrefix` begins every idempotency key: which log goes into which repo. */
  constructor(base, keyPrefix) {
    this.base = base.replace(/\/+$/, '');
    this.keyPrefix = keyPrefix;
  }

  /** `key` names the command among those of the log. Throws where the service refuses, or does not answer for half a minute. */
  async command(path, key, body) {
    const headers = { 'content-type': 'application/json', 'idempotency-key': `${this.keyPrefix} ${key}` };
    const answer = await this.#call(path, { method: 'POST', headers, body: JSON.stringify(body) });
    const commit = BigInt(answer.position.commit);
    if (commit > this.#seen) this.#seen = commit;
    return answer;
  }

  /** An answer of a read model that has seen the newest command. */
  query(path, parameters) {
    return this.#call(`${path}?${new URLSearchParams({ ...parameters, after: String(this.#seen) })}`);
  }

  async #call(path, init) {
    for (let tried = 1; ; tried += 1) {
      const response = await fetch(this.base + path, init).catch((error) => error);
      const away = response instanceof Error || response.status === 429 || response.status >= 502;
      if (away && tried < TRIES) {
        await new Promise((resolve) => setTimeout(resolve, 1000));
        continue;
      }
      if (response instanceof Error)
        throw new Error(`No Anvil answers at ${this.base} (${response.cause?.code ?? response.message}). Start one with "npm start".`);
      const answer = await response.json().catch(() => ({ title: 'the answer is not JSON: is this Anvil?' }));
      if (!response.ok) throw new Error(`${path} answered ${response.status}: ${answer.detail ?? answer.title}${details(answer)}`);
      return answer;
    }
  }

  /** Whether anybody is there, before a log is read for nothing. */
  async ready() {
    const response = await fetch(`${this.base}/health/ready`).catch((error) => error);
    if (response instanceof Error)
      throw new Error(`No Anvil answers at ${this.base} (${response.cause?.code ?? response.message}). Start one with "npm start".`);
  }
}

const TRIES = 30;

function details({ errors = [] }) {
  return errors.map(({ path, message }) => ` ${path} ${message}`).join(',');
}
