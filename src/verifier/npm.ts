import type { Category } from './categories.js';
import { found } from './found.js';
import { causeOf } from './infra.js';
import { jsonReader, objectOf, at as pick, stringOf } from './machine-json.js';
import { networkCause } from './network-words.js';
import { uncaughtAt } from './node.js';
import { categoryOfError, kindOfError } from './node-errors.js';
import type { Grammar, Scan } from './scan.js';
import type { InfraKind } from './types.js';

/** npm: lines that begin with `npm error` (until version 9 `npm ERR!`), of which one names the code. */

const PREFIX = /^npm (?:ERR!|error)(?: |$)/;
const missing = ['npm:*'];

/** Codes that say what the machine or the network did. */
const INFRA: readonly (readonly [RegExp, InfraKind])[] = [
  [/^(?:ENOSPC|EDQUOT)$/, 'disk'],
  [/^(?:E401|E403|E407|ENEEDAUTH|EOTP|EAUTHIP|EAUTHUNKNOWN)$/, 'auth'],
  [/^E429$/, 'rate_limit'],
  [/^E(?:40[6-9]|41\d|5\d\d)$/, 'registry'],
  [/^(?:ENOTFOUND|EAI_AGAIN|EAI_FAIL)$/, 'dns'],
  [
    /^(?:ECONNREFUSED|ECONNRESET|ECONNABORTED|EHOSTUNREACH|ENETUNREACH|EPIPE|EADDRNOTAVAIL|ERR_STREAM_PREMATURE_CLOSE|ERR_INVALID_PROXY)$/,
    'connect',
  ],
  [/^(?:ETIMEDOUT|ESOCKETTIMEDOUT|ERR_SOCKET_TIMEOUT|EIDLETIMEOUT|ECONNECTIONTIMEOUT|ERESPONSETIMEOUT|ETRANSFERTIMEOUT)$/, 'net_timeout'],
  [/CERT|^(?:EPROTO|UNABLE_TO_|ERR_SSL_|ERR_TLS_)/, 'tls'],
  [/^ENOTCACHED$/, 'offline'],
  [/^(?:EBADENGINE|EBADDEVENGINES)$/, 'toolchain'],
  [/^(?:EACCES|EROFS|EPERM)$/, 'permission'],
  [/^ENOMEM$/, 'memory'],
  [/^(?:EBUSY|ELOCKED|ECOMPROMISED)$/, 'lock'],
];
const FAULTS: Readonly<Record<string, Category>> = {
  EJSONPARSE: 'manifest',
  EUSAGE: 'manifest',
  EINVALIDPACKAGENAME: 'manifest',
  EPACKAGEJSON: 'manifest',
  ENOENT: 'manifest',
  ENOWORKSPACES: 'manifest',
  EDUPLICATEWORKSPACE: 'manifest',
  ENOLOCK: 'dependency',
};

/** Words of errors that carry no code. */
const UNCODED: readonly (readonly [RegExp, string, Category])[] = [
  [/^Missing script: /, 'npm_missing_script', 'manifest'],
  [/^(?:could not determine executable to run|command not found: )/, 'npm_no_executable', 'dependency'],
  [/^No workspaces found/, 'npm_no_workspaces', 'manifest'],
  [/^Unknown command: /, 'npm_unknown_command', 'manifest'],
  [/^(?:Cannot read propert|Exit handler never called|Tracker ".{1,40}" already exists)/, 'npm_crash', 'tool_crash'],
];

