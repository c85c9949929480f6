import type { Category } from './categories.js';
import { causeOf, innermostCause } from './infra.js';
import { maskNames, slugOf } from './patterns.js';
import { nameOfMessage } from './rust-messages.js';
import type { Finding, InfraEvidence } from './types.js';

/** Errors of cargo, rustup and rustc that point at no source: a head, and a chain of causes under `Caused by:`. */
export interface ToolError {
  message: string;
  /** Lines after the head: further words, `Caused by:` blocks. */
  tail: readonly string[];
  at: number;
}

export type ErrorReading = { finding: Finding } | { infra: InfraEvidence } | null;

/** Something that has to be installed or allowed first: nothing that a change of the code brings about. */
const TOOLCHAIN: readonly RegExp[] = [
  /^linker `[^`]*` not found/,
  /^toolchain '[^']*' is not installed/,
  /^(?:the )?'[^']*' (?:component|is not installed for the toolchain)/,
  /^no such (?:command|subcommand): /,
  /^(?:could not download|failed to (?:install|download) component|component download failed|rustup could not|no (?:default|override) toolchain)/,
  /^(?:could not execute process `(?:rustc|.{0,300}[\\/]rustc)|failed to run `rustc` to learn)/,
  /^(?:toolchain '[^']*' does not|unknown proxy name|invalid toolchain name|error reading rustc version|could not choose a version of cargo)/,
];
const TOOLCHAIN_CHAIN: readonly RegExp[] = [
  /lock file version `?\d+`? (?:was found|requires)|this version of Cargo (?:does not understand|is older than)/,
  /rustc \S+ is not supported by the following package|requires rustc \S+ or newer|cannot be built because it requires rustc/,
  /feature `[^`]*` is required\b|is not stabilized in this version of Cargo/,
];

const DEPENDENCY: readonly (readonly [RegExp, string, Category])[] = [
  [/\bis yanked\b/, 'cargo_version_yanked', 'dependency'],
  [/^no matching package/, 'cargo_package_not_found', 'dependency'],
  [
    /does not have (?:these|that|the|this) features?|which lacks feature|depends on `[^`]*`,? with features/,
    'cargo_feature_not_found',
    'dependency',
  ],
  [/^failed to select a version for the requirement/, 'cargo_version_not_found', 'dependency'],
  [/^failed to select a version/, 'cargo_version_conflict', 'dependency'],
  [
    /^(?:cannot update the lock file|the lock file \S+ needs to be updated|cannot create the lock file)/,
    'cargo_lock_out_of_date',
    'dependency',
  ],
  [
    /revspec '|failed to find (?:branch|tag)|couldn't find remote ref|reference '[^']*' not found|object not found - no match for id/,
    'cargo_git_rev_not_found',
    'dependency',
  ],
  [/^cyclic package dependency/, 'cargo_cyclic_dependency', 'dependency'],
  [
    /^multiple packages link to native library|only one package in the dependency graph may specify the same links/,
    'cargo_links_conflict',
    'dependency',
  ],
  [/^checksum for `[^`]*` changed between lock files/, 'cargo_checksum_changed', 'dependency'],
  [/no matching package found in|could not find .{1,100} in registry/, 'cargo_package_not_found', 'dependency'],
];
const MANIFEST: readonly (readonly [RegExp, string])[] = [
  [/^failed to parse lock file/, 'cargo_lock_invalid'],
  [
    /^(?:failed to parse manifest|invalid character|duplicate key|missing field|unknown variant|.{1,200}: TOML parse error|TOML parse error)/,
    'cargo_manifest_invalid',
  ],
  [/^(?:could not find `Cargo\.toml`|manifest path `[^`]*` (?:does not exist|is a directory))/, 'cargo_manifest_not_found'],
  [
    /^no (?:bin|test|example|bench|library) targets?\b|^no targets specified|^no (?:bin|test|example|bench) target named|^can't find `/,
    'cargo_target_not_found',
  ],
  [/^package ID specification|^package `[^`]*` (?:is not a member|not found|cannot be)/, 'cargo_package_spec'],
  [/^current package believes it's in a workspace/, 'cargo_not_in_workspace'],
  [
    /^(?:unexpected argument|unrecognized|the following required arguments|invalid value|a value is required|Found argument|the argument |unexpected value)/,
    'cargo_usage',
  ],
  [/^(?:the package '[^']*' does not contain (?:this|these) feature|none of the selected packages contains)/, 'cargo_feature_not_found'],
  [/^profile `[^`]*` is not defined/, 'cargo_profile_not_found'],
  [/^failed to load manifest for/, 'cargo_manifest_invalid'],
];

