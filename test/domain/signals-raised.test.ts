import { policy } from '../../src/catalogue/policy.js';
import { all, blocked, fail, only, pass, pattern } from './builders.js';
import { FileHistory } from './history.js';

function historyOf(failures: (string | string[])[], file = new FileHistory()): FileHistory {
  file.failedBefore('t', failures);
  return file;
}
const MOLES = ['E0369', 'E0425', 'E0308', 'E0308', 'E0277'];

describe('per_pattern: one pattern in three live failures', () => {
  it('is raised with the third, not the second', () => {
    expect(historyOf(['E0308', 'E0308']).signals).toEqual([]);
    expect(historyOf(['E0308', 'E0308', 'E0308']).signals).toEqual(['per_pattern:E0308']);
  });

  it('says pattern, occurrences, threshold and evidence', () => {
    const file = new FileHistory();
    const evidence = file.failedBefore('t', ['E0308', 'E0599', 'E0308', 'E0308']);
    expect(only(file.events, 'CalibrationSignalRaised')).toMatchObject({
      model: 'qwen3.5-9b',
      kind: 'per_pattern',
      pattern: 'e0308_type_mismatch',
      code: 'E0308',
      occurrences: 3,
      distinctPatterns: null,
      threshold: 3,
      evidence: [evidence[0], evidence[2], evidence[3]],
    });
  });

  it('counts attempts, not diagnostics: a pattern counts once an attempt', () => {
    expect(
      historyOf([
        ['E0308', 'E0308', 'E0308'],
        ['E0308', 'E0308'],
      ]).signals,
    ).toEqual([]);
  });

  it('knows a pattern by its code, whatever its slug says', () => {
    const file = new FileHistory();
    const dispatch = file.open({ budget: 9 });
    for (const slug of ['e0369_error', 'e0369_missing_trait_bound', 'e0369_x'])
      file.attempt(dispatch, fail(pattern('E0369', { pattern: slug })));
    expect(file.signals).toEqual(['per_pattern:E0369']);
  });

  it('does not alias: renamed codes are two patterns to a fold', () => {
    expect(historyOf(['E0412', 'E0425', 'E0425']).signals).toEqual([]);
  });

  it('knows one without a code by its whole name', () => {
    expect(historyOf(['rust_unclosed_delimiter', 'rust_unclosed_string', 'rust_unclosed_delimiter']).signals).toEqual([]);
    expect(historyOf(['go_undefined', 'go_undefined', 'go_undefined']).signals).toEqual(['per_pattern:go_undefined']);
  });

  it('spans tasks and dispatches of the file', () => {
    const file = new FileHistory();
    for (const task of ['a', 'b', 'c']) file.failedBefore(task, ['E0308']);
    expect(file.signals).toEqual(['per_pattern:E0308']);
  });

  it('several patterns can be stuck at once, each a signal of its own', () => {
    const file = historyOf([
      ['E0308', 'E0599'],
      ['E0308', 'E0599'],
      ['E0308', 'E0599'],
    ]);
    expect(file.signals).toEqual(['per_pattern:E0308', 'per_pattern:E0599']);
    expect(all(file.events, 'CalibrationSignalRaised')).toHaveLength(2);
  });
});

describe('per_file: six failures over three patterns, none of them in three', () => {
  it('is raised with the sixth, not the fifth', () => {
    expect(historyOf(MOLES).signals).toEqual([]);
    const file = historyOf([...MOLES, 'E0599']);
    expect(file.signals).toEqual(['per_file:']);
    expect(only(file.events, 'CalibrationSignalRaised')).toMatchObject({
      kind: 'per_file',
      pattern: null,
      code: null,
      occurrences: 6,
      distinctPatterns: 5,
      threshold: 6,
    });
  });

  it('three patterns at two each are enough; six failures over two patterns are not', () => {
    expect(historyOf(['E0308', 'E0599', 'E0277', 'E0308', 'E0599', 'E0277']).signals).toEqual(['per_file:']);
    const twoPatterns = new FileHistory(policy.parse({ perPattern: 9 }));
    expect(historyOf(['E0308', 'E0599', 'E0308', 'E0599', 'E0308', 'E0599'], twoPatterns).signals).toEqual([]);
  });

  it('leaves out failures that carry a stuck pattern, among others', () => {
    const stuck = [
      ['E0308', 'E0369'],
      ['E0308', 'E0425'],
      ['E0308', 'E0277'],
    ];
    expect(historyOf([...stuck, 'E0599', 'E0432', 'E0433']).signals).toEqual(['per_pattern:E0308']);
  });

  it('an old per_pattern of one task does not hide the thrashing of another', () => {
    const file = historyOf(['E0106', 'E0106', 'E0106']);
    file.failedBefore('u', [...MOLES, 'E0599']);
    expect(file.signals).toEqual(['per_file:', 'per_pattern:E0106']);
  });

  it('failures without a pattern thrash over nothing', () => {
    expect(historyOf([[], [], [], [], [], [], []]).signals).toEqual([]);
  });

  // domain.md can also be read to count it as the sixth failure; `unknown` "never raises a signal" decides.
  it('a failure without a pattern is not what completes it', () => {
    expect(historyOf([...MOLES, []]).signals).toEqual([]);
  });
});