const patternOfUsage = (text: string): { pattern: string; category: Category } => {
  if (/package-lock\.json .{0,200}are in sync|from lock file|lock file's/.test(text))
    return { pattern: 'npm_eusage_lock_mismatch', category: 'dependency' };
  if (/can only install with an existing package-lock/.test(text)) return { pattern: 'npm_eusage_no_lock', category: 'dependency' };
  return { pattern: 'npm_eusage', category: 'manifest' };
};

/** The words that say which: usage and advice after them change with every version of npm. */
const identityOfCode = (code: string, lines: readonly string[]): string => {
  const said = lines.filter(
    (line) =>
      line !== '' &&
      !/^(?:code|errno|syscall|path|dest|command|A complete log|Clean install|Usage:|Options:|Fix the upstream)\b/.test(line),
  );
  if (code === 'E404')
    return /'([^']{1,300})' (?:is not in|could not be found)/.exec(lines.join('\n'))?.[1]?.replace(/@[^@/]{0,60}$/, '') ?? said[0] ?? '';
  if (code === 'EUSAGE')
    return lines
      .filter((line) => /^(?:Missing|Invalid): .{1,300} (?:from lock file|does not satisfy)/.test(line))
      .sort()
      .join('\n');
  if (code === 'ERESOLVE')
    return lines.filter((line) => /^(?:ERESOLVE|While resolving|Found|Could not resolve dependency|peer )/.test(line)).join('\n');
  return said[0]?.replace(/^[a-z]+ (?=[A-Z])/, '') ?? '';
};

/** What a package's own script printed while it was installed: a download that failed is the network's, anything else the package's. */
const readInstallScript = (scan: Scan, lines: readonly string[], at: number): void => {
  for (let index = 0; index < lines.length; index += 1) {
    const uncaught = uncaughtAt(lines, index);
    const line = lines[index] ?? '';
    if (uncaught !== null) {
      const { name, code, message } = uncaught.error;
      const kind = networkCause(`${code ?? ''} ${message}`);
      if (kind !== null) scan.infra({ kind, tool: 'npm', line: `${name}: ${message}`, sure: true, missing });
      else
        scan.add(
          found({
            tool: 'npm',
            pattern: `node_${kindOfError(name, code, message)}`,
            category: categoryOfError(name, code, message),
            message: `${name}: ${message}`,
            file: uncaught.file,
            at: at + index,
          }),
        );
      return;
    }
    const gyp = /^gyp (?:ERR!|error) (?:stack |find Python )?(.{1,600})$/.exec(line);
    const kind = gyp?.[1] === undefined ? causeOf(/^(?:fatal|error|ssh|git@\S{1,100}): /.test(line) ? line : '') : networkCause(gyp[1]);
    if (
      kind !== null ||
      (gyp?.[1] !== undefined && /Could not find any Python installation|not found: (?:make|g\+\+|cc)\b|find VS/.test(gyp[1]))
    ) {
      scan.infra({ kind: kind ?? 'toolchain', tool: 'npm', line, sure: true, missing });
      return;
    }
    const missingCommand = /^sh: (?:line )?(?:\d{1,6}: )?(\S{1,100}): (?:command )?not found$/.exec(line);
    if (missingCommand !== null) {
      scan.infra({ kind: 'toolchain', tool: 'npm', line, sure: false, missing });
      return;
    }
  }
  const command = lines.find((line) => /^command (?!failed)/.test(line)) ?? 'a script of the package failed';
  scan.add(found({ tool: 'npm', pattern: 'npm_install_script_failed', category: 'build_script', message: command, at }));
};

