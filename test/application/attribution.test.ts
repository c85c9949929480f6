import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { StoredEvent } from '../../src/application/ports.js';
import { attribution } from '../../src/application/saga/attribution.js';
import type { Json } from '../support/api.js';
import { appendForeign, event, streamOf } from '../support/foreign.js';
import { eventually, freshRepo, Service } from '../support/service.js';

let service: Service;
beforeAll(async () => {
  service = await Service.start({ idleAtFirst: true });
}, 60_000);
afterAll(() => service.stop());
afterEach(() => expect(service.reports.splice(0)).toEqual([]));

const PATHS = ['src/home.rs', 'src/lib.rs', 'src/util.rs'];
const of = (events: Json[], type: string) => events.filter((one) => one.type === type);
const typesOf = (events: Json[]) => events.map(({ type }) => type);

/** A repo whose other files learn, and a task of three files in it. */
async function place(rule: 'target' | 'span' | 'touched') {
  const repo = freshRepo('several');
  await service.api.ok(service.api.call('PUT', `/v1/policy?repo=${repo}`, { attribution: rule }));
  const at = () => PATHS.map((path) => service.api.file(repo, path)) as [Json, Json, Json];
  return { repo, at, open: (task = 't') => at()[0].open(task, { targetFiles: PATHS, budget: 9, force: true }) };
}

const text = (...errors: [code: string, file: string][]) => ({
  output: `// ${errors.join()}`,
  diff: '--- a/src/home.rs\n+++ b/src/home.rs\n@@ -1 +1 @@\n-a\n+b\n--- a/src/util.rs\n+++ b/src/util.rs\n@@ -1 +1 @@\n-a\n+b\n',
  verifier: {
    tool: 'cargo',
    exitCode: 101,
    stderr: errors.map(([code, file]) => `error[${code}]: it is wrong\n --> ${file}:3:7\n`).join('\n'),
  },
});
const failing = (dispatchId: string, ...errors: [string, string][]): Promise<Json> =>
  service.api.ok(service.api.post(`/v1/dispatches/${dispatchId}/attempts`, text(...errors)));
/** The saga has taken in all that was appended before. */
async function caughtUp(): Promise<void> {
  const marker = service.api.file(freshRepo('marker'), 'm.rs');
  const { position } = await marker.open();
  await eventually(async () => BigInt((await service.readModels.load('calibration_saga')) ?? -1) >= BigInt(position.commit), 'caught up');
}

