/** What a unified diff says it changed. Paths are the new ones; a removed file keeps its old one. Lines are counted, never kept. */
export function diffStatistics(diff: string): { paths: string[]; files: number; added: number; removed: number } {
  const paths = new Set<string>();
  let added = 0;
  let removed = 0;
  let oldPath = '';
  for (const line of diff.split('\n')) {
    if (line.startsWith('--- ')) oldPath = pathOf(line);
    else if (line.startsWith('+++ ')) paths.add(pathOf(line) === '/dev/null' ? oldPath : pathOf(line));
    else if (line.startsWith('+')) added += 1;
    else if (line.startsWith('-')) removed += 1;
  }
  paths.delete('');
  return { paths: [...paths], files: paths.size, added, removed };
}

function pathOf(header: string): string {
  const path = header.slice(4).split('\t')[0]!.trimEnd();
  return path === '/dev/null' ? path : path.replace(/^[ab]\//, '');
}
