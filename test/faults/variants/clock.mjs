import { setTimeout as sleep } from 'node:timers/promises';
import { Setting } from '../lib/setting.mjs';

const HOUR_MS = 3_600_000;

/** The clock jumps back an hour while builders work, and later to the right time again: order, ids and leases stay sane. */
export async function clock(given) {
  const { report } = given;
  const setting = await Setting.make(given, 'clock', { preloads: ['clock'] });
  const { service, world } = setting;
  await setting.begin();
  // Somebody waits for a position that does not come: his five seconds are over when they are over.
  const waiting = fetch(`${service.url}/v1/histograms?after=999999999`, { signal: AbortSignal.timeout(30_000) });
  await sleep(200);
  await service.tell({ clockShiftMs: -HOUR_MS });
  world.newFiles();
  const status = await waiting.then(
    (answer) => answer.status,
    (error) => String(error),
  );
  report.check('an hour back: who waits for a read model does not wait an hour longer', status === 503, `${status}`);
  await setting.progress(200);
  report.check('an hour back: builders go on', service.running && world.ledger.wrong.length === 0, world.ledger.wrong.slice(0, 3));
  const events = await eventsOf(world);
  report.check('an hour back: the audit tells what happened', events.length > 100, `${events.length} events`);
  report.none('an hour back: no lease is lost before it has run out', lostTooEarly(events));
  await setting.stopBuilders();
  await service.tell({ clockShiftMs: 0 });
  setting.stopBuilders = world.begin(setting.builders);
  await setting.progress(150);
  await sleep(1_200);
  report.check('forward again: the service lives', service.running);
  await setting.end();
}

/** The events of all files that the world knows, each file's in order. */
async function eventsOf({ client, repo }) {
  const files = await client.all('/v1/files', { repo, limit: 200 });
  const pages = files.map(({ targetFile }) => client.query('/v1/audit/events', { repo, targetFile, limit: 1_000 }));
  return (await Promise.all(pages)).flatMap(({ items }) => items);
}

/** Closings for a lost lease at a time at which the lease, as the dispatch's last event left it, had not run out by the same clock. */
function lostTooEarly(events) {
  const leases = new Map();
  return events.filter(({ data: { dispatchId, leaseUntil, cause, at } }) => {
    if (leaseUntil) leases.set(dispatchId, leaseUntil);
    return cause === 'lease_lost' && at < leases.get(dispatchId);
  });
}
