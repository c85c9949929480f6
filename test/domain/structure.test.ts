import { rerunOf } from '../../src/domain/cohorts.js';
import { type ExaminedAttempt, structureOf } from '../../src/domain/structure.js';

const lines = (from: number, count: number) => Array.from({ length: count }, (_, i) => `+let value_${from + i} = compute();`).join('\n');
const attempt = (number: number, more: Partial<ExaminedAttempt> = {}): ExaminedAttempt => ({
  ...{ attempt: number, attemptId: `a-${number}`, verdict: 'fail', output: `output ${number}`, diff: null, shownDiffs: false },
  ...{ inPrompt: null, confidence: 'high', ...more },
});
const kinds = (...given: Parameters<typeof structureOf>) => structureOf(...given).map(({ kind, attempts }) => [kind, attempts]);

test('a record that speaks for capacity alone has no finding', () => {
  expect(structureOf([attempt(1), attempt(2, { inPrompt: 'whole' })], ['p', 'p'], false)).toEqual([]);
});

test('outputs that are equal byte for byte', () => {
  expect(kinds([attempt(1, { output: 'x' }), attempt(2), attempt(3, { output: 'x' })], ['p'], false)).toEqual([
    ['byte_equal_outputs', [1, 3]],
  ]);
});

test('a block that did not come into the prompt, or not whole', () => {
  expect(kinds([attempt(1), attempt(2, { inPrompt: 'missing' }), attempt(3, { inPrompt: 'altered' })], ['p'], false)).toEqual([
    ['block_not_in_prompt', [2, 3]],
  ]);
});

describe('anchoring', () => {
  const first = attempt(1, { diff: lines(0, 10) });

  test('is an attempt that was shown wrong lines and brings most of them again', () => {
    expect(kinds([first, attempt(2, { diff: lines(1, 12), shownDiffs: true })], ['p'], false)).toEqual([['anchored', [2]]]);
  });

  test.each([
    ['was not shown them', { diff: lines(1, 12) }],
    ['brings few of them', { diff: lines(5, 12), shownDiffs: true }],
    ['passed', { diff: lines(1, 12), shownDiffs: true, verdict: 'pass' }],
  ] as const)('is none where the attempt %s', (_why, more) => {
    expect(structureOf([first, attempt(2, more)], ['p'], false)).toEqual([]);
  });
});

test('profiles that changed, verdicts that do not decide, a flaky verifier', () => {
  expect(kinds([attempt(1, { confidence: 'low' })], ['p', null], true)).toEqual([
    ['profile_changed', []],
    ['uncertain_verdict', [1]],
    ['flaky_verifier', []],
  ]);
});

test('a second run is laid beside the first, with what chance alone does', () => {
  expect(rerunOf({ bothPassed: 0, onlyFirst: 0, onlyRerun: 0, neither: 0 }).sentence).toBe('none of the tasks ran again');
  expect(rerunOf({ bothPassed: 2, onlyFirst: 1, onlyRerun: 9, neither: 3 })).toMatchObject({
    tasks: 15,
    pValue: expect.closeTo(22 / 1024, 12),
  });
});
