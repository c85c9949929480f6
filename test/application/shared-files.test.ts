import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { StoreUnavailable } from '../../src/application/ports.js';
import { announceDispatch, concludeDispatch } from '../../src/application/shared-files.js';
import { dispatchIdOf, fileIdOf } from '../../src/domain/ids.js';
import { anotherInstance } from '../support/another-instance.js';
import type { Json } from '../support/api.js';
import { appendForeign, event, streamOf } from '../support/foreign.js';
import { eventually, freshRepo, Service } from '../support/service.js';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
}, 60_000);
afterAll(() => service.stop());
afterEach(() => expect(service.reports.splice(0)).toEqual([]));

const of = (events: Json[], type: string) => events.filter((one) => one.type === type);
const files = (repo = freshRepo('shared')) => ['src/a.rs', 'src/b.rs', 'src/c.rs'].map((path) => service.api.file(repo, path));
const both = (home: Json, ...others: Json[]) => ({ targetFiles: [home.targetFile, ...others.map(({ targetFile }) => targetFile)] });

describe('two running dispatches that share a file', () => {
  test('the second is warned: whichever of the two has it as its home', async () => {
    const [a, b, c] = files() as [Json, Json, Json];
    const first = await a.open('t', both(a, b));
    expect(first.warnings).toBeUndefined();
    const second = await c.open('t', both(c, b));
    const names = (targetFile: string, dispatchId: string) => ({ code: 'shared_file', targetFile, dispatchId });
    expect(second.warnings).toEqual([expect.objectContaining(names('src/b.rs', first.dispatchId))]);
    const atHome = await b.open('u');
    expect(atHome.warnings.map(({ dispatchId }: Json) => dispatchId)).toEqual([first.dispatchId, second.dispatchId]);
    const third = await a.open('another', both(a, b));
    expect(third.warnings).toEqual([
      expect.objectContaining(names('src/b.rs', atHome.dispatchId)),
      expect.objectContaining(names('src/b.rs', second.dispatchId)),
    ]);
  });

  test('who came at the same moment: at least one of them knows, and both when asked once more get the answer they got', async () => {
    for (let round = 0; round < 8; round += 1) {
      const [a, b, c] = files() as [Json, Json, Json];
      const key = (n: number) => ({ headers: { 'idempotency-key': `round ${n}` } });
      const ask = () =>
        Promise.all([a, c].map((home, n) => service.api.ok(service.api.post('/v1/dispatches', home.opening('t', both(home, b)), key(n)))));
      const answers = await ask();
      expect(answers.flatMap(({ warnings }) => warnings ?? [])).toHaveLength(1);
      expect(await ask()).toEqual(answers);
    }
  });

  test('a service that died right after it opened a dispatch: the saga tells the other files', async () => {
    const [a, b, c] = files() as [Json, Json, Json];
    const example = of(await a.open('t').then(() => a.events()), 'DispatchOpened')[0].data;
    const { targetFile, repo } = c;
    const dispatchId = dispatchIdOf(fileIdOf(repo, targetFile), 'died');
    // As the stream stands between the two appends.
    await appendForeign(service.log, c, [event('DispatchOpened', { ...example, targetFile, dispatchId, ...both(c, b) })]);
    const noted = await eventually(async () => of(await b.events(), 'ForeignDispatchOpened')[0], 'the other file is told');
    expect(noted.data).toMatchObject({ dispatchId, homeFile: targetFile, beside: [] });
    expect((await b.open('u')).warnings).toEqual([expect.objectContaining({ dispatchId })]);
  });

  test('a store that goes away between opening and telling the other files: no answer, and then under its key the only one', async () => {
    const [a, b] = files() as [Json, Json];
    const running = await b.open('u');
    const { log } = service;
    const append = log.append.bind(log);
    log.append = async (stream, ...rest) => {
      if (stream === streamOf(b)) throw new StoreUnavailable('it is away');
      return append(stream, ...rest);
    };
    const ask = () => service.api.post('/v1/dispatches', a.opening('t', both(a, b)), { headers: { 'idempotency-key': 'away' } });
    try {
      expect((await ask()).status).toBe(503);
    } finally {
      log.append = append;
    }
    service.reports.splice(0);
    const first = await ask();
    expect([first.status, first.body.warnings.map(({ dispatchId }: Json) => dispatchId)]).toEqual([201, [running.dispatchId]]);
    expect((await ask()).body).toEqual(first.body);
    expect(of(await b.events(), 'ForeignDispatchOpened')).toHaveLength(1);
  });

  test('who ended is named no more; one file alone, or the same home, is no reason to warn', async () => {
    const [a, b, c] = files() as [Json, Json, Json];
    const { dispatchId } = await a.open('t', both(a, b));
    await a.attempt(dispatchId, 'pass');
    await eventually(async () => of(await b.events(), 'ForeignDispatchClosed')[0], 'the other file is told');
    expect((await c.open('t', both(c, b))).warnings).toBeUndefined();
    const [d] = files() as [Json];
    await d.open('t');
    expect((await d.open('u')).warnings).toBeUndefined();
  });

  test('a dispatch whose lease ran out is told of as ended, too', async () => {
    const [a, b] = files() as [Json, Json];
    await a.open('t', { ...both(a, b), leaseSeconds: 1 });
    await eventually(async () => of(await b.events(), 'ForeignDispatchClosed')[0], 'the other file is told');
    expect((await b.open('t')).warnings).toBeUndefined();
  });

  test('what is told twice is noted once, also when the saga goes through the whole log again', async () => {
    const [a, b] = files() as [Json, Json];
    const { dispatchId } = await a.open('t', both(a, b));
    await a.attempt(dispatchId, 'pass');
    await eventually(async () => of(await b.events(), 'ForeignDispatchClosed')[0], 'the other file is told');
    const before = await b.events();
    expect(before.map(({ type }: Json) => type)).toEqual(['ForeignDispatchOpened', 'ForeignDispatchClosed']);
    await service.sql("DELETE FROM anvil_read.checkpoints WHERE name = 'calibration_saga'");
    await service.restart();
    const [c, d] = files() as [Json, Json];
    await c.attempt((await c.open('t', both(c, d))).dispatchId, 'pass');
    await eventually(async () => of(await d.events(), 'ForeignDispatchClosed')[0], 'the saga is through');
    expect(await service.api.file(b.repo, b.targetFile).events()).toEqual(before);
    const verified = await service.api.ok(service.api.post('/v1/audit/verify', { repo: a.repo }));
    expect(verified).toMatchObject({ streams: 2, found: 0 });
  }, 60_000);

  test('told by two instances at once, of which one did not know of the other: once, and the chain holds whoever goes on', async () => {
    const [a, b] = files() as [Json, Json];
    const { dispatchId } = await a.open('t');
    await b.open('t');
    const { handling: another, histories } = anotherInstance(service.log);
    const call = { actor: 'another', bodyHash: 'b' };
    const opened = { ...of(await a.events(), 'DispatchOpened')[0].data, ...both(a, b) };
    // The other instance has the file in memory as it was before the first one wrote.
    await histories.look(streamOf(b), () => undefined);
    expect(await announceDispatch(service.handling, opened, call, false)).toEqual(await announceDispatch(another, opened, call, false));
    await concludeDispatch(another, { ...opened, taskId: 't', outcome: 'passed', cause: null, note: null, otherFiles: ['src/b.rs'] }, call);
    expect((await b.eventTypes()).slice(-2)).toEqual(['ForeignDispatchOpened', 'ForeignDispatchClosed']);
    expect(of(await b.events(), 'ForeignDispatchOpened').map(({ data }) => data.dispatchId)).toEqual([dispatchId]);
    expect(await service.api.ok(service.api.post('/v1/audit/verify', { repo: a.repo }))).toMatchObject({ found: 0 });
  });

  test('targetFile and targetFiles must agree, and nothing is stored where they do not', async () => {
    const [a, b] = files() as [Json, Json];
    const answer = await service.api.post('/v1/dispatches', b.opening('t', both(a, b)));
    expect([answer.status, answer.body.errors[0].path]).toEqual([400, 'targetFiles']);
    expect([await a.events(), await b.events()]).toEqual([[], []]);
  });
});

