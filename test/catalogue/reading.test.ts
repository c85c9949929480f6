import { readFileSync } from 'node:fs';
import { eventSchemas, fileEventTypes, isEventType, otherEventSchemas } from '../../src/catalogue/events.js';
import { metadata } from '../../src/catalogue/metadata.js';
import { checkEvent, currentVersion, readEvent, UnreadableEvent } from '../../src/catalogue/versions.js';

const golden = (name: string): Record<string, unknown> =>
  JSON.parse(readFileSync(new URL(`./golden/${name}.json`, import.meta.url), 'utf8')).data;
const lease = golden('LeaseRenewed.v1');

describe('a stored event that cannot be read is never cast', () => {
  it.each([
    ['an unknown type', 'LeaseForgotten', 1, lease],
    ['a type that every object has', 'constructor', 1, lease],
    ['no type', '', 1, lease],
    ['a newer version', 'LeaseRenewed', currentVersion('LeaseRenewed') + 1, lease],
    ['an unknown field', 'LeaseRenewed', 1, { ...lease, colour: 'red' }],
    ['an unknown field further in', 'AttemptRecorded', 1, { ...golden('AttemptRecorded.v1'), usage: { promptTokens: 1, joules: 2 } }],
    ['a field of another kind', 'LeaseRenewed', 1, { ...lease, leaseUntil: 1_772_366_400 }],
    ['no time', 'LeaseRenewed', 1, { ...lease, at: 'yesterday' }],
    ['null', 'LeaseRenewed', 1, null],
    ['no data', 'LeaseRenewed', 1, undefined],
    ['text', 'LeaseRenewed', 1, JSON.stringify(lease)],
  ])('%s', (_what, type, version, data) => {
    expect(() => readEvent(type, version, data)).toThrow(UnreadableEvent);
  });

  it('says which, of which version, and why', () => {
    expect(() => readEvent('LeaseForgotten', 3, {})).toThrow(/LeaseForgotten.*version 3.*unknown/);
    expect(() => readEvent('LeaseRenewed', 99, lease)).toThrow(/LeaseRenewed.*version 99.*newer/);
    expect(() => readEvent('LeaseRenewed', 1, { ...lease, leaseUntil: null })).toThrow(/LeaseRenewed.*leaseUntil/);
  });

  it('neither is one written: a bug must not reach the log', () => {
    const event = { type: 'LeaseRenewed', data: { ...lease, colour: 'red' } };
    expect(() => checkEvent(event as unknown as Parameters<typeof checkEvent>[0])).toThrow(UnreadableEvent);
  });
});

describe('values that only some words fit', () => {
  it.each([
    ['DispatchClosed.v1', 'outcome', ['passed', 'escalated_passed', 'escalated_failed', 'exhausted', 'futile', 'blocked', 'abandoned']],
    ['DispatchClosed.v1', 'cause', ['lease_lost', 'caller', null]],
    ['CalibrationSignalCleared.v1', 'reason', ['overcome', 'superseded', 'corrected', 'discounted']],
    ['CalibrationSignalRaised.v1', 'kind', ['per_pattern', 'per_file']],
    ['ProposalResolved.v1', 'resolution', ['accepted', 'rejected', 'superseded', 'expired']],
    ['CapacityClassified.v1', 'classification', ['capacity', 'task_hardness']],
    ['VerdictReached.v1', 'verdict', ['pass', 'fail', 'blocked']],
    ['VerdictReached.v1', 'seat', ['builder', 'frontier']],
    ['DispatchOpened.v1', 'carry', ['none', 'hint', 'diff_feedback']],
    ['HistoryInjected.v1', 'mode', ['hint', 'diff_feedback']],
    ['NextStepDecided.v1', 'step', ['attempt', 'retry', 'replan', 'escalate', 'decompose', 'wait', 'done', 'stop']],
  ])('%s: %s', (name, field, words) => {
    const [type] = name.split('.') as [string];
    for (const word of words) expect(readEvent(type, 1, { ...golden(name), [field]: word }).data).toMatchObject({ [field]: word });
    for (const word of ['', 'other', 'PASSED', 1])
      expect(() => readEvent(type, 1, { ...golden(name), [field]: word })).toThrow(UnreadableEvent);
  });

  it('nothing is injected with mode none', () => {
    expect(() => readEvent('HistoryInjected', 1, { ...golden('HistoryInjected.v1'), mode: 'none' })).toThrow(UnreadableEvent);
  });

  it('a signal names at most 20 attempts', () => {
    const raised = (n: number) => () =>
      readEvent('CalibrationSignalRaised', 1, { ...golden('CalibrationSignalRaised.v1'), evidence: Array(n).fill('a') });
    expect(raised(20)).not.toThrow();
    expect(raised(21)).toThrow('evidence');
  });
});

it('every event of domain.md has a schema, and beside them only what other files are told of the end of things, what a breaker counts by, and when the log is filled', () => {
  const ofFiles = [
    ...[
      'DispatchOpened',
      'LeaseRenewed',
      'DuplicateDispatchPrevented',
      'DispatchSkipped',
      'HistoryInjected',
      'AttemptRecorded',
      'SnapshotDiffCaptured',
    ],
    ...[
      'VerdictReached',
      'CalibrationSignalRaised',
      'CalibrationSignalCleared',
      'NextStepDecided',
      'FrontierOutcomeRecorded',
      'CapacityClassified',
    ],
    ...[
      'TaskFlaggedForDecomposition',
      'FailureAttributed',
      'HistoryInherited',
      'VerdictCorrected',
      'CorrectionPairWithdrawn',
      'ProposalStaged',
    ],
    ...['ProposalResolved', 'SignalNoticed', 'DispatchClosed'],
    ...['AttributionWithdrawn', 'ForeignDispatchOpened', 'ForeignDispatchClosed'],
  ];
  const ofRepos = [
    'InfraBlockNoticed',
    'InfraProbeStarted',
    'EvidenceDiscounted',
    'PolicyAdopted',
    'PayloadStored',
    'InfraBreakerOpened',
    'InfraBreakerClosed',
    'ImportStarted',
    'ImportFinished',
  ];
  expect([...fileEventTypes].sort()).toEqual(ofFiles.sort());
  expect(Object.keys(otherEventSchemas).sort()).toEqual(ofRepos.sort());
  expect(Object.keys(eventSchemas).every(isEventType)).toBe(true);
});

describe('metadata', () => {
  const whole = { $correlationId: 'd-1', $causationId: 'c-1', actor: 'builder', schemaVersion: 1, hash: 'h', previousHash: null };

  it('follows the store’s convention, and keeps what others added', () => {
    expect(metadata.parse({ ...whole, idempotencyKey: 'k', bodyHash: 'b', $other: 1 })).toEqual({
      ...whole,
      idempotencyKey: 'k',
      bodyHash: 'b',
      $other: 1,
    });
  });

  it.each(Object.keys(whole))('needs %s', (field) => {
    const { [field as keyof typeof whole]: _without, ...rest } = whole;
    expect(metadata.safeParse(rest).success).toBe(false);
  });

  it('has no version below 1', () => {
    for (const schemaVersion of [0, -1, 1.5, '1']) expect(metadata.safeParse({ ...whole, schemaVersion }).success).toBe(false);
  });
});
