import type { FileEvent } from '../../src/catalogue/events.js';
import { checkEvent } from '../../src/catalogue/versions.js';
import { diffStatistics } from '../../src/domain/diff.js';
import { composeHint, type Hint } from '../../src/domain/hint.js';
import { attemptIdOf, dispatchIdOf, fileIdOf, fileStream } from '../../src/domain/ids.js';
import { inheritHistory, legacyOf } from '../../src/domain/inherit.js';
import { openDispatch } from '../../src/domain/open-dispatch.js';
import { recordAttempt, recordFrontierOutcome } from '../../src/domain/record-attempt.js';
import { packState, unpackState } from '../../src/domain/snapshot.js';
import { facts, fail, hashOf, type Outcome, only, pass } from './builders.js';
import { BUILDER, contextAt, dispatchOf, FRONTIER, fold, REPO } from './specification.js';

/** A file of its own name, grown by real commands. */
class Path {
  readonly events: FileEvent[] = [];
  private dispatches = 0;

  constructor(readonly name: string) {}

  get state() {
    return fold(this.events);
  }

  private get context() {
    return { ...contextAt('2026-03-01T12:00:00.000Z'), targetFile: this.name, stream: fileStream(fileIdOf(REPO, this.name)) };
  }

  private append(events: FileEvent[]): FileEvent[] {
    this.events.push(...events.map((event) => checkEvent(event) as FileEvent));
    return events;
  }

  open(task: string) {
    this.dispatches += 1;
    const dispatchId = dispatchIdOf(fileIdOf(REPO, this.name), `n${this.dispatches}`);
    const given = { dispatchId, targetFiles: [this.name], taskId: task, descriptionHash: hashOf(task), model: BUILDER, frontier: FRONTIER };
    const rest = { description: null, prompt: null, parentTaskId: null, budget: 4, profile: null, arm: null, batch: null, baseHash: null };
    const command = { ...given, ...rest, carry: 'hint' as const, force: false, leaseSeconds: 900 };
    return only(this.append(openDispatch(this.state, command, this.context)), 'NextStepDecided');
  }

  attempt(task: string, outcome: Outcome): void {
    const { dispatchId } = this.open(task);
    if (dispatchId === null) throw new Error('no dispatch was opened');
    this.append(recordAttempt(this.state, dispatchOf(this.state, dispatchId), facts(outcome), this.context));
    this.abandon(dispatchId);
  }

  frontier(task: string, outcome: Outcome): void {
    const { dispatchId } = this.open(task);
    this.append(recordFrontierOutcome(this.state, dispatchOf(this.state, dispatchId!), facts(outcome), FRONTIER, this.context));
  }

  private abandon(dispatchId: string): void {
    if (this.state.dispatches.get(dispatchId)!.status === 'closed') return;
    const { now: at, targetFile } = this.context;
    const of = { repo: REPO, targetFile, at, dispatchId, taskId: 't' };
    this.append([{ type: 'DispatchClosed', data: { ...of, outcome: 'abandoned', cause: 'caller', note: null, otherFiles: [] } }]);
  }

  renamedFrom(old: Path): FileEvent[] {
    const upToRevision = old.events.length - 1;
    const dispatchId = dispatchIdOf(fileIdOf(REPO, old.name), `r${upToRevision}`);
    const by = { dispatchId, attemptId: attemptIdOf(dispatchId, 1), fromFile: old.name, upToRevision };
    return this.append(inheritHistory(this.state, { ...by, ...legacyOf(old.state, old.name, upToRevision) }, this.context));
  }

  hint(task = 't'): Hint {
    return composeHint(this.state, { taskId: task, model: BUILDER, configuration: BUILDER }, this.context.policy, this.context.now);
  }
}

