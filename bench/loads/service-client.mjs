import { Agent, request } from 'node:http';
import { timed } from '../lib/timed.mjs';

const CATCH_UP_LIMIT_MS = 300_000;

/** Calls of the service over kept connections. Bodies come as text: making them is not part of a call. */
export class ServiceClient {
  #agent = new Agent({ keepAlive: true, maxSockets: 64 });
  #newest = 0n;

  constructor(url) {
    this.url = url;
  }

  async get(path) {
    return this.#expect('GET', path);
  }

  async post(path, body) {
    const answer = await this.#expect('POST', path, body);
    const commit = BigInt(answer.position?.commit ?? 0);
    if (commit > this.#newest) this.#newest = commit;
    return answer;
  }

  /** Opens dispatches and answers their ids, in order. */
  async open(bodies) {
    const ids = [];
    const calls = bodies.map((body, i) => async () => {
      ids[i] = (await this.post('/v1/dispatches', JSON.stringify({ repo: 'bench', leaseSeconds: 86_400, ...body }))).dispatchId;
    });
    await timed(calls, 16);
    return ids;
  }

  /** Waits until the read models have seen all that was posted: what is left undone would be paid for by whatever is measured next. */
  async caughtUp() {
    const until = performance.now() + CATCH_UP_LIMIT_MS;
    while ((await this.#call('GET', `/v1/histograms?limit=1&after=${this.#newest}`)).status !== 200)
      if (performance.now() > until) throw new Error('the read models did not catch up');
  }

  close() {
    this.#agent.destroy();
  }

  async #expect(method, path, body) {
    const { status, text } = await this.#call(method, path, body);
    if (status >= 300) throw new Error(`${method} ${path} answered ${status}: ${text}`);
    return JSON.parse(text);
  }

  #call(method, path, body) {
    const headers = body === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
    return new Promise((resolve, reject) => {
      const sent = request(`${this.url}${path}`, { method, agent: this.#agent, headers }, (answer) => {
        const chunks = [];
        answer.on('data', (chunk) => chunks.push(chunk));
        answer.on('error', reject);
        answer.on('end', () => resolve({ status: answer.statusCode, text: Buffer.concat(chunks).toString() }));
      });
      sent.on('error', reject);
      sent.end(body);
    });
  }
}