const finding = (
  error: ToolError,
  pattern: string,
  category: Category,
  identity: string,
  tool = 'cargo',
  owner: string | null = null,
): { finding: Finding } => ({
  finding: {
    tool,
    pattern,
    code: null,
    category,
    file: null,
    place: '',
    identity,
    owner,
    messages: [
      `error: ${error.message}`,
      ...causes(error.tail)
        .slice(-4)
        .map((line) => `  ${line.trim()}`),
    ],
    at: error.at,
  },
});

/** The lines that are cargo's own: what a failed process printed (`--- stderr`) is not. */
const causes = (tail: readonly string[]): string[] => {
  const cut = tail.findIndex((line) => /^ {2,6}--- (?:stdout|stderr)/.test(line));
  return (cut < 0 ? tail : tail.slice(0, cut))
    .map((line) => line.trimEnd())
    .filter((line) => line !== '' && line !== 'Caused by:' && !/^(?:help|note): /.test(line));
};

const SIGNAL = /\(signal: (\d{1,2})(?:, (SIG[A-Z]{2,8}))?/;
export const signalIn = (lines: readonly string[]): string | null => {
  for (const line of lines) {
    const match = SIGNAL.exec(line);
    if (match !== null) return match[2] ?? `SIG${match[1]}`;
  }
  return null;
};

const packageOf = (message: string): string => /`([\w-]{1,100})/.exec(message)?.[1] ?? '';

/** A build script is the package's own program: it failed, whatever it could not find. Its panic is the cause that can be told. */
const buildScript = (error: ToolError): ErrorReading => {
  const chain = causes(error.tail).map((line) => line.trim());
  if (signalIn(chain) === 'SIGKILL') return { infra: { kind: 'killed', tool: 'cargo', line: chain.at(-1) ?? error.message, sure: false } };
  const printed = error.tail
    .slice(
      Math.max(
        0,
        error.tail.findIndex((line) => line.trim() === '--- stderr'),
      ),
    )
    .map((line) => line.trim());
  const panic = printed.findIndex((line) => /^thread '.{1,200}' .*panicked at /.test(line));
  const said = panic < 0 ? (printed.filter((line) => line !== '' && !line.startsWith('---')).at(-1) ?? '') : (printed[panic + 1] ?? '');
  const read = finding(
    error,
    'rust_build_script_failed',
    'build_script',
    `build script failed: ${said}`,
    'cargo',
    packageOf(error.message),
  );
  if (said !== '') read.finding.messages.push(`  ${said}`);
  return read;
};

/** What cargo says on its way to a cause when something could not be fetched. */
const TRANSPORT =
  /^(?:download of \S{1,200} failed|failed to download |failed to query replaced source|failed to clone into|failed to fetch |network failure seems|unable to update (?:https?|ssh|git|registry))/;

export const readToolError = (error: ToolError, retried: InfraEvidence | null): ErrorReading => {
  const { message } = error;
  const printed = causes(error.tail);
  const all = [message, ...printed.map((line) => line.trim())];
  // Causes are indented. A line that is not may have come from another process in between: it names no cause, but for the reminder.
  const chain = printed.filter((line) => line.startsWith('  ') || line.startsWith('As a reminder, ')).map((line) => line.trim());
  if (message.startsWith('failed to run custom build command')) return buildScript(error);
  if (TOOLCHAIN.some((words) => words.test(message)))
    return { infra: { kind: 'toolchain', tool: 'cargo', line: `error: ${message}`, sure: true } };
  const needs = all.find((line) => TOOLCHAIN_CHAIN.some((words) => words.test(line)));
  // The manifest or lock file may be the model's own: the text cannot tell (taxonomy, section 5.10).
  if (needs !== undefined) return { infra: { kind: 'toolchain', tool: 'cargo', line: needs, sure: false } };
  const manifest = MANIFEST.find(([words]) => words.test(message));
  if (manifest !== undefined && innermostCause(chain) === null)
    return finding(error, manifest[1], 'manifest', [maskNames(message), ...chain.slice(-2)].join('\n'));
  const cause = innermostCause([message, ...chain]) ?? (chain.some((line) => line.includes('`git ')) ? retried : null);
  if (cause !== null) return { infra: { kind: cause.kind, tool: 'cargo', line: cause.line, sure: true, missing: missingPackages(all) } };
  const dependency = DEPENDENCY.find(([words]) => all.some((line) => words.test(line)));
  if (dependency !== undefined) return finding(error, dependency[1], dependency[2], [message, ...chain.slice(-2)].join('\n'));
  if (chain.some((line) => /^failed to read `[^`]*Cargo\.toml`/.test(line)))
    return finding(error, 'cargo_path_dep_missing', 'manifest', [maskNames(message), ...chain.slice(-1)].join('\n'));
  if (chain.some((line) => TRANSPORT.test(line))) {
    // The chain was cut before its cause: it was the way to the registry all the same. Earlier tries may have said what it was.
    const kind = retried?.kind ?? 'registry';
    return { infra: { kind, tool: 'cargo', line: retried?.line ?? chain.at(-1) ?? message, sure: false, missing: missingPackages(all) } };
  }
  if (chain.length === 0 && missingPackages(all).length > 0) {
    const read = finding(error, `cargo_${slugOf(maskNames(message))}`, 'dependency', message);
    return { finding: { ...read.finding, recovered: true } };
  }
  const fromCargo = error.tail.some((line) => line.startsWith('Caused by:'));
  if (fromCargo) return finding(error, `cargo_${slugOf(maskNames(message))}`, 'unknown', [message, ...chain.slice(-1)].join('\n'));
  const named = nameOfMessage(message);
  return finding(error, named.pattern, named.category, message, 'rustc');
};

const missingPackages = (lines: readonly string[]): string[] =>
  lines.flatMap(
    (line) => /^failed to (?:get|download|load source for dependency|query) `([\w-]{1,100})/.exec(line)?.[1]?.replaceAll('-', '_') ?? [],
  );

/** rustc's own trouble with the machine, drawn like a diagnostic: the linker, the disk, a missing target. Null: it is about the code. */
export const machineTrouble = (finding: Finding, lines: readonly string[]): InfraEvidence | { pattern: string } | null => {
  const line = finding.messages[0] ?? '';
  const first = line.replace(/^error(?:\[\w+\])?: /, '');
  const all = [first, ...lines];
  const infra = (kind: InfraEvidence['kind'], sure = true, at = line): InfraEvidence => ({
    kind,
    tool: 'rustc',
    line: at.trim().slice(0, 400),
    sure,
  });
  if (/^linker `[^`]*` not found/.test(first)) return infra('toolchain');
  if (
    finding.code === 'E0463' &&
    (/can't find crate for `(?:std|core|alloc|test|proc_macro)`/.test(first) ||
      lines.some((l) => l.includes('target may not be installed')))
  )
    return infra('toolchain');
  if (first.startsWith('linking with ')) {
    const cause = innermostCause(lines);
    if (cause !== null) return infra(cause.kind, true, cause.line);
    if (all.some((l) => /ld terminated with signal 9|Killed signal terminated/.test(l))) return infra('killed', false);
    if (all.some((l) => /ld terminated with signal 7/.test(l))) return infra('disk', false);
    if (all.some((l) => /cannot find 'ld'|invalid linker name/.test(l))) return infra('toolchain');
    if (all.some((l) => /undefined reference to|undefined symbol/.test(l))) return { pattern: 'ld_undefined_reference' };
    if (all.some((l) => /cannot find -l|unable to find library -l|library not found for -l/.test(l)))
      return { pattern: 'ld_cannot_find_library' };
    return null;
  }
  if (
    /^(?:couldn't create|could not create|failed to (?:write|create|build archive|copy|remove|open|mmap)|could not write|error (?:writing|copying|creating)|unable to (?:create|write|copy)|incremental compilation: could not|cannot write|io error)/.test(
      first,
    )
  ) {
    const cause = innermostCause(all);
    if (cause !== null) return infra(cause.kind, true, cause.line);
  }
  if (finding.code === 'E0786' || first.startsWith('only metadata stub')) {
    const cause = all.map((l) => causeOf(l)).find((kind) => kind === 'memory' || kind === 'disk');
    if (cause != null) return infra(cause);
  }
  return null;
};
