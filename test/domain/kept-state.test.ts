import fc from 'fast-check';
import { countsAgain } from '../../src/domain/counts.js';
import { LateMap } from '../../src/domain/late-map.js';
import { openDispatches } from '../../src/domain/next-step.js';
import { Overlay } from '../../src/domain/overlay.js';
import { KEPT_CLOSED, prune } from '../../src/domain/prune.js';
import { FOLD_VERSION, packState, unpackState } from '../../src/domain/snapshot.js';
import type { FileState } from '../../src/domain/state.js';
import { fail, pass } from './builders.js';
import { FileHistory } from './history.js';
import { happenings, lawPolicy, live } from './laws-commands.js';
import { abandoning, attempting, contextAt, fold, frontierOutcome, opening } from './specification.js';

/** What every command of a running loop leads to on a state. */
function whatFollows(state: FileState, now: string): unknown[] {
  const open = openDispatches(state)[0]?.dispatchId;
  const commands = [opening({ task: 't1', unique: 'last' }), opening({ task: 'new', unique: 'last', force: true })];
  if (open !== undefined)
    commands.push(attempting(open, fail('E0308')), attempting(open, pass()), frontierOutcome(open, pass()), abandoning(open));
  return commands.map((command) => {
    try {
      return command(state, contextAt(now, lawPolicy));
    } catch (conflict) {
      return String(conflict);
    }
  });
}

describe('a state that is kept between commands', () => {
  it('an overlay behaves as a copy of the map below it, and leaves that one alone', () => {
    const change = fc.record({ what: fc.constantFrom('set' as const, 'delete' as const), key: fc.nat({ max: 9 }), value: fc.nat() });
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat({ max: 9 }), fc.nat())), fc.array(change), (entries, changes) => {
        const below = new Map(entries);
        const copy = new Map(below);
        const overlay = new Overlay(below);
        for (const { what, key, value } of changes) {
          if (what === 'set') {
            copy.set(key, value);
            overlay.set(key, value);
          } else expect(overlay.delete(key)).toBe(copy.delete(key));
          expect([...overlay]).toEqual([...copy]);
          expect([...overlay.keys()]).toEqual([...copy.keys()]);
          expect([...overlay.values()]).toEqual([...copy.values()]);
          expect([overlay.size, overlay.has(key), overlay.get(key)]).toEqual([copy.size, copy.has(key), copy.get(key)]);
        }
        expect([...below]).toEqual([...new Map(entries)]);
      }),
    );
  });

  it('a late map shows what a map would, makes each value once, and none that nobody asks for', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.nat({ max: 50 })), fc.array(fc.nat({ max: 50 })), (keys, asked) => {
        const sorted = keys.sort((a, b) => a - b).map((key) => key / 2);
        const made: number[] = [];
        const late = new LateMap(sorted, (index) => {
          made.push(index);
          return { of: sorted[index] };
        });
        const map = new Map(sorted.map((key) => [key, { of: key }]));
        for (const key of asked) expect([late.has(key / 2), late.get(key / 2)]).toEqual([map.has(key / 2), map.get(key / 2)]);
        expect(new Set(made).size).toBe(made.length);
        expect(made.length).toBe(new Set(asked.filter((key) => map.has(key / 2))).size);
        expect([...late]).toEqual([...map]);
        expect([late.size, [...late.keys()], [...late.values()]]).toEqual([map.size, [...map.keys()], [...map.values()]]);
        for (const key of sorted) expect(late.get(key)).toBe(late.get(key));
      }),
    );
  });

  it('decides after a snapshot was stored and read again as it did before', () => {
    fc.assert(
      fc.property(happenings, (things) => {
        const { state, now } = live(things);
        const restored = unpackState(JSON.parse(JSON.stringify(packState(state))));
        expect(packState(restored)).toEqual(packState(state));
        expect(whatFollows(restored, now)).toEqual(whatFollows(state, now));
      }),
      { numRuns: 60 },
    );
  });

  it('goes on from a snapshot, and from one of that, to what it would have come to without', () => {
    const restored = (state: FileState): FileState => unpackState(JSON.parse(JSON.stringify(packState(state))));
    fc.assert(
      fc.property(happenings, fc.nat(), fc.nat(), (things, one, other) => {
        const { events, state, now } = live(things);
        const first = events.findLastIndex(countsAgain) + 1;
        const [cut, again] = [one, other].map((n) => first + (n % (events.length - first + 1))).sort((a, b) => a - b);
        const kept = fold(events.slice(cut, again), restored(fold(events.slice(0, cut))));
        const whole = fold(events.slice(again), restored(kept));
        expect(packState(whole)).toEqual(packState(state));
        expect(whatFollows(whole, now)).toEqual(whatFollows(state, now));
      }),
      { numRuns: 60 },
    );
  });

  it('names the same of two signals that came of the very same attempts, however it came about', () => {
    const named = (first: string, second: string) => {
      const file = new FileHistory(lawPolicy);
      file.failedBefore('t', [first, second, [first, second]]);
      const dispatch = file.open({ task: 't', budget: 9 });
      file.attempt(dispatch, fail(first, second));
      return file.attempt(dispatch, fail(first, second)).next.pattern;
    };
    expect([named('E0308', 'E0106'), named('E0106', 'E0308')]).toEqual([
      'e0106_missing_lifetime_specifier',
      'e0106_missing_lifetime_specifier',
    ]);
  });

  it('decides the same when old closed dispatches are dropped from it, and goes on to the same', () => {
    const file = new FileHistory(lawPolicy);
    for (let i = 0; i < KEPT_CLOSED + 20; i += 1) file.failedBefore(`t${i % 7}`, [['E0308', 'E0599', 'E0277'][i % 3]!]);
    const dispatch = file.open({ task: 't1', budget: 9 });
    file.attempt(dispatch, fail('E0308'));
    const pruned = fold(file.events);
    prune(pruned);
    expect([...pruned.dispatches.values()].filter(({ status }) => status === 'closed')).toHaveLength(KEPT_CLOSED);
    expect(pruned.attempts.size).toBe(KEPT_CLOSED + 1);
    expect(whatFollows(pruned, file.now)).toEqual(whatFollows(file.state, file.now));
  });

  it('is of the shape that its fold version names: another shape needs another version', () => {
    const file = new FileHistory(lawPolicy);
    file.failedBefore('t', ['E0308', 'E0308', 'E0308']);
    file.attempt(file.open({ task: 't' }), pass());
    file.failedBefore('other', ['E0308']);
    const shape = (value: unknown): unknown => {
      if (Array.isArray(value)) return [...new Map(value.map((one) => [JSON.stringify(shape(one)), shape(one)])).values()];
      if (value !== null && typeof value === 'object') return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, shape(v)]));
      return value === null ? null : typeof value;
    };
    expect(shape(JSON.parse(JSON.stringify(packState(file.state))))).toMatchSnapshot(`fold version ${FOLD_VERSION}`);
  });
});
