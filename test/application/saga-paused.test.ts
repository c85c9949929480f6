import { expect, test } from '@jest/globals';
import type { Json } from '../support/api.js';
import { appendForeign, event, importedAttempt, streamOf } from '../support/foreign.js';
import { eventually, freshRepo, Service } from '../support/service.js';

const FILES = [
  'imported',
  'overcome',
  'corrected',
  'lost',
  'expired',
  'home',
  'other',
  'discounted',
  'noticed',
  'down',
  'too',
  'three',
  'back',
].map((name) => `src/${name}.rs`);
const LISTS = ['files', 'signals', 'proposals', 'dispatches', 'histograms', 'patterns', 'captures'];

/**
 * Work for the saga of every kind, in an order in which nothing that it does is asked about in between. Two kinds of news would come out
 * otherwise with a pause, and rightly so: a running dispatch is not told of a signal that was cleared, or told at all when it was closed,
 * before the saga came to it; and a breaker that the saga has not opened yet holds up nobody, so that no probe is claimed either. What
 * commands did meanwhile is then another history. So the signal that is told here stays, and what is opened behind the breaker is forced.
 */
async function giveWork(service: Service, repo: string): Promise<void> {
  const file = (name: string) => service.api.file(repo, `src/${name}.rs`);
  await service.api.ok(service.api.call('PUT', `/v1/policy?repo=${repo}`, { attribution: 'span' }));
  const imports = (name: string, verdict: 'pass' | 'fail', uniques: string[]) =>
    uniques.flatMap((unique) => importedAttempt(file(name), { code: verdict === 'fail' ? 'E0369' : undefined, verdict, unique }));
  await appendForeign(service.log, file('imported'), imports('imported', 'fail', ['1', '2', '3']));
  await file('overcome').fail(['E0308', 'E0308', 'E0308'], 't');
  await appendForeign(service.log, file('overcome'), imports('overcome', 'pass', ['p']));
  const [, { attemptId, dispatch }] = await file('corrected').fail(['E0277', 'E0277', 'E0277'], 't');
  const at = new Date().toISOString();
  const correction = { verdict: 'blocked' as const, patterns: [], reason: 'no memory', source: 'a person', corrects: null };
  const where = { repo, targetFile: 'src/corrected.rs', at, dispatchId: dispatch.dispatchId, attemptId };
  await appendForeign(service.log, file('corrected'), [event('VerdictCorrected', { ...where, ...correction })]);
  await file('lost').open('t', { leaseSeconds: 1 });
  const { dispatchId } = await file('expired').open('t');
  await file('expired').attempt(dispatchId, 'pass');
  const staged = (await file('expired').events()).find(({ type }) => type === 'ProposalStaged').data;
  await service.api.post(`/v1/proposals/${staged.proposalId}/resolve`, { resolution: 'rejected' });
  const old = { ...staged, proposalId: `${staged.proposalId}0`, expiresAt: '2020-01-01T00:00:00.000Z' };
  await appendForeign(service.log, file('expired'), [event('ProposalStaged', old)]);
  const targetFiles = ['src/home.rs', 'src/other.rs'];
  const several = await file('home').open('t', { targetFile: undefined, targetFiles, budget: 1, frontier: null });
  const stderr = 'error[E0382]: use of moved value: `key`\n --> src/other.rs:12:20\n\nerror: could not compile';
  const verifier = { command: 'cargo check', exitCode: 101, stderr };
  const failed = service.api.post(`/v1/dispatches/${several.dispatchId}/attempts`, { output: 'o', verifier });
  await service.api.ok(failed);
  await file('noticed').open('mine');
  await file('noticed').fail(['E0425', 'E0425', 'E0425'], 'theirs');
  await file('discounted').fail(['E0599', 'E0599', 'E0599'], 't');
  const discount = { repo, selector: { pattern: 'E0599' }, reason: 'the harness was broken' };
  await service.api.ok(service.api.post('/v1/evidence/discounts', discount));
  const forced = async (name: string) => (await file(name).open('t', { force: true })).dispatchId;
  for (const name of ['down', 'too', 'three']) await file(name).attempt(await forced(name), 'blocked', [], { infraKind: 'dns' });
  await file('back').attempt(await forced('back'), 'pass');
  // The breaker is closed again, and begins to count anew.
  await file('too').attempt(await forced('too'), 'blocked', [], { infraKind: 'dns' });
}

/** What the saga has appended when it has done all of it. */
const SAGA_DOES = {
  ...{ CalibrationSignalRaised: 1, CalibrationSignalCleared: 3, SignalNoticed: 1, FailureAttributed: 1, DispatchClosed: 1 },
  ...{ ProposalResolved: 1, InfraBlockNoticed: 4, InfraBreakerOpened: 1, InfraBreakerClosed: 1 },
};

async function eventsOf(service: Service, repo: string): Promise<{ bySaga: string[]; all: string[][] }> {
  const bySaga: string[] = [];
  const all: string[][] = [];
  for (const stream of [...FILES.map((targetFile) => streamOf({ repo, targetFile })), `infra-${repo}`]) {
    const own: string[] = [];
    for await (const { type, data, metadata } of service.log.readWritten(stream)) {
      if ((metadata as Json).actor === 'calibration-saga') bySaga.push(type);
      own.push(`${type} ${told(data, repo)}`);
    }
    all.push(own.sort());
  }
  return { bySaga: bySaga.sort(), all };
}

/** What is said, but for ids, times, and what is derived from them or from a place in the log. */
function told(value: unknown, repo: string): string {
  return JSON.stringify(value, (key, inner) =>
    /(Ids?|At|Until|Seen|Activity|Revision|Hash)$|^(at|until|evidence|basedOn|revision|hash|text|detail)$/.test(key) ? undefined : inner,
  )
    .replaceAll(repo, 'repo')
    .replaceAll(/\b(file|[dap])-[0-9a-z-]{12,}/g, '$1');
}

async function readModels(service: Service, repo: string): Promise<Record<string, string[]>> {
  // The newest event may be of the infrastructure, which the read models do not follow.
  const { position } = await service.api.file(freshRepo('marker'), 'm.rs').open();
  const rows = LISTS.map(async (list) => {
    const { items } = await service.api.ok(service.api.get(`/v1/${list}`, { repo, limit: 1000, after: position.commit }));
    return [list, (items as Json[]).map((item) => told(item, repo)).sort()] as const;
  });
  return Object.fromEntries(await Promise.all(rows));
}

async function outcome(paused: boolean) {
  const service = await Service.start({ sagaPausedAtFirst: paused });
  try {
    const repo = freshRepo('paused');
    await giveWork(service, repo);
    if (paused) {
      // Long enough for what is overdue to be overdue, and for a saga that ran to have acted.
      await new Promise((resolve) => setTimeout(resolve, 2_500));
      expect((await eventsOf(service, repo)).bySaga).toEqual([]);
    }
    await service.restart();
    await eventually(async () => {
      const { bySaga } = await eventsOf(service, repo);
      return Object.entries(SAGA_DOES).every(([type, count]) => bySaga.filter((one) => one === type).length === count);
    }, 'the saga has done its work');
    const settled = await service.log.head();
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    expect(await service.log.head()).toBe(settled);
    return { events: await eventsOf(service, repo), rows: await readModels(service, repo) };
  } finally {
    await service.stop();
  }
}

test('paused over all its work and resumed, the saga does what it does without the pause', async () => {
  const without = await outcome(false);
  expect(await outcome(true)).toEqual(without);
}, 120_000);