describe('a passing diff that renames a file', () => {
  const renaming = (from: string, to: string) =>
    `diff --git a/${from} b/${to}\nsimilarity index 95%\nrename from ${from}\nrename to ${to}\n--- a/${from}\n+++ b/${to}\n@@ -1 +1 @@\n-a\n+b\n`;

  test('carries over what is known of it, and the answer says from where; what failed or was renamed nowhere carries nothing', async () => {
    const [a, b, c] = files() as [Json, Json, Json];
    await a.fail(['E0369', 'E0369', 'E0369'], 'hard');
    const { dispatchId } = await a.open('move', { budget: 3 });
    await a.attempt(dispatchId, 'fail', ['E0432'], { diff: renaming(a.targetFile, c.targetFile) });
    const passed = await a.attempt(dispatchId, 'pass', [], { diff: renaming(a.targetFile, b.targetFile) });
    const inherited = await eventually(async () => of(await b.events(), 'HistoryInherited')[0], 'the history is carried over');
    expect(inherited.data).toMatchObject({ fromFile: a.targetFile, attemptId: passed.attemptId });
    const [old, now] = [await a.memory(), await b.memory()];
    // Which attempts they were stays with the old file.
    const unlinked = ({ patterns, ...hint }: Json) => ({
      ...hint,
      patterns: patterns.map(({ evidence: _e, lastSeen: _l, ...one }: Json) => one),
    });
    expect(unlinked(now.hint)).toEqual(unlinked(old.hint));
    expect([now.passed, now.failed, now.histogram, now.signals]).toEqual([old.passed, old.failed, old.histogram, old.signals]);
    expect(now.learnedFrom).toEqual([{ stream: old.position.stream, targetFile: a.targetFile, revision: inherited.data.upToRevision }]);
    const opened = await b.open('hard');
    expect(opened).toMatchObject({ coldStart: false, learnedFrom: now.learnedFrom });
    expect(opened.hint.text).toContain('CALIBRATION SIGNAL');
    expect(await c.events()).toEqual([]);
    const verified = await service.api.ok(service.api.post('/v1/audit/verify', { repo: a.repo }));
    expect(verified).toMatchObject({ streams: 2, found: 0 });
    const state = await b.list('/v1/audit/state', { revision: 0 });
    expect(state).toMatchObject({ failed: 4, passed: 1, learnedFrom: now.learnedFrom });
  });

  test('a path that leads out of the repo renames nothing, and disturbs nobody', async () => {
    const [a, b] = files() as [Json, Json];
    const { dispatchId } = await a.open('move');
    await a.attempt(dispatchId, 'pass', [], {
      diff: `${renaming(a.targetFile, '../../etc/passwd')}${renaming(a.targetFile, b.targetFile)}`,
    });
    await eventually(async () => of(await b.events(), 'HistoryInherited')[0], 'the other one is carried over');
  });
});
