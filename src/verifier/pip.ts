import type { Category } from './categories.js';
import { found } from './found.js';
import { causeOf } from './infra.js';
import { networkCause } from './network-words.js';
import { TRACEBACK, tracebackAt } from './python-errors.js';
import type { Grammar, Scan } from './scan.js';
import type { InfraEvidence } from './types.js';

/** pip and uv. What a registry answered is often not printed (taxonomy, section 4): then a package that is missing is taken for missing. */

const RETRY = /^WARNING: Retrying \(Retry\(.{1,300}\)\) after connection broken by '(.{1,2000})': /;
const UNFETCHED = /^(?:WARNING: )?Could not fetch URL \S{1,500}: (.{1,1500})$/;
const NO_VERSION = /^ERROR: Could not find a version that satisfies the requirement (\S.{0,300}?) \(from versions: (.{0,4000})\)$/;
const NO_MATCH = /^ERROR: No matching distribution found for (\S.{0,300})$/;
const OS_ERROR = /^ERROR: Could not install packages due to an (?:OSError|EnvironmentError): (.{1,1500})$/;
const HTTP =
  /^(?:ERROR: )?(?:HTTP error (\d{3}) while getting|(\d{3}) (?:Client|Server) Error: |ERROR: (\d{3}) Error, Credentials not correct)/;

/** Errors of the project, by the words that pip begins them with. */
const FAULTS: readonly (readonly [RegExp, string, Category])[] = [
  [
    /^ERROR: (?:ResolutionImpossible|Cannot install .{1,600} because these package versions have conflicting dependencies)/,
    'pip_resolution_impossible',
    'dependency',
  ],
  [/^ERROR: (?:Double requirement given|Cannot install .{1,600})/, 'pip_resolution_impossible', 'dependency'],
  [/^ERROR: Package '.{1,200}' requires a different Python: /, 'pip_requires_python', 'dependency'],
  [/^ERROR: Invalid requirement: |^ERROR: Invalid requirement\b/, 'pip_invalid_requirement', 'manifest'],
  [/^ERROR: Could not open requirements file: /, 'pip_requirements_missing', 'manifest'],
  [
    /^ERROR: (?:THESE PACKAGES DO NOT MATCH THE HASHES|Hashes are required in --require-hashes mode|In --require-hashes mode)/,
    'pip_hash_mismatch',
    'dependency',
  ],
  [
    /^ERROR: .{1,300} (?:is not a supported wheel on this platform|has inconsistent (?:name|version))/,
    'pip_unsupported_wheel',
    'dependency',
  ],
  [
    /^ERROR: (?:Directory .{1,300} is not installable|File ".{1,300}" not found|.{1,300} does not appear to be a Python project|Invalid (?:name|version))/,
    'pip_not_installable',
    'manifest',
  ],
  [/^ERROR: (?:Could not detect requirement name|You must give at least one requirement)/, 'pip_usage', 'manifest'],
  [
    /^ERROR: (?:Failed building (?:wheel|editable) for|Failed to build (?:installable wheels for )?|Could not build wheels for|Command errored out)/,
    'pip_build_failed',
    'build_script',
  ],
  [
    /^error: (?:subprocess-exited-with-error|metadata-generation-failed|failed-wheel-build-for-install|legacy-install-failure)$/,
    'pip_build_failed',
    'build_script',
  ],
];

const missing = ['pip:*'];

