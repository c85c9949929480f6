import type { EventData, FileEvent, FileEventType } from '../../src/catalogue/events.js';
import { fileIdOf, fileStream } from '../../src/domain/ids.js';
import { recordAttempt } from '../../src/domain/record-attempt.js';
import { renewLease } from '../../src/domain/settle.js';
import type { DispatchState } from '../../src/domain/state.js';
import { blocked, differently, facts, fail, type Outcome, pass } from '../domain/builders.js';
import { FileHistory } from '../domain/history.js';
import { dispatchOf, FILE, FILE_ID, REPO } from '../domain/specification.js';
import type { LoggedEvent } from './in-memory.js';

const CODES = ['E0308', 'E0369', 'E0106', 'E0277', 'E0599', 'rust_unclosed_delimiter'];
const MODELS = ['qwen3.5-9b', 'other-14b'];
const TASKS = ['task-1', 'task-2', 'task-3'];

/**
 * The log of a few builders at work on several files of two repos: real commands, chosen by a fixed chance, with leases that are lost,
 * late results, escalations, outcomes that nobody asked for, signals raised, overcome and raised again.
 */
export function story(files: [repo: string, targetFile: string][], turnsEach: number, seed: number): LoggedEvent[] {
  const chance = chanceFrom(seed);
  const histories = files.map(([repo, targetFile]) => ({ repo, targetFile, history: new FileHistory(), told: 0 }));
  for (const { history } of histories) prelude(history);
  const log: LoggedEvent[] = [];
  for (let turn = 0; turn < turnsEach * files.length; turn += 1) {
    const place = pick(histories, chance);
    // One clock for all: files take turns.
    place.history.seconds = turn * 20 + (chance() < 0.05 ? 2_000 : 0);
    act(place.history, chance, turn);
    for (const event of place.history.events.slice(place.told)) {
      const position = log.length;
      log.push({ ...movedTo(place, event, place.told), id: `event-${position}`, position });
      place.told += 1;
    }
  }
  return log;
}

/** The data of all events of a type, in the order of the log. */
export function allOf<T extends FileEventType>(log: LoggedEvent[], type: T): (EventData<T> & { eventId: string })[] {
  return log.filter(({ event }) => event.type === type).map(({ event, id }) => ({ ...(event.data as EventData<T>), eventId: id }));
}

/** What chance seldom comes to: the same unknown failure until a frontier solves it, and a task that a frontier fails too. */
function prelude(history: FileHistory): void {
  const stuck = history.open({ task: 'task-0', unique: 'p1' });
  for (let i = 0; i < 3; i += 1) history.attempt(stuck, differently(fail(), 'signature-unknown'));
  history.frontier(stuck, pass());
  history.frontier(history.open({ task: 'task-00', unique: 'p2' }), fail('E0308'));
  history.open({ task: 'task-00', unique: 'p3' });
}

function act(history: FileHistory, chance: () => number, turn: number): void {
  const dispatches = [...history.state.dispatches.values()];
  const takes = (dispatch: DispatchState) => dispatch.status === 'open' || dispatch.cause === 'lease_lost';
  const open = dispatches.filter((dispatch) => takes(dispatch) && dispatch.counted < dispatch.budget);
  const what = chance();
  if (open.length === 0 || what < 0.15) {
    const asked = { task: pick(TASKS, chance), builder: pick(MODELS, chance), unique: `t${turn}`, force: chance() < 0.7 };
    const condition = { arm: pick(['a', 'b', null], chance), batch: pick(['b-1', null], chance), leaseSeconds: 600 };
    history.open({ ...asked, ...condition, prompt: chance() < 0.5 ? { text: `the prompt of ${asked.task}` } : null });
    return;
  }
  const dispatch = pick(open, chance);
  if (what > 0.95) {
    const { attemptId } = pick([...history.state.attempts.values()], chance);
    const { verdict, patterns } = outcomeOf(chance, turn);
    history.correct(attemptId, verdict, verdict === 'fail' ? patterns : []);
    return;
  }
  if (what < 0.25) history.frontier(dispatch, chance() < 0.6 ? pass() : chance() < 0.8 ? fail('E0308') : blocked('dns'));
  else if (what < 0.3 && dispatch.status === 'open') history.abandon(dispatch);
  else if (what < 0.35 && dispatch.status === 'open')
    history.run((state, context) => renewLease(state, dispatchOf(state, dispatch.dispatchId), context));
  else attempt(history, dispatch.dispatchId, outcomeOf(chance, turn), chance);
}

function attempt(history: FileHistory, dispatchId: string, outcome: Outcome, chance: () => number): void {
  const { attempt: said, ...rest } = facts({ ...outcome, diff: chance() < 0.5 ? '@@ a diff @@' : null });
  const given = { ...said, prompt: chance() < 0.3 ? { text: 'what it was given' } : null, usage: { completionTokens: 80 } };
  history.run((state, context) => recordAttempt(state, dispatchOf(state, dispatchId), { attempt: given, ...rest }, context));
}

function outcomeOf(chance: () => number, turn: number): Outcome {
  const what = chance();
  if (what < 0.15) return pass('E0308');
  if (what < 0.22) return blocked('connect');
  if (what < 0.27) return fail();
  // Twice the same code: a pattern counts once an attempt.
  const patterns = [pick(CODES, chance), pick(CODES, chance)];
  return chance() < 0.3 ? fail(...patterns) : differently(fail(patterns[0]!), `signature-${turn}`);
}

function movedTo({ repo, targetFile }: { repo: string; targetFile: string }, event: FileEvent, revision: number) {
  const fileId = fileIdOf(repo, targetFile);
  const text = JSON.stringify(event).replaceAll(`"${REPO}"`, `"${repo}"`).replaceAll(`"${FILE}"`, `"${targetFile}"`);
  return { stream: fileStream(fileId), revision, event: JSON.parse(text.replaceAll(FILE_ID, fileId)) as FileEvent };
}

function pick<T>(list: readonly T[], chance: () => number): T {
  return list[Math.floor(chance() * list.length)]!;
}

/** Numbers in [0, 1) that a seed always gives again (mulberry32). */
function chanceFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
