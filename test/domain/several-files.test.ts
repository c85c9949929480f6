import fc from 'fast-check';
import type { FileEvent } from '../../src/catalogue/events.js';
import { defaultPolicy, policy } from '../../src/catalogue/policy.js';
import {
  attributeFailure,
  attributionOf,
  correctAttributed,
  fileNamed,
  type HomeAttempt,
  overcomeAttributed,
  taskOf,
} from '../../src/domain/attribute.js';
import { liveSignals } from '../../src/domain/calibrate.js';
import { attemptIdOf, dispatchIdOf, fileIdOf } from '../../src/domain/ids.js';
import { packState, unpackState } from '../../src/domain/snapshot.js';
import { all, fail, pass, pattern } from './builders.js';
import { FileHistory } from './history.js';
import { BUILDER, type Command, contextAt, fold, REPO } from './specification.js';

const FILES = ['src/home.rs', 'src/lib.rs', 'crates/a/src/lib.rs', 'src/deep/mod.rs'];
const inFile = (code: string, file: string | null) => pattern(code, { file });

describe('what the other files of a task learn of a failed attempt', () => {
  const attempt = {
    patterns: [
      inFile('E0308', 'src/home.rs'),
      inFile('E0369', 'src/deep/mod.rs'),
      inFile('E0308', './src/deep/mod.rs'),
      inFile('E0425', null),
    ],
    filesTouched: ['src/home.rs', 'crates/a/src/lib.rs'],
  };

  it.each([
    ['target', 'src/deep/mod.rs', null],
    ['span', 'src/deep/mod.rs', ['E0369', 'E0308']],
    ['span', 'src/lib.rs', null],
    ['touched', 'crates/a/src/lib.rs', ['E0308', 'E0369', 'E0308', 'E0425']],
    ['touched', 'src/deep/mod.rs', null],
  ] as const)('%s: %s', (rule, file, codes) => {
    expect(attributionOf(file, FILES, attempt, rule)?.map(({ code }) => code) ?? null).toEqual(codes);
  });

  it.each([
    ['src/lib.rs', 'src/lib.rs'],
    ['.\\src\\deep\\mod.rs', 'src/deep/mod.rs'],
    ['deep/mod.rs', 'src/deep/mod.rs'],
    ['/home/me/repo/src/deep/mod.rs', 'src/deep/mod.rs'],
    ['crates/a/src/lib.rs', 'crates/a/src/lib.rs'],
    // Both files named lib.rs end so.
    ['lib.rs', null],
    ['/repo/crates/a/src/lib.rs', null],
    ['elib.rs', null],
    ['', null],
  ])('a tool that says %j means %j', (path, file) => {
    expect(fileNamed(path, FILES)).toBe(file);
  });
});

const home = (n: number, more: Partial<HomeAttempt> = {}): HomeAttempt => {
  const dispatchId = dispatchIdOf(fileIdOf(REPO, 'src/home.rs'), `h${n}`);
  const attemptId = attemptIdOf(dispatchId, 1);
  return {
    ...{ dispatchId, attemptId, homeFile: 'src/home.rs', homeRevision: 10 * n, taskId: 'far', profile: null },
    ...{ model: BUILDER, configuration: BUILDER, ...more },
  };
};
const attributing =
  (n: number, codes: string[], more: Partial<HomeAttempt> = {}): Command =>
  (state, context) =>
    attributeFailure(
      state,
      home(n, more),
      codes.map((code) => pattern(code)),
      context,
    );
const types = (events: FileEvent[]) => events.map(({ type }) => type);

