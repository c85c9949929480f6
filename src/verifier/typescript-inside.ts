import { found } from './found.js';
import { categoryOfCode, patternOfCode } from './patterns.js';
import type { Grammar } from './scan.js';
import type { Finding } from './types.js';

/** TypeScript's codes where another tool prints them: ts-jest and ts-node with an indentation, bundlers with the file on a line before. */

const PRETTY = /^((?:[A-Za-z]:)?[^\s:(][^:(]{0,400}):(\d{1,8}):(\d{1,8}) - error TS(\d{4,5}): (.+)$/;
const PLAIN = /^((?:[A-Za-z]:)?[^\s:(][^:(]{0,400})\((\d{1,8}),(\d{1,8})\): error TS(\d{4,5}): (.+)$/;
const BARE =
  /^(?:✘ |[Xx✖×] )?(?:\[ERROR\] |Error: |error:? |\[tsl\] ERROR .{0,400}|.{0,80}[Pp]lugin typescript\)?:? (?:@rollup\/plugin-typescript )?)?TS(\d{4,5})(?: \[ERROR\])?: (.+?)(?: \[plugin [\w-]{1,60}\])?$/;
const TSL = /^ {0,12}(?:\[tsl\] ERROR|ERROR) in (.{1,400})[(:](\d{1,8})[,:](\d{1,8})\)?$/;
const ERROR_IN = /^(?:\[tsl\] )?ERROR in (?:\.\/)?([^\s(:]{1,400})(?:[:( ]{1,2}(\d{1,8})[:,](\d{1,8})\)?)?/;
const LATER_PLACE = /^ {2,12}(?:at (?:file:\/\/)?)?(?:\.\/)?([^\s:]{1,400}\.(?:[cm]?tsx?|vue|svelte)):(\d{1,8}):(\d{1,8}):?$/;

const findingOf = (tool: string, code: string, text: string, place: [string, string, string] | null, at: number): Finding =>
  found({
    tool,
    pattern: patternOfCode(`TS${code}`),
    code: `TS${code}`,
    category: categoryOfCode(`TS${code}`),
    message: `error TS${code}: ${text}`,
    identity: text,
    file: place?.[0] ?? null,
    at,
    ...(place === null ? {} : { line: place[1], column: place[2] }),
    needs: /^Cannot find module '[^./'][^']{0,200}'/.test(text) ? 'npm:*' : undefined,
  });

/** All diagnostics in a runner's block, whose indentation was taken off. */
export const typescriptErrors = (lines: readonly string[], tool: string, start: number): Finding[] =>
  lines.flatMap((line, index) => {
    if (!line.includes('error TS')) return [];
    const text = line
      .trim()
      .replace(/^(?:TSError: )?⨯ /, '')
      .slice(0, 4_000);
    const match = PRETTY.exec(text) ?? PLAIN.exec(text);
    if (match?.[1] === undefined || match[4] === undefined) return [];
    return [findingOf(tool, match[4], match[5] ?? '', [match[1], match[2] ?? '', match[3] ?? ''], start + index)];
  });

export const typescriptInside: Grammar = {
  tool: 'tsc',
  words: ['webpack', 'rollup', 'vite', 'next', 'ng', 'tsup', 'parcel', 'deno', 'rspack', 'rsbuild'],
  telltale: (line) =>
    line.includes('TS') &&
    (BARE.test(line.trim().slice(0, 4_000)) ||
      (/^\s|⨯ |^Error: /.test(line) && typescriptErrors([line.replace(/^Error: /, '')], 'tsc', 0).length > 0)),
  activity: 'build',
  start: (scan) => {
    const { lines } = scan;
    let place: [string, string, string] | null = null;
    return {
      read: (at) => {
        const line = lines[at] ?? '';
        const head = TSL.exec(line.slice(0, 600)) ?? ERROR_IN.exec(line.slice(0, 600));
        if (head?.[1] !== undefined) place = [head[1].trim(), head[2] ?? '', head[3] ?? ''];
        if (!line.includes('TS')) return null;
        // At the start of a line the form is tsc's own.
        const inside = /^\s|^Error: |⨯ /.test(line) ? typescriptErrors([line.replace(/^Error: /, '')], 'tsc', at) : [];
        if (inside.length > 0) {
          for (const finding of inside) scan.add(finding);
          return at + 1;
        }
        const rollup = /(?:^|[ \]])([^\s\]()]{1,300}) \((\d{1,8}):(\d{1,8})\): @rollup\/plugin-typescript TS(\d{4,5}): (.+)$/.exec(
          line.slice(0, 4_000),
        );
        if (rollup?.[4] !== undefined) {
          scan.add(findingOf('tsc', rollup[4], rollup[5] ?? '', [rollup[1] ?? '', rollup[2] ?? '', rollup[3] ?? ''], at));
          return at + 1;
        }
        const bare = BARE.exec(line.trim().slice(0, 4_000));
        if (bare?.[1] === undefined) return null;
        // tsc itself has errors without a file.
        if (/^error TS/.test(line)) return null;
        const later = lines.slice(at + 1, at + 8).flatMap((each) => LATER_PLACE.exec(each.slice(0, 600)) ?? []);
        const [, file, row, column] = later;
        scan.add(findingOf('tsc', bare[1], bare[2] ?? '', place ?? (file === undefined ? null : [file, row ?? '', column ?? '']), at));
        place = null;
        return at + 1;
      },
    };
  },
};