describe('under each rule, for a repo whose saga was away while it all happened and came back', () => {
  test('the other files learn what the rule says, once, with the signals that it makes; a pass takes it back', async () => {
    const [target, span, touched] = [await place('target'), await place('span'), await place('touched')];
    const dispatches: string[] = [];
    for (const one of [target, span, touched]) {
      const { dispatchId } = await one.open();
      dispatches.push(dispatchId);
      for (let n = 0; n < 3; n += 1)
        await failing(dispatchId, ['E0308', 'src/home.rs'], ['E0369', 'src/lib.rs'], ['E0277', '/rustc/std.rs']);
    }
    await service.restart();
    // That the stores went away under it is said, rightly.
    service.reports.splice(0);
    await caughtUp();
    const learned = async ({ at }: typeof span) =>
      Promise.all(
        at()
          .slice(1)
          .map(async (file) => (await file.memory()).histogram),
      );
    const row = (code: string) => expect.objectContaining({ code, attempts: 3 });
    expect(await learned(target)).toEqual([[], []]);
    expect(await learned(span)).toEqual([[row('E0369')], []]);
    expect(await learned(touched)).toEqual([[], [row('E0277'), row('E0308'), row('E0369')]]);

    const [home, lib] = span.at();
    const events = await lib.events();
    expect(typesOf(events)).toEqual(['ForeignDispatchOpened', ...Array(3).fill('FailureAttributed'), 'CalibrationSignalRaised']);
    const verdicts = of(await home.events(), 'VerdictReached');
    expect(of(events, 'FailureAttributed').map(({ data }) => [data.attemptId, data.homeRevision])).toEqual(
      verdicts.map(({ data, revision }) => [data.attemptId, revision]),
    );
    const memory = await lib.memory();
    expect(memory).toMatchObject({
      passed: 0,
      failed: 0,
      signals: [{ code: 'E0369', evidence: verdicts.map(({ data }) => data.attemptId) }],
    });
    expect(memory.learnedFrom).toEqual([{ stream: streamOf(home), targetFile: home.targetFile, revision: verdicts.at(-1)!.revision }]);
    const opened = await lib.open('near');
    expect(opened).toMatchObject({ coldStart: false, learnedFrom: memory.learnedFrom, warnings: [{ dispatchId: dispatches[1] }] });
    expect(opened.hint.text).toContain('3 failures of work on other files had errors in this one. Known failure patterns: E0369');
    const rows = await lib.list('/v1/histograms', { after: opened.position.commit });
    expect(rows.items).toMatchObject([{ code: 'E0369', attempts: 3, seat: 'builder' }]);
    const live = await lib.list('/v1/signals', { after: opened.position.commit, live: 'true' });
    expect(live.items).toMatchObject([{ code: 'E0369', live: true }]);

    await home.attempt(dispatches[1]!, 'pass');
    await eventually(async () => of(await lib.events(), 'CalibrationSignalCleared')[0], 'the signal is cleared');
    expect((await lib.memory()).signals).toEqual([]);
    for (const { repo } of [target, span, touched])
      expect(await service.api.ok(service.api.post('/v1/audit/verify', { repo }))).toMatchObject({ found: 0, streams: 4 });
  }, 60_000);

  test('a running saga and one that comes to it later append the same', async () => {
    const [during, after] = [await place('span'), await place('span')];
    const happens = async ({ open, at }: typeof during, seen: () => Promise<void>) => {
      const { dispatchId } = await open();
      for (const code of ['E0308', 'E0369', 'E0369', 'E0369']) {
        await failing(dispatchId, [code, 'src/lib.rs']);
        await seen();
      }
      await at()[0].attempt(dispatchId, 'pass');
      await seen();
    };
    await happens(during, caughtUp);
    await happens(after, async () => undefined);
    await caughtUp();
    const told = async ({ at }: typeof during) =>
      (await at()[1].events())
        .filter(({ type }: Json) => type !== 'ForeignDispatchClosed')
        .map(({ type, data: { code, patterns, reason, homeRevision, occurrences } }: Json) => ({
          type,
          code,
          patterns,
          reason,
          homeRevision,
          occurrences,
        }));
    expect(await told(during)).toEqual(await told(after));
    expect((await told(during)).map(({ type }: Json) => type)).toEqual([
      'ForeignDispatchOpened',
      ...Array(4).fill('FailureAttributed'),
      'CalibrationSignalRaised',
      'AttributionWithdrawn',
      'CalibrationSignalCleared',
    ]);
  }, 60_000);
});

test('whoever sees it, and however often: each failure is told once', async () => {
  const one = await place('span');
  const { dispatchId } = await one.open();
  // More commands than a history remembers of the newest, so that only the stream itself can tell.
  for (let n = 0; n < 3; n += 1) await failing(dispatchId, ['E0369', 'src/lib.rs']);
  await caughtUp();
  const [home, lib] = one.at();
  for (let n = 0; n < 40; n += 1) await lib.open(`task ${n}`).then((opened: Json) => lib.attempt(opened.dispatchId, 'pass'));
  const before = await lib.events();
  expect(of(before, 'FailureAttributed')).toHaveLength(3);
  const stored: StoredEvent[] = [];
  for await (const event of service.log.read(streamOf(home))) stored.push(event);
  const sagas = [1, 2, 3].map(() => attribution(service.handling, service.histories, service.policies, service.log));
  await Promise.all(
    sagas.map(async (saga) => {
      for (const event of stored) await saga(event);
    }),
  );
  expect(await lib.events()).toEqual(before);
}, 60_000);

test('seen again, what was true of a task once takes nothing from what was failed of it since', async () => {
  const one = await place('span');
  const [home, lib] = one.at();
  await home.attempt((await one.open()).dispatchId, 'pass');
  const { dispatchId } = await one.open();
  const { attemptId } = await failing(dispatchId, ['E0308', 'src/lib.rs']);
  const correct = (verdict: string) =>
    service.api.ok(service.api.post(`/v1/attempts/${attemptId}/verdict-corrections`, { verdict, reason: 'looked again', source: 'ci' }));
  await correct('pass');
  await correct('blocked');
  await failing(dispatchId, ['E0369', 'src/lib.rs']);
  await caughtUp();
  const before = await lib.events();
  const saga = attribution(service.handling, service.histories, service.policies, service.log);
  for await (const event of service.log.read(streamOf(home))) await saga(event);
  expect(await lib.events()).toEqual(before);
});

