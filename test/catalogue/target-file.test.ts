import fc from 'fast-check';
import { targetFile } from '../../src/catalogue/target-file.js';

describe('spellings of one file are one file', () => {
  it.each([
    ['src/a.rs', 'src/a.rs'],
    ['./src/a.rs', 'src/a.rs'],
    ['src/./a.rs', 'src/a.rs'],
    ['src//a.rs', 'src/a.rs'],
    ['src/x/../a.rs', 'src/a.rs'],
    ['x/y/../../src/a.rs', 'src/a.rs'],
    ['src\\a.rs', 'src/a.rs'],
    ['.\\src\\x\\..\\a.rs', 'src/a.rs'],
    ['Makefile', 'Makefile'],
    ['.github/workflows/ci.yml', '.github/workflows/ci.yml'],
    ['src/...', 'src/...'],
    ['src/..a.rs', 'src/..a.rs'],
    ['src/with space.rs', 'src/with space.rs'],
    ['src/cafe\u0301.rs', 'src/caf\u00e9.rs'],
    ['src/\u212b.rs', 'src/\u00c5.rs'],
    ['src/\u{1f980}.rs', 'src/\u{1f980}.rs'],
    ['src/A.rs', 'src/A.rs'],
    ['src/%2e%2e/a.rs', 'src/%2e%2e/a.rs'],
  ])('%j is %j', (raw, normal) => {
    expect(targetFile.parse(raw)).toBe(normal);
  });
});

describe('what names no file of the repo is refused', () => {
  it.each([
    ['nothing', ''],
    ['an absolute path', '/etc/passwd'],
    ['an absolute path with backslashes', '\\etc\\passwd'],
    ['a share', '\\\\server\\share\\a.rs'],
    ['a drive', 'C:\\src\\a.rs'],
    ['a drive with slashes', 'c:/src/a.rs'],
    ['a drive on a detour', './C:/src/a.rs'],
    ['the parent', '..'],
    ['out of the repo', '../out.rs'],
    ['out of the repo and back', '../repo/a.rs'],
    ['out of the repo on a detour', 'a/../../out.rs'],
    ['out of the repo with backslashes', 'a\\..\\..\\out.rs'],
    ['out of the repo, then in', 'a/../../a/b.rs'],
    ['the repo itself', '.'],
    ['the repo itself on a detour', 'a/..'],
    ['a directory', 'src/'],
    ['a NUL', 'a\u0000b'],
    ['a line break', 'a\nb.rs'],
    ['a tab', 'a\tb.rs'],
    ['a DEL', 'a\u007fb.rs'],
    ['a C1 control', 'a\u0085b.rs'],
    ['half a surrogate pair', 'a\ud800b.rs'],
    ['1,025 characters', 'a'.repeat(1025)],
    ['more than 1,024 characters once they are normalised', '\u0958'.repeat(1000)],
  ])('%s', (_what, raw) => {
    expect(targetFile.safeParse(raw).success).toBe(false);
  });

  it.each([[null], [undefined], [5], [['src/a.rs']], [{ path: 'a' }]])('%j', (raw) => {
    expect(targetFile.safeParse(raw).success).toBe(false);
  });
});

describe('whatever a caller sends', () => {
  const part = fc.oneof(
    fc.constantFrom('..', '.', '', 'a', 'b.rs', 'C:', '\u0958', 'e\u0301', ' '),
    fc.string({ maxLength: 4, unit: 'binary' }),
  );
  const path = fc.array(fc.tuple(part, fc.constantFrom('/', '\\', '//')), { maxLength: 8 }).map((parts) => parts.flat().join(''));
  const spelled = fc.oneof(
    path,
    path.map((one) => `${one}x`),
    fc.integer({ min: 300, max: 1024 }).map((n) => '\u0958'.repeat(n)),
  );

  it('the normal spelling is its own, and never leaves the repo', () => {
    let accepted = 0;
    fc.assert(
      fc.property(spelled, (raw) => {
        const read = targetFile.safeParse(raw);
        if (!read.success) return;
        accepted += 1;
        expect(targetFile.parse(read.data)).toBe(read.data);
        expect(read.data.normalize('NFC')).toBe(read.data);
        expect(read.data).not.toMatch(/^$|^\/|\/$|\\|[\p{Cc}\p{Cs}]/u);
        for (const name of read.data.split('/')) expect(['', '.', '..']).not.toContain(name);
      }),
      { numRuns: 2000 },
    );
    expect(accepted).toBeGreaterThan(300);
  });
});
