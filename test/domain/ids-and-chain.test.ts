import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { canonicalJson, chainHash } from '../../src/domain/chain.js';
import { attemptIdOf, chanceOf, dispatchIdOf, fileIdOf, fileStream, proposalIdOf, streamOfId, uuidOf } from '../../src/domain/ids.js';

describe('ids carry their file', () => {
  const fileId = fileIdOf('tessera', 'src/lru_cache.rs');
  const dispatch = dispatchIdOf(fileId, '7k2m');
  const attempt = attemptIdOf(dispatch, 12);

  it('so that their stream is found without a table', () => {
    expect(streamOfId('d', dispatch)).toBe(fileStream(fileId));
    expect(streamOfId('a', attempt)).toBe(fileStream(fileId));
    expect(streamOfId('p', proposalIdOf(attempt))).toBe(fileStream(fileId));
  });

  it('and are of one kind only', () => {
    const ids = { d: dispatch, a: attempt, p: proposalIdOf(attempt) };
    for (const kind of ['d', 'a', 'p'] as const)
      for (const [other, id] of Object.entries(ids)) if (other !== kind) expect(streamOfId(kind, id)).toBeNull();
  });

  it.each([
    '',
    'none',
    'd-',
    `d-${fileId}`,
    `d-${fileId}-`,
    `d-${fileId}-X`,
    `d-../../${fileId}-a`,
    `${dispatch}\n`,
    ` ${dispatch}`,
    `a-${fileId}-x-`,
    'd-zz-1',
  ])('what is no id leads nowhere: %j', (id) => {
    for (const kind of ['d', 'a', 'p'] as const) expect(streamOfId(kind, id)).toBeNull();
  });

  it('the id of a file is stable, short, and another one for another repo or path', () => {
    expect(fileIdOf('tessera', 'src/lru_cache.rs')).toBe(fileId);
    expect(fileId).toMatch(/^[0-9a-f]{20}$/);
    const others = [
      fileIdOf('tessera', 'src/lru_cache.ts'),
      fileIdOf('default', 'src/lru_cache.rs'),
      fileIdOf('tessera/src', 'lru_cache.rs'),
    ];
    expect(new Set([fileId, ...others]).size).toBe(4);
  });

  it('chance from an id is in [0, 1) and the same again', () => {
    fc.assert(
      fc.property(fc.string(), (id) => {
        expect(chanceOf(id)).toBe(chanceOf(id));
        expect(chanceOf(id)).toBeGreaterThanOrEqual(0);
        expect(chanceOf(id)).toBeLessThan(1);
      }),
    );
  });

  it('event ids from names are UUIDs, the same for the same names only', () => {
    expect(uuidOf('a', '1')).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(uuidOf('a', '1')).toBe(uuidOf('a', '1'));
    expect(new Set([uuidOf('a', '1'), uuidOf('a1'), uuidOf('1', 'a'), uuidOf('a', '2')]).size).toBe(4);
  });
});

/** The same value with every object's keys in the opposite order. */
function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, item]) => [key, reversed(item)]),
  );
}
/** As a store gives it back. */
const json = fc.jsonValue().map((value) => JSON.parse(JSON.stringify(value)) as unknown);

describe('canonical JSON', () => {
  it('does not depend on the order of keys', () => {
    fc.assert(fc.property(json, (value) => expect(canonicalJson(reversed(value))).toBe(canonicalJson(value))));
  });

  it('loses nothing: it parses back to the same', () => {
    fc.assert(fc.property(json, (value) => expect(JSON.parse(canonicalJson(value))).toEqual(value)));
  });

  it('is equal for equal values, and for no others', () => {
    fc.assert(
      fc.property(json, json, (a, b) => expect(canonicalJson(a) === canonicalJson(b)).toBe(isDeepStrictEqual(a, b))),
      {
        numRuns: 2000,
        examples: [
          [{}, []],
          [{ a: 1 }, [['a', 1]]],
          ['1', 1],
          [null, 'null'],
          [{ a: null }, {}],
        ],
      },
    );
  });

  it('reads what is undefined as JSON does: a key is left out, an item is null', () => {
    expect(canonicalJson({ b: undefined, a: [undefined, 1] })).toBe('{"a":[null,1]}');
  });
});

describe('the hash chain', () => {
  const metadata = { $correlationId: 'd-1', $causationId: 'c-1', actor: 'builder', schemaVersion: 1, previousHash: 'before' };
  const data = { taskId: 't', nested: { a: [1, 2, { b: null }] }, at: '2026-03-01T12:00:00.000Z' };
  const link = chainHash('DispatchOpened', data, metadata);

  it('is the same for the same event, in whatever order its keys come', () => {
    expect(chainHash('DispatchOpened', reversed(data), reversed(metadata) as typeof metadata)).toBe(link);
    expect(link).toMatch(/^[0-9a-f]{64}$/);
  });

  it('does not cover itself', () => {
    expect(chainHash('DispatchOpened', data, { ...metadata, hash: link } as typeof metadata)).toBe(link);
  });

  it.each([
    ['the type', 'DispatchClosed', data, metadata],
    ['a value', 'DispatchOpened', { ...data, taskId: 'u' }, metadata],
    ['a nested value', 'DispatchOpened', { ...data, nested: { a: [1, 2, { b: 0 }] } }, metadata],
    ['the order of a list', 'DispatchOpened', { ...data, nested: { a: [2, 1, { b: null }] } }, metadata],
    ['an added field', 'DispatchOpened', { ...data, more: null }, metadata],
    ['the predecessor', 'DispatchOpened', data, { ...metadata, previousHash: 'another' }],
    ['no predecessor', 'DispatchOpened', data, { ...metadata, previousHash: null }],
    ['the actor', 'DispatchOpened', data, { ...metadata, actor: 'someone' }],
    ['the schema version', 'DispatchOpened', data, { ...metadata, schemaVersion: 2 }],
    ['an idempotency key', 'DispatchOpened', data, { ...metadata, idempotencyKey: 'k' }],
  ])('changes with %s', (_what, type, changedData, changedMetadata) => {
    expect(chainHash(type, changedData, changedMetadata)).not.toBe(link);
  });
});
