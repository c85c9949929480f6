import type { EventData, FileEvent, FileEventType } from '../../src/catalogue/events.js';
import { defaultPolicy, type Policy } from '../../src/catalogue/policy.js';
import { checkEvent } from '../../src/catalogue/versions.js';
import { evolve } from '../../src/domain/evolve.js';
import { dispatchIdOf, fileIdOf, fileStream } from '../../src/domain/ids.js';
import { type OpenDispatch, openDispatch } from '../../src/domain/open-dispatch.js';
import { type AttemptFacts, recordAttempt, recordFrontierOutcome } from '../../src/domain/record-attempt.js';
import { Conflict, type Context } from '../../src/domain/recorder.js';
import { abandonDispatch, resolveProposal } from '../../src/domain/settle.js';
import { emptyState, type FileState } from '../../src/domain/state.js';
import { facts, hashOf, type Outcome } from './builders.js';

export const REPO = 'tessera';
export const FILE = 'src/lru_cache.rs';
export const BUILDER = 'qwen3.5-9b';
export const FRONTIER = 'grok-4.20';
export const FILE_ID = fileIdOf(REPO, FILE);
export const STREAM = fileStream(FILE_ID);
const NOON = Date.UTC(2026, 2, 1, 12);

/** The time that many seconds after the tests' noon. */
export function at(seconds: number): string {
  return new Date(NOON + seconds * 1000).toISOString();
}

export function dispatchId(unique: string): string {
  return dispatchIdOf(FILE_ID, unique);
}

/** A command bound to everything but the state and the moment that it meets. */
export type Command = (state: FileState, context: Context) => FileEvent[];

export function contextAt(now: string, policy: Policy = defaultPolicy): Context {
  return { repo: REPO, targetFile: FILE, stream: STREAM, now, policy, policyHash: 'policy-of-the-test' };
}

export function fold(events: readonly FileEvent[], state: FileState = emptyState()): FileState {
  for (const event of events) evolve(state, event);
  return state;
}

export type Opening = Partial<OpenDispatch> & { task?: string; unique?: string; builder?: string };

/** A command that asks for a dispatch; `task` gives id and description, `unique` the end of the dispatch id. */
export function opening({ task = 'task-12', unique = '1', builder = BUILDER, ...given }: Opening = {}): Command {
  const command: OpenDispatch = {
    dispatchId: dispatchId(unique),
    targetFiles: [FILE],
    taskId: task,
    description: { text: `do ${task}` },
    descriptionHash: hashOf(`do ${task}`),
    prompt: null,
    parentTaskId: null,
    model: builder,
    frontier: FRONTIER,
    budget: 4,
    profile: null,
    arm: null,
    batch: null,
    carry: 'hint',
    baseHash: null,
    force: false,
    leaseSeconds: 900,
    ...given,
  };
  return (state, context) => openDispatch(state, command, context);
}

export function attempting(id: string, outcome: Outcome): Command {
  return (state, context) => recordAttempt(state, dispatchOf(state, id), facts(outcome), context);
}

export function frontierOutcome(id: string, outcome: Outcome, model = FRONTIER): Command {
  return (state, context) => recordFrontierOutcome(state, dispatchOf(state, id), facts(outcome) as AttemptFacts, model, context);
}

export function abandoning(id: string, note: string | null = null): Command {
  return (state, context) => abandonDispatch(state, dispatchOf(state, id), note, context);
}

export function resolving(proposalId: string, resolution: 'accepted' | 'rejected'): Command {
  return (state, context) => resolveProposal(state, proposalId, resolution, context);
}

export function dispatchOf(state: FileState, id: string) {
  const dispatch = state.dispatches.get(id);
  if (dispatch === undefined) throw new Error(`the test's history never opened ${id}`);
  return dispatch;
}

/** One event as a test names it: its type, and the fields that matter. */
export type Named = { [T in FileEventType]: [type: T, fields?: Partial<EventData<T>>] }[FileEventType];

/**
 * given(events).when(command).then(events): exact and ordered. `thenNamed` is as strict on order and number, but compares only the
 * fields that it is given; `throws` also says that nothing was to be stored.
 */
export function given(events: readonly FileEvent[], moment: { at?: number; policy?: Policy } = {}) {
  const state = fold(events);
  const context = contextAt(at(moment.at ?? 0), moment.policy);
  return {
    when(command: Command) {
      const run = () => command(state, context).map((event) => checkEvent(event) as FileEvent);
      return {
        // biome-ignore lint/suspicious/noThenProperty: given, when, then; nobody awaits it, and its argument is no callback
        then: (expected: readonly FileEvent[]) => expect(run()).toEqual(expected),
        thenNamed: (...expected: Named[]) => expectNamed(run(), expected),
        throws: (error: new (message: string) => Error = Conflict) => expect(run).toThrow(error),
      };
    },
  };
}

export function expectNamed(events: readonly FileEvent[], expected: readonly Named[]): void {
  expect(events.map(({ type }) => type)).toEqual(expected.map(([type]) => type));
  expected.forEach(([, fields], place) => {
    expect(events[place]?.data).toMatchObject(fields ?? {});
  });
}
