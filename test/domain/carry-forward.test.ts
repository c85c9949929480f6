import fc from 'fast-check';
import {
  blockIn,
  type CarriedAttempt,
  type CarryRecord,
  composeCarryForward,
  foldAttempts,
  type RecordTexts,
} from '../../src/domain/carry-forward.js';

/** Words as tokens: enough to see that a bound is kept. */
const countTokens = (text: string) => text.split(/\s+/).filter((word) => word !== '').length;

function attempt(number: number, signature: string | null, more: Partial<CarriedAttempt> = {}): CarriedAttempt {
  const patterns = [{ pattern: `e0${300 + number}_error`, code: `E0${300 + number}`, category: 'borrow_check', file: null }];
  return {
    ...{ attempt: number, attemptId: `a-${number}`, seat: 'builder', verdict: 'fail', patterns, signature, infraKind: null },
    ...{ firstFailedStep: null, output: `output ${number}`, ...more },
  };
}

const plain = (record: CarryRecord): CarryRecord & RecordTexts => ({ ...record, excerpt: '', diff: null });
const withDiff = (lines: number) => (record: CarryRecord) => ({
  ...record,
  excerpt: `message of ${record.newest.attemptId}`,
  diff: {
    attempt: record.newest.attempt,
    text: Array.from({ length: lines }, (_, i) => `+line ${i} of ${record.newest.attemptId}`).join('\n'),
  },
});
const block = (records: (CarryRecord & RecordTexts)[], more: Partial<Parameters<typeof composeCarryForward>[1]> = {}) =>
  composeCarryForward(records, { mode: 'diff_feedback', maxTokens: 5_000, planner: false, ...more }, countTokens);

describe('attempts folded into records', () => {
  it('are one where the signature is equal, also when not adjacent; the newest stands for them', () => {
    const records = foldAttempts([attempt(1, 's'), attempt(2, 'other'), attempt(3, 's')]);
    expect(records.map(({ attempts, newest }) => [attempts, newest.attempt])).toEqual([
      [[1, 3], 3],
      [[2], 2],
    ]);
  });

  it('are never one without a signature, nor across verdicts', () => {
    const blocked = attempt(4, 's', { verdict: 'blocked', infraKind: 'dns' });
    const records = foldAttempts([attempt(1, null), attempt(2, null), attempt(3, 's'), blocked]);
    expect(records.map(({ attempts }) => attempts)).toEqual([[1], [2], [3], [4]]);
  });

  it('leave out what passed, and say which outputs were equal', () => {
    const records = foldAttempts([attempt(1, 'a'), attempt(2, 'b', { verdict: 'pass' }), attempt(3, 'c', { output: 'output 1' })]);
    expect(records.map(({ attempts, sameOutputAs }) => [attempts, sameOutputAs])).toEqual([
      [[1], null],
      [[3], 1],
    ]);
  });

  it('keep the first failed step that any of them said', () => {
    const [record] = foldAttempts([attempt(1, 's', { firstFailedStep: 'cargo check' }), attempt(2, 's')]);
    expect(record?.firstFailedStep).toBe('cargo check');
  });
});

describe('the text of a block', () => {
  it('reads oldest first, labelled, each with its causes, under a heading that says all were reverted', () => {
    const records = foldAttempts([
      attempt(1, 's', { firstFailedStep: 'cargo check' }),
      attempt(2, 's'),
      attempt(3, 't', { output: 'output 1' }),
    ]);
    const { text, hash } = block(records.map(plain), { mode: 'hint' });
    expect(text).toBe(
      [
        'Earlier attempts at this task, oldest first. They were tried, did not pass and were reverted.',
        '',
        'Attempts 1, 2: fail, 2 times in the same way. E0302 (borrow check). First failed step: cargo check.',
        '',
        'Attempt 3: fail. E0303 (borrow check). Its output was byte for byte that of attempt 1.',
        `[history ${hash?.slice(0, 12)}]`,
      ].join('\n'),
    );
  });

  it('is for a planner after a replan', () => {
    const { text } = block(foldAttempts([attempt(1, 's')]).map(plain), { planner: true });
    expect(text).toMatch(/^Why earlier attempts failed.*must not be repeated/);
  });

  it('says which infrastructure blocked an attempt', () => {
    const blocked = attempt(1, 's', { verdict: 'blocked', infraKind: 'dns', patterns: [] });
    expect(block(foldAttempts([blocked]).map(plain)).text).toContain('Attempt 1: blocked (dns).');
  });

  it('is empty under none, and without earlier attempts', () => {
    const nothing = { text: '', hash: null, tokens: 0, records: [], leftOut: [] };
    expect(block(foldAttempts([attempt(1, 's')]).map(plain), { mode: 'none' })).toEqual(nothing);
    expect(block([])).toEqual(nothing);
  });

  it('cuts a diff at 2,000 characters, on a line, and marks the cut on a line of its own', () => {
    const [record] = foldAttempts([attempt(1, 's')]).map(withDiff(400));
    const { text, records, leftOut } = block([record!]);
    const shown = text.split('\n').filter((line) => line.startsWith('+'));
    expect(shown).toEqual(record!.diff.text.split('\n').slice(0, shown.length));
    expect(shown.join('\n').length).toBeLessThanOrEqual(2_000);
    expect(shown.join('\n').length).toBeGreaterThan(1_970);
    expect(text).toContain(
      `[diff cut here: ${record!.diff.text.length - shown.join('\n').length} of ${record!.diff.text.length} characters`,
    );
    expect([records[0]?.diffIncluded, records[0]?.diffCut, leftOut]).toEqual([true, true, []]);
  });

  it('shows nothing of a diff whose first line is longer than that, and says so', () => {
    const [record] = foldAttempts([attempt(1, 's')]).map(plain);
    const { text } = block([{ ...record!, diff: { attempt: 1, text: `+${'x'.repeat(5_000)}` } }]);
    expect(text).not.toContain('xx');
    expect(text).toContain('[diff cut here: 5001 of 5001 characters left out]');
  });

  it('names at most eight causes of an attempt', () => {
    const patterns = Array.from({ length: 500 }, (_, i) => ({ pattern: `p${i}`, code: null, category: 'c', file: null }));
    const { text } = block(foldAttempts([attempt(1, 's', { patterns })]).map(plain));
    expect(text).toContain('p7 (c) and 492 more.');
  });
});

