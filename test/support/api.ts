/** JSON as a caller sees it; tests look at what they assert. */
// biome-ignore lint/suspicious/noExplicitAny: an answer is what the service says, not what a type here claims.
export type Json = any;

export interface Answer {
  status: number;
  headers: Headers;
  body: Json;
  text: string;
}

interface Sent {
  headers?: Record<string, string>;
  /** Sent as it is, in place of JSON. */
  raw?: string | Buffer;
}

/** A small client over fetch: answers with whatever came, and never throws for a status. */
export class Api {
  constructor(readonly url: string) {}

  async call(method: string, path: string, body?: unknown, sent: Sent = {}): Promise<Answer> {
    const payload = sent.raw ?? (body === undefined ? undefined : JSON.stringify(body));
    const headers = { ...(payload !== undefined && { 'content-type': 'application/json' }), ...sent.headers };
    const response = await fetch(`${this.url}${path}`, { method, headers, body: payload as NonNullable<RequestInit['body']> | undefined });
    const text = await response.text();
    const isJson = /\bjson\b/.test(response.headers.get('content-type')?.split(';')[0]?.replace('x-ndjson', '') ?? '');
    return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : text };
  }

  post(path: string, body?: unknown, sent?: Sent): Promise<Answer> {
    return this.call('POST', path, body, sent);
  }

  get(path: string, query: Record<string, string | number | undefined> = {}, sent?: Sent): Promise<Answer> {
    const given = Object.entries(query).flatMap(([key, value]): [string, string][] => (value === undefined ? [] : [[key, String(value)]]));
    return this.call('GET', given.length > 0 ? `${path}?${new URLSearchParams(given)}` : path, undefined, sent);
  }

  /** The body of an answer that has to be a success. */
  async ok(answer: Promise<Answer>): Promise<Json> {
    const { status, body } = await answer;
    if (status >= 300) throw new Error(`answered ${status}: ${JSON.stringify(body)}`);
    return body;
  }

  file(repo: string, targetFile: string): FileApi {
    return new FileApi(this, repo, targetFile);
  }
}

/** The calls about one file. */
export class FileApi {
  model = 'builder-9b';
  frontier: string | null = 'frontier-1';

  constructor(
    readonly api: Api,
    readonly repo: string,
    readonly targetFile: string,
  ) {}

  opening(taskId: string, more: Json = {}): Json {
    const { repo, targetFile, model, frontier } = this;
    return { repo, targetFile, model, frontier, task: { id: taskId, description: `do ${taskId}` }, ...more };
  }

  open(taskId = 'task-1', more: Json = {}): Promise<Json> {
    return this.api.ok(this.api.post('/v1/dispatches', this.opening(taskId, more)));
  }

  attempt(dispatchId: string, verdict: 'pass' | 'fail' | 'blocked', patterns: string[] = [], more: Json = {}): Promise<Json> {
    const judged = { output: `${verdict} ${patterns.join(' ')}`, verdict, ...(patterns.length > 0 && { patterns }) };
    return this.api.ok(this.api.post(`/v1/dispatches/${dispatchId}/attempts`, { ...judged, ...more }));
  }

  frontierOutcome(dispatchId: string, verdict: 'pass' | 'fail' | 'blocked', more: Json = {}): Promise<Json> {
    return this.api.ok(
      this.api.post(`/v1/dispatches/${dispatchId}/frontier-outcomes`, { output: `frontier ${verdict}`, verdict, ...more }),
    );
  }

  /** One failed attempt for each code, each in a dispatch of its own. */
  async fail(codes: string[], taskId = 'task-1'): Promise<Json[]> {
    const answers: Json[] = [];
    for (const code of codes) {
      const { dispatchId } = await this.open(taskId, { budget: 1, frontier: null });
      answers.push(await this.attempt(dispatchId, 'fail', [code]));
    }
    return answers;
  }

  memory(query: Json = {}): Promise<Json> {
    const { repo, targetFile, model } = this;
    return this.api.ok(this.api.get('/v1/memory', { repo, targetFile, model, ...query }));
  }

  async events(): Promise<Json[]> {
    const { repo, targetFile } = this;
    return (await this.api.ok(this.api.get('/v1/audit/events', { repo, targetFile, limit: 1000 }))).items;
  }

  async eventTypes(): Promise<string[]> {
    return (await this.events()).map(({ type }) => type);
  }

  list(path: string, query: Json = {}): Promise<Json> {
    const { repo, targetFile } = this;
    return this.api.ok(this.api.get(path, { repo, targetFile, ...query }));
  }
}
