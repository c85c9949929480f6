import { serialize } from 'node:v8';
import fc from 'fast-check';
import { decideNext, openDispatches } from '../../src/domain/next-step.js';
import { settleOverdue } from '../../src/domain/settle.js';
import { packState } from '../../src/domain/snapshot.js';
import { type FileState, fork } from '../../src/domain/state.js';
import { all, fail, pass } from './builders.js';
import type { FileHistory } from './history.js';
import { happenings, lawPolicy, live } from './laws-commands.js';
import { allNaiveSignals, naiveDecision } from './laws-oracle.js';
import { abandoning, attempting, type Command, contextAt, fold, frontierOutcome, opening, STREAM } from './specification.js';

const often = { numRuns: 150 };
/** Everything that a state holds, in its order: two equal buffers are two equal states. */
const snapshot = (state: FileState) => serialize(state).toString('base64');

describe('whatever happens to a file', () => {
  it('a command changes nothing of the state that it is given', () => {
    fc.assert(
      fc.property(happenings, (things) => {
        const { state, now } = live(things);
        const open = openDispatches(state)[0]?.dispatchId;
        const commands: Command[] = [opening({ task: 't1', unique: 'last' }), (given, context) => settleOverdue(given, context)];
        if (open !== undefined)
          commands.push(attempting(open, fail('E0308')), attempting(open, pass()), frontierOutcome(open, pass()), abandoning(open));
        const before = snapshot(state);
        for (const command of commands) {
          try {
            command(state, contextAt(now, lawPolicy));
          } catch {}
          expect(snapshot(state)).toBe(before);
        }
      }),
      often,
    );
  });

  it('folding in pieces is folding at once, and a fork leaves what it came from alone', () => {
    fc.assert(
      fc.property(happenings, fc.double({ min: 0, max: 1, noNaN: true }), (things, where) => {
        const { events } = live(things);
        const cut = Math.floor(where * events.length);
        const head = fold(events.slice(0, cut));
        const before = snapshot(head);
        expect(packState(fold(events.slice(cut), fork(head)))).toEqual(packState(fold(events)));
        expect(snapshot(head)).toBe(before);
        expect(fold(events).revision).toBe(events.length - 1);
      }),
      often,
    );
  });

  it('after every append, the signals of the stream are those that its live failures amount to', () => {
    let raised = 0;
    const check = (file: FileHistory) => {
      const told = [...file.state.signals.values()].map(
        ({ configuration, kind, code, pattern }) => `${configuration} ${kind} ${code ?? pattern ?? ''}`,
      );
      expect(told.sort()).toEqual(allNaiveSignals(file.events));
    };
    fc.assert(
      fc.property(happenings, (things) => {
        raised += all(live(things, check).events, 'CalibrationSignalRaised').length;
      }),
      often,
    );
    expect(raised).toBeGreaterThan(often.numRuns / 4);
  });

  // A fixed seed, so that it cannot be chance whether every rule was met.
  it('every decision is the one that the tables of domain.md give', () => {
    const rules = new Set<string>();
    fc.assert(
      fc.property(happenings, (things) => {
        const { events } = live(things);
        for (const decision of all(events, 'NextStepDecided')) {
          const upTo = events.slice(0, decision.basedOn[0]!.revision + 1);
          expect(`${decision.step} ${decision.rule}`).toBe(naiveDecision(upTo, decision.inputs, decision.decidedAt));
          rules.add(decision.rule);
        }
      }),
      { numRuns: 400, seed: 20_260_301 },
    );
    expect([...rules].sort()).toEqual(
      [
        ...[
          'already_running',
          'budget_exhausted',
          'cold_start',
          'confirmed_capacity',
          'existing_proposal',
          'frontier_failed',
          'frontier_passed',
        ],
        ...[
          'history',
          'infra_blocked',
          'infra_cooldown',
          'late_result',
          'passed',
          'per_file',
          'per_pattern',
          'repeated_signature',
          'undecided',
        ],
        ...['task_hardness', 'within_budget'],
      ].sort(),
    );
  });

  it('every decision decides the same again from what it says that it was based on', () => {
    fc.assert(
      fc.property(happenings, (things) => {
        const { events } = live(things);
        for (const decision of all(events, 'NextStepDecided')) {
          const based = decision.basedOn.find(({ stream }) => stream === STREAM)!;
          const again = decideNext(fold(events.slice(0, based.revision + 1)), decision.inputs, lawPolicy, decision.decidedAt);
          expect(decision).toMatchObject(again);
        }
      }),
      often,
    );
  });

  it('a dispatch opens once and closes exactly once, and never counts more than its budget', () => {
    fc.assert(
      fc.property(happenings, (things) => {
        const file = live(things);
        file.wait(1_000_000).run(settleOverdue);
        const opened = all(file.events, 'DispatchOpened').map(({ dispatchId }) => dispatchId);
        const closed = all(file.events, 'DispatchClosed').map(({ dispatchId }) => dispatchId);
        expect(new Set(opened).size).toBe(opened.length);
        expect([...closed].sort()).toEqual([...opened].sort());
        const corrected = new Set(all(file.events, 'VerdictCorrected').map(({ dispatchId }) => dispatchId));
        for (const { dispatchId, counted, budget } of file.state.dispatches.values())
          if (!corrected.has(dispatchId)) expect(counted).toBeLessThanOrEqual(budget);
      }),
      often,
    );
  });

  it('one task is built once at a time, and has one pending proposal at most', () => {
    fc.assert(
      fc.property(happenings, (things) => {
        live(things, ({ state, now }) => {
          const running = openDispatches(state).filter(({ leaseUntil }) => leaseUntil > now);
          for (const list of [running, [...state.proposals.values()]]) {
            const tasks = list.map(({ taskId }) => taskId);
            expect(new Set(tasks).size).toBe(tasks.length);
          }
        });
      }),
      often,
    );
  });

  it('only what a lost lease closed takes results, and those are marked late', () => {
    fc.assert(
      fc.property(happenings, (things) => {
        const { events } = live(things);
        events.forEach(({ type, data }, place) => {
          if (type !== 'AttemptRecorded') return;
          const closed = all(events.slice(0, place), 'DispatchClosed').find(({ dispatchId }) => dispatchId === data.dispatchId);
          expect([data.late, closed?.cause]).toEqual(closed ? [true, 'lease_lost'] : [false, undefined]);
        });
      }),
      often,
    );
  });
});
