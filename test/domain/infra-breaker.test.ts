import type { InfraEvent } from '../../src/catalogue/events.js';
import { defaultPolicy } from '../../src/catalogue/policy.js';
import type { Verdict } from '../../src/catalogue/primitives.js';
import { readEvent } from '../../src/catalogue/versions.js';
import {
  evolveInfra,
  heldUpFor,
  type InfraState,
  needsProbe,
  noInfraTrouble,
  noticeVerdict,
  startProbe,
} from '../../src/domain/infra-breaker.js';
import { decideNext } from '../../src/domain/next-step.js';
import { ProbeNeeded } from '../../src/domain/open-dispatch.js';
import { fail, only, pass } from './builders.js';
import { FileHistory } from './history.js';
import { at, contextAt, dispatchId, opening, REPO } from './specification.js';

/** A repo's infrastructure stream, grown by what verdicts say of it. */
class Infra {
  readonly events: InfraEvent[] = [];

  get state(): InfraState {
    return this.events.reduce(evolveInfra, noInfraTrouble);
  }

  verdict(seconds: number, file: string, verdict: Verdict, infraKind: string | null = null, of = 'x'): string[] {
    const reached = {
      repo: REPO,
      targetFile: file,
      at: at(seconds),
      dispatchId: dispatchId(of),
      attemptId: `a-${seconds}`,
      verdict,
      infraKind,
    };
    return this.append(noticeVerdict(this.state, reached, defaultPolicy));
  }

  probe(seconds: number, of: string): string[] {
    return this.append(startProbe(this.state, { repo: REPO, targetFile: 'p.rs', dispatchId: dispatchId(of) }, 60, at(seconds)));
  }

  private append(events: InfraEvent[]): string[] {
    this.events.push(...events.map(({ type, data }) => readEvent(type, 1, data) as InfraEvent));
    return events.map(({ type }) => type);
  }

  /** Three files, ten seconds apart, the last at 20: open until 920. */
  static down(): Infra {
    const infra = new Infra();
    for (const [n, file] of ['a.rs', 'b.rs', 'c.rs'].entries()) infra.verdict(10 * n, file, 'blocked', 'dns');
    return infra;
  }
}

const NOTICED = 'InfraBlockNoticed';

describe('the breaker opens', () => {
  it('with the third file that one kind blocks within five minutes, for the cooldown of that kind', () => {
    const infra = new Infra();
    expect(infra.verdict(0, 'a.rs', 'blocked', 'lock')).toEqual([NOTICED]);
    expect(infra.verdict(100, 'b.rs', 'blocked', 'lock')).toEqual([NOTICED]);
    expect(infra.verdict(300, 'c.rs', 'blocked', 'lock')).toEqual([NOTICED, 'InfraBreakerOpened']);
    expect(infra.state.open).toMatchObject({ infraKind: 'lock', targetFiles: ['a.rs', 'b.rs', 'c.rs'], until: at(330) });
  });

  it.each<[string, [number, string, string][]]>([
    [
      'the same file again and again',
      [
        [0, 'a.rs', 'dns'],
        [1, 'a.rs', 'dns'],
        [2, 'b.rs', 'dns'],
        [3, 'b.rs', 'dns'],
      ],
    ],
    [
      'different kinds',
      [
        [0, 'a.rs', 'dns'],
        [1, 'b.rs', 'disk'],
        [2, 'c.rs', 'tls'],
        [3, 'd.rs', 'disk'],
      ],
    ],
    [
      'over five minutes',
      [
        [0, 'a.rs', 'dns'],
        [200, 'b.rs', 'dns'],
        [301, 'c.rs', 'dns'],
      ],
    ],
  ])('not for %s', (_what, blocked) => {
    const infra = new Infra();
    for (const [seconds, file, kind] of blocked) infra.verdict(seconds, file, 'blocked', kind);
    expect(infra.state.open).toBeNull();
  });

  it('not again by what was blocked before it closed', () => {
    const infra = Infra.down();
    infra.verdict(30, 'd.rs', 'pass');
    expect(infra.verdict(31, 'e.rs', 'blocked', 'dns')).toEqual([NOTICED]);
    expect(infra.state.open).toBeNull();
  });
});