describe('a failure that another home attributed', () => {
  it('is a live failure here: with two of its own it makes a signal, raised in the same append, that names it as evidence', () => {
    const file = new FileHistory();
    const own = file.failedBefore('near', ['E0369', 'E0369']);
    const events = file.run(attributing(1, ['E0369', 'E0369']));
    expect(types(events)).toEqual(['FailureAttributed', 'CalibrationSignalRaised']);
    expect(all(events, 'CalibrationSignalRaised')[0]).toMatchObject({ occurrences: 3, evidence: [...own, home(1).attemptId] });
  });

  it('is no attempt of this file, but makes it known: the histogram has it, the file is not cold, the hint says whence it came', () => {
    const file = new FileHistory();
    file.run(attributing(1, ['E0369', 'E0369']));
    expect(file.hint()).toMatchObject({ total: 0, failed: 0, patterns: [{ code: 'E0369', occurrences: 1 }] });
    expect(file.hint().text).toBe(
      '1 failure of work on other files had errors in this one. Known failure patterns: E0369 (trait bound, 1 occurrence).',
    );
    const { events, next } = file.open();
    expect(all(events, 'DispatchOpened')[0]!.cold).toBe(false);
    expect(next).toMatchObject({ rule: 'history', detail: '1 earlier attempts on this file passed or failed' });
    expect(file.state.learnedFrom.get('src/home.rs')).toBe(10);
  });

  it('is overcome when its own task is passed at its home by that configuration, and by nothing else', () => {
    const file = new FileHistory();
    for (const n of [1, 2, 3]) file.run(attributing(n, ['E0369']));
    expect(file.signals).toEqual(['per_pattern:E0369']);
    const dispatch = file.open({ task: 'far', force: true });
    file.attempt(dispatch, pass());
    expect(file.signals).toEqual(['per_pattern:E0369']);
    const passing =
      (more: Partial<HomeAttempt>): Command =>
      (state, context) =>
        overcomeAttributed(state, home(4, more), context);
    expect(file.run(passing({ configuration: 'another' }))).toEqual([]);
    expect(file.run(passing({ taskId: 'another' }))).toEqual([]);
    expect(file.run(passing({ homeFile: 'src/another.rs' }))).toEqual([]);
    const events = file.run(passing({}));
    expect(types(events)).toEqual(['AttributionWithdrawn', 'CalibrationSignalCleared']);
    expect(all(events, 'CalibrationSignalCleared')[0]!.reason).toBe('overcome');
    expect(file.hint().patterns).toMatchObject([{ code: 'E0369', occurrences: 3 }]);
    expect(file.run(passing({}))).toEqual([]);
  });

  it('gives way when its verdict is corrected: signal, histogram and count are those of what is true now', () => {
    const file = new FileHistory();
    for (const n of [1, 2, 3]) file.run(attributing(n, ['E0369']));
    const correct =
      (before: string | null, now: string | null): Command =>
      (state, context) =>
        correctAttributed(
          state,
          home(2, { homeRevision: 99 }),
          { before: before === null ? null : [pattern(before)], now: now === null ? null : [pattern(now)] },
          { places: new Map(), passes: [] },
          context,
        );
    const events = file.run(correct('E0369', 'E0308'));
    expect(types(events)).toEqual(['AttributionWithdrawn', 'FailureAttributed', 'CalibrationSignalCleared']);
    expect(all(events, 'CalibrationSignalCleared')[0]!.reason).toBe('corrected');
    expect(file.hint().patterns.map(({ code, occurrences }) => [code, occurrences])).toEqual([
      ['E0369', 2],
      ['E0308', 1],
    ]);
    file.run(correct('E0308', 'E0369'));
    expect(file.signals).toEqual(['per_pattern:E0369']);
    file.run(correct('E0369', null));
    expect([file.signals, file.state.attributed, file.state.evidence.get(BUILDER)!.failures.size]).toEqual([[], 2, 2]);
    // What was taken out is not taken out once more by a pass.
    file.run((state, context) => overcomeAttributed(state, home(5), context));
    expect([...file.state.evidence.get(BUILDER)!.tallies]).toEqual([]);
  });

  it('is live where it is at its home, whatever turns out there later, in whatever order', () => {
    const happening = fc.oneof(
      fc.record({ verdict: fc.constantFrom('fail' as const, 'fail' as const, 'pass' as const), code: fc.constantFrom('E0308', 'E0369') }),
      fc.record({
        correct: fc.nat({ max: 20 }),
        verdict: fc.constantFrom('fail' as const, 'pass' as const, 'blocked' as const),
        code: fc.constantFrom('E0308', 'E0369'),
      }),
    );
    fc.assert(
      fc.property(fc.array(happening, { maxLength: 20 }), (things) => {
        const [there, here] = [new FileHistory(), new FileHistory()];
        const attempts: string[] = [];
        // As the saga tells it: everything that fails, with all of its patterns.
        const homeOf = (attemptId: string) => home(1, { attemptId, homeRevision: there.state.revision });
        for (const thing of things) {
          const patterns = thing.verdict === 'fail' ? [pattern(thing.code)] : [];
          if ('correct' in thing) {
            const attemptId = attempts[thing.correct % attempts.length];
            if (attemptId === undefined || there.correct(attemptId, thing.verdict, patterns).length === 0) continue;
            const told = [...here.state.learned.values()].filter(({ data }) => 'attemptId' in data && data.attemptId === attemptId).at(-1);
            const before = told?.type === 'FailureAttributed' ? told.data.patterns : null;
            const now = thing.verdict === 'fail' ? patterns : null;
            const task = taskOf(there.state, home(1));
            here.run((state, context) => correctAttributed(state, homeOf(attemptId), { before, now }, task, context));
          } else {
            const dispatch = there.open({ task: 'far', force: true });
            const { attemptId } = there.attempt(dispatch, {
              ...(thing.verdict === 'pass' ? pass() : fail(thing.code)),
              // The same output judged both ways would be a flaky verifier's.
              output: `output ${attempts.length}`,
            });
            if (there.dispatch(dispatch).status === 'open') there.abandon(dispatch);
            attempts.push(attemptId);
            if (thing.verdict === 'pass') here.run((state, context) => overcomeAttributed(state, homeOf(attemptId), context));
            else here.run((state, context) => attributeFailure(state, homeOf(attemptId), patterns, context));
          }
          const live = ({ state }: FileHistory) =>
            [...(state.evidence.get(BUILDER)?.failures.values() ?? [])].map(({ attemptId }) => attemptId).sort();
          const seen = ({ state }: FileHistory) => [...state.histogram].map(([key, { attempts: count }]) => [key, count]).sort();
          expect([live(here), seen(here), here.signals]).toEqual([live(there), seen(there), there.signals]);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('is live again, as old as it was, when the pass that had overcome it turns out to be none', () => {
    const file = new FileHistory();
    for (const n of [1, 2, 3]) file.run(attributing(n, ['E0369']));
    const before = [...file.state.evidence.get(BUILDER)!.failures.values()];
    file.wait(3600).run((state, context) => overcomeAttributed(state, home(4), context));
    const correcting: Command = (state, context) =>
      correctAttributed(state, home(4, { homeRevision: 99 }), { before: null, now: null }, { places: new Map(), passes: [] }, context);
    const events = file.run(correcting);
    expect(types(events)).toEqual(['AttributionWithdrawn', 'CalibrationSignalRaised']);
    expect(all(events, 'AttributionWithdrawn')[0]).toMatchObject({ reason: 'not_overcome', attemptId: home(4).attemptId });
    expect([...file.state.evidence.get(BUILDER)!.failures.values()]).toEqual(before);
    expect(file.run(correcting)).toEqual([]);
  });

  it('keeps its place when a correction of an own verdict has everything counted again, and after a snapshot', () => {
    const happening = fc.oneof(
      fc.record({
        kind: fc.constant('own' as const),
        task: fc.constantFrom('t1', 't2'),
        code: fc.constantFrom('E0308', 'E0369'),
        passes: fc.boolean(),
      }),
      fc.record({ kind: fc.constant('told' as const), n: fc.nat({ max: 1000 }), code: fc.constantFrom('E0308', 'E0369') }),
      fc.record({ kind: fc.constant('overcome' as const) }),
    );
    fc.assert(
      fc.property(fc.array(happening, { maxLength: 25 }), fc.nat(), (things, which) => {
        const file = new FileHistory(policy.parse({ probeRate: 0 }));
        let n = 0;
        for (const thing of things) {
          n += 1;
          if (thing.kind === 'told') file.run(attributing(n, [thing.code]));
          else if (thing.kind === 'overcome') file.run((state, context) => overcomeAttributed(state, home(n), context));
          else {
            const dispatch = file.open({ task: thing.task, force: true });
            file.attempt(dispatch, thing.passes ? pass() : fail(thing.code));
            if (file.dispatch(dispatch).status === 'open') file.abandon(dispatch);
          }
        }
        const attempts = [...file.state.attempts.values()];
        if (attempts.length === 0) return;
        // A correction to the very same verdict: everything is counted again, and must come out as it was.
        const { attemptId, verdict, patterns } = attempts[which % attempts.length]!;
        const before = packState(file.state);
        file.correct(attemptId, verdict, patterns);
        const { revision: _a, attempts: _b, dispatches: _c, ...again } = packState(file.state);
        const { revision: _d, attempts: _e, dispatches: _f, ...expected } = before;
        expect(again).toEqual(expected);
        const restored = unpackState(JSON.parse(JSON.stringify(packState(file.state))));
        expect(packState(restored)).toEqual(packState(file.state));
        const signals = (state: typeof restored) => liveSignals(state, BUILDER, defaultPolicy, file.now);
        expect(signals(restored)).toEqual(signals(file.state));
      }),
      { numRuns: 150 },
    );
  });

  it('counts for a decision as any other: a dispatch that meets the pattern again escalates', () => {
    const file = new FileHistory();
    file.run(attributing(1, ['E0369']));
    const dispatch = file.open({ task: 'near' });
    file.attempt(dispatch, fail('E0369'));
    expect(file.attempt(dispatch, fail('E0369')).next).toMatchObject({ step: 'escalate', rule: 'per_pattern', occurrences: 3 });
  });
});

it('evidence that is discounted by its profile is discounted where it was attributed, too', () => {
  const state = fold([]);
  const discounting = { ...defaultPolicy, discounts: [{ profile: 'broken' }] };
  for (const n of [1, 2, 3]) {
    const told = attributing(n, ['E0369'], { profile: 'broken' })(state, contextAt('2026-03-01T12:00:00.000Z', discounting));
    expect(types(told)).toEqual(['FailureAttributed']);
    fold(told, state);
  }
  expect(liveSignals(state, BUILDER, defaultPolicy, '2026-03-01T12:00:00.000Z')).toHaveLength(1);
});
