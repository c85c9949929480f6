import type { Category } from './categories.js';
import { found } from './found.js';
import { causeOf } from './infra.js';
import { networkCause } from './network-words.js';
import type { Grammar, Scan } from './scan.js';
import type { InfraKind } from './types.js';

/** What the go command says of modules, its proxy, its cache and its own processes: `go: …`, and places in source that import a module. */

/** A module that was asked for over the network: only then do words of networks count. */
const FETCH =
  /@v\d|Get "https?:|reading https?:|https fetch|unrecognized import path|git (?:ls-remote|fetch|init)|module lookup disabled|verifying |downloading |dial tcp|toolchain not available|sum\.golang\.org/;

const FAULTS: readonly (readonly [RegExp, string, Category])[] = [
  [/missing go\.sum entry/, 'missing_gosum', 'dependency'],
  [/checksum mismatch|SECURITY ERROR/, 'checksum_mismatch', 'dependency'],
  [
    /no required module provides package|cannot find module providing package|module \S{1,300} found .{0,100}but does not contain package|no matching versions for query/,
    'missing_module',
    'dependency',
  ],
  [/unknown revision|invalid version|invalid pseudo-version/, 'unknown_revision', 'dependency'],
  [/\b4(?:04 Not Found|10 Gone)|: not found: |repository .{0,200}not found/i, 'module_not_found', 'dependency'],
  [/updates to go\.mod needed|inconsistent vendoring|go mod tidy|is explicitly required in go\.mod/, 'mod_updates', 'dependency'],
  [/ambiguous import|declares its path as|but was required as|parsing go\.mod:\s+module declares/, 'module_path', 'dependency'],
  [
    /errors parsing (?:go\.mod|go\.work|\S{1,300}\/go\.mod)|invalid go version|malformed (?:module path|import path)|unknown directive|usage: require|go\.mod:\d{1,6}: /,
    'mod_parse',
    'manifest',
  ],
  [
    /go\.mod file not found|cannot find main module|no modules were found|not in (?:a|any) (?:module|workspace)|does not contain main module/,
    'no_module',
    'manifest',
  ],
  [
    /no Go files in|matched no packages|no packages to |directory not found|cannot find package "\."|no non-test Go files/,
    'no_files',
    'manifest',
  ],
  [/build constraints exclude all Go files/, 'build_constraints', 'build_config'],
  [/found packages .{1,200} and /, 'mixed_packages', 'import'],
  [/is not a main package|no main packages/, 'not_main', 'manifest'],
  [/import cycle not allowed/, 'import_cycle', 'import'],
  [/is not in (?:std|GOROOT)/, 'package_not_found', 'import'],
  [/use of internal package/, 'internal_package', 'visibility'],
  [
    /local import .{1,200} in non-local package|relative import|not allowed to import|is a program, not an importable package/,
    'bad_import',
    'import',
  ],
];

