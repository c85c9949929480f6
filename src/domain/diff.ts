/** Paths that a diff renames. */
export interface Renamed {
  from: string;
  to: string;
}

/** A directory renames all that is in it: of so many renames a diff is said to have, the rest is left out. */
const MOST_RENAMES = 100;

/**
 * What a unified diff says it changed. Paths are the new ones; a removed file keeps its old one. Lines are counted, never kept. Renames
 * are those of git's extended headers: no line of a hunk begins as they do.
 */
export function diffStatistics(diff: string): { paths: string[]; files: number; added: number; removed: number; renames: Renamed[] } {
  const paths = new Set<string>();
  const renames: Renamed[] = [];
  let added = 0;
  let removed = 0;
  let oldPath = '';
  let renamedFrom = '';
  for (const line of diff.split('\n')) {
    if (line.startsWith('--- ')) oldPath = pathOf(line);
    else if (line.startsWith('+++ ')) paths.add(pathOf(line) === '/dev/null' ? oldPath : pathOf(line));
    else if (line.startsWith('+')) added += 1;
    else if (line.startsWith('-')) removed += 1;
    else if (line.startsWith('rename from ')) renamedFrom = unquoted(line.slice('rename from '.length));
    else if (line.startsWith('rename to ') && renamedFrom !== '') {
      const to = unquoted(line.slice('rename to '.length));
      paths.add(to);
      if (renames.length < MOST_RENAMES) renames.push({ from: renamedFrom, to });
      renamedFrom = '';
    }
  }
  paths.delete('');
  return { paths: [...paths], files: paths.size, added, removed, renames };
}

function pathOf(header: string): string {
  const path = unquoted(header.slice(4).split('\t')[0]!);
  return path === '/dev/null' ? path : path.replace(/^[ab]\//, '');
}

/** git writes a path with special characters as a C string: `"a\303\244.rs"` is UTF-8, byte by byte. */
function unquoted(text: string): string {
  const path = text.trimEnd();
  if (!/^".*"$/.test(path)) return path;
  const bytes: number[] = [];
  for (const [token] of path.slice(1, -1).matchAll(/\\[0-7]{3}|\\.|[^\\]+/gu)) {
    if (!token.startsWith('\\')) bytes.push(...new TextEncoder().encode(token));
    else if (/^\\[0-7]{3}$/.test(token)) bytes.push(Number.parseInt(token.slice(1), 8) & 0xff);
    else bytes.push((ESCAPED[token[1]!] ?? token[1]!).codePointAt(0)!);
  }
  return new TextDecoder().decode(new Uint8Array(bytes));
}

const ESCAPED: Record<string, string> = { a: '\x07', b: '\b', t: '\t', n: '\n', v: '\v', f: '\f', r: '\r' };
