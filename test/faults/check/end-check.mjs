import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { checkLedger } from './ledger.mjs';
import { readLog } from './log-rows.mjs';
import { checkReadModels, readAudit } from './read-models.mjs';
import { checkShared, checkStreams, checkTexts } from './streams.mjs';

const ATTEMPTS_READ = 120;
const CALLS_REPEATED = 80;

/** Everything that must hold once the faults are over, while nobody writes. Answers the log, to be compared after another restart. */
export async function endCheck(report, world, { dist, databaseUrl }) {
  const load = (path) => import(pathToFileURL(join(dist, 'src/domain', path)));
  const rules = { ...(await load('chain.js')), ...(await load('ids.js')) };
  const { ledger, client, repo } = world;
  await settled(world);
  await world.repeat(CALLS_REPEATED);
  const streams = await readLog(dist, databaseUrl);
  checkStreams(report, streams, rules);
  checkShared(report, streams, rules);
  checkLedger(report, streams, ledger, rules);
  const texts = checkTexts(report, streams, ledger);

  const audited = await readAudit(client, [...ledger.files.values()]);
  const differing = [...audited].filter(([file, events]) => {
    const raw = streams.get(rules.fileStream(rules.fileIdOf(file.repo, file.targetFile))) ?? [];
    return !isDeepStrictEqual(
      events.map(({ eventId, revision, metadata }) => [eventId, revision, metadata.hash]),
      raw.map(({ id, revision, metadata }) => [id, revision, metadata.hash]),
    );
  });
  report.none(
    'the audit shows the log as it is',
    differing.map(([file]) => file),
    `${audited.size} files`,
  );
  const files = [...streams].filter(([stream]) => stream.startsWith('file-')).map(([, events]) => events.at(-1).position);
  await checkReadModels(report, client, { audited, repo, texts, after: Math.max(...files) });
  await checkAttempts(report, world);
  return streams;
}

/** The saga's own appends come a moment after what they follow from. */
async function settled({ ledger, client }) {
  for (const { file } of ledger.evidence)
    for (let tries = 0; tries < 200; tries += 1) {
      const page = await client.query('/v1/audit/events', { ...file, limit: 100 });
      if (page?.items.some(({ type }) => type === 'CalibrationSignalRaised')) break;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  // What other files are told has no end to be asked for; the log is whole when it has not grown for a while.
  await new Promise((resolve) => setTimeout(resolve, 2_000));
}

/** Attempts as a caller gets them back, their texts to the last character. */
async function checkAttempts(report, { ledger, client, random, files }) {
  const recorded = ledger.of('acknowledged').filter(({ kind, file }) => /attempts|frontier-outcomes/.test(kind) && file !== files.long);
  const wrong = [];
  const read = random.shuffled(recorded).slice(0, ATTEMPTS_READ);
  for (const { body, answer } of read) {
    const attempt = await client.query(`/v1/attempts/${answer.body.attemptId}`);
    const same = attempt?.output === body.output && attempt.diff === (body.diff ?? null) && attempt.prompt === (body.prompt ?? null);
    const verifier = (body.verifier?.stderr ?? null) === (attempt?.verifier?.stderr ?? null);
    if (!same || !verifier || attempt.verdict !== answer.body.verdict) wrong.push(answer.body.attemptId);
  }
  report.none('attempts come back as they were sent', wrong, `${read.length} read`);
}