export const pip: Grammar = {
  tool: 'pip',
  words: ['pip', 'pip3', 'pip3.11', 'pip3.12', 'pip3.13', 'pipx', 'uv', 'poetry'],
  telltale: (line) => NO_MATCH.test(line) || RETRY.test(line.slice(0, 3_000)) || line === 'error: externally-managed-environment',
  start: (scan) => {
    const { lines, reading } = scan;
    let retried: InfraEvidence | null = null;
    let installed = false;
    if (scan.words.has('install') || scan.words.has('sync')) reading.activity ??= 'network';
    let building: { at: number; message: string } | null = null;
    const trouble = (kind: InfraEvidence['kind'], line: string, sure = true): void =>
      scan.infra({ kind, tool: 'pip', line, sure, missing });
    return {
      read: (at) => {
        // What a subprocess of pip said is indented in a box; it is pip's all the same, when pip wrote it.
        const line = (lines[at] ?? '').replace(/^ {2,12}(?=(?:ERROR|WARNING): )/, '');
        const text = line.slice(0, 6_000);
        const retry = RETRY.exec(text) ?? UNFETCHED.exec(text);
        if (retry?.[1] !== undefined) {
          const kind = networkCause(retry[1]) ?? causeOf(retry[1]);
          if (kind !== null) retried = { kind, tool: 'pip', line: text, sure: true, missing };
          reading.activity = 'network';
          return at + 1;
        }
        if (/^(?:Collecting |Downloading |Looking in indexes: |Obtaining )/.test(text)) {
          reading.activity = 'network';
          return at + 1;
        }
        if (text.startsWith('Successfully installed ')) {
          [retried, installed] = [null, true];
          reading.activity = null;
          return at + 1;
        }
        const version = NO_VERSION.exec(text);
        const match = NO_MATCH.exec(text);
        if (version !== null || match !== null) {
          const known = version !== null && version[2] !== 'none' && version[2] !== '';
          if (retried !== null && !known) {
            if (match !== null || !reading.infra.some((each) => each.tool === 'pip')) scan.infra(retried);
          } else if (version?.[1] !== undefined)
            scan.add(
              found({
                tool: 'pip',
                pattern: known ? 'pip_version_not_found' : 'pip_no_matching_distribution',
                category: 'dependency',
                message: line.slice(7),
                identity: version[1],
                at,
              }),
            );
          else if (match?.[1] !== undefined && !/^ *ERROR: Could not find a version/.test(lines[at - 1] ?? ''))
            scan.add(
              found({
                tool: 'pip',
                pattern: 'pip_no_matching_distribution',
                category: 'dependency',
                message: line.slice(7),
                identity: match[1],
                at,
              }),
            );
          return at + 1;
        }
        if (text === 'error: externally-managed-environment') {
          trouble('permission', text);
          return at + 1;
        }
        const system = OS_ERROR.exec(text);
        const http = HTTP.exec(text);
        const status = http === null ? undefined : Number(http[1] ?? http[2] ?? http[3]);
        if (system?.[1] !== undefined || status !== undefined) {
          const kind = status === undefined ? (networkCause(system?.[1] ?? '') ?? osCause(system?.[1] ?? '')) : kindOfStatus(status);
          if (kind !== null) trouble(kind, text);
          else
            scan.add(
              found({
                tool: 'pip',
                pattern: status === 404 ? 'pip_e404' : 'pip_install_failed',
                category: 'dependency',
                message: text.replace(/^ERROR: /, ''),
                at,
              }),
            );
          return at + 1;
        }
        if (text === 'ERROR: Exception:' && lines[at + 1] === TRACEBACK) return readCrash(scan, at, trouble);
        const fault = FAULTS.find(([words]) => words.test(text));
        if (fault !== undefined) {
          if (fault[1] === 'pip_build_failed') building ??= { at, message: text.replace(/^ERROR: /i, '') };
          else if (!reading.findings.some((each) => each.pattern === fault[1]))
            scan.add(found({ tool: 'pip', pattern: fault[1], category: fault[2], message: text.replace(/^ERROR: /, ''), at }));
          return at + 1;
        }
        return readUv(scan, at, trouble);
      },
      end: () => {
        // A build that failed for a package that could not be fetched is told by that; so is one that a tool's own errors explain.
        if (building !== null && reading.infra.length === 0 && !reading.findings.some((each) => each.tool === 'pip'))
          scan.add(
            found({ tool: 'pip', pattern: 'pip_build_failed', category: 'build_script', message: building.message, at: building.at }),
          );
        if (installed && reading.summary === null) reading.summary = 'passed';
      },
    };
  },
};

const osCause = (text: string): InfraEvidence['kind'] | null => {
  if (/\[Errno (?:28|122)\]/.test(text)) return 'disk';
  if (/\[Errno (?:1|13|30)\]/.test(text)) return 'permission';
  return causeOf(text);
};

export const kindOfStatus = (status: number): InfraEvidence['kind'] | null => {
  if (status === 429) return 'rate_limit';
  if (status === 401 || status === 403 || status === 407) return 'auth';
  return status >= 500 ? 'registry' : null;
};

/** pip's own traceback: what it died of is nearly always the machine or the network. */
const readCrash = (scan: Scan, at: number, trouble: (kind: InfraEvidence['kind'], line: string) => void): number => {
  const traceback = tracebackAt(scan.lines, at + 1);
  if (traceback === null) return at + 1;
  const message = `${traceback.raised.name}: ${traceback.raised.message}`;
  const kind = networkCause(message) ?? osCause(message);
  if (kind !== null) trouble(kind, message);
  else scan.add(found({ tool: 'pip', pattern: 'pip_crash', category: 'tool_crash', message, at }));
  return traceback.end;
};

/** uv: an error and the chain of its causes, or a resolution drawn with `╰─▶`. */
const readUv = (scan: Scan, at: number, trouble: (kind: InfraEvidence['kind'], line: string) => void): number | null => {
  if (!scan.words.has('uv')) return null;
  const { lines } = scan;
  const line = lines[at] ?? '';
  if (!/^(?:error: | {2}× )/.test(line)) return null;
  let end = at + 1;
  while (end < lines.length && end - at < 40 && /^ {2,}(?:Caused by: |[╰├│]| )/.test(lines[end] ?? '')) end += 1;
  const chain = lines.slice(at, end).map((each) => each.replace(/^[\s×│├╰─▶>]+/, '').trim());
  const text = chain.join(' ');
  const kind = networkCause(text) ?? causeOf(text);
  if (kind !== null && !/No solution found/.test(text)) trouble(kind, text.slice(0, 400));
  else
    scan.add(
      found({
        tool: 'uv',
        pattern: /No solution found/.test(text) ? 'uv_no_solution' : 'uv_error',
        category: 'dependency',
        message: text,
        at,
      }),
    );
  return end;
};
