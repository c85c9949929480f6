import { chained } from '../../dist/src/application/command-events.js';
import { emptyHistory, take } from '../../dist/src/application/file-history.js';
import { defaultPolicy } from '../../dist/src/catalogue/policy.js';
import { fileIdOf, fileStream, sha256 } from '../../dist/src/domain/ids.js';
import { openDispatch } from '../../dist/src/domain/open-dispatch.js';
import { prune } from '../../dist/src/domain/prune.js';
import { recordAttempt } from '../../dist/src/domain/record-attempt.js';
import { resolveProposal } from '../../dist/src/domain/settle.js';
import { seeded } from '../lib/random.mjs';

export const MODEL = 'small-9b';
export const REPO = 'bench';
/** The first three are never passed; the last one is rare, and was met at the beginning only. */
const PATTERNS = ['e0499', 'e0502', 'e0597', 'e0308', 'e0382', 'e0106', 'e0277', 'e0369', 'e0425', 'e0432', 'e0507'];
const NEVER_PASSED = 3;
const RARE = { pattern: PATTERNS.length - 1, dispatches: 5 };
const AGAIN = 0.5;
const SECONDS_APART = 5;

/**
 * The history of a file with so many attempts, by the rules themselves: dispatches of up to four attempts, most tasks passed sooner or
 * later, some tried again, three patterns that nothing ever passed. Yields the events of each command, and with a verdict its row in a
 * plain table.
 */
export function* longStream(targetFile, attempts) {
  const stream = fileStream(fileIdOf(REPO, targetFile));
  const random = seeded(attempts + targetFile.length);
  const history = emptyHistory(stream);
  const open = [];
  let commands = 0;
  let recorded = 0;
  let now = Date.now() - attempts * 2 * SECONDS_APART * 1000;

  const command = (dispatchId, decide) => {
    commands += 1;
    now += SECONDS_APART * 1000;
    const context = { repo: REPO, targetFile, stream, now: new Date(now).toISOString(), policy: defaultPolicy, policyHash: 'bench' };
    const events = chained(history, decide(context), `command-${commands}`, dispatchId, { actor: 'bench', bodyHash: 'bench' });
    for (const { event, metadata } of events) take(history, event, metadata, '0');
    if (history.state.dispatches.size >= 250) prune(history.state);
    return events;
  };

  for (let dispatch = 0; recorded < attempts; dispatch += 1) {
    const task = random() < AGAIN && open.length > 0 ? open.splice(Math.floor(random() * open.length), 1)[0] : newTask(dispatch, random);
    const dispatchId = `d-${fileIdOf(REPO, targetFile)}-${dispatch.toString(36)}`;
    yield { events: command(dispatchId, (context) => openDispatch(history.state, opening(dispatchId, targetFile, task.id), context)) };
    const passesAt = task.pattern < NEVER_PASSED || task.pattern === RARE.pattern ? 0 : 1 + Math.floor(random() * 3);
    for (let n = 1; recorded < attempts && history.state.dispatches.get(dispatchId)?.status === 'open'; n += 1) {
      const passes = n === passesAt;
      recorded += 1;
      const events = command(dispatchId, (context) =>
        recordAttempt(history.state, history.state.dispatches.get(dispatchId), facts(task, passes, recorded), context),
      );
      yield { events, row: { task: task.id, verdict: passes ? 'pass' : 'fail', pattern: passes ? null : PATTERNS[task.pattern] } };
      const staged = events.find(({ type }) => type === 'ProposalStaged');
      if (staged)
        yield { events: command(dispatchId, (context) => resolveProposal(history.state, staged.data.proposalId, 'accepted', context)) };
    }
    if (passesAt === 0 || history.state.dispatches.get(dispatchId)?.outcome !== 'passed') open.push(task);
  }
}

function newTask(number, random) {
  const pattern = number < RARE.dispatches ? RARE.pattern : Math.floor(random() ** 1.5 * RARE.pattern);
  return { id: `task-${number}`, pattern };
}

function opening(dispatchId, targetFile, taskId) {
  return {
    ...{ dispatchId, targetFiles: [targetFile], taskId, description: null, descriptionHash: null, prompt: null, parentTaskId: null },
    ...{ model: MODEL, frontier: null, budget: 4, profile: null, arm: null, batch: null, carry: 'hint', baseHash: null },
    ...{ leaseSeconds: 900, force: false },
  };
}

function facts({ id, pattern }, passes, number) {
  const name = PATTERNS[pattern];
  const output = { text: `fn solve_${number}() -> Result<(), Error> { step_${number % 97}()?; finish() }` };
  return {
    attempt: {
      ...{ output, prompt: null, verifier: null, toolSteps: [], usage: null, sampling: null, startedAt: null, finishedAt: null },
      filesTouched: [],
    },
    diff: null,
    verdict: {
      verdict: passes ? 'pass' : 'fail',
      patterns: passes ? [] : [{ pattern: name, code: name.toUpperCase(), category: 'ownership', file: null }],
      signature: passes ? null : sha256(`${id} ${number}`),
      ...{ infraKind: null, classifierVersion: null, confidence: 'high', disagreement: null },
    },
  };
}
