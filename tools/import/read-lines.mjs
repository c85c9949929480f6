import { readFileSync } from 'node:fs';

/** The objects of a file of JSON lines. Throws with the line that is none. */
export function readLines(path) {
  return readFileSync(path, 'utf8')
    .split('\n')
    .flatMap((line, i) => {
      if (line.trim() === '') return [];
      try {
        return [JSON.parse(line)];
      } catch {
        throw new Error(`${path}, line ${i + 1}, is not JSON`);
      }
    });
}
