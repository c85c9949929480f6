import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { currentVersion } from '../../src/catalogue/versions.js';
import { chainHash } from '../../src/domain/chain.js';
import type { FileApi, Json } from '../support/api.js';
import { cargoFailed, diffOf, traitBound } from '../support/cargo.js';
import { freshRepo, Service } from '../support/service.js';

let service: Service;
let file: FileApi;
let opened: Json;
let second: Json;

beforeAll(async () => {
  service = await Service.start();
  file = service.api.file(freshRepo('audit'), 'src/a.rs');
  await file.fail(['E0369', 'E0369'], 'task-1');
  opened = await file.open('task-1', { batch: 'b' });
  const verifier = cargoFailed(traitBound());
  const attempt = { output: 'weak', verifier, diff: diffOf('src/a.rs', 'a', 'b') };
  await file.api.ok(file.api.post(`/v1/dispatches/${opened.dispatchId}/attempts`, attempt, { headers: { 'idempotency-key': 'k-1' } }));
  second = await file.attempt(opened.dispatchId, 'fail', ['E0369']);
  await file.frontierOutcome(opened.dispatchId, 'pass');
}, 60_000);
afterAll(() => service.stop());

const ofCommand = (events: Json[], type: string, nth: number): Json[] => {
  const { $causationId } = events.filter((event) => event.type === type)[nth].metadata;
  return events.filter(({ metadata }) => metadata.$causationId === $causationId);
};

test('one command is one append: its facts, then signals, then the decision, then what that stages and closes', async () => {
  const events = await file.events();
  expect(events.map(({ revision }) => revision)).toEqual(events.map((_, index) => index));
  expect(ofCommand(events, 'DispatchOpened', 2).map(({ type }) => type)).toEqual(['DispatchOpened', 'HistoryInjected', 'NextStepDecided']);
  expect(ofCommand(events, 'AttemptRecorded', 2).map(({ type }) => type)).toEqual([
    'AttemptRecorded',
    'SnapshotDiffCaptured',
    'VerdictReached',
    'CalibrationSignalRaised',
    'NextStepDecided',
  ]);
  expect(ofCommand(events, 'FrontierOutcomeRecorded', 0).map(({ type }) => type)).toEqual([
    'AttemptRecorded',
    'VerdictReached',
    'FrontierOutcomeRecorded',
    'CapacityClassified',
    'NextStepDecided',
    'ProposalStaged',
    'DispatchClosed',
  ]);
});

test('events name what they are about', async () => {
  const events = await file.events();
  const last = (type: string) => events.filter((event) => event.type === type).at(-1).data;
  const { dispatchId } = opened;
  expect(last('CalibrationSignalRaised')).toMatchObject({ kind: 'per_pattern', code: 'E0369', occurrences: 3, model: file.model });
  expect(last('CapacityClassified')).toMatchObject({ dispatchId, classification: 'capacity', kind: 'per_pattern' });
  expect(last('DispatchClosed')).toMatchObject({ dispatchId, outcome: 'escalated_passed', taskId: 'task-1' });
  const decided = events.find(({ data }) => data.decidedAt !== undefined && data.rule === 'per_pattern').data;
  expect(decided).toMatchObject({ dispatchId, step: 'escalate', occurrences: 4, threshold: 3 });
  expect(decided.inputs).toEqual({ command: 'record_attempt', dispatchId, attemptId: second.attemptId });
});

test('metadata says which dispatch and command an event belongs to, and the command says its key and body', async () => {
  const events = await file.events();
  for (const { type, data, metadata } of events) {
    if (data.dispatchId) expect([type, metadata.$correlationId]).toEqual([type, data.dispatchId]);
    expect(metadata).toMatchObject({ $causationId: expect.any(String), actor: 'http', schemaVersion: currentVersion(type) });
  }
  const [first, ...rest] = ofCommand(events, 'AttemptRecorded', 2);
  expect(first.metadata.idempotencyKey).toBe(`POST /v1/dispatches/${opened.dispatchId}/attempts k-1`);
  expect(first.metadata.bodyHash).toMatch(/^[0-9a-f]{64}$/);
  for (const { metadata } of rest) expect([metadata.bodyHash, metadata.idempotencyKey]).toEqual([undefined, undefined]);
  const commands = new Set(events.map(({ metadata }) => metadata.$causationId));
  expect(commands.size).toBe(8);
});

test('every event is linked to the one before it, and a changed one would be seen', async () => {
  const events = await file.events();
  let previous: string | null = null;
  for (const { type, data, metadata } of events) {
    expect(metadata.previousHash).toBe(previous);
    expect(chainHash(type, data, metadata)).toBe(metadata.hash);
    previous = metadata.hash;
  }
  const { type, data, metadata } = events.find((event) => event.type === 'VerdictReached');
  expect(chainHash(type, { ...data, verdict: 'pass' }, metadata)).not.toBe(metadata.hash);
});

test('a page begins at the revision that was asked for and is as long as asked', async () => {
  const all = await file.events();
  const { repo, targetFile } = file;
  const page = await file.api.ok(file.api.get('/v1/audit/events', { repo, targetFile, from: 3, limit: 4 }));
  expect(page.items).toEqual(all.slice(3, 7));
  const beyond = await file.api.ok(file.api.get('/v1/audit/events', { repo, targetFile, from: 10_000 }));
  expect(beyond.items).toEqual([]);
  const unknown = await file.api.ok(file.api.get('/v1/audit/events', { repo, targetFile: 'src/never.rs' }));
  expect(unknown.items).toEqual([]);
});

test('the position of an answer is that of its last event', async () => {
  const stored = [];
  for await (const event of service.log.read(second.position.stream)) stored.push(event);
  const last = stored[second.position.revision];
  expect([last?.position, last?.event.type]).toEqual([second.position.commit, 'NextStepDecided']);
});