const readCode = (scan: Scan, code: string, lines: readonly string[], at: number): void => {
  const text = lines.join('\n').slice(0, 6_000);
  let kind = INFRA.find(([codes]) => codes.test(code))?.[1] ?? null;
  if (code === 'FETCH_ERROR' || code === 'ERR_INVALID_ARG_TYPE') kind = networkCause(text) ?? 'registry';
  if (code === 'EUNKNOWN' || code === 'ERR_SOCKET_CLOSED') kind = networkCause(text);
  if (code === '128' || code === '1' || /^\d{1,3}$/.test(code)) {
    if (code === '128' || /unknown git error|^command (?:\S{0,200}\/)?git /m.test(text)) {
      const cause = lines.flatMap((line) =>
        /^(?:fatal|ssh|git@\S{1,100}|ERROR|remote|error)\b/.test(line) ? (causeOf(line) ?? networkCause(line) ?? []) : [],
      )[0];
      if (cause !== undefined)
        scan.infra({ kind: cause, tool: 'npm', line: lines.find((line) => causeOf(line) === cause) ?? text, sure: true, missing });
      else
        scan.add(
          found({
            tool: 'npm',
            pattern: 'npm_git_failed',
            category: 'dependency',
            message: lines.find((line) => /^(?:fatal|ERROR|remote)\b/.test(line)) ?? 'git failed',
            at,
          }),
        );
      return;
    }
    // A script of the project that failed says so itself; one of a package is only told here.
    if (
      lines.some((line) => line === 'command failed' || line.startsWith('command failed ')) &&
      !lines.some((line) => /^(?:Lifecycle script|workspace |location )/.test(line))
    )
      readInstallScript(scan, lines, at);
    return;
  }
  if (code === 'ELIFECYCLE') {
    if (/spawn ENOENT/.test(text))
      scan.infra({ kind: 'toolchain', tool: 'npm', line: lines.find((line) => line.includes('spawn ENOENT')) ?? code, sure: true });
    return;
  }
  if (kind !== null) {
    // Permissions and versions may be what the project asks for; a registry's refusal and a network are not.
    scan.infra({
      kind,
      tool: 'npm',
      line: lines.find((line) => line !== '' && !/^(?:code|errno|syscall)\b/.test(line)) ?? code,
      sure: kind !== 'toolchain' && kind !== 'lock',
      missing,
    });
    return;
  }
  const { pattern, category } =
    code === 'EUSAGE' ? patternOfUsage(text) : { pattern: `npm_${code.toLowerCase()}`, category: FAULTS[code] ?? 'dependency' };
  const message = lines.find((line) => line !== '' && !/^(?:code|errno|syscall|path)\b/.test(line)) ?? code;
  scan.add(found({ tool: 'npm', pattern, category, message, identity: identityOfCode(code, lines), at }));
};

export const npm: Grammar = {
  tool: 'npm',
  words: ['npm', 'npx'],
  telltale: (line) =>
    PREFIX.test(line.slice(0, 12)) && /^npm (?:ERR!|error) (?:code [A-Z0-9_]+$|Missing script: )/.test(line.slice(0, 200)),
  start: (scan) => {
    const { lines, words } = scan;
    const json = jsonReader(lines);
    if (
      (words.has('npm') || words.has('pnpm') || words.has('yarn')) &&
      ['install', 'ci', 'i', 'add', 'update'].some((word) => words.has(word))
    )
      scan.reading.activity ??= 'network';
    return {
      read: (at) => {
        const line = lines[at] ?? '';
        if (line.startsWith('{') && (words.has('npm') || words.has('npx'))) {
          const document = json(at);
          const error = objectOf(pick(document?.value, 'error'));
          if (document === null || error === null || typeof error.code !== 'string') return null;
          readCode(scan, error.code, [stringOf(error.summary), ...stringOf(error.detail).split('\n')], at);
          return document.end;
        }
        if (words.has('npm') && /^Unknown command: "/.test(line)) {
          scan.add(found({ tool: 'npm', pattern: 'npm_unknown_command', category: 'manifest', message: line, at }));
          return at + 1;
        }
        if (!PREFIX.test(line.slice(0, 12))) return null;
        const block: string[] = [];
        let end = at;
        for (; end < lines.length && PREFIX.test((lines[end] ?? '').slice(0, 12)); end += 1) {
          const text = (lines[end] ?? '').replace(PREFIX, '');
          if (end > at && /^(?:code \S{1,60}$|Lifecycle script )/.test(text) && block.some((each) => /^code \S{1,60}$/.test(each))) break;
          block.push(text);
          if (block.length > 5_000) break;
        }
        const code = block.flatMap((text) => /^code (\S{1,60})$/.exec(text)?.[1] ?? [])[0];
        if (code !== undefined) readCode(scan, code, block, at);
        else
          for (const text of block) {
            const known = UNCODED.find(([head]) => head.test(text));
            const kind = known === undefined && /^(?:network|request to|Invalid response body)/.test(text) ? networkCause(text) : null;
            if (kind !== null) scan.infra({ kind, tool: 'npm', line: text, sure: true, missing });
            else if (known !== undefined) scan.add(found({ tool: 'npm', pattern: known[1], category: known[2], message: text, at }));
            if (kind !== null || known !== undefined) break;
          }
        return end;
      },
    };
  },
};
