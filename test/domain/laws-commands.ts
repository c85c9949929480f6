import fc from 'fast-check';
import { policy } from '../../src/catalogue/policy.js';
import { Conflict } from '../../src/domain/recorder.js';
import { blocked, fail, type Outcome, pass, unsure } from './builders.js';
import { FileHistory } from './history.js';
import { at, FILE, FRONTIER, type Opening, REPO, resolving } from './specification.js';

/** What may happen to a file, in any order; `which` picks one of what is there by then. */
export type Happening =
  | { kind: 'open'; asked: Opening }
  | { kind: 'attempt' | 'frontier'; which: number; outcome: Outcome }
  | { kind: 'abandon' | 'heartbeat'; which: number }
  | { kind: 'resolve'; which: number; resolution: 'accepted' | 'rejected' }
  | { kind: 'correct'; which: number; outcome: Outcome }
  | { kind: 'wait'; seconds: number };

const outcome: fc.Arbitrary<Outcome> = fc.oneof(
  {
    weight: 14,
    arbitrary: fc
      .uniqueArray(fc.constantFrom('E0308', 'E0599', 'E0277', 'E0106', 'go_undefined'), { maxLength: 2 })
      .map((codes) => fail(...codes)),
  },
  { weight: 1, arbitrary: fc.constantFrom(pass(), pass('E0308')) },
  { weight: 2, arbitrary: fc.constantFrom('dns', 'lock').map(blocked) },
  { weight: 2, arbitrary: fc.constantFrom(unsure(blocked('killed')), unsure(fail('E0308'))) },
  // One output that is judged one way and the other.
  { weight: 2, arbitrary: fc.constantFrom(fail('E0308'), fail('E0308'), pass()).map((one) => ({ ...one, output: '// perhaps' })) },
);
const opening: fc.Arbitrary<Opening> = fc.record({
  task: fc.constantFrom('t1', 't1', 't2'),
  builder: fc.constantFrom('builder-9b', 'builder-9b', 'builder-14b'),
  frontier: fc.constantFrom(FRONTIER, FRONTIER, 'another-frontier', null),
  budget: fc.integer({ min: 1, max: 6 }),
  descriptionHash: fc.constantFrom('first', 'first', 'first', 'second'),
  baseHash: fc.constantFrom(null, 'b1', 'b2'),
  carry: fc.constantFrom('none', 'hint'),
  leaseSeconds: fc.constantFrom(60, 900, 900),
  force: fc.constantFrom(false, false, true),
});
const which = fc.nat({ max: 30 });

export const happenings = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: fc.record({ kind: fc.constant('open' as const), asked: opening }) },
    { weight: 12, arbitrary: fc.record({ kind: fc.constant('attempt' as const), which, outcome }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('frontier' as const), which, outcome: fc.oneof(outcome, fc.constant(pass())) }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom('abandon' as const, 'heartbeat' as const), which }) },
    {
      weight: 4,
      arbitrary: fc.record({
        kind: fc.constant('resolve' as const),
        which,
        resolution: fc.constantFrom('accepted' as const, 'rejected' as const),
      }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('correct' as const), which, outcome }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('wait' as const), seconds: fc.constantFrom(1, 29, 30, 60, 900) }) },
  ),
  { minLength: 20, maxLength: 90, size: 'max' },
);

/** No chance in it: probes have tests of their own. */
export const lawPolicy = policy.parse({ probeRate: 0 });

/** Lets things happen to a file, a conflict being an answer as good as any; `seen` is called after each. */
export function live(things: Happening[], seen: (file: FileHistory) => void = () => {}): FileHistory {
  const file = new FileHistory(lawPolicy);
  for (const thing of things) {
    try {
      happen(file, thing);
    } catch (error) {
      if (!(error instanceof Conflict)) throw error;
    }
    seen(file);
  }
  return file;
}

function happen(file: FileHistory, thing: Happening): void {
  const { dispatches, attempts, proposals } = file.state;
  /** The newest come first: most of what happens is about what runs. */
  const pick = <T>(from: Iterable<T>, n: number): T | undefined => [...from].reverse()[n % Math.max(1, Math.min([...from].length, 4))];
  switch (thing.kind) {
    case 'wait':
      file.wait(thing.seconds);
      return;
    case 'open':
      file.open(thing.asked);
      return;
    case 'resolve': {
      const proposal = pick(proposals.values(), thing.which);
      if (proposal) file.run(resolving(proposal.proposalId, thing.resolution));
      return;
    }
    case 'correct': {
      const attempt = pick(attempts.values(), thing.which);
      if (attempt) file.correct(attempt.attemptId, thing.outcome.verdict, thing.outcome.patterns);
      return;
    }
    default: {
      const dispatch = pick(dispatches.values(), thing.which);
      if (dispatch === undefined) return;
      const { dispatchId } = dispatch;
      if (thing.kind === 'attempt') file.attempt(dispatchId, thing.outcome);
      else if (thing.kind === 'frontier') file.frontier(dispatch, thing.outcome, dispatch.frontier ?? undefined);
      else if (thing.kind === 'abandon') file.abandon(dispatch);
      else if (dispatch.status === 'open')
        file.append([
          { type: 'LeaseRenewed', data: { repo: REPO, targetFile: FILE, at: file.now, dispatchId, leaseUntil: at(file.seconds + 60) } },
        ]);
    }
  }
}
