import { classify } from '../../src/verifier/classify.js';
import { judged } from './helpers.js';

const tsc = (stdout: string, exitCode = 2) => classify({ tool: 'tsc', command: 'tsc --noEmit', exitCode, stdout, stderr: '' });

test.each([
  ['ts2322', [['ts2322_type_mismatch', 'type', 1]]],
  ['ts2769', [['ts2345_argument_type_mismatch', 'type', 1]]],
  ['ts_null', [['ts18048_possibly_undefined', 'null_safety', 2]]],
  [
    'ts_many',
    [
      ['ts2322_type_mismatch', 'type', 1],
      ['ts2304_name_not_found', 'resolution', 1],
      ['ts2741_property_required', 'type', 1],
      ['ts7006_implicit_any', 'type', 1],
    ],
  ],
])('%s, plain and pretty', (name, expected) => {
  for (const format of [name, `${name}.pretty`]) {
    const { verdict, tool, patterns } = judged(format);
    expect([verdict, tool]).toEqual(['fail', 'tsc']);
    expect(patterns.map((each) => [each.pattern, each.category, each.count])).toEqual(expected);
    expect(new Set(patterns.map((each) => each.file))).toEqual(new Set(['src/a.ts']));
  }
});

test('plain and pretty are one failure', () => {
  for (const name of ['ts2322', 'ts2345', 'ts2769', 'ts_many', 'ts_syntax', 'ts_null'])
    expect(judged(`${name}.pretty`).signature).toBe(judged(name).signature);
});

test('the message belongs to the signature, the place does not', () => {
  const at = (line: number, type: string) =>
    tsc(`src/rep.ts(${line},7): error TS2322: Type '${type}' is not assignable to type 'number'.\n`).signature;
  expect(at(3, 'string')).toBe(at(90, 'string'));
  expect(at(3, 'string')).not.toBe(at(3, 'boolean'));
});

test('the explanation under a message tells two failures with one head apart', () => {
  const overload = (type: string) =>
    tsc(
      `a.ts(1,1): error TS2769: No overload matches this call.\n  Overload 1 of 2 gave the following error.\n    Argument of type '${type}' is not assignable.\n`,
    ).signature;
  expect(overload('string')).not.toBe(overload('boolean'));
});

test('errors without a file, and a code that the table does not know', () => {
  const answer = tsc("error TS5083: Cannot read file '/x/tsconfig.json'.\nsrc/a.ts(1,2): error TS1999: Something new.\n");
  expect(answer.patterns.map(({ pattern, category, file }) => [pattern, category, file])).toEqual([
    ['ts5083_config_unreadable', 'manifest', null],
    ['ts1999_error', 'syntax', 'src/a.ts'],
  ]);
});

test('what the machine refused is not the code', () => {
  expect(tsc("error TS5033: Could not write file 'out/a.js': ENOSPC: no space left on device, write.\n")).toMatchObject({
    verdict: 'blocked',
    infraKind: 'disk',
  });
  const heap = classify({
    command: 'npx tsc -p .',
    exitCode: 134,
    output: '<--- Last few GCs --->\nFATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory\n',
  });
  expect(heap).toMatchObject({ verdict: 'blocked', infraKind: 'memory', confidence: 'low' });
});
