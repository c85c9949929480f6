import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { FileApi, Json } from '../support/api.js';
import { freshRepo, Service } from '../support/service.js';

// The log of the embedded node is a table: here it is changed as somebody with access to the database could.
const ours = !process.env.TEST_EVENTSTORE_URL;
const EVENTS = 'anvil_log.events';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
}, 60_000);
afterAll(() => service.stop());

let file: FileApi;
let events: Json[];
beforeEach(async () => {
  file = service.api.file(freshRepo('tampered'), 'src/a.rs');
  await file.fail(['E0308', 'E0308', 'E0308'], 'old');
  events = await file.events();
});

const verify = async (): Promise<Json> => {
  const { body } = await service.api.post('/v1/audit/verify', { repo: file.repo, targetFile: file.targetFile });
  return body;
};
const named = ({ mismatches }: Json) => mismatches.map(({ revision, what, type }: Json) => [revision, what, type]);
const at = (revision: number) =>
  `event_id = '${events[revision]!.eventId}' AND stream_id = (SELECT stream_id FROM ${EVENTS} WHERE event_id = '${events[0]!.eventId}')`;

(ours ? describe : describe.skip)('an audit finds and names, in the log’s own table,', () => {
  test('nothing, where nothing was changed', async () => {
    const answer = await verify();
    expect(answer).toMatchObject({ found: 0, mismatches: [], streams: 1, events: events.length });
    expect(answer.checked).toBe(events.filter(({ type }) => type === 'NextStepDecided').length);
  });

  test('an event whose content was edited, and the decision that no longer follows', async () => {
    const revision = events.findIndex(({ type, data }) => type === 'VerdictReached' && data.attempt === 1);
    await service.sql(
      `UPDATE ${EVENTS} SET data = convert_to(replace(convert_from(data, 'UTF8'), '"verdict":"fail"', '"verdict":"pass"'), 'UTF8') WHERE ${at(revision)}`,
    );
    const found = named(await verify());
    expect(found).toContainEqual([revision, 'chain', 'VerdictReached']);
    expect(found.some(([, what]: string[]) => what === 'decision')).toBe(true);
  });

  test('an event that was removed, at the one that stood behind it', async () => {
    const revision = events.findIndex(({ type }) => type === 'VerdictReached');
    await service.sql(`DELETE FROM ${EVENTS} WHERE ${at(revision)}`);
    expect(named(await verify())).toContainEqual([revision + 1, 'chain', events[revision + 1]!.type]);
  });

  test('an event that was put in between', async () => {
    const before = 3;
    const stream = `stream_id = (SELECT stream_id FROM ${EVENTS} WHERE event_id = '${events[0]!.eventId}')`;
    await service.sql(`UPDATE ${EVENTS} SET revision = -revision - 2 WHERE ${stream} AND revision >= ${before}`);
    await service.sql(`UPDATE ${EVENTS} SET revision = -revision - 1 WHERE ${stream} AND revision < 0`);
    await service.sql(
      `INSERT INTO ${EVENTS} (position, stream_id, revision, event_id, is_json, created_us, type, data, metadata)
       SELECT (SELECT max(position) + 1 FROM ${EVENTS}), stream_id, ${before}, gen_random_uuid(), is_json, created_us, type, data, metadata
       FROM ${EVENTS} WHERE ${stream} AND revision = 1`,
    );
    expect(named(await verify())).toContainEqual([before, 'chain', events[1]!.type]);
  });

  test('an event that can no longer be read', async () => {
    await service.sql(`UPDATE ${EVENTS} SET data = convert_to('{"verdict":"perhaps"}', 'UTF8') WHERE ${at(1)}`);
    expect(named(await verify())).toContainEqual([1, 'unreadable', events[1]!.type]);
  });
});