test('a corrected verdict takes back what it said of the other file, and says what is true', async () => {
  const one = await place('touched');
  const { dispatchId } = await one.open();
  const answers: Json[] = [];
  for (let n = 0; n < 3; n += 1) answers.push(await failing(dispatchId, ['E0369', 'src/home.rs']));
  await caughtUp();
  const [home, , util] = one.at();
  expect((await util.memory()).signals).toHaveLength(1);
  const correct = async (verdict: 'fail' | 'blocked', patterns: Json[]) => {
    const said = { dispatchId, attemptId: answers[1].attemptId, verdict, patterns, reason: 'hidden tests', source: 'ci', corrects: null };
    const { repo, targetFile } = home;
    const { position } = await appendForeign(service.log, home, [
      event('VerdictCorrected', { repo, targetFile, at: new Date().toISOString(), ...said }),
    ]);
    await eventually(async () => BigInt((await service.readModels.load('calibration_saga')) ?? -1) >= BigInt(position), 'caught up');
  };
  await correct('blocked', []);
  expect(await util.memory()).toMatchObject({ signals: [], histogram: [{ code: 'E0369', attempts: 2 }] });
  await correct('fail', [{ pattern: 'e0308_mismatched_types', code: 'E0308', category: 'type', file: null }]);
  expect((await util.memory()).histogram.map(({ code, attempts }: Json) => [code, attempts])).toEqual([
    ['E0369', 2],
    ['E0308', 1],
  ]);
  const { items } = await util.list('/v1/histograms', { after: (await util.memory()).position.commit });
  expect(items.map(({ code, attempts }: Json) => [code, attempts])).toEqual([
    ['E0308', 1],
    ['E0369', 2],
  ]);
}, 60_000);

test('a pass that turns out to be none gives the other file back what it had overcome, and takes it again when it was one after all', async () => {
  const one = await place('span');
  const { dispatchId } = await one.open();
  for (let n = 0; n < 3; n += 1) await failing(dispatchId, ['E0369', 'src/lib.rs']);
  const [home, lib] = one.at();
  const passed = await home.attempt(dispatchId, 'pass');
  await eventually(async () => of(await lib.events(), 'CalibrationSignalCleared')[0], 'the signal is cleared');
  const correct = async (verdict: 'pass' | 'fail', attemptId = passed.attemptId) => {
    const body = { verdict, reason: 'hidden tests', source: 'ci' };
    await service.api.ok(service.api.post(`/v1/attempts/${attemptId}/verdict-corrections`, body));
    await caughtUp();
    return (await lib.memory()).signals;
  };
  const first = of(await lib.events(), 'CalibrationSignalRaised')[0];
  expect(await correct('fail')).toMatchObject([{ code: 'E0369', evidence: first.data.evidence }]);
  expect((await lib.memory()).histogram).toMatchObject([{ code: 'E0369', attempts: 3 }]);
  expect((await home.memory()).passed).toBe(0);
  expect((await lib.open('near')).hint.text).toContain('CALIBRATION SIGNAL');
  expect(await correct('pass')).toEqual([]);
  expect(of(await lib.events(), 'AttributionWithdrawn').map(({ data }) => [data.reason, data.attempts])).toEqual([
    ['overcome', null],
    ['not_overcome', null],
    ['overcome', first.data.evidence],
  ]);
  // Only what stood before it: the last of the three failures passed, but nothing after it.
  await correct('fail');
  const [, second, third] = of(await home.events(), 'VerdictReached').map(({ data }) => data.attemptId);
  expect(await correct('pass', second)).toEqual([]);
  const failed = [...(await service.histories.whole(streamOf(lib))).state.evidence.get(lib.model)!.failures.values()].map(
    ({ attemptId }) => attemptId,
  );
  expect(failed).toEqual([third]);

  const before = await lib.events();
  await service.sql("DELETE FROM anvil_read.checkpoints WHERE name = 'calibration_saga'");
  await service.restart();
  await caughtUp();
  expect(await one.at()[1].events()).toEqual(before);
  expect(await service.api.ok(service.api.post('/v1/audit/verify', { repo: one.repo }))).toMatchObject({ found: 0 });
  const rows = await one.at()[1].list('/v1/histograms', { after: (await one.at()[1].memory()).position.commit });
  expect(rows.items).toMatchObject([{ code: 'E0369', attempts: 2 }]);
}, 60_000);
