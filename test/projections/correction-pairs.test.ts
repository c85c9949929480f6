import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { correctionPairs } from '../../projections/correction-pairs.js';
import type { Row } from '../../projections/projection.js';
import { History } from '../support/history.js';
import { ProjectionSpec } from '../support/projection-spec.js';

let spec: ProjectionSpec;
beforeAll(async () => {
  spec = await ProjectionSpec.start();
}, 60_000);
afterAll(() => spec.end());

async function pairsOf(history: History): Promise<Row[]> {
  return (await spec.given(correctionPairs, history.events)).pairs!;
}
const ids = (rows: Row[]) => rows.map(({ chosenAttemptId, rejectedAttemptId, kind }) => [chosenAttemptId, rejectedAttemptId, kind]);

describe("the builder's own correction", () => {
  test('fail, then pass, in one dispatch: the last failure before the pass is what was rejected', async () => {
    const history = new History();
    const d = history.open();
    history.attempt(d, 'fail', { codes: ['E0001'], output: 'first' });
    const second = history.attempt(d, 'fail', { codes: ['E0002'], output: 'second' });
    history.attempt(d, 'blocked');
    const passed = history.attempt(history.open({ taskId: 'other' }), 'pass');
    expect(passed).toBeDefined();
    const d2 = history.open({ taskId: 'again' });
    const failed = history.attempt(d2, 'fail', { codes: ['E0003', 'E0004'], output: 'wrong' });
    const right = history.attempt(d2, 'pass', { output: 'right' });
    expect(second).toBeDefined();
    const pairs = await pairsOf(history);
    expect(ids(pairs)).toEqual([[right, failed, 'self_correction']]);
    expect(pairs[0]).toMatchObject({
      ...{
        chosen: { text: 'right' },
        rejected: { text: 'wrong' },
        seat: 'builder',
        model: 'm',
        taskId: 'again',
        dispatchId: d2,
        repo: 'repo',
      },
      ...{ chosenVerdictEventId: history.eventId(right), rejectedVerdictEventId: history.eventId(failed), targetFile: 'src/a.rs' },
    });
    expect((pairs[0]!.patterns as { code: string }[]).map(({ code }) => code)).toEqual(['E0003', 'E0004']);
  });

  test('a failure of an earlier dispatch of the task is not its own correction', async () => {
    const history = new History();
    history.attempt(history.open({ budget: 1, frontier: null }), 'fail', { codes: ['E0001'] });
    history.attempt(history.open(), 'pass');
    expect(await pairsOf(history)).toEqual([]);
  });

  test('a blocked attempt is no failure', async () => {
    const history = new History();
    const d = history.open();
    history.attempt(d, 'blocked');
    history.attempt(history.open(), 'pass');
    expect(await pairsOf(history)).toEqual([]);
  });
});

describe("a frontier's pass", () => {
  test('led to by a stuck pattern, by a repeated failure, or by nothing: single_pattern, against the newest failure of the dispatch', async () => {
    for (const codes of [['E0001', 'E0001', 'E0001'], ['E0001']]) {
      const history = new History();
      const d = history.open();
      const failures = codes.map((code) => history.attempt(d, 'fail', { codes: [code] }));
      const passed = history.frontier(d, 'pass');
      const pairs = await pairsOf(history);
      expect(ids(pairs)).toEqual([[passed, failures.at(-1), 'single_pattern']]);
      expect(pairs[0]).toMatchObject({ seat: 'frontier', model: 'f', dispatchId: d, chosenVerdictEventId: history.eventId(passed) });
    }
  });

  test('led to by thrashing over many patterns: multi_pattern', async () => {
    const history = new History();
    const d = history.open();
    const failures = ['E0001', 'E0002', 'E0003', 'E0001', 'E0002', 'E0003'].map((code) => history.attempt(d, 'fail', { codes: [code] }));
    const passed = history.frontier(d, 'pass');
    expect(ids(await pairsOf(history))).toEqual([[passed, failures[5], 'multi_pattern']]);
  });

  test('where the dispatch has no failure: against the newest earlier one of the task, and of that task only', async () => {
    const history = new History();
    history.attempt(history.open({ budget: 1 }), 'fail', { codes: ['E0001'] });
    const newest = history.attempt(history.open({ budget: 1 }), 'fail', { codes: ['E0002'] });
    history.attempt(history.open({ budget: 1, taskId: 'other' }), 'fail', { codes: ['E0003'] });
    history.attempt(history.open({ budget: 1, file: 'src/b.rs' }), 'fail', { codes: ['E0004'] });
    const passed = history.frontier(history.open(), 'pass');
    expect(ids(await pairsOf(history))).toEqual([[passed, newest, 'single_pattern']]);
    const nothing = new History();
    nothing.frontier(nothing.open(), 'pass');
    expect(await pairsOf(nothing)).toEqual([]);
  });

  test('its fail, and what it was blocked by, make none; its fail is not what a later pass is held against', async () => {
    const history = new History();
    const d = history.open();
    const weak = history.attempt(d, 'fail', { codes: ['E0001'] });
    history.frontier(d, 'fail', { codes: ['E0002'] });
    const blocked = history.open();
    history.frontier(blocked, 'blocked');
    expect(await pairsOf(history)).toEqual([]);
    const passed = history.frontier(history.open(), 'pass');
    expect(ids(await pairsOf(history))).toEqual([[passed, weak, 'single_pattern']]);
  });
});

