import { all, blocked, fail, hashOf, only, pass, pattern } from './builders.js';
import { FileHistory } from './history.js';
import { at, dispatchId } from './specification.js';

/** The file of domain.md's example: 2 passed, 3 failed; E0106 twice, E0308 once. */
function example(): FileHistory {
  const file = new FileHistory();
  file.failedBefore('task-a', ['E0106', 'E0106']);
  file.failedBefore('task-b', ['E0308']);
  for (const task of ['task-c', 'task-d']) file.attempt(file.open({ task }), pass());
  return file;
}
const textOf = (file: FileHistory, asker: Parameters<FileHistory['hint']>[0] = {}) => file.hint(asker).text;

describe('the text of a hint', () => {
  it('is empty without history, not a sentence about nothing', () => {
    expect(new FileHistory().hint()).toEqual({
      text: '',
      total: 0,
      passed: 0,
      failed: 0,
      blocked: 0,
      patterns: [],
      signals: [],
      frontier: [],
      previouslyPassed: null,
    });
    const file = new FileHistory();
    file.open();
    expect(textOf(file)).toBe('');
  });

  it('reads as in domain.md: attempts, patterns, and that this task passed', () => {
    expect(textOf(example(), { task: 'task-c' })).toBe(
      'This file has 5 prior attempts: 2 passed, 3 failed. ' +
        'Known failure patterns: E0106 (lifetime, 2 occurrences), E0308 (type, 1 occurrence). ' +
        'This task previously passed after 1 attempt.',
    );
  });

  it('goes on with the signal and what the frontier solved', () => {
    const file = new FileHistory();
    file.failedBefore('t', ['E0369', 'E0369', 'E0369']);
    const dispatch = file.open({ task: 't' });
    for (const _ of [1, 2, 3]) file.attempt(dispatch, fail('E0369'));
    file.frontier(dispatch, pass());
    expect(textOf(file, { task: 'u' })).toBe(
      'This file has 6 prior attempts: 0 passed, 6 failed. ' +
        'Known failure patterns: E0369 (trait bound, 6 occurrences). ' +
        'CALIBRATION SIGNAL — beyond qwen3.5-9b capacity: E0369 in 6 attempts. ' +
        'Frontier solved this pattern: e0369_missing_trait_bound.',
    );
  });

  it('says one of one', () => {
    const file = new FileHistory();
    file.failedBefore('t', ['E0308']);
    expect(textOf(file)).toBe('This file has 1 prior attempt: 0 passed, 1 failed. Known failure patterns: E0308 (type, 1 occurrence).');
  });

  it('words a per_file signal by failures and patterns', () => {
    const file = new FileHistory();
    file.failedBefore('t', ['E0369', 'E0425', 'E0308', 'E0308', 'E0277', 'E0599', 'E0599']);
    expect(textOf(file)).toMatch(/ CALIBRATION SIGNAL — beyond qwen3\.5-9b capacity: 7 failures across 5 patterns\.$/);
  });

  it('says that the frontier failed this task, and only of this task, until something passes it', () => {
    const file = new FileHistory();
    file.frontier(file.open({ task: 'hard' }), fail('E0308'));
    expect(textOf(file, { task: 'hard' })).toMatch(/frontier.* failed this task/i);
    expect(textOf(file, { task: 'other' })).not.toMatch(/failed this task/i);
    file.attempt(file.open({ task: 'hard', force: true }), pass());
    expect(textOf(file, { task: 'hard' })).not.toMatch(/failed this task/i);
  });

  it('says after how many attempts the task passed: those of the dispatch that passed it', () => {
    const file = new FileHistory();
    file.failedBefore('t', ['E0308', 'E0308']);
    const dispatch = file.open({ task: 't' });
    for (const outcome of [fail('E0599'), fail('E0277'), pass()]) file.attempt(dispatch, outcome);
    expect(textOf(file, { task: 't' })).toContain('This task previously passed after 3 attempts.');
    expect(textOf(file, { task: 'u' })).not.toContain('previously passed');
    expect(file.hint({ task: 't' }).previouslyPassed).toEqual({ attempts: 3 });
  });

  it('without a task in particular, leaves out what is about one', () => {
    expect(textOf(example(), { task: null })).not.toContain('This task');
  });
});

