import type { Category } from './categories.js';
import { maskNames, slugOf } from './patterns.js';
import type { InfraKind } from './types.js';

/**
 * javac's messages: the key of its resource bundle (`compiler.err.<key>`, with -XDrawDiagnostics), what the English text says, and our name.
 * Text and raw form of one error give one name by it. Other locales are known by the words of the few most common messages.
 */
const NAMES: readonly (readonly [key: RegExp, text: RegExp, slug: string, category: Category])[] = [
  [/^cant\.resolve/, /^cannot find symbol|^找不到符号|^シンボルを見つけられません|^Symbol nicht gefunden/, 'cant_resolve', 'resolution'],
  [
    /^doesnt\.exist|^package\.not\.visible/,
    /^package \S{1,300} (?:does not exist|is not visible)|^程序包\S+不存在|^パッケージ\S*は存在しません|^Package \S{1,300} ist nicht vorhanden/,
    'package_does_not_exist',
    'import',
  ],
  [/^cant\.access|^class\.file|^bad\.class/, /^(?:cannot access|class file for|bad class file)/, 'cant_access', 'import'],
  [/^module\.not\.found/, /^module not found/, 'module_not_found', 'import'],
  [
    /^prob\.found\.req|^incompatible|^cant\.apply\.symbol|^cant\.apply\.diamond|^illegal\.initializer|^incomparable|^operator\.cant/,
    /^(?:incompatible types|method .{1,400} cannot be applied|constructor .{1,400} cannot be applied|incomparable types|bad operand types?|cannot infer type|illegal initializer|no suitable (?:method|constructor)|不兼容的类型|不適合な型|Inkompatible Typen)/,
    'incompatible_types',
    'type',
  ],
  [
    /^does\.not\.override\.abstract|^abstract\.cant\.be\.instantiated/,
    /is not abstract and does not override abstract|is abstract; cannot be instantiated|不是抽象的|はabstractでなく/,
    'does_not_override_abstract',
    'trait_bound',
  ],
  [
    /^method\.does\.not\.override|^override\.|^name\.clash/,
    /^method does not override or implement|cannot (?:override|implement|hide) |^name clash/,
    'override',
    'trait_bound',
  ],
  [
    /^unreported\.exception|^except\.never\.thrown/,
    /^unreported exception|^exception .{1,200} is never thrown/,
    'unreported_exception',
    'type',
  ],
  [/^missing\.ret\.stmt/, /^missing return statement|^缺少返回语句/, 'missing_return', 'type'],
  [
    /^var\.might|^var\.not\.initialized/,
    /might (?:not have been initialized|already have been assigned)/,
    'not_initialized',
    'null_safety',
  ],
  [
    /^cant\.assign\.val|^cant\.inherit\.from\.final|^local\.variables?|^cant\.ref\.non\.effectively/,
    /^cannot assign a value to |^cannot inherit from final|must be final or effectively final/,
    'final',
    'type',
  ],
  [/^already\.defined|^duplicate\.class|^name\.reserved/, /is already defined in|^duplicate class/, 'already_defined', 'resolution'],
  [
    /^report\.access|^not\.def\.public|^not\.def\.access/,
    /has (?:private|protected|package-private) access in|is not public in/,
    'access',
    'visibility',
  ],
  [
    /^non-static|^ref\.ambiguous/,
    /^non-static .{1,300} cannot be referenced|^reference to .{1,300} is ambiguous/,
    'non_static',
    'resolution',
  ],
  [
    /^unreachable|^initializer\.must|^ret\.outside|^break\.outside|^cont\.outside/,
    /^unreachable statement|outside (?:of )?(?:switch or )?loop|^return outside/,
    'unreachable',
    'syntax',
  ],
  [
    /^(?:expected|illegal\.start|premature|unclosed|not\.stmt|else\.without|class, interface|illegal\.char|int\.number|catch\.without|try\.without|orphaned|invalid\.meth|empty\.char|missing\.meth|variable\.not\.allowed|malformed|unexpected)/,
    /(?:^|\s)expected$|^(?:illegal start of|reached end of file|unclosed |not a statement|'?else'? without|class, interface|illegal character|integer number too large|'?(?:catch|try|finally)'? without|orphaned|invalid method declaration|empty character|missing method body|missing return type|variable declaration not allowed|malformed|unexpected |<identifier> expected|需要|非法的|解析时已到达)/,
    'expected_token',
    'syntax',
  ],
  [/^warnings\.and\.werror/, /^warnings found and -Werror specified/, 'werror', 'lint'],
  [/^(?:class\.public\.should\.be|file\.)/, /^class \S{1,200} is public, should be declared/, 'public_class_file', 'manifest'],
  [
    /^(?:preview\.feature|feature\.not)/,
    /not supported in -source|is a preview feature|use -source|use --release/,
    'source_level',
    'build_config',
  ],
  [
    /^invalid\.flag|^file\.not\.found|^no\.source/,
    /^(?:invalid (?:flag|source|target)|file not found|no source files|option |Class names, '|invalid source release|unrecognized option)/,
    'bad_option',
    'manifest',
  ],
  [/^proc\./, /^An (?:exception|annotation)|annotation processor/, 'annotation_processor', 'build_script'],
  [
    /^generic\.throwable|^cant\.deref|^illegal|^array\.req|^not\.within\.bounds|^incompatible/,
    /cannot be dereferenced|^array required|is not within bounds|^unexpected type/,
    'type_misuse',
    'type',
  ],
];

export const nameOfJava = (message: string): { pattern: string; category: Category } => {
  for (const [, text, slug, category] of NAMES) if (text.test(message)) return { pattern: `javac_${slug}`, category };
  return { pattern: `javac_${slugOf(maskNames(message))}`, category: 'unknown' };
};

export const nameOfJavaKey = (key: string): { pattern: string; category: Category } => {
  for (const [words, , slug, category] of NAMES) if (words.test(key)) return { pattern: `javac_${slug}`, category };
  return { pattern: `javac_${slugOf(key)}`, category: 'unknown' };
};

/** Names without their packages: maven's form of a message has them, javac's own has not. */
export const withoutPackages = (text: string): string => text.replace(/\b(?:[a-z]\w{0,60}\.){1,12}(?=[A-Z])/g, '');

/** Words for trouble around a build, as Java's libraries, Maven and Gradle put them. Order matters: the particular before the general. */
const CAUSES: readonly (readonly [InfraKind, RegExp])[] = [
  ['offline', /in offline mode|for offline mode|offline mode is enabled|--offline/i],
  ['rate_limit', /status(?: code)?:? 429|429 Too Many Requests/i],
  [
    'auth',
    /status(?: code)?:? 40[137]|\b(?:401 Unauthorized|403 Forbidden|407 Proxy)|[Nn]ot authorized|authentication failed|authorization failed|Access denied to/,
  ],
  [
    'registry',
    /status(?: code)?:? 5\d\d|\b5\d\d (?:Service Unavailable|Bad Gateway|Internal Server Error|Gateway Time-?out)|[Cc]hecksum validation failed|Content is not allowed in prolog|Premature end of Content-Length|unexpected end of stream/,
  ],
  [
    'tls',
    /PKIX path|SSLHandshake|SSLPeerUnverified|SSLException|handshake_failure|unable to find valid certification path|Remote host terminated the handshake/,
  ],
  ['net_timeout', /(?:Read|Connect|connect|Connection|connection) timed out|SocketTimeoutException|timeout waiting for connection/],
  [
    'dns',
    /Unknown ?[Hh]ost|UnknownHostException|Name or service not known|nodename nor servname|No such host is known|Temporary failure in name resolution/,
  ],
  [
    'connect',
    /Connection (?:refused|reset|closed)|Connect to .{1,200} failed|ConnectException|NoRouteToHost|Network is unreachable|Broken pipe|Remote host closed/,
  ],
  ['disk', /No space left on device|Not enough space on the disk|Disk quota exceeded/],
  ['lock', /Timeout waiting to lock|OverlappingFileLock|is currently in use by another|Could not acquire lock|could not lock/i],
  ['permission', /Permission denied|AccessDeniedException|Read-only file system/],
];

export const jvmCause = (text: string): InfraKind | null => CAUSES.find(([, words]) => words.test(text.slice(0, 4_000)))?.[0] ?? null;

/** The JDK, not the code, is what a message complains about. */
export const JDK =
  /^(?:error: )?(?:release version \S{1,12} not supported|invalid (?:target|source) release:? ?\S{1,12}|Source option \S{1,8} is no longer supported)|UnsupportedClassVersionError|Unsupported class file major version|has been compiled by a more recent version|JAVA_HOME (?:environment variable )?is (?:not defined correctly|set to an invalid)|No compiler is provided in this environment|Detected JDK (?:version )?.{0,80}is not in the allowed range|No matching toolchains found|Cannot find a Java installation|requires (?:at least )?JVM runtime version|Could not determine java version|No locally installed toolchains match|Value '.{1,200}' given for org\.gradle\.java\.home .{0,60}is invalid|Dependency requires at least JVM/i;
