import { classify } from '../../src/verifier/classify.js';
import { index, judged, text } from './helpers.js';

test('messages and places, no source line', () => {
  const stderr =
    'error[E0308]: mismatched types\n --> src/anchor.rs:2:18\n  |\n2 |     let secret_name: u32 = "wrong_code_here";\n  |                  ---   ^^^^^^^^^^^^^^^^^ expected `u32`, found `&str`\n  |\nhelp: try this\n  |\n2 -     let secret_name: u32 = "wrong_code_here";\n2 +     let secret_name: u32 = 5;\n  |\n\nerror: could not compile `demo` (lib) due to 1 previous error\n';
  const { excerpt, sourceExcerpt } = classify({ tool: 'cargo', command: 'cargo check', exitCode: 101, stdout: '', stderr });
  expect(excerpt).toBe('error[E0308]: mismatched types\n --> src/anchor.rs:2:18\n  = expected `u32`, found `&str`\nhelp: try this');
  expect(sourceExcerpt).toContain('wrong_code_here');
});

test('no fixture lets a source line through', () => {
  for (const name of Object.keys(index)) {
    const { excerpt } = judged(name);
    const sources = [...text(name).matchAll(/^ *\d+ \| *(\S.{8,})$/gm)].map((match) => (match[1] ?? '').trim());
    for (const source of sources) expect([name, excerpt.includes(source)]).toEqual([name, false]);
  }
});

test('bounded; what was cut is said', () => {
  const errors = Array.from(
    { length: 500 },
    (_, n) => `error[E0599]: no method named \`m${n}\` found for struct \`S\` in the current scope\n --> src/a.rs:${n}:1\n\n`,
  ).join('');
  const { excerpt, sourceExcerpt = '' } = classify({ tool: 'cargo', exitCode: 101, output: errors });
  expect(excerpt.length).toBeLessThanOrEqual(2_000);
  expect(excerpt).toMatch(/^error\[E0599\]: no method named `m0`/);
  expect(excerpt).toMatch(/\n\[4\d\d more left out: e0599_method_not_found x4\d\d\]$/);
  expect(sourceExcerpt.length).toBeLessThan(5_000);
  expect(sourceExcerpt).toMatch(/\[\d+ lines left out\]/);
  expect(sourceExcerpt).toContain('`m499`');
});

test('blocked: the line of evidence', () => {
  expect(judged('dep_dns').excerpt).toMatch(/^dns: \[6\] Could not resolve host/);
});

test('the lines behind each pattern', () => {
  expect(judged('e0432_e0433').evidence).toMatchObject([
    { pattern: 'e0432_unresolved_import', line: expect.stringContaining('missing_crate') },
    { pattern: 'e0433_unresolved_path', line: expect.stringContaining('other_crate') },
  ]);
});
