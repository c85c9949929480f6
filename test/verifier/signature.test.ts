import fc from 'fast-check';
import { classify } from '../../src/verifier/classify.js';
import { index, judged, text } from './helpers.js';

const failing = Object.keys(index).filter((name) => index[name]?.exitCode !== 0);
const plain = failing.filter((name) => !/\.(?:json|short|pretty|color)$/.test(name));
const json = failing.filter((name) => name.endsWith('.json'));

describe('one failure has one signature', () => {
  test('as text, as JSON, as one-line text', () => {
    for (const name of failing.filter((each) => each.endsWith('.json'))) {
      const base = name.replace('.json', '');
      expect([base, judged(name).signature]).toEqual([base, judged(base).signature]);
      expect([base, judged(`${base}.short`).signature]).toEqual([base, judged(base).signature]);
    }
  });

  /** Each change leaves the failure what it is. */
  const changes: Record<string, (text: string, n: number) => string> = {
    colours: (t) => t.replace(/^(error|warning|note)/gm, '\u001b[1m\u001b[91m$1\u001b[0m'),
    crlf: (t) => t.replaceAll('\n', '\r\n'),
    progress: (t) => `    Building [==>   ] 1/2: x\r    Building [====> ] 2/2: x\r${t}`,
    'lines and columns': (t, n) =>
      t
        .replace(/^( *--> [^:\n]+):(\d+):(\d+)$/gm, (_all, file, line) => `${file}:${Number(line) + n}:${n}`)
        .replace(/\((\d+),(\d+)\): error/g, (_all, line) => `(${Number(line) + n},${n}): error`)
        .replace(/panicked at ([^:\n]+):(\d+):\d+:/g, (_all, file, line) => `panicked at ${file}:${Number(line) + n}:${n}:`),
    folders: (t, n) => t.replaceAll('/home/ci/work', `/srv/agent-${n}/build`),
    'process ids': (t, n) => t.replace(/^( *thread '[^'\n]+') \(\d+\)/gm, `$1 (${n})`),
    hashes: (t, n) => t.replace(/-[0-9a-f]{16}\b/g, `-${String(n).padStart(16, '0')}`),
    times: (t, n) => t.replace(/(?:in|finished in) \d+\.\d+s/g, `in ${n}.25s`),
    'docker prefix': (t, n) => t.replace(/^/gm, `#${n % 1000} 1.${n % 1000} `),
    'timestamp prefix': (t) => t.replace(/^/gm, '2026-01-02T03:04:05.678901Z '),
    'label prefix': (t) => t.replace(/^/gm, 'build-1  | '),
    'a warning more': (t) =>
      `warning: unused import: \`std::fmt\`\n --> src/other.rs:1:5\n  |\n1 | use std::fmt;\n  |     ^^^^^^^^\n\n${t}`,
  };
  test.each(Object.keys(changes))('under other %s', (change) => {
    fc.assert(
      fc.property(fc.constantFrom(...plain, ...json), fc.integer({ min: 1, max: 9_999 }), (name, n) => {
        const before = judged(name);
        const after = judged(name, (same) => changes[change]?.(same, n) ?? same);
        expect([name, after.verdict, after.signature]).toEqual([name, before.verdict, before.signature]);
      }),
      { numRuns: 120 },
    );
  });

  const block = (code: string, expected: string, found: string, file: string) =>
    `error[${code}]: mismatched types\n --> ${file}:1:1\n  |\n1 | let a = b;\n  |         ^ expected \`${expected}\`, found \`${found}\`\n\n`;
  const cargo = (blocks: string[]) =>
    classify({
      tool: 'cargo',
      command: 'cargo check',
      exitCode: 101,
      output: `${blocks.join('')}error: could not compile \`x\` (lib) due to 9 previous errors\n`,
    }).signature;
  const type = fc.constantFrom('u8', 'String', 'Vec<u8>', '&str', 'Option<i32>');
  const error = fc.tuple(fc.constantFrom('E0308', 'E0277', 'E0271'), type, type, fc.constantFrom('src/a.rs', 'src/b.rs'));

  test('under another order and with repetitions', () => {
    fc.assert(
      fc.property(fc.uniqueArray(error, { minLength: 1, maxLength: 6, selector: (e) => e.join() }), (errors) => {
        const blocks = errors.map((e) => block(...e));
        expect(cargo([...blocks].reverse())).toBe(cargo(blocks));
        expect(cargo([...blocks, ...blocks])).toBe(cargo(blocks));
      }),
    );
  });

  test('and differs where the codes, the files or the types differ', () => {
    fc.assert(
      fc.property(error, error, (one, other) => {
        expect(cargo([block(...one)]) === cargo([block(...other)])).toBe(one.join() === other.join());
      }),
      {
        examples: [
          [
            ['E0308', 'u8', '&str', 'src/a.rs'],
            ['E0308', '&str', 'u8', 'src/a.rs'],
          ],
        ],
      },
    );
  });
});

test('different failures have different signatures', () => {
  const seen = new Map<string | null, string>();
  for (const name of plain) {
    const { verdict, signature } = judged(name);
    if (verdict !== 'fail') continue;
    expect(signature).not.toBeNull();
    expect([name, seen.get(signature)]).toEqual([name, undefined]);
    seen.set(signature, name);
  }
});

test('the failing test and its operands are told apart', () => {
  const original = judged('test_mixed').signature;
  expect(judged('test_mixed', (t) => t.replaceAll('tests::holds', 'tests::grows')).signature).not.toBe(original);
  expect(judged('test_mixed', (t) => t.replace('right: 3', 'right: 4')).signature).not.toBe(original);
});

test('a pass has none; a blocked run has that of its kind and tool', () => {
  expect(judged('test_pass').signature).toBeNull();
  const elsewhere = judged('dep_dns', (t) => t.replaceAll('index.example.invalid', 'other.example.invalid'));
  expect(elsewhere.signature).toBe(judged('dep_dns').signature);
  expect(judged('dep_refused').signature).not.toBe(judged('dep_dns').signature);
});

test('infrastructure-looking lines between the lines of a failure change nothing', () => {
  const noise = [
    "fatal: unable to access 'https://g.example/': Could not resolve host: g.example",
    'warning: spurious network error (1 try remaining): [6] Could not resolve hostname',
    'curl: (7) Failed to connect',
    'npm error code ENOTFOUND',
    'Error: connect ECONNREFUSED 127.0.0.1:80',
  ];
  fc.assert(
    fc.property(
      fc.constantFrom(...plain.filter((name) => judged(name).verdict === 'fail')),
      fc.constantFrom(...noise),
      fc.boolean(),
      (name, line, atEnd) => {
        const after = judged(name, (t) => (atEnd ? `${t}${line}\n` : `${line}\n${t}`));
        expect([name, after.verdict, after.signature]).toEqual([name, 'fail', judged(name).signature]);
      },
    ),
  );
});

test('fixtures hold no path of the machine that made them', () => {
  for (const name of Object.keys(index))
    expect([name, /\/(?:root|tmp|work\/main)\//.test(text(name).replaceAll('/home/ci/work', ''))]).toEqual([name, false]);
});
