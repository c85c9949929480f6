import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { Json } from '../support/api.js';
import { appendForeign, event, importedAttempt, streamOf } from '../support/foreign.js';
import { eventually, freshRepo, Service } from '../support/service.js';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
}, 60_000);
afterAll(() => service.stop());
afterEach(() => expect(service.reports.splice(0)).toEqual([]));

const fresh = () => service.api.file(freshRepo('saga'), 'src/a.rs');
const of = (events: Json[], type: string) => events.filter((one) => one.type === type);

/** Once the saga has taken in an event that came after all others, it has taken in the others. */
async function sagaHasSeen(position: string): Promise<void> {
  await eventually(
    async () => BigInt((await service.readModels.load('calibration_saga')) ?? -1) >= BigInt(position),
    `position ${position}`,
  );
}

describe('evidence that came without a decision', () => {
  test('three imported failures raise their signal, once, however often the saga sees them', async () => {
    const file = fresh();
    const failures = ['1', '2', '3'].flatMap((unique) => importedAttempt(file, { code: 'E0369', unique }));
    await appendForeign(service.log, file, failures);
    const raised = await eventually(async () => of(await file.events(), 'CalibrationSignalRaised')[0], 'a signal is raised');
    expect(raised.data).toMatchObject({ kind: 'per_pattern', code: 'E0369', occurrences: 3, model: 'builder-9b' });
    expect(raised.metadata.actor).toBe('calibration-saga');
    expect((await file.memory()).signals).toHaveLength(1);
    const before = await file.events();

    // The checkpoint is lost: the whole log is delivered again.
    await service.sql("DELETE FROM anvil_read.checkpoints WHERE name = 'calibration_saga'");
    await service.restart();
    const again = service.api.file(file.repo, file.targetFile);
    const marker = fresh();
    await sagaHasSeen((await appendForeign(service.log, marker, importedAttempt(marker, { unique: '1' }))).position);
    expect(await again.events()).toEqual(before);
  }, 60_000);

  test('failures appended one by one, each taken in by itself: one signal', async () => {
    const file = fresh();
    for (const unique of ['1', '2', '3', '4']) {
      const { position } = await appendForeign(service.log, file, importedAttempt(file, { code: 'E0308', unique })).catch(async () =>
        appendForeign(service.log, file, importedAttempt(file, { code: 'E0308', unique })),
      );
      if (unique !== '3') await sagaHasSeen(position);
    }
    expect(of(await file.events(), 'CalibrationSignalRaised')).toHaveLength(1);
  });

  test('an imported pass of the task clears the signal as overcome; a decision of a command leaves the saga nothing to do', async () => {
    const file = fresh();
    const answers = await file.fail(['E0308', 'E0308', 'E0308'], 't');
    await sagaHasSeen(answers[2].position.commit);
    expect((await file.events()).filter(({ metadata }) => metadata.actor === 'calibration-saga')).toEqual([]);
    await appendForeign(service.log, file, importedAttempt(file, { verdict: 'pass', unique: 'p' }));
    const cleared = await eventually(async () => of(await file.events(), 'CalibrationSignalCleared')[0], 'the signal is cleared');
    expect(cleared.data).toMatchObject({ kind: 'per_pattern', code: 'E0308', reason: 'overcome' });
    expect((await file.memory()).signals).toEqual([]);
  });

  test('a corrected verdict clears the signal that it held up, with that reason', async () => {
    const file = fresh();
    const answers = await file.fail(['E0277', 'E0277', 'E0277'], 't');
    const { attemptId, dispatch } = answers[1];
    const { repo, targetFile } = file;
    const correction = {
      verdict: 'blocked' as const,
      patterns: [],
      reason: 'the runner had no memory',
      source: 'a person',
      corrects: null,
    };
    const at = new Date().toISOString();
    const corrected = event('VerdictCorrected', { repo, targetFile, at, dispatchId: dispatch.dispatchId, attemptId, ...correction });
    await appendForeign(service.log, file, [corrected]);
    const cleared = await eventually(async () => of(await file.events(), 'CalibrationSignalCleared')[0], 'the signal is cleared');
    expect(cleared.data).toMatchObject({ kind: 'per_pattern', code: 'E0277', reason: 'corrected' });
    expect(await file.memory()).toMatchObject({ failed: 2, blocked: 1, signals: [] });
  });

  test('a foreign chain goes on unbroken: what the saga appends is linked to what it found', async () => {
    const file = fresh();
    await appendForeign(
      service.log,
      file,
      ['1', '2', '3'].flatMap((unique) => importedAttempt(file, { code: 'E0106', unique })),
    );
    await eventually(async () => of(await file.events(), 'CalibrationSignalRaised')[0], 'a signal is raised');
    const stored = [];
    for await (const { metadata } of service.log.read(streamOf(file))) stored.push(metadata);
    expect(stored.map(({ previousHash }) => previousHash)).toEqual([null, ...stored.slice(0, -1).map(({ hash }) => hash)]);
  });
});

