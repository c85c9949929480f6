import type { InfraKind } from './types.js';

/**
 * The words by which tools, libraries and systems name what failed around them (taxonomy, section 4). They count only on lines that a
 * family has already found to be the tool's own: the same words in a test's output or in source code say nothing.
 * Order matters: a particular cause before the general one that often stands on the same line.
 */
const CAUSES: readonly (readonly [InfraKind, RegExp])[] = [
  [
    'disk',
    /\(os error (?:28|122)\)|\bENOSPC\b|No space left on device|Disk quota exceeded|final link failed: (?:No space|File too large)/i,
  ],
  [
    'memory',
    /\(os error 12\)|\bENOMEM\b|Cannot allocate memory|memory allocation of \d+ bytes failed|JavaScript heap out of memory|out of memory allocating/i,
  ],
  [
    'offline',
    /you're using offline mode|you may wish to retry without `?--offline|while in offline mode|but --offline was specified|when --frozen was specified|--offline\b.{0,40}\bspecified/i,
  ],
  ['rate_limit', /\bgot 429\b|returned error: 429|\b429 Too Many Requests/i],
  [
    'auth',
    /credential-provider|\bgot 40[13]\b|returned error: 40[13]\b|could not read (?:Username|Password)|Permission denied \((?:publickey|password)|Authentication failed for|failed to authenticate|authentication required|no token found|Host key verification failed|invalid username or password/i,
  ],
  [
    'tls',
    /(?:^|\s)\[(?:35|51|58|59|60|77|83|91)\] |SSL certificate|certificate verif|self[- ]signed certificate|class=Ssl|invalid peer certificate|TLS handshake|unable to get local issuer/i,
  ],
  [
    'net_timeout',
    /(?:^|\s)\[28\] |Timeout was reached|(?:Operation|Connection) timed out|\(os error 110\)|request or response body error: operation timed out/i,
  ],
  [
    'dns',
    /(?:^|\s)\[[56]\] |Could not resolve (?:host|proxy|')|Temporary failure resolving|failed to resolve address|dns error|failed to lookup address|Name or service not known|Temporary failure in name resolution|nodename nor servname|\bENOTFOUND\b|\bEAI_AGAIN\b/i,
  ],
  [
    'connect',
    /(?:^|\s)\[(?:7|52|55|56)\] |Connection (?:refused|reset|closed)|Couldn't connect to server|Could not connect to|Failed to connect to|Network is unreachable|No route to host|\(os error (?:101|104|111|113)\)|\bECONN(?:REFUSED|RESET)\b|class=Net \(12\)|Empty reply from server|early EOF|unexpected disconnect|the remote end hung up/i,
  ],
  [
    'registry',
    /\bgot (?:404|410|5\d\d)\b|returned error: 5\d\d|config\.json not found in registry|failed to verify the checksum|expected value at line 1 column 1|(?:^|\s)\[(?:16|18|22|23|92)\] |unexpected http status code|class=Http|failed to unpack package|invalid gzip header|unexpected end of file/i,
  ],
  ['lock', /\(os error 11\)|Unable to create '.{1,300}\.lock': File exists|database is locked|failed to (?:lock|acquire|open).{0,40}lock/i],
  ['permission', /\(os error (?:1|13|30)\)|\bE(?:ACCES|ROFS|PERM)\b|Read-only file system|Permission denied|detected dubious ownership/i],
];

/** The kind of a single line of evidence, or null. Only the first 2,000 characters are looked at. */
export const causeOf = (line: string): InfraKind | null => {
  const text = line.slice(0, 2_000);
  for (const [kind, words] of CAUSES) if (words.test(text)) return kind;
  return null;
};

/** The innermost cause of a chain: what is printed last is what happened first. */
export const innermostCause = (lines: readonly string[]): { kind: InfraKind; line: string } | null => {
  for (let index = lines.length - 1; index >= 0; index -= 1) {
    const line = lines[index] ?? '';
    const kind = causeOf(line);
    if (kind !== null) return { kind, line: line.trim() };
  }
  return null;
};