describe('a file that was renamed', () => {
  it('has what it had: counts, histogram, signals, hint, and the same next decision', () => {
    const old = new Path('src/old.rs');
    for (const code of ['E0369', 'E0369', 'E0308', 'E0369']) old.attempt('t', fail(code));
    old.frontier('hard', fail('E0106'));
    const renamed = new Path('src/new.rs');
    const events = renamed.renamedFrom(old);
    expect(events.map(({ type }) => type)).toEqual(['HistoryInherited', 'CalibrationSignalRaised']);
    expect(only(events, 'CalibrationSignalRaised').evidence).toHaveLength(3);
    const { signals: newSignals, ...hint } = renamed.hint();
    const { signals, ...oldHint } = old.hint();
    // Which attempts they were stays with the old file.
    const unlinked = ({ patterns, ...rest }: typeof hint) => ({
      ...rest,
      patterns: patterns.map(({ evidence: _e, lastSeen: _l, ...one }) => one),
    });
    expect(unlinked(hint)).toEqual(unlinked(oldHint));
    expect(newSignals.map(({ newest: _n, ...signal }) => signal)).toEqual(signals.map(({ newest: _n, ...signal }) => signal));
    expect(renamed.open('hard')).toMatchObject({ step: 'decompose', rule: 'task_hardness' });
    expect(renamed.open('t')).toMatchObject({ rule: 'history' });
  });

  it('what it overcomes under its new name is overcome', () => {
    const old = new Path('src/old.rs');
    for (const code of ['E0369', 'E0369', 'E0369']) old.attempt('t', fail(code));
    const renamed = new Path('src/new.rs');
    renamed.renamedFrom(old);
    renamed.attempt('t', pass());
    expect(renamed.state.signals.size).toBe(0);
    expect(renamed.hint()).toMatchObject({ passed: 1, failed: 3 });
  });

  it('goes through a chain of names, and back to its first, and is counted once', () => {
    const [a, b, c] = [new Path('a.rs'), new Path('b.rs'), new Path('c.rs')];
    a.attempt('t', fail('E0308'));
    b.renamedFrom(a);
    b.attempt('t', fail('E0308'));
    c.renamedFrom(b);
    c.attempt('t', fail('E0308'));
    expect([b, c].map((file) => file.hint().failed)).toEqual([2, 3]);
    expect(c.state.signals.size).toBe(1);
    const events = a.renamedFrom(c);
    expect(a.hint()).toMatchObject({ failed: 3, patterns: [{ code: 'E0308', occurrences: 3 }] });
    expect(a.state.evidence.get(BUILDER)!.failures.size).toBe(3);
    expect(events.map(({ type }) => type)).toEqual(['HistoryInherited', 'CalibrationSignalRaised']);
    // Once more round: what is new counts, what is known does not.
    a.attempt('u', fail('E0308'));
    b.renamedFrom(a);
    expect(b.hint().failed).toBe(4);
    b.renamedFrom(a);
    expect([b.hint().failed, b.state.evidence.get(BUILDER)!.failures.size]).toEqual([4, 4]);
  });

  it('onto one that has a history of its own: both count, and what the file knows of a task itself stands', () => {
    const [old, onto] = [new Path('src/old.rs'), new Path('src/onto.rs')];
    old.attempt('t', fail('E0308'));
    old.frontier('t', fail('E0308'));
    onto.attempt('t', fail('E0308'));
    onto.attempt('t', fail('E0308'));
    onto.renamedFrom(old);
    expect(onto.hint()).toMatchObject({ failed: 3, patterns: [{ code: 'E0308', occurrences: 3 }] });
    expect([...onto.state.signals.values()]).toMatchObject([{ kind: 'per_pattern', code: 'E0308' }]);
    expect(onto.open('t')).toMatchObject({ rule: 'history' });
  });

  it('a long history is handed on in one event of bounded size that says what it left out', () => {
    const old = new Path('src/old.rs');
    const { state } = old;
    for (let n = 0; n < 400; n += 1) {
      const path = new Path('src/old.rs');
      path.attempt(`task ${n}`, fail(`a_pattern_${n}_${'x'.repeat(100)}`, 'E0308'));
      const failed = only(path.events, 'VerdictReached');
      const attemptId = attemptIdOf(failed.dispatchId, n + 1);
      fold([{ type: 'VerdictReached', data: { ...failed, attemptId } }], state);
    }
    const legacy = legacyOf(state, 'src/old.rs', state.revision);
    expect(JSON.stringify(legacy).length).toBeLessThan(150_000);
    expect(legacy.results[0]!.histogram.at(-1)).toMatchObject({ code: 'E0308', attempts: 400 });
    expect(legacy.failures.length + legacy.leftOut.failures).toBe(400);
    expect(legacy.tasks.at(-1)!.taskId).toBe('task 399');
    expect(legacy.leftOut.patterns).toBeGreaterThan(250);
    expect(legacy.results[0]).toMatchObject({ counted: 400, builder: { fail: 400 } });
  });

  it('is the same after its state was stored and read again', () => {
    const old = new Path('src/old.rs');
    for (const code of ['E0369', 'E0308']) old.attempt('t', fail(code));
    const renamed = new Path('src/new.rs');
    renamed.renamedFrom(old);
    expect(packState(unpackState(JSON.parse(JSON.stringify(packState(renamed.state)))))).toEqual(packState(renamed.state));
  });
});

describe('the renames that a diff tells', () => {
  it('git’s headers, with and without changed lines, quoted where a name needs it', () => {
    const diff = [
      ...['diff --git a/src/old.rs b/src/new.rs', 'similarity index 90%', 'rename from src/old.rs', 'rename to src/new.rs'],
      ...['--- a/src/old.rs', '+++ b/src/new.rs', '@@ -1 +1,2 @@', '-old', '+new', '+rename from x'],
      ...['diff --git "a/src/\\303\\244 \\"q\\".rs" b/src/b.rs', 'similarity index 100%'],
      ...['rename from "src/\\303\\244 \\"q\\".rs"', 'rename to src/b.rs'],
    ].join('\n');
    expect(diffStatistics(diff)).toEqual({
      paths: ['src/new.rs', 'src/b.rs'],
      ...{ files: 2, added: 2, removed: 1 },
      renames: [
        { from: 'src/old.rs', to: 'src/new.rs' },
        { from: 'src/ä "q".rs', to: 'src/b.rs' },
      ],
    });
  });

  it('a copy, a rename that is only half said, and lines of a hunk are none; of very many the first hundred are told', () => {
    const none = ['copy from a', 'copy to b', 'rename to c', 'rename from d', '@@ -1 +1 @@', ' rename to e', '-rename to f'].join('\n');
    expect(diffStatistics(none).renames).toEqual([]);
    const many = Array.from({ length: 150 }, (_, n) => `rename from a/${n}\nrename to b/${n}\n`).join('');
    expect(diffStatistics(many)).toMatchObject({ files: 150, renames: { length: 100 } });
  });
});