describe('the patterns of a hint', () => {
  const order = (file: FileHistory, task: string) => file.hint({ task }).patterns.map(({ code, pattern: name }) => code ?? name);

  it('those of the current task first, then the most frequent', () => {
    const file = example();
    expect(order(file, 'task-b')).toEqual(['E0308', 'E0106']);
    expect(order(file, 'task-a')).toEqual(['E0106', 'E0308']);
    expect(order(file, 'task-z')).toEqual(['E0106', 'E0308']);
    expect(file.hint({ task: 'task-b' }).patterns.map(({ currentTask }) => currentTask)).toEqual([true, false]);
  });

  it('ties by code', () => {
    const file = new FileHistory();
    file.failedBefore('t', ['E0599', 'E0308', 'E0425', 'E0106']);
    expect(order(file, 't')).toEqual(['E0106', 'E0308', 'E0425', 'E0599']);
    expect(order(file, 'u')).toEqual(['E0106', 'E0308', 'E0425', 'E0599']);
  });

  it('every distinct one once, by code, with its number of attempts', () => {
    const file = new FileHistory();
    const dispatch = file.open();
    file.attempt(dispatch, fail(pattern('E0369', { pattern: 'e0369_error' }), pattern('E0369', { pattern: 'e0369_missing_trait_bound' })));
    file.attempt(dispatch, fail(pattern('E0369', { pattern: 'e0369_other' })));
    expect(file.hint().patterns).toMatchObject([{ code: 'E0369', occurrences: 2 }]);
  });

  it('category with spaces; one without a code by its name', () => {
    const file = new FileHistory();
    file.failedBefore('t', ['rust_unclosed_delimiter', 'E0277']);
    expect(textOf(file)).toContain('E0277 (trait bound, 1 occurrence), rust_unclosed_delimiter (syntax, 1 occurrence)');
  });

  it('infrastructure results are none, and no attempts that count', () => {
    const file = new FileHistory();
    file.attempt(file.open(), blocked('dns'));
    expect(file.hint()).toMatchObject({ text: '', total: 0, blocked: 1, patterns: [] });
  });
});

describe('whose results a hint counts', () => {
  it('the builder seat’s, of all models; signals only those of the model that asks', () => {
    const file = new FileHistory();
    file.failedBefore('t', ['E0308', 'E0308', 'E0308']);
    file.failedBefore('t', ['E0599'], { builder: 'builder-14b' });
    expect(file.hint({ model: 'builder-14b' })).toMatchObject({ failed: 4, signals: [] });
    expect(textOf(file, { model: 'builder-14b' })).not.toContain('CALIBRATION SIGNAL');
    expect(textOf(file)).toContain('beyond qwen3.5-9b capacity: E0308 in 3 attempts');
  });

  it('not the frontier’s attempts nor its patterns', () => {
    const file = new FileHistory();
    file.failedBefore('t', ['E0308']);
    file.frontier(file.open({ task: 'u' }), fail('E0599'));
    expect(file.hint()).toMatchObject({ total: 1, failed: 1 });
    expect(textOf(file)).not.toContain('E0599');
  });

  it('a hint has no generated code and no verifier text, whatever was recorded', () => {
    const file = new FileHistory();
    const dispatch = file.open({ task: 't', description: { text: 'secret_description' } });
    for (const _ of [1, 2, 3])
      file.attempt(dispatch, { ...fail('E0308'), output: 'let generated_code = 1;', diff: '+let generated_diff = 1;' });
    file.frontier(dispatch, { ...pass(), output: 'let frontier_code = 1;' });
    expect(textOf(file, { task: 't' })).toContain('E0308');
    expect(textOf(file, { task: 't' })).not.toMatch(/generated_code|generated_diff|frontier_code|secret_description/);
  });
});

describe('a hint that was handed out', () => {
  it('is a HistoryInjected for attempt 1, with size and hash of the text', () => {
    const file = example();
    const { text } = file.hint({ task: 'new' });
    const opened = file.open({ task: 'new', carry: 'diff_feedback' });
    expect(opened.types).toEqual(['DispatchOpened', 'HistoryInjected', 'NextStepDecided']);
    expect(only(opened.events, 'HistoryInjected')).toMatchObject({
      forAttempt: 1,
      mode: 'diff_feedback',
      source: 'hint',
      characters: text.length,
      contentHash: hashOf(text),
    });
  });

  it('carry none gets none: an arm without history is without', () => {
    expect(example().open({ task: 'new', carry: 'none' }).types).toEqual(['DispatchOpened', 'NextStepDecided']);
  });

  it('an empty one is none either', () => {
    expect(new FileHistory().open().types).toEqual(['DispatchOpened', 'NextStepDecided']);
  });

  it('neither is one where no dispatch was opened', () => {
    const file = example();
    expect(all(file.open({ task: 'task-c' }).events, 'HistoryInjected')).toEqual([]);
  });

  it('leaves the lease as it was opened', () => {
    const file = example();
    file.open({ task: 'new', unique: 'x', leaseSeconds: 60 });
    expect(file.dispatch(dispatchId('x')).leaseUntil).toBe(at(60));
  });
});