describe('an open breaker', () => {
  it('is closed by the first verdict that is not blocked, of whatever file; not by one from before it opened', () => {
    const infra = Infra.down();
    expect(infra.verdict(19, 'd.rs', 'pass')).toEqual([]);
    expect(infra.verdict(21, 'd.rs', 'fail')).toEqual(['InfraBreakerClosed']);
    expect(infra.verdict(22, 'd.rs', 'fail')).toEqual([]);
  });

  it('holds up everybody for its cooldown, then lets one through, and others when that one is overdue', () => {
    const infra = Infra.down();
    const wait = (seconds: number, of: string) => heldUpFor(infra.state, dispatchId(of), at(seconds));
    expect([wait(20, 'one'), wait(919.5, 'one'), wait(920, 'one')]).toEqual([900, 1, 0]);
    expect(infra.probe(919, 'one')).toEqual([]);
    expect(needsProbe(infra.state, dispatchId('one'), at(920))).toBe(true);
    expect(infra.probe(920, 'one')).toEqual(['InfraProbeStarted']);
    expect(infra.probe(921, 'two')).toEqual([]);
    expect([wait(921, 'one'), wait(921, 'two')]).toEqual([0, 59]);
    expect(needsProbe(infra.state, dispatchId('one'), at(921))).toBe(false);
    expect(infra.probe(980, 'two')).toEqual(['InfraProbeStarted']);
    expect(wait(981, 'one')).toBe(59);
  });

  it('begins its cooldown again when the probe is blocked; what else is blocked meanwhile changes nothing', () => {
    const infra = Infra.down();
    infra.probe(920, 'one');
    expect(infra.verdict(925, 'q.rs', 'blocked', 'dns', 'other')).toEqual([NOTICED]);
    expect(infra.verdict(930, 'p.rs', 'blocked', 'dns', 'one')).toEqual([NOTICED, 'InfraBreakerOpened']);
    expect(infra.state.open).toMatchObject({ until: at(1830), probe: null });
    infra.probe(1830, 'two');
    expect(infra.verdict(1831, 'p.rs', 'pass', null, 'two')).toEqual(['InfraBreakerClosed']);
    expect(heldUpFor(infra.state, dispatchId('any'), at(1832))).toBe(0);
  });
});

describe('opening a dispatch while the breaker is open', () => {
  const context = (infra: Infra, seconds: number) => {
    const { state } = infra;
    return { ...contextAt(at(seconds)), infra: state, infraBasis: { stream: `infra-${REPO}`, revision: state.revision } };
  };
  const asking = (file: FileHistory, infra: Infra, seconds: number, asked: Parameters<typeof opening>[0] = {}) =>
    opening(asked)(file.state, context(infra, seconds));

  it('stops, names the stream that it was decided on, and decides the same again', () => {
    const [file, infra] = [new FileHistory(), Infra.down()];
    const events = asking(file, infra, 30);
    const decision = only(events, 'NextStepDecided');
    expect(decision).toMatchObject({ step: 'stop', rule: 'infra_breaker', retryAfterSeconds: 890, dispatchId: null });
    expect(decision.basedOn.at(-1)).toEqual({ stream: `infra-${REPO}`, revision: 3 });
    expect(only(events, 'DispatchSkipped').rule).toBe('infra_breaker');
    expect(decision).toMatchObject(decideNext(file.state, decision.inputs, defaultPolicy, decision.decidedAt, infra.state));
  });

  it('with force it goes on', () => {
    expect(only(asking(new FileHistory(), Infra.down(), 30, { force: true }), 'NextStepDecided').step).toBe('attempt');
  });

  it('after the cooldown it asks to be the probe, unless there is nothing to open anyway', () => {
    const [file, infra] = [new FileHistory(), Infra.down()];
    expect(() => asking(file, infra, 920)).toThrow(ProbeNeeded);
    infra.probe(920, '1');
    expect(only(asking(file, infra, 921), 'NextStepDecided').step).toBe('attempt');
    expect(only(asking(file, infra, 921, { unique: '2' }), 'NextStepDecided')).toMatchObject({
      rule: 'infra_breaker',
      retryAfterSeconds: 59,
    });
    const built = new FileHistory();
    built.attempt(built.open(), pass());
    expect(only(asking(built, Infra.down(), 920, { unique: '2' }), 'NextStepDecided').rule).toBe('existing_proposal');
    const hard = new FileHistory();
    hard.frontier(hard.open(), fail('E0308'));
    expect(only(asking(hard, Infra.down(), 920, { unique: '2' }), 'NextStepDecided').rule).toBe('task_hardness');
  });
});