const TOOLCHAIN =
  /go\.mod requires go >= |requires go >= |toolchain not available|cannot find GOROOT|C compiler ".{1,60}" not found|executable file not found in \$PATH|no such tool|invalid GOTOOLCHAIN|module requires Go \d.{0,40}\(running/;

const httpKind = (text: string): InfraKind | null => {
  if (/\b429\b/.test(text)) return 'rate_limit';
  if (
    /\b(?:401 Unauthorized|403 Forbidden|407 Proxy)|could not read (?:Username|Password)|Permission denied \(publickey|terminal prompts disabled|Authentication failed/.test(
      text,
    )
  )
    return 'auth';
  return null;
};

const kindOf = (text: string): InfraKind | null => {
  if (/GOPROXY=off|GOFLAGS=-mod=vendor.{0,100}disabled/.test(text)) return 'offline';
  if (/\b4(?:04 Not Found|10 Gone)\b/.test(text)) return null;
  return httpKind(text) ?? networkCause(text) ?? (/^\s*(?:fatal|ssh|git@)/m.test(text) ? causeOf(text) : null);
};

/** True where the message was one of a module or of the machine, and was taken. */
export const goTrouble = (
  scan: Scan,
  message: string,
  further: readonly string[],
  place: { file: string; line: string } | null,
  at: number,
): boolean => {
  const text = [message, ...further].join('\n').slice(0, 6_000);
  const infra = (kind: InfraKind, sure = true): true => {
    scan.infra({ kind, tool: 'go', line: message, sure, missing: ['go:*'] });
    return true;
  };
  if (FETCH.test(text)) {
    const kind = kindOf(text);
    if (kind !== null) return infra(kind);
  }
  if (place === null) {
    if (/no space left on device|disk quota exceeded/.test(text)) return infra('disk');
    if (/cannot allocate memory|failed to reserve/.test(text)) return infra('memory');
    if (/(?:permission denied|read-only file system)/.test(text)) return infra('permission');
    if (TOOLCHAIN.test(text)) return infra('toolchain', !/requires go >=/.test(text));
  } else if (/C compiler ".{1,60}" not found/.test(text)) return infra('toolchain');
  const fault = FAULTS.find(([words]) => words.test(text));
  if (fault === undefined || (place !== null && !/@v\d|package|module|import|go\.sum|build constraints/.test(message))) return false;
  // `could not import` of the type checker and a cycle have patterns of their own.
  if (place !== null && /^(?:could not import|undefined)/.test(message)) return false;
  scan.add(
    found({
      tool: 'go',
      pattern: `go_${fault[1]}`,
      category: fault[2],
      message: message.replace(/; to add(?: it)?:$/, ''),
      details: further,
      identity: message.replace(/https?:\/\/\S{1,300}/g, '').replace(/ \(imported by .{1,300}\)/, ''),
      file: place?.file.replace(/^\.\//, '') ?? null,
      at,
      ...(place === null ? {} : { line: place.line }),
    }),
  );
  return true;
};

export const goModules: Grammar = {
  tool: 'go',
  words: [],
  telltale: (line) => /^go: (?:downloading \S{1,300} v\d|finding module for package |errors parsing go\.mod)/.test(line.slice(0, 400)),
  start: (scan) => {
    const { lines, words, reading } = scan;
    const called = words.has('go') || words.has('golangci-lint') || words.has('gotestsum');
    return {
      read: (at) => {
        const line = lines[at] ?? '';
        const own = /^go(?: build| list| test| vet| run| install| mod \w{1,20})?: (.+)$/.exec(line.slice(0, 4_000));
        if (own?.[1] !== undefined) {
          if (/^(?:downloading|finding|found|extracting|added|upgraded|to add module)\b/.test(own[1])) {
            if (/^(?:downloading|finding)/.test(own[1])) reading.activity = 'network';
            return at + 1;
          }
          if (/^warning: /.test(own[1])) return at + 1;
          const further: string[] = [];
          for (const next of lines.slice(at + 1, at + 20)) {
            // Under `errors parsing go.mod:` the places stand at the margin.
            if (!/^[\t ]+\S/.test(next) && !/^\S{1,300}\.(?:mod|work):\d{1,6}/.test(next)) break;
            further.push(next.trim());
          }
          const said =
            /^errors parsing /.test(own[1]) && further[0] !== undefined
              ? `errors parsing go.mod: ${further[0].replace(/^\S{1,300}?:(?:\d{1,6}:){1,2} ?/, '')}`
              : own[1];
          if (!goTrouble(scan, said, further, null, at) && called)
            scan.add(found({ tool: 'go', pattern: 'go_command_failed', category: 'manifest', message: said, details: further, at }));
          return at + 1 + further.length;
        }
        if (!called) return null;
        const tool = /^(?:\S{1,300}\/)?(link|compile|asm|cgo|vet)(?:\.exe)?: (.+)$/.exec(line.slice(0, 2_000));
        if (tool?.[2] !== undefined) {
          if (/^signal: killed/.test(tool[2])) scan.infra({ kind: 'killed', tool: 'go', line, sure: false });
          else if (!goTrouble(scan, tool[2], [], null, at))
            scan.add(
              found({
                tool: 'go',
                pattern: tool[1] === 'link' ? 'go_link' : `go_${tool[1]}_failed`,
                category: tool[1] === 'link' ? 'link' : 'tool_crash',
                message: tool[2],
                at,
              }),
            );
          return at + 1;
        }
        const outside =
          /^(?:fork\/exec \S{1,400}|mkdir \S{1,400}|open \S{1,400}|write \S{1,400}|cgo|exec|failed to initialize build cache at \S{1,400}|pattern \S{1,200}|no required module provides package .{1,300}|package \S{1,300}|build \S{1,300}|cannot find package .{1,300}|found packages .{1,300}|no Go files in .{1,300}|build constraints exclude .{1,300}|verifying \S{1,300})(?::|;| is not| in |$)/.exec(
            line.slice(0, 1_500),
          );
        if (outside !== null) {
          const further: string[] = [];
          for (const next of lines.slice(at + 1, at + 10)) {
            if (!/^[\t ]+\S/.test(next)) break;
            further.push(next.trim());
          }
          return goTrouble(scan, line, further, null, at) ? at + 1 + further.length : null;
        }
        return null;
      },
    };
  },
};
