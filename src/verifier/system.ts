import { causeOf } from './infra.js';
import { emptyReading, type InfraEvidence, type Reading, type ToolFamily } from './types.js';

/** Programs that fetch and set up what a verifier runs in: apt, dpkg, apk, docker, curl, wget. Their trouble is the machine's. */

const APT = /^(?:E|Err|W): (.*)$/;
const DPKG = /^dpkg: error: (.*)$/;
const APK =
  /^(?:ERROR|fatal): (.{1,200}): (temporary error|network error|DNS lookup error|connection refused|could not .{1,100}|unable to .{1,200})/;
const DOCKER =
  /^(?:docker: |error during connect: |ERROR: |Error response from daemon: )?(Cannot connect to the Docker daemon|Error response from daemon: .{0,800}|failed to solve: .{0,800}|error during connect: .{0,400}|toomanyrequests: .{0,200})/;
const CURL = /^curl: \((\d{1,3})\) (.*)$/;
const WGET =
  /^wget: (?:unable to resolve host address|bad address|can't connect|server returned error|download timed out|failed)|^(?:failed: |Resolving \S{1,200}\.\.\. failed: )/;

const aptCause = (text: string): InfraEvidence['kind'] | null => {
  if (/^(?:Could not get lock|Unable to (?:acquire|lock)|Could not open lock)/.test(text))
    return /Permission denied|are you root/.test(text) ? 'permission' : 'lock';
  if (/^(?:Failed to fetch|Some index files failed|The repository|Could not|Unable to fetch|Temporary failure)/.test(text))
    return causeOf(text) ?? 'registry';
  return /^(?:You don't have enough free space|Write error)/.test(text) ? 'disk' : null;
};

const dockerCause = (text: string): InfraEvidence['kind'] | null => {
  if (/^Cannot connect to the Docker daemon|error during connect/.test(text))
    return /permission denied/i.test(text) ? 'permission' : 'connect';
  if (/toomanyrequests|429/.test(text)) return 'rate_limit';
  if (/no basic auth credentials|unauthorized|denied: requested access/.test(text)) return 'auth';
  return causeOf(text);
};

/** curl's exit codes as it prints them: they say more than its words. */
const CURL_CODES: Readonly<Record<string, InfraEvidence['kind']>> = {
  5: 'dns',
  6: 'dns',
  7: 'connect',
  28: 'net_timeout',
  35: 'tls',
  52: 'connect',
  55: 'connect',
  56: 'connect',
  60: 'tls',
};

const evidenceAt = (line: string): Omit<InfraEvidence, 'line' | 'at'> | null => {
  const apt = APT.exec(line) ?? DPKG.exec(line);
  const ofApt = apt === null ? null : aptCause(apt[1] ?? '');
  if (ofApt !== null && !line.startsWith('W:')) return { kind: ofApt, tool: 'apt', sure: true };
  const docker = DOCKER.exec(line)?.[1];
  const ofDocker = docker === undefined ? null : dockerCause(docker);
  if (ofDocker !== null) return { kind: ofDocker, tool: 'docker', sure: true };
  const apk = APK.exec(line);
  if (apk !== null) return { kind: causeOf(line) ?? (/DNS/.test(line) ? 'dns' : 'connect'), tool: 'apk', sure: true };
  const curl = CURL.exec(line);
  if (curl?.[1] !== undefined) {
    const status = /returned error: (\d{3})/.exec(curl[2] ?? '')?.[1];
    const kind = status === undefined ? (CURL_CODES[curl[1]] ?? causeOf(line)) : causeOf(line);
    return kind === null ? null : { kind, tool: 'curl', sure: false };
  }
  if (!WGET.test(line)) return null;
  const kind = /bad address/.test(line) ? 'dns' : causeOf(line);
  return kind === null ? null : { kind, tool: 'wget', sure: false };
};

const read = (lines: readonly string[]): Reading => {
  const reading = emptyReading(null);
  for (const [at, line] of lines.entries()) {
    if (line === '' || line.length > 2_000) continue;
    const evidence = evidenceAt(line);
    if (evidence !== null) reading.infra.push({ ...evidence, line: line.slice(0, 400), at });
    const missing =
      /^E: (?:Unable to locate package|Version '[^']{1,100}' for '[^']{1,100}' was not found|Package '[^']{1,100}' has no installation candidate)/.test(
        line,
      );
    if (!missing) continue;
    reading.summary = 'failed';
    reading.findings.push({
      ...{ tool: 'apt', pattern: 'apt_package_not_found', code: null, category: 'dependency', file: null, place: '' },
      ...{ identity: line, owner: null, messages: [line], at },
    });
  }
  return reading;
};

export const system: ToolFamily = {
  owns: (words, lines) =>
    ['apt', 'apt-get', 'dpkg', 'docker', 'apk', 'curl', 'wget'].some((word) => words.has(word)) ||
    lines.some(
      (line) =>
        line.length <= 2_000 &&
        /^(?:E: |dpkg: error|curl: \(|wget: |docker: |Cannot connect to the Docker|ERROR: failed to solve)/.test(line),
    ),
  read,
};