describe('what the frontier solved', () => {
  /** Three failures with that pattern, then a frontier pass that it led to. */
  const solve = (file: FileHistory, task: string, failure: ReturnType<typeof fail>) => {
    const dispatch = file.open({ task, force: true });
    for (const _ of [1, 2, 3]) file.attempt(dispatch, failure);
    file.accept(file.frontier(dispatch, pass()).proposalId);
  };

  it('names several patterns, each once', () => {
    const file = new FileHistory();
    for (const [task, code] of [
      ['a', 'E0308'],
      ['b', 'E0599'],
      ['c', 'E0308'],
    ] as const)
      solve(file, task, fail(code));
    expect(textOf(file)).toMatch(/Frontier solved [^:]*: e0308_type_mismatch, e0599_no_method\./);
  });

  it('names a pattern once, whatever slugs its code came with', () => {
    const file = new FileHistory();
    solve(file, 'a', fail(pattern('E0369', { pattern: 'e0369_error' })));
    file.attempt(file.open({ task: 'a', force: true }), pass());
    solve(file, 'b', fail(pattern('E0369', { pattern: 'e0369_missing_trait_bound' })));
    expect(file.hint().frontier).toHaveLength(1);
    expect(textOf(file)).toContain('Frontier solved this pattern: e0369_missing_trait_bound.');
  });

  it('of several patterns at once names none', () => {
    const file = new FileHistory();
    file.failedBefore('t', ['E0369', 'E0425', 'E0308', 'E0308', 'E0277']);
    const dispatch = file.open({ task: 't' });
    for (const code of ['E0599', 'E0432']) file.attempt(dispatch, fail(code));
    file.frontier(dispatch, pass());
    expect(file.hint().frontier).toMatchObject([{ kind: 'per_file', pattern: null, classification: 'capacity' }]);
    expect(textOf(file)).not.toContain('this pattern');
  });

  it('says nothing where a pass was led to by nothing', () => {
    const file = new FileHistory();
    file.frontier(file.open(), pass('E0308'));
    expect(textOf(file)).toBe('');
  });
});

describe('a hint that ages and explains itself', () => {
  it('links each pattern to the newest attempts that failed with it', () => {
    const file = new FileHistory();
    file.failedBefore('t', Array(7).fill('E0308'));
    const [pattern] = file.hint().patterns;
    const attempts = [...file.state.attempts.keys()];
    expect(pattern).toMatchObject({ code: 'E0308', occurrences: 7, evidence: attempts.slice(-5), overcome: false, old: false });
  });

  it('marks what was overcome, and what was not seen for 30 days', () => {
    const file = new FileHistory();
    file.failedBefore('a', ['E0106']);
    file.failedBefore('b', ['E0308']);
    file.attempt(file.open({ task: 'a' }), pass());
    expect(textOf(file)).toContain('Overcome since: E0106.');
    expect(textOf(file)).not.toContain('30 days');
    file.seconds += 31 * 24 * 3_600;
    expect(textOf(file)).toContain('Not seen for over 30 days: E0106, E0308.');
    expect(file.hint().patterns.map(({ code, overcome, old }) => [code, overcome, old])).toEqual([
      ['E0106', true, true],
      ['E0308', false, true],
    ]);
  });

  it('stays short on a file with a thousand patterns', () => {
    const file = new FileHistory();
    const dispatch = file.open({ budget: 1_000 });
    for (let n = 0; n < 300; n += 1) file.attempt(dispatch, fail(...[0, 1, 2].map((k) => `tool_error_${n}_${k}`)));
    const { text, patterns } = file.hint();
    expect(patterns).toHaveLength(900);
    expect(text).toContain(' and 888 more.');
    expect(text.length).toBeLessThan(2_000);
  });
});