describe('what is no evidence', () => {
  it('blocked attempts', () => {
    const file = historyOf(['E0308', 'E0308']);
    for (const kind of ['dns', 'disk', 'dns']) file.attempt(file.open({ force: true }), { ...blocked(kind), patterns: [pattern('E0308')] });
    expect(file.signals).toEqual([]);
  });

  it('a frontier’s failures', () => {
    const file = historyOf(['E0308', 'E0308']);
    for (const task of ['a', 'b']) file.frontier(file.open({ task }), fail('E0308'));
    expect(file.signals).toEqual([]);
  });

  it('another builder’s failures: models stay apart', () => {
    const file = historyOf(['E0308', 'E0308']);
    file.failedBefore('t', ['E0308', 'E0308'], { builder: 'builder-14b' });
    expect(file.signals).toEqual([]);
    file.failedBefore('t', ['E0308'], { builder: 'builder-14b' });
    expect([...file.state.signals.values()].map(({ configuration }) => configuration)).toEqual(['builder-14b']);
  });

  it('patterns that a caller sends with a pass: they say what was solved, and count nowhere', () => {
    const file = historyOf(['E0308', 'E0308']);
    file.attempt(file.open({ task: 'u' }), pass('E0308', 'E0599'));
    expect(file.signals).toEqual([]);
    expect([...file.state.histogram.values()].map(({ code, attempts }) => [code, attempts])).toEqual([['E0308', 2]]);
    expect(file.hint({ task: 'u' }).text).not.toContain('E0599');
  });

  it('failures from claim records, where policy leaves them out', () => {
    const imported = historyOf(['E0308', 'E0308', 'E0308']).events.filter(({ type }) => type !== 'CalibrationSignalRaised');
    const asImported = imported.map((event) =>
      event.type === 'VerdictReached' ? { ...event, data: { ...event.data, imported: true } } : event,
    );
    for (const importedCount of [true, false]) {
      const file = new FileHistory(policy.parse({ importedCount }));
      file.append(asImported as typeof imported);
      expect(file.hint().signals).toHaveLength(importedCount ? 1 : 0);
      expect(file.hint().failed).toBe(3);
      file.failedBefore('t', ['E0308']);
      expect(file.signals).toEqual(importedCount ? ['per_pattern:E0308'] : []);
    }
  });

  it('failures that policy calls too old: at the limit they count, a second later not', () => {
    for (const [age, signals] of [
      [100, 1],
      [101, 0],
    ] as const) {
      const file = new FileHistory(policy.parse({ failureMaxAgeSeconds: 100 }));
      historyOf(['E0308', 'E0308'], file);
      file.wait(age).failedBefore('t', ['E0308']);
      expect(file.signals).toHaveLength(signals);
    }
  });
});

describe('the event of a signal', () => {
  it('stands right after the verdict that completes it and right before the decision', () => {
    const file = new FileHistory();
    const dispatch = file.open();
    for (const _ of [1, 2]) file.attempt(dispatch, fail('E0308'));
    const third = file.attempt(dispatch, { ...fail('E0308'), diff: 'what was tried' });
    expect(third.types).toEqual([
      'AttemptRecorded',
      'SnapshotDiffCaptured',
      'VerdictReached',
      'CalibrationSignalRaised',
      'NextStepDecided',
    ]);
    expect(third.next.evidence).toEqual(only(third.events, 'CalibrationSignalRaised').evidence);
  });

  it('comes once: further failures of a live signal raise nothing', () => {
    const file = historyOf(['E0308', 'E0308', 'E0308', 'E0308', 'E0308']);
    expect(all(file.events, 'CalibrationSignalRaised')).toHaveLength(1);
  });

  it('names at most 20 attempts, the newest, and how many there are', () => {
    const file = new FileHistory(policy.parse({ perPattern: 25 }));
    const attempts = file.failedBefore(
      't',
      Array.from({ length: 25 }, () => 'E0308'),
    );
    expect(only(file.events, 'CalibrationSignalRaised')).toMatchObject({ occurrences: 25, evidence: attempts.slice(-20) });
  });

  it('and so does a decision that names it', () => {
    const file = historyOf(Array.from({ length: 30 }, () => 'E0308'));
    const dispatch = file.open({ task: 'u' });
    file.attempt(dispatch, fail('E0308'));
    const { next } = file.attempt(dispatch, fail('E0308'));
    expect([next.occurrences, next.evidence.length]).toEqual([32, 20]);
  });

  it('thresholds are policy', () => {
    const file = new FileHistory(policy.parse({ perPattern: 2, perFile: { failures: 3, patterns: 2 } }));
    expect(historyOf(['E0308', 'E0308', 'E0599', 'E0277', 'E0432'], file).signals).toEqual(['per_file:', 'per_pattern:E0308']);
  });
});
