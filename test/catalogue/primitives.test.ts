import { codeOf, instant, name, patternKey, storedText } from '../../src/catalogue/primitives.js';

describe('a name that a caller chooses', () => {
  it.each(['t', 'task-12', 'Aufgabe zwölf', 'a/b:c', '🦀', 'x'.repeat(200), 'é'.repeat(200)])('%j is one', (text) => {
    expect(name.parse(text)).toBe(text);
  });

  it.each(['', 'x'.repeat(201), '€'.repeat(134), 'a\u0000b', 'a\nb', 'a\ud800', '\u0085'])('%j is none', (text) => {
    expect(name.safeParse(text).success).toBe(false);
  });
});

describe('the identity of a pattern', () => {
  it.each([
    ['e0369_missing_trait_bound', 'E0369'],
    ['E0369', 'E0369'],
    ['ts2322_type_mismatch', 'TS2322'],
    ['TS18047_possibly_null', 'TS18047'],
    ['e0369x_error', null],
    ['e036_error', null],
    ['rust_unclosed_delimiter', null],
    ['pytest_assertion_error:test_e0308_case', null],
    ['', null],
  ])('%j has the code %j', (pattern, code) => {
    expect(codeOf(pattern)).toBe(code);
  });

  it('is the code where there is one, else the whole name', () => {
    expect(patternKey({ pattern: 'e0369_error', code: 'E0369' })).toBe(patternKey({ pattern: 'e0369_missing_trait_bound', code: 'E0369' }));
    expect(patternKey({ pattern: 'go_undefined', code: null })).toBe('go_undefined');
  });
});

it.each(['2026-03-01T12:00:00Z', '2026-03-01T12:00:00.123Z', '2026-03-01T13:00:00+01:00'])('%j is a point in time', (text) => {
  expect(instant.safeParse(text).success).toBe(true);
});

it.each(['2026-03-01', '2026-03-01T12:00:00', '2026-02-30T12:00:00Z', 'now', ''])('%j is no point in time', (text) => {
  expect(instant.safeParse(text).success).toBe(false);
});

it('a stored text is in the event or in a payload, not both', () => {
  expect(storedText.safeParse({ text: 'a' }).success).toBe(true);
  expect(storedText.safeParse({ payload: 'hash', bytes: 3 }).success).toBe(true);
  expect(storedText.safeParse({ text: 'a', payload: 'hash', bytes: 3 }).success).toBe(false);
  expect(storedText.safeParse('a').success).toBe(false);
});
