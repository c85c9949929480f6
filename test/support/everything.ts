import { request } from 'node:http';
import type { Api, Json } from './api.js';
import { eventually } from './service.js';

const LISTS = ['dispatches', 'files', 'signals', 'proposals', 'histograms', 'captures', 'correction-pairs', 'patterns'];

/** All rows of all lists, once they have seen a position. */
export async function readModelsOf(api: Api, after: string): Promise<Record<string, Json[]>> {
  const lists: Record<string, Json[]> = {};
  for (const list of LISTS) {
    const rows: Json[] = [];
    let cursor: string | undefined;
    do {
      const page: Json = await eventually(async () => {
        const { status, body } = await api.get(`/v1/${list}`, { after, limit: 500, cursor });
        return status === 200 && body;
      }, `${list} has caught up`);
      rows.push(...page.items);
      cursor = page.nextCursor ?? undefined;
    } while (cursor !== undefined);
    lists[list] = rows.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  }
  return lists;
}

/** What the streams themselves say of every file that a list knows, but where and when they were stored. */
export async function filesOf(api: Api, files: Json[]): Promise<Json[]> {
  return Promise.all(
    files.map(async ({ repo, targetFile }: Json) => {
      const { position, ...state } = await api.ok(api.get('/v1/audit/state', { repo, targetFile, revision: 100_000 }));
      const { items } = await api.ok(api.get('/v1/audit/events', { repo, targetFile, limit: 1000 }));
      return { state, revision: position.revision, events: items.map(({ created: _created, ...event }: Json) => event) };
    }),
  );
}

export async function importInto(api: Api, text: string, query = ''): Promise<Json> {
  const init = { method: 'POST', headers: { 'content-type': 'application/x-ndjson' }, body: text };
  const response = await fetch(`${api.url}/v1/import${query}`, init);
  return { status: response.status, body: await response.json() };
}

/** Begins to send an import and goes on waiting to send the rest of it; resolves when the connection is lost. */
export function beginImport(api: Api, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const sending = request(`${api.url}/v1/import`, { method: 'POST', headers: { 'content-type': 'application/x-ndjson' }, agent: false });
    sending.on('response', ({ statusCode }) => reject(new Error(`answered ${statusCode} before all was sent`)));
    sending.on('error', () => resolve());
    sending.write(text);
  });
}
