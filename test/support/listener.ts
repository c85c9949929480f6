import type { IncomingMessage } from 'node:http';
import { request } from 'node:http';
import type { Json } from './api.js';
import { eventually } from './service.js';

export interface Heard {
  id: string;
  event: string;
  data: Json;
}

/** A client of server-sent events on a connection of its own, which knows where it would go on. */
export class Listener {
  readonly heard: Heard[] = [];
  lastId: string | null = null;
  ended = false;
  private rest = '';

  private constructor(
    readonly status: number,
    readonly headers: IncomingMessage['headers'],
    private readonly response: IncomingMessage,
  ) {}

  /** Resolves with the first thing that is said, or with a refusal. */
  static async open(url: string, lastId?: string | null): Promise<Listener> {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const headers = lastId == null ? {} : { 'last-event-id': lastId };
      request(url, { headers, agent: false }, resolve).on('error', reject).end();
    });
    const listener = new Listener(response.statusCode ?? 0, response.headers, response);
    response.on('close', () => {
      listener.ended = true;
    });
    response.on('error', () => undefined);
    listener.begin();
    if (listener.status === 200) await eventually(async () => listener.lastId !== null, 'the place is said');
    return listener;
  }

  private begin(): void {
    this.response.setEncoding('utf8').on('data', (text: string) => {
      const frames = `${this.rest}${text}`.split('\n\n');
      this.rest = frames.pop()!;
      for (const frame of frames)
        this.take(new Map(frame.split('\n').map((line) => line.split(/: (.*)/s).slice(0, 2) as [string, string])));
    });
  }

  private take(fields: Map<string, string>): void {
    this.lastId = fields.get('id') ?? this.lastId;
    if (fields.has('data')) this.heard.push({ id: fields.get('id')!, event: fields.get('event')!, data: JSON.parse(fields.get('data')!) });
  }

  async untilHeard(count: number): Promise<Heard[]> {
    await eventually(async () => this.heard.length >= count, `${count} events are heard`);
    return this.heard;
  }

  close(): void {
    this.response.destroy();
  }
}
