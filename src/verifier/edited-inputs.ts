import { baseName } from './normalise.js';
import type { Finding, InfraEvidence, InfraKind } from './types.js';

/**
 * Manifests, lock files and toolchain files: what a tool reads before any source (taxonomy, section 5.10). A complaint about them is the
 * model's where its diff changed one, and not where the diff is known to have left them alone.
 */
const INPUTS =
  /^(?:cargo\.(?:toml|lock)|config\.toml|rust-toolchain(?:\.toml)?|go\.(?:mod|sum|work)|(?:package|npm-shrinkwrap|package-lock)\.json|\.npmrc|\.nvmrc|\.node-version|pnpm-(?:lock|workspace)\.yaml|yarn\.lock|bun\.lockb?|pyproject\.toml|setup\.(?:py|cfg)|tox\.ini|(?:requirements|constraints)[\w.-]*\.(?:txt|in)|pipfile(?:\.lock)?|poetry\.lock|uv\.lock|\.python-version|pom\.xml|(?:build|settings)\.gradle(?:\.kts)?|gradle\.(?:properties|lockfile)|gradle-wrapper\.properties|libs\.versions\.toml|global\.json|nuget\.config|packages\.lock\.json|directory\.(?:build|packages)\.props|.+\.(?:cs|fs|vb)proj|.+\.sln|gemfile(?:\.lock)?|.+\.gemspec|\.ruby-version|composer\.(?:json|lock)|package\.(?:swift|resolved)|cmakelists\.txt|.+\.cmake|conanfile\.\w+|vcpkg\.json|\.tool-versions|dockerfile)$/;

export const touchesInputs = (files: readonly string[]): boolean => files.some((file) => INPUTS.test(baseName(file).toLowerCase()));

/** Kinds that an edited input can bring about; a name server or a full disk is nobody's edit. */
const BY_EDIT: ReadonlySet<InfraKind> = new Set(['toolchain', 'offline', 'lock']);

/** What stops a tool although the model may have caused it, as a finding. */
const findingOf = (evidence: InfraEvidence): Finding => ({
  tool: evidence.tool,
  pattern: `${evidence.tool || 'tool'}_${evidence.kind === 'toolchain' ? 'toolchain_unsupported' : 'dependency_not_available'}`,
  code: null,
  category: evidence.kind === 'toolchain' ? 'build_config' : 'dependency',
  file: null,
  place: '',
  identity: evidence.line,
  owner: null,
  messages: [evidence.line],
  at: evidence.at ?? 0,
});

/** Package managers: their `dependency` errors speak of manifests alone. (An import names its module in the source, with Go for one.) */
const PACKAGE_MANAGERS = new Set(['cargo', 'npm', 'pnpm', 'yarn', 'pip', 'maven', 'gradle', 'dotnet', 'bundler', 'composer']);

interface Read {
  findings: Finding[];
  infra: InfraEvidence[];
}

/** Lays what was read against the diff; without a diff, or with an empty one, nothing changes. */
export const againstDiff = ({ findings, infra }: Read, files: readonly string[] | undefined): Read => {
  if (files === undefined || files.length === 0) return { findings, infra };
  if (touchesInputs(files)) {
    const made = infra.filter(({ kind }) => BY_EDIT.has(kind));
    return { findings: [...findings, ...made.map(findingOf)], infra: infra.filter((each) => !made.includes(each)) };
  }
  const ofInputs = (finding: Finding) => finding.category === 'dependency' && PACKAGE_MANAGERS.has(finding.tool);
  if (findings.length === 0 || !findings.every(ofInputs)) return { findings, infra };
  const moved = findings.map(
    ({ tool, messages, at }): InfraEvidence => ({ kind: 'registry', tool, line: messages[0] ?? '', sure: false, at }),
  );
  return { findings: [], infra: [...infra, ...moved] };
};
