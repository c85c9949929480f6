import fc from 'fast-check';
import { scripted, scriptNames } from './helpers.js';
import { mutations } from './mutations.js';

/** What happens to an output on its way changes neither verdict nor, where no line is lost, signature. Reports are no text that a terminal mixes. */

const texts = scriptNames.filter((name) => !/\.(?:json|junit|xunit|sarif)$|\/(?:json|tap)$/.test(name));
const failures = texts.filter((name) => scripted(name).verdict === 'fail' && scripted(name).patterns.length > 0);

test.each(mutations.map((mutation) => [mutation.name, mutation] as const))('%s', (_name, { change, signature }) => {
  const moved: string[] = [];
  const resigned: string[] = [];
  for (const name of failures) {
    const [before, after] = [scripted(name), scripted(name, change)];
    if (after.verdict !== before.verdict) moved.push(`${name}: ${after.verdict} ${after.infraKind}`);
    if (signature && after.signature !== before.signature) resigned.push(name);
  }
  expect(failures.length).toBeGreaterThan(60);
  expect(resigned).toEqual([]);
  if (moved.length > 0.03 * failures.length) expect(moved).toEqual([]);
});

test('lines, columns, folders and durations are not part of a failure', () => {
  const changes: ((text: string, n: number) => string)[] = [
    (text, n) => text.replace(/(\.(?:py|[cm]?jsx?|tsx?)):(\d+)(?=[:)\s]|$)/gm, (_all, end, line) => `${end}:${Number(line) + n}`),
    (text, n) => text.replace(/", line (\d+)/g, (_all, line) => `", line ${Number(line) + n}`),
    (text, n) => text.replaceAll('/home/ci/work', `/srv/agent-${n}/build`),
    (text, n) => text.replace(/\((\d+(?:\.\d+)?) ?ms\)/g, `(${n}.5ms)`).replace(/ in \d+\.\d+s/g, ` in ${n}.25s`),
    (text, n) => text.replace(/0x[0-9a-f]{8,16}/g, `0x7f${String(n).padStart(10, '0')}`),
  ];
  fc.assert(
    fc.property(fc.constantFrom(...failures), fc.constantFrom(...changes), fc.integer({ min: 1, max: 9_999 }), (name, change, n) => {
      expect([name, scripted(name, (text) => change(text, n)).signature]).toEqual([name, scripted(name).signature]);
    }),
    { numRuns: 400 },
  );
});

test('another test, another operand is another failure', () => {
  for (const [name, from, to] of [
    ['pytest/kinds', /test_sum/g, 'test_product'],
    ['pytest/kinds', /assert 3 == 4/g, 'assert 3 == 5'],
    ['unittest/unittest', /2 != 3/g, '2 != 4'],
    ['jest/kinds', /Expected: 3/g, 'Expected: 4'],
    ['jest/kinds', /adds up/g, 'adds more'],
    ['vitest/kinds', /expected 2 to be 3/g, 'expected 2 to be 4'],
    ['mocha/kinds', /2 !== 3/g, '2 !== 4'],
    ['node-test/kinds.spec', /2 !== 3/g, '2 !== 4'],
    ['node/reference', /nope/g, 'none'],
    ['eslint/kinds', /'b' is not defined/g, "'z' is not defined"],
  ] as const)
    expect([name, scripted(name, (text) => text.replace(from, to)).signature === scripted(name).signature]).toEqual([name, false]);
});
