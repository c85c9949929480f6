import type { InfraKind } from './types.js';

/**
 * How the clients of package registries name what failed: urllib3 (pip), undici and node (npm, pnpm, yarn), net/http (go). Beyond the
 * words of infra.ts, which are curl's and the system's. Only for lines that are a tool's own.
 */
const WORDS: readonly (readonly [InfraKind, RegExp])[] = [
  ['disk', /\bENOSPC\b|\bEDQUOT\b|[Nn]o space left on device|\[Errno 28\]/],
  ['rate_limit', /\bE429\b|\b429 (?:Too Many Requests|Client Error|Unknown)|: 429\b|\bstatus 429\b/],
  ['auth', /\bE40[13]\b|\b40[137] (?:Forbidden|Unauthorized|Client Error|Proxy Authentication)|: 40[13]\b|\bENEEDAUTH\b|\bEOTP\b/],
  [
    'tls',
    /SSLError|SSLCertVerificationError|CERTIFICATE_VERIFY_FAILED|\bx509: |tls: |\b(?:UNABLE_TO_(?:VERIFY_LEAF_SIGNATURE|GET_ISSUER_CERT(?:_LOCALLY)?)|DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|CERT_[A-Z_]{3,40}|ERR_TLS_[A-Z_]{3,40}|ERR_SSL_[A-Z_]{3,40}|EPROTO)\b|self[- ]signed certificate|confirming the ssl certificate|not a trusted or secure host|invalid peer certificate|server gave HTTP response to HTTPS client/i,
  ],
  [
    'net_timeout',
    /ReadTimeoutError|ConnectTimeoutError|\bE(?:SOCKET)?TIMEDOUT\b|\bERR_SOCKET_TIMEOUT\b|network timeout at|i\/o timeout|TLS handshake timeout|context deadline exceeded|Client\.Timeout exceeded|Read timed out|[Cc]onnection timed out|operation timed out|Socket timeout|UND_ERR_(?:CONNECT|HEADERS|BODY)_TIMEOUT|There appears to be trouble with your network connection/,
  ],
  [
    'dns',
    /\bENOTFOUND\b|\bEAI_AGAIN\b|\bEAI_FAIL\b|no such host|server misbehaving|Name or service not known|Temporary failure in name resolution|nodename nor servname|getaddrinfo failed|NameResolutionError|\[Errno (?:-2|-3|-5|8|11001)\]|failed to lookup address|dns error/,
  ],
  [
    'connect',
    /\bE(?:CONNREFUSED|CONNRESET|CONNABORTED|HOSTUNREACH|NETUNREACH|PIPE|ADDRNOTAVAIL)\b|NewConnectionError|ConnectionResetError|ProtocolError|RemoteDisconnected|ProxyError|connection refused|connection reset|socket hang up|network is unreachable|no route to host|unexpected EOF|\bUND_ERR_SOCKET\b|ERR_STREAM_PREMATURE_CLOSE|[Pp]remature close|Connection aborted|tunneling socket|: EOF$/,
  ],
  [
    'registry',
    /\bE5\d\d\b|\b5\d\d (?:Internal Server Error|Bad Gateway|Service Unavailable|Gateway Time-?out|Server Error)|: 5\d\d\b|\bstatus 5\d\d\b|invalid json response body|ERR_PNPM_(?:BROKEN_METADATA_JSON|META_FETCH_FAIL)|IncompleteRead|Invalid response body/,
  ],
  ['offline', /\bENOTCACHED\b|ERR_PNPM_NO_OFFLINE_(?:META|TARBALL)|GOPROXY=off|cache mode is 'only-if-cached'|in offline mode/],
  ['permission', /\bE(?:ACCES|ROFS|PERM)\b|\[Errno (?:1|13|30)\]|[Pp]ermission denied|read-only file system/],
  ['memory', /\bENOMEM\b|cannot allocate memory|heap out of memory/],
  ['lock', /\bELOCK(?:ED)?\b|\bEBUSY\b/],
];

export const networkCause = (text: string): InfraKind | null => {
  const bounded = text.slice(0, 4_000);
  for (const [kind, words] of WORDS) if (words.test(bounded)) return kind;
  return null;
};