describe('the prompt', () => {
  const pairWith = async (given: { prompt?: string; taskPrompt?: string }): Promise<unknown> => {
    const history = new History();
    const d = history.open({ prompt: given.taskPrompt === undefined ? null : { text: given.taskPrompt } });
    history.attempt(d, 'fail', { codes: ['E0001'], prompt: 'what the failed one was given' });
    history.attempt(d, 'pass', { prompt: given.prompt });
    return (await pairsOf(history))[0]!.prompt;
  };

  test("what the chosen attempt was given, else the task's prompt, else its description, else nothing", async () => {
    expect(await pairWith({ prompt: 'given', taskPrompt: 'of the task' })).toEqual({ text: 'given' });
    expect(await pairWith({ taskPrompt: 'of the task' })).toEqual({ text: 'of the task' });
    expect(await pairWith({})).toEqual({ text: 'the description' });
    const history = new History();
    const d = history.open({ description: null, descriptionHash: null });
    history.attempt(d, 'fail', { codes: ['E0001'] });
    history.attempt(d, 'pass');
    expect((await pairsOf(history))[0]!.prompt).toBeNull();
  });
});

describe('equal outputs', () => {
  const long = (payload: string, whole?: string) => ({ payload, bytes: 5000, ...(whole && { whole: { hash: whole, bytes: 9_000_000 } }) });
  test.each([
    ['equal short texts', 'same', 'same', 0],
    ['short texts', 'one', 'two', 1],
    ['equal long texts', long('h1'), long('h1'), 0],
    ['long texts', long('h1'), long('h2'), 1],
    ['long texts of which the same was kept', long('h1', 'w1'), long('h1', 'w2'), 1],
    ['the same whole', long('h1', 'w1'), long('h2', 'w1'), 0],
    ['a short and a long text', 'one', long('h1'), 1],
  ])('%s', async (_what, rejected, chosen, count) => {
    const history = new History();
    const d = history.open();
    history.attempt(d, 'fail', { codes: ['E0001'], output: rejected });
    history.attempt(d, 'pass', { output: chosen });
    expect(await pairsOf(history)).toHaveLength(count);
  });
});

describe('one pair for one chosen attempt', () => {
  test('also where its events are delivered again, or come again with another one', async () => {
    const history = new History();
    const d = history.open();
    history.attempt(d, 'fail', { codes: ['E0001'] });
    history.attempt(d, 'pass');
    await spec.given(correctionPairs, history.events);
    await (await spec.store(correctionPairs)).apply(history.events);
    expect(await spec.rows(correctionPairs, 'pairs')).toHaveLength(1);
  });

  test('a late pass makes one', async () => {
    const history = new History();
    const d = history.open();
    const failed = history.attempt(d, 'fail', { codes: ['E0001'] });
    history.letLeasesEnd();
    const late = history.attempt(d, 'pass');
    expect(ids(await pairsOf(history))).toEqual([[late, failed, 'self_correction']]);
  });
});

test('where the last failures are corrected in one batch with the pass, the one before them is what was rejected', async () => {
  const history = new History();
  const d = history.open();
  const [first, second, third] = ['E0001', 'E0002', 'E0003'].map((code) => history.attempt(d, 'fail', { codes: [code], output: code }));
  const before = history.events.length;
  for (const flaky of [third, second]) history.correct(flaky!, 'pass');
  const passed = history.attempt(d, 'pass', { output: 'right' });
  await spec.given(correctionPairs, history.events.slice(0, before));
  await (await spec.store(correctionPairs)).apply(history.events.slice(before));
  const [pair] = await spec.rows(correctionPairs, 'pairs');
  expect(pair).toMatchObject({ chosenAttemptId: passed, rejectedAttemptId: first, rejected: { text: 'E0001' } });
});
