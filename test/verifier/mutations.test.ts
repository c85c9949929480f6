import { index, judged } from './helpers.js';
import { mutations } from './mutations.js';
import { judgedRun, outputOf, runs } from './programs.js';

/** Every failing output of our own programs, cargo's and tsc's among them; JSON is no text that a terminal mixes. */
const own = Object.keys(runs).filter(
  (name) => runs[name]!.exitCode !== 0 && !/\.(?:json|raw)$/.test(name) && outputOf(name).includes('\n'),
);
const rustAndTs = Object.keys(index).filter((name) => index[name]!.exitCode !== 0 && !/\.json$/.test(name));
const cases: [string, (change?: (text: string) => string) => ReturnType<typeof judged>][] = [
  ...own.map((name): (typeof cases)[number] => [name, (change) => judgedRun(name, change)]),
  ...rustAndTs.map((name): (typeof cases)[number] => [name, (change) => judged(name, change)]),
];
const failures = cases.filter(([, run]) => run().verdict === 'fail' && run().patterns.length > 0);

test.each(mutations.map((mutation) => [mutation.name, mutation] as const))(
  '%s: the verdict stays, and the signature where it should',
  (_name, { change, signature }) => {
    const moved: string[] = [];
    const resigned: string[] = [];
    for (const [name, run] of failures) {
      const before = run();
      const after = run(change);
      if (after.verdict !== before.verdict) moved.push(`${name}: ${after.verdict} ${after.infraKind}`);
      if (signature && after.signature !== before.signature) resigned.push(name);
    }
    expect(failures.length).toBeGreaterThan(100);
    expect(resigned).toEqual([]);
    if (moved.length > 0.03 * failures.length) expect(moved).toEqual([]);
  },
);

test('numbers of lines and columns, and folders, are not part of a failure', () => {
  const resigned: string[] = [];
  for (const [name, run] of failures) {
    const before = run().signature;
    const lines = run((text) =>
      text.replace(/(\.(?:c|cpp|rs|ts)):(\d+):(\d+)/g, (_all, end, line, column) => `${end}:${Number(line) + 40}:${column}`),
    );
    const folders = run((text) => text.replace(/^([a-z_]+\.(?:c|cpp|java)):(?=\d)/gm, '/srv/build-77/$1:'));
    if (lines.signature !== before) resigned.push(`${name}: lines`);
    if (folders.signature !== before) resigned.push(`${name}: folders`);
  }
  expect(resigned).toEqual([]);
});

test('the order of the errors does not matter, which errors there are does', () => {
  const signatures = new Map<string, string[]>();
  for (const [name, run] of failures.filter(([each]) => !each.includes('.') && !each.startsWith('test_'))) {
    const { signature } = run();
    signatures.set(signature!, [...(signatures.get(signature!) ?? []), name]);
  }
  expect([...signatures.values()].filter((names) => names.length > 1)).toEqual([]);
});