describe('what has no room', () => {
  const three = () => foldAttempts([attempt(1, 'a'), attempt(2, 'b'), attempt(3, 'c')]).map(withDiff(5));
  const whole = block(three());

  it('goes in order: the oldest diffs, then the oldest excerpts, then records', () => {
    const seen: string[] = [];
    for (let maxTokens = whole.tokens; maxTokens > 0; maxTokens -= 1)
      for (const name of block(three(), { maxTokens }).leftOut) if (!seen.includes(name)) seen.push(name);
    const of = (kind: string) => [1, 2, 3].map((n) => `${kind}${n}`);
    expect(seen).toEqual([...of('diff of attempt '), ...of('excerpt of attempt '), ...of('attempt ')]);
  });

  it('is counted in the text', () => {
    const { text, leftOut } = block(three(), { maxTokens: whole.tokens - 1 });
    expect(leftOut).toEqual(['diff of attempt 1']);
    expect(text).toContain(`[left out to keep to ${whole.tokens - 1} tokens: 1 diff]`);
  });

  it('leaves an empty text where there is room for nothing', () => {
    const { text, hash, tokens, leftOut } = block(three(), { maxTokens: 3 });
    expect([text, hash, tokens, leftOut.length]).toEqual(['', null, 0, 9]);
  });
});

const anyRecords = fc
  .array(
    fc.record({
      signature: fc.constantFrom(null, 'a', 'b', 'c'),
      output: fc.constantFrom('x', 'y', 'z'),
      verdict: fc.constantFrom('pass' as const, 'fail' as const, 'blocked' as const),
      excerpt: fc.string({ maxLength: 200 }),
      diff: fc.option(fc.array(fc.string({ maxLength: 80 }), { maxLength: 60 })),
    }),
    { maxLength: 12 },
  )
  .map((items) => {
    const records = foldAttempts(items.map(({ signature, output, verdict }, i) => attempt(i + 1, signature, { output, verdict })));
    return records.map((record) => {
      const { excerpt, diff } = items[record.newest.attempt - 1]!;
      return { ...record, excerpt, diff: diff && { attempt: record.newest.attempt, text: diff.join('\n') } };
    });
  });

describe('laws', () => {
  it('the bound is kept, the hash closes the text, and a prompt with the block shows it to be whole', () => {
    fc.assert(
      fc.property(anyRecords, fc.integer({ min: 1, max: 400 }), fc.boolean(), fc.string(), (records, maxTokens, planner, around) => {
        const made = block(records, { maxTokens, planner });
        expect(made.tokens).toBeLessThanOrEqual(maxTokens);
        expect(made.tokens).toBe(countTokens(made.text));
        if (made.hash === null) return expect(made.text).toBe('');
        expect(made.text.split('\n').at(-1)).toBe(`[history ${made.hash.slice(0, 12)}]`);
        const handedOut = { contentHash: made.hash, characters: made.text.length };
        expect(blockIn(`${around}${made.text}${around}`, handedOut)).toBe('whole');
        expect(blockIn(`${around}x${made.text.slice(5)}`, handedOut)).toBe('altered');
        expect(blockIn(around, handedOut)).toBe('missing');
      }),
    );
  });

  it('every attempt that did not pass is in one record, once, the records by their oldest', () => {
    fc.assert(
      fc.property(anyRecords, (records) => {
        const numbers = records.flatMap(({ attempts }) => attempts);
        expect(new Set(numbers).size).toBe(numbers.length);
        const oldest = records.map(({ attempts }) => attempts[0]!);
        expect(oldest).toEqual([...oldest].sort((a, b) => a - b));
      }),
    );
  });
});
