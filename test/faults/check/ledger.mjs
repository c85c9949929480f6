/**
 * The log against the ledger: what was acknowledged is there exactly once, what was refused is not there, and what nobody knows is there
 * once or not at all.
 */
export function checkLedger(report, streams, ledger, { fileIdOf, fileStream }) {
  const commands = commandsByKey(streams);
  const missing = [];
  const doubled = [];
  const wrongIds = [];
  for (const call of ledger.of('acknowledged')) {
    const found = commands.get(keyOf(call)) ?? [];
    if (found.length === 0 && !changedNothing(call)) missing.push(`${call.what} (${keyOf(call)})`);
    if (found.length > 1) doubled.push(`${call.what} (${keyOf(call)})`);
    if (found.length === 1) wrongIds.push(...idsThatDiffer(call, found[0]));
  }
  report.none('every acknowledged command is there', missing, `${ledger.of('acknowledged').length} commands`);
  report.none('no acknowledged command is there twice', doubled);
  report.none('what is there is what was answered', wrongIds);

  const refusals = ledger.of('refused');
  // A key that came again with another body is the first body's.
  const stored = refusals.filter((call) => call.mustBeRefused !== 422 && commands.has(keyOf(call)));
  report.none(
    'no refused command is there',
    stored.map(({ what }) => what),
    `${refusals.length} refusals`,
  );
  const unknown = ledger.of('unknown');
  const thereOften = unknown.filter((call) => (commands.get(keyOf(call)) ?? []).length > 1);
  const there = unknown.filter((call) => commands.has(keyOf(call)));
  report.none('what was given up is there once or not at all', thereOften, `${unknown.length} given up, ${there.length} of them there`);

  const known = new Set([...ledger.calls].map(keyOf));
  const nobodys = [...commands.keys()].filter((key) => !known.has(key));
  report.none('nothing is there that nobody asked for', nobodys);
  report.none('identities are used once', usedTwice(streams));
  const imports = ledger.evidence.filter(({ file, causation }) => {
    const events = streams.get(fileStream(fileIdOf(file.repo, file.targetFile))) ?? [];
    return events.filter(({ metadata }) => metadata.$causationId === causation).length !== 2 * 3;
  });
  report.none('imported evidence is there once', imports, `${ledger.evidence.length} imports`);
  report.none('the saga raised each imported signal once', signalsOf(streams, ledger, { fileIdOf, fileStream }));
  report.none('every call was answered as it should be, twice the same', ledger.wrong, `${ledger.repeats} repetitions`);
}

const keyOf = ({ method, path, key }) => `${method} ${path} ${key}`;

/** The commands in file streams by their callers' key; each is its events. */
function commandsByKey(streams) {
  const commands = new Map();
  for (const [stream, events] of streams) {
    if (!stream.startsWith('file-')) continue;
    const byId = commandsOf(events);
    for (const ofCommand of byId.values()) {
      const key = ofCommand[0].metadata.idempotencyKey;
      if (key !== undefined) commands.set(key, [...(commands.get(key) ?? []), ofCommand]);
    }
  }
  return commands;
}

function commandsOf(events) {
  const byId = new Map();
  for (const event of events) {
    const { $causationId: id } = event.metadata;
    byId.set(id, [...(byId.get(id) ?? []), event]);
  }
  return byId;
}

/** Settling what is settled the same way already, or abandoning what was abandoned, is no event. */
function changedNothing({ kind }) {
  return kind === 'resolve' || kind === 'abandon';
}

function idsThatDiffer({ what, answer: { body } }, events) {
  const differ = [];
  const recorded = events.find(({ type }) => type === 'AttemptRecorded');
  const opened = events.find(({ type }) => type === 'DispatchOpened');
  const decided = events.find(({ type }) => type === 'NextStepDecided');
  if (recorded && recorded.data.attemptId !== body.attemptId) differ.push(`${what}: attempt ${recorded.data.attemptId}`);
  if (opened && opened.data.dispatchId !== body.dispatchId) differ.push(`${what}: dispatch ${opened.data.dispatchId}`);
  if (decided && decided.data.step !== body.next.step) differ.push(`${what}: step ${decided.data.step}`);
  if (events.at(-1).revision !== body.position.revision) differ.push(`${what}: revision ${events.at(-1).revision}`);
  if (String(events.at(-1).position) !== body.position.commit) differ.push(`${what}: position ${events.at(-1).position}`);
  return differ;
}

function usedTwice(streams) {
  const seen = new Set();
  const twice = [];
  for (const events of streams.values())
    for (const { type, data } of events) {
      const id = { DispatchOpened: data.dispatchId, AttemptRecorded: data.attemptId, ProposalStaged: data.proposalId }[type];
      if (id !== undefined && seen.has(id)) twice.push(`${type} ${id}`);
      seen.add(id);
      const closed = type === 'DispatchClosed' && `closed ${data.dispatchId}`;
      if (closed && seen.has(closed)) twice.push(closed);
      seen.add(closed);
    }
  return twice;
}

function signalsOf(streams, ledger, { fileIdOf, fileStream }) {
  return ledger.evidence
    .map(({ file }) => {
      const events = streams.get(fileStream(fileIdOf(file.repo, file.targetFile))) ?? [];
      return { file: file.targetFile, raised: events.filter(({ type }) => type === 'CalibrationSignalRaised').length };
    })
    .filter(({ raised }) => raised !== 1);
}
