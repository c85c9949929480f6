import type { Category } from './categories.js';
import { found } from './found.js';
import { networkCause } from './network-words.js';
import type { Grammar, Scan } from './scan.js';
import type { InfraKind } from './types.js';

/** pnpm (` ERR_PNPM_CODE  message`), yarn 1 (`error message`) and yarn since 2 (`➤ YN0035: │ message`). */

const missing = ['npm:*'];

const PNPM = /^ {0,2}\[?(ERR_PNPM_[A-Z0-9_]{1,60}|ERR_[A-Z0-9_]{2,60}|E[A-Z0-9_]{2,30})\]? {1,4}(\S.*)$/;
const WRAPPERS = /^(?:ELIFECYCLE|ERR_PNPM_RECURSIVE_(?:RUN|EXEC)_(?:FIRST_)?FAIL|ERR_PNPM_FAILED_TO_RUN)$/;
const MANIFEST =
  /^ERR_PNPM_(?:NO_SCRIPT|NO_SCRIPT_OR_SERVER|JSON_PARSE|NO_(?:IMPORTER_MANIFEST_FOUND|PKG_MANIFEST)|INVALID_WORKSPACE|BAD_PACKAGE_JSON|UNKNOWN_|INVALID_|CONFIG)/;

const infraOf = (code: string, message: string): InfraKind | null => {
  const status = /^ERR_PNPM_FETCH_(\d{3})$/.exec(code)?.[1];
  if (status !== undefined) {
    if (status === '429') return 'rate_limit';
    if (status === '401' || status === '403' || status === '407') return 'auth';
    return status.startsWith('5') ? 'registry' : null;
  }
  if (code === 'ERR_PNPM_UNSUPPORTED_ENGINE' || code === 'ERR_PNPM_BAD_PM_VERSION') return 'toolchain';
  if (/^ERR_PNPM_NO_OFFLINE_/.test(code)) return 'offline';
  if (/^ERR_PNPM_(?:META_FETCH_FAIL|BROKEN_METADATA_JSON|UNEXPECTED_PKG_CONTENT)/.test(code)) return networkCause(message) ?? 'registry';
  if (/^ERR_PNPM_(?!TARBALL_EXTRACT)/.test(code)) return null;
  return networkCause(`${code} ${message}`);
};

const readPnpm = (scan: Scan, code: string, message: string, at: number): void => {
  if (WRAPPERS.test(code)) return;
  const kind = infraOf(code, message);
  if (kind !== null) {
    scan.infra({ kind, tool: 'pnpm', line: `${code}  ${message}`, sure: kind !== 'toolchain', missing });
    return;
  }
  const category: Category = MANIFEST.test(code) ? 'manifest' : 'dependency';
  scan.add(found({ tool: 'pnpm', pattern: `pnpm_${code.replace(/^ERR_PNPM_/, '').toLowerCase()}`, category, message, at }));
};