describe('what time brings about on files that nobody asks about', () => {
  test('a dispatch whose lease ran out is closed; its result is recorded as late and still stages its proposal', async () => {
    const file = fresh();
    const { dispatchId } = await file.open('t', { leaseSeconds: 1 });
    const closed = await eventually(async () => of(await file.events(), 'DispatchClosed')[0], 'the dispatch is closed');
    expect(closed.data).toMatchObject({ dispatchId, outcome: 'abandoned', cause: 'lease_lost' });
    expect(closed.metadata.actor).toBe('calibration-saga');
    const late = await file.attempt(dispatchId, 'pass', [], { output: 'took long' });
    expect(late).toMatchObject({ late: true, proposal: { output: 'took long', status: 'pending' }, next: { step: 'done' } });
    expect((await file.open('t')).next.reason.rule).toBe('existing_proposal');
    expect(of(await file.events(), 'DispatchClosed')).toHaveLength(1);
    const other = fresh();
    const lost = await other.open('t', { leaseSeconds: 1 });
    await eventually(async () => of(await other.events(), 'DispatchClosed')[0], 'the dispatch is closed');
    const failed = await other.attempt(lost.dispatchId, 'fail', ['E0308']);
    expect([failed.late, failed.next.step, failed.next.reason.rule]).toEqual([true, 'stop', 'late_result']);
  });

  test('an attempt renews the lease; a live one is left alone', async () => {
    const file = fresh();
    const { dispatchId, dispatch } = await file.open('t', { leaseSeconds: 600 });
    const failed = await file.attempt(dispatchId, 'fail', ['E0308']);
    expect(failed.dispatch.leaseUntil > dispatch.leaseUntil).toBe(true);
    const dead = fresh();
    await dead.open('t', { leaseSeconds: 1 });
    await eventually(async () => of(await dead.events(), 'DispatchClosed')[0], 'the dead one is closed');
    expect(of(await file.events(), 'DispatchClosed')).toEqual([]);
  });

  test('a proposal that nobody resolved in time expires, and the task can be built again', async () => {
    const file = fresh();
    const { dispatchId } = await file.open('t');
    const passed = await file.attempt(dispatchId, 'pass');
    // A proposal whose time ran out long ago, as one that was staged by a service that then was stopped.
    const staged = (await file.events()).find(({ type }) => type === 'ProposalStaged').data;
    const { proposalId } = staged;
    const rejected = await file.api.post(`/v1/proposals/${proposalId}/resolve`, { resolution: 'rejected' });
    expect(rejected.status).toBe(200);
    const old = { ...staged, proposalId: `${proposalId}0`, expiresAt: '2020-01-01T00:00:00.000Z' };
    await appendForeign(service.log, file, [event('ProposalStaged', old)]);
    const expired = await eventually(async () => of(await file.events(), 'ProposalResolved')[1], 'the proposal expires');
    expect(expired.data).toMatchObject({ proposalId: old.proposalId, resolution: 'expired' });
    expect(passed.proposal.status).toBe('pending');
    expect((await file.open('t')).next.step).toBe('attempt');
    const { items } = await file.list('/v1/proposals', { status: 'expired', after: String((await file.memory()).position.commit) });
    expect(items.map((item: Json) => item.proposalId)).toEqual([old.proposalId]);
  });
});
