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