const YARN: readonly (readonly [RegExp, string, Category])[] = [
  [/^Couldn't find (?:package|any versions for) /, 'yarn_package_not_found', 'dependency'],
  [/^Your lockfile needs to be updated/, 'yarn_frozen_lockfile', 'dependency'],
  [/^(?:Command "|Couldn't find a script named )/, 'yarn_missing_script', 'manifest'],
  [/^Couldn't find a package\.json file|^No package\.json found/, 'yarn_no_manifest', 'manifest'],
  [/package\.json: .{0,200}(?:JSON|Unexpected token)/, 'yarn_manifest', 'manifest'],
  [/^Integrity check failed|Integrity check failed for /, 'yarn_integrity', 'dependency'],
  [/"404 Not Found"|: Not found$/, 'yarn_package_not_found', 'dependency'],
];
const BERRY: Readonly<Record<string, readonly [string, Category]>> = {
  YN0009: ['yarn_build_failed', 'build_script'],
  YN0010: ['yarn_resolution', 'dependency'],
  YN0016: ['yarn_package_not_found', 'dependency'],
  YN0018: ['yarn_integrity', 'dependency'],
  YN0028: ['yarn_frozen_lockfile', 'dependency'],
  YN0035: ['yarn_package_not_found', 'dependency'],
  YN0050: ['yarn_manifest', 'manifest'],
  YN0057: ['yarn_manifest', 'manifest'],
  YN0078: ['yarn_integrity', 'dependency'],
  YN0082: ['yarn_package_not_found', 'dependency'],
};

const readYarn = (scan: Scan, text: string, at: number): void => {
  if (/without the --offline flag may help|in our (?:offline )?cache \(possible versions/.test(text)) {
    scan.infra({ kind: 'offline', tool: 'yarn', line: text, sure: true, missing });
    return;
  }
  if (/^Command failed(?: with (?:exit code|signal))?\b/.test(text) || /^\S{1,200}: Command failed\.$/.test(text)) return;
  if (/The engine "[^"]{1,40}" is incompatible|^Found incompatible module/.test(text)) {
    scan.infra({ kind: 'toolchain', tool: 'yarn', line: text, sure: false, missing });
    return;
  }
  const known = YARN.find(([head]) => head.test(text));
  const kind = known === undefined ? networkCause(text) : null;
  if (kind !== null) scan.infra({ kind, tool: 'yarn', line: text, sure: true, missing });
  else scan.add(found({ tool: 'yarn', pattern: known?.[1] ?? 'yarn_error', category: known?.[2] ?? 'dependency', message: text, at }));
};

export const pnpmYarn: Grammar = {
  tool: 'pnpm',
  words: ['pnpm', 'pnpx', 'yarn', 'yarnpkg', 'corepack'],
  telltale: (line) =>
    /^[ \u2009]{0,2}\[?ERR_PNPM_[A-Z0-9_]{1,60}\]?[ \u2009]/.test(line.slice(0, 100)) ||
    /^➤ YN\d{4}: /.test(line) ||
    /^yarn (?:install|run|test) v1\.\d/.test(line),
  start: (scan) => {
    const { lines, words, reading } = scan;
    const pnpm = words.has('pnpm') || words.has('pnpx');
    const yarn =
      words.has('yarn') || words.has('yarnpkg') || lines.slice(0, 50).some((line) => /^yarn (?:install|run|test) v1\.\d/.test(line));
    return {
      read: (at) => {
        // pnpm sets its codes between thin spaces.
        const text = (lines[at] ?? '').slice(0, 4_000).replaceAll('\u2009', ' ');
        const error = /^ {0,2}\[?(?:ERR_|E)/.test(text) ? PNPM.exec(text) : null;
        if (error?.[1] !== undefined && (error[1].startsWith('ERR_PNPM_') || (pnpm && error[1] !== 'ERROR' && /^ /.test(text)))) {
          readPnpm(scan, error[1], error[2] ?? '', at);
          return at + 1;
        }
        const plain = pnpm ? /^ ERROR {1,3}(\S.*)$/.exec(text) : null;
        if (plain?.[1] !== undefined) {
          const kind = networkCause(plain[1]);
          const json = /\bJSON\b|package\.json/.test(plain[1]);
          if (kind !== null) scan.infra({ kind, tool: 'pnpm', line: plain[1], sure: true, missing });
          else
            scan.add(
              found({ tool: 'pnpm', pattern: json ? 'pnpm_json_parse' : 'pnpm_error', category: 'manifest', message: plain[1], at }),
            );
          return at + 1;
        }
        if (/^(?: WARN |info There appears to be trouble with your network connection| WARN {2}GET )/.test(text)) {
          if (/Will retry in|network connection/.test(text)) reading.activity = 'network';
          return at + 1;
        }
        const berry = /^➤ (YN\d{4}): (?:│ |└ |┌ )?(.*)$/.exec(text);
        if (berry?.[1] !== undefined) {
          const known = Object.hasOwn(BERRY, berry[1]) ? BERRY[berry[1]] : undefined;
          const said = berry[2] ?? '';
          const kind =
            /Error: /.test(said) || berry[1] === 'YN0001' || berry[1] === 'YN0041'
              ? berry[1] === 'YN0041'
                ? 'auth'
                : networkCause(said)
              : null;
          if (kind !== null) scan.infra({ kind, tool: 'yarn', line: said, sure: true, missing });
          else if (known !== undefined) scan.add(found({ tool: 'yarn', pattern: known[0], category: known[1], message: said, at }));
          else if (berry[1] === 'YN0001')
            scan.add(found({ tool: 'yarn', pattern: 'yarn_exception', category: 'dependency', message: said, at }));
          return at + 1;
        }
        const usage = /^Usage Error: (.+)$/.exec(text);
        if (yarn && usage?.[1] !== undefined) {
          readYarn(scan, usage[1], at);
          return at + 1;
        }
        const old = yarn ? /^error (\S.*)$/.exec(text) : null;
        if (old?.[1] === undefined) return null;
        readYarn(scan, old[1], at);
        return at + 1;
      },
    };
  },
};
