import { goBuild } from './go-build.js';
import { goModules } from './go-modules.js';
import { goTest } from './go-test.js';
import type { Grammar, Scan } from './scan.js';

/** Build errors and module errors of a package, as `-json` hands them over: text again, read by the grammars of text. */
const readPlain = (scan: Scan, lines: readonly string[]): void => {
  const inner: Scan = { ...scan, lines };
  const started = [text.start(inner), goModules.start(inner), goBuild.start(inner)];
  for (let at = 0; at < lines.length; ) {
    const next = lines[at] === '' ? null : (started.map(({ read }) => read(at)).find((each) => each !== null) ?? null);
    at = next === null ? at + 1 : Math.max(next, at + 1);
  }
  for (const { end } of started) end?.();
};
const text: Grammar = goTest(() => {});

export const goGrammars: readonly Grammar[] = [goTest(readPlain), goModules, goBuild];
