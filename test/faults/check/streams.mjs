import { createHash } from 'node:crypto';

const sha256 = (text) => createHash('sha256').update(text, 'utf8').digest('hex');

/** What must hold of every stream whatever was in it: no gap, no event twice, each linked to the one before, each command in one piece. */
export function checkStreams(report, streams, { chainHash }) {
  const gaps = [];
  const broken = [];
  const twice = [];
  const torn = [];
  const positions = [];
  let events = 0;
  for (const [stream, ofStream] of streams) {
    let previousHash = null;
    const ids = new Set();
    const commands = new Set();
    let command = null;
    for (const [index, event] of ofStream.entries()) {
      const { metadata, type, data, revision, id, position } = event;
      events += 1;
      positions.push(position);
      if (revision !== index) gaps.push(`${stream}: revision ${revision} at place ${index}`);
      if (metadata.previousHash !== previousHash || metadata.hash !== chainHash(type, data, metadata)) broken.push(`${stream}@${revision}`);
      previousHash = metadata.hash;
      if (ids.has(id)) twice.push(`${stream}@${revision}`);
      ids.add(id);
      if (metadata.$causationId !== command && commands.has(metadata.$causationId)) torn.push(`${stream}@${revision}`);
      command = metadata.$causationId;
      commands.add(command);
    }
  }
  const size = `${streams.size} streams, ${events} events`;
  report.none('stream revisions are contiguous', gaps, size);
  report.none('the hash chain of every stream holds', broken, size);
  report.none('no event id is there twice', twice, size);
  report.none('a command is in one piece, and once', torn, size);
  positions.sort((a, b) => a - b);
  report.none(
    'commit positions have no gap',
    positions.filter((position, index) => position !== index + 1),
    `up to ${positions.at(-1) ?? 0}`,
  );
}

/** Each of a task's other files is told of its dispatch once, and once that it ended. */
export function checkShared(report, streams, { fileIdOf, fileStream }) {
  const events = [...streams].filter(([stream]) => stream.startsWith('file-')).flatMap(([, ofStream]) => ofStream);
  const of = (wanted) => events.filter(({ type }) => type === wanted);
  const key = (repo, targetFile, dispatchId) => `${fileStream(fileIdOf(repo, targetFile))} ${dispatchId}`;
  for (const [told, cause, others] of [
    ['ForeignDispatchOpened', 'DispatchOpened', ({ targetFiles }) => targetFiles.slice(1)],
    ['ForeignDispatchClosed', 'DispatchClosed', ({ otherFiles }) => otherFiles],
  ]) {
    const is = of(told).map(({ data }) => key(data.repo, data.targetFile, data.dispatchId));
    const due = of(cause).flatMap(({ data }) => others(data).map((file) => key(data.repo, file, data.dispatchId)));
    report.none(
      `${told}: none is missing`,
      [...new Set(due)].filter((one) => !is.includes(one)),
      `${due.length} were due`,
    );
    report.none(
      `${told}: none is there twice, or without cause`,
      is.filter((one, n) => is.indexOf(one) !== n || !due.includes(one)),
    );
  }
}

/** Texts: whole, known by what they are, and none that only refused calls brought. */
export function checkTexts(report, streams, ledger) {
  const half = [];
  const texts = new Map();
  for (const [stream, events] of streams) {
    if (!stream.startsWith('payload-')) continue;
    const text = events.map(({ data }) => data.text).join('');
    if (events.length !== events[0].data.chunks || `payload-${sha256(text)}` !== stream) half.push(stream);
    texts.set(stream.slice('payload-'.length), text);
  }
  const named = new Map();
  for (const [stream, events] of streams) if (stream.startsWith('file-')) for (const { data } of events) collectNames(data, named, stream);
  const brought = (state) =>
    new Set(
      ledger
        .of(state)
        .flatMap(({ body }) => textsOf(body))
        .filter((text) => Buffer.byteLength(text) > 2048)
        .map(sha256),
    );
  const unknown = brought('unknown');
  report.none(
    'every text is whole (but one whose caller gave up)',
    half.filter((stream) => !unknown.has(stream.slice('payload-'.length))),
    `${texts.size} texts, ${half.length} left half`,
  );
  report.none(
    'every text that an event names is there',
    [...named.keys()].filter((hash) => !texts.has(hash)),
    `${named.size} names`,
  );
  report.none(
    'no text is there that nothing names (but one whose caller gave up)',
    [...texts.keys()].filter((hash) => !named.has(hash) && !unknown.has(hash)),
  );
  const refused = brought('refused');
  report.none(
    'nothing of a refused call is there',
    [...refused].filter((hash) => texts.has(hash) && !named.has(hash)),
    `${refused.size} texts`,
  );
  return texts;
}

function collectNames(value, named, stream) {
  if (value === null || typeof value !== 'object') return;
  if (typeof value.payload === 'string' && typeof value.bytes === 'number') named.set(value.payload, stream);
  for (const part of Object.values(value)) collectNames(part, named, stream);
}

function textsOf(value) {
  if (typeof value === 'string') return [value];
  return value !== null && typeof value === 'object' ? Object.values(value).flatMap(textsOf) : [];
}
