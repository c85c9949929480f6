import fc from 'fast-check';
import { patternKey } from '../../src/catalogue/primitives.js';
import { categories } from '../../src/verifier/categories.js';
import { rustcCodes } from '../../src/verifier/data/rustc-codes.js';
import { typescriptCodes } from '../../src/verifier/data/typescript-codes.js';
import { patternFromCaller, patternOfCode, slugOf } from '../../src/verifier/patterns.js';

describe('a pattern that a caller sends', () => {
  test.each([
    ['E0369', 'e0369_missing_trait_bound', 'E0369', 'trait_bound'],
    ['e0369', 'e0369_missing_trait_bound', 'E0369', 'trait_bound'],
    [' e0369 ', 'e0369_missing_trait_bound', 'E0369', 'trait_bound'],
    ['e0369_error', 'e0369_error', 'E0369', 'trait_bound'],
    ['E0106', 'e0106_missing_lifetime_specifier', 'E0106', 'lifetime'],
    ['E0308', 'e0308_type_mismatch', 'E0308', 'type'],
    ['E0412', 'e0412_unresolved_type', 'E0412', 'resolution'],
    ['ts2322', 'ts2322_type_mismatch', 'TS2322', 'type'],
    ['E9999', 'e9999_error', 'E9999', 'unknown'],
    ['TS99999', 'ts99999_error', 'TS99999', 'unknown'],
    ['borrow checker again', 'borrow checker again', null, 'unknown'],
    ['E0369x', 'E0369x', null, 'unknown'],
    ['constructor', 'constructor', null, 'unknown'],
  ])('%s', (sent, pattern, code, category) => expect(patternFromCaller(sent)).toEqual({ pattern, code, category, file: null, count: 1 }));

  test.each(['', '  ', 'unknown', 'Unknown'])('%j is none', (sent) => expect(patternFromCaller(sent)).toBeNull());

  test('is the same pattern under every label of its code', () => {
    const keys = ['E0369', 'e0369_error', 'e0369_missing_trait_bound'].map((sent) =>
      patternKey(patternFromCaller(sent) ?? { pattern: '', code: null }),
    );
    expect(new Set(keys)).toEqual(new Set(['E0369']));
    expect(patternKey({ pattern: 'rust_macro_not_found', code: null })).toBe('rust_macro_not_found');
  });
});

describe('the tables', () => {
  test.each([
    ['rustc', rustcCodes, /^E\d{4}$/, 500],
    ['TypeScript', typescriptCodes, /^TS\d{4,5}$/, 800],
  ])('%s: every code has a label and a category of the closed list', (_name, table, shape, least) => {
    const known: readonly string[] = categories;
    expect(Object.keys(table).length).toBeGreaterThan(least);
    for (const [code, [slug, category]] of Object.entries(table)) {
      expect(code).toMatch(shape);
      expect(slug).toMatch(/^[a-z0-9]+(?:_[a-z0-9]+)*$/);
      expect(known).toContain(category);
      expect(patternOfCode(code)).toBe(`${code.toLowerCase()}_${slug}`);
    }
  });
});

test('a slug is bounded, ASCII, stable; texts that differ after the cut stay apart', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (text) => {
      expect(slugOf(text)).toMatch(/^[a-z0-9_]{1,72}$/);
      expect(slugOf(text)).toBe(slugOf(text));
    }),
  );
  const long = 'a'.repeat(200);
  expect(slugOf(`${long}b`)).not.toBe(slugOf(`${long}c`));
  expect(slugOf('不能 x')).not.toBe(slugOf('找不到 x'));
});
