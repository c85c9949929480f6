import type { Category } from './categories.js';
import { found, patternOfMessage } from './found.js';
import { goTrouble } from './go-modules.js';
import { jsonReader, listOf, objectOf, at as pick, stringOf } from './machine-json.js';
import type { Grammar, Scan } from './scan.js';

/** The go command's compiler, vet and linker: `# package`, then `./file.go:3:16: message`, whose further lines begin with a tab. */

const HEADER = /^# (?:\[)?([\w.~/@-]{1,300})\]?(?: \[.{1,300}\])?$/;
const PLACE = /^(?:vet: )?((?:[A-Za-z]:)?[^\s:][^:]{0,400}\.(?:go|s|c|h|cgo1\.go)):(\d{1,8})(?::(\d{1,8}))?: (.+)$/;
const LINT = / \(([\w-]{2,40})\)$/;

/** By the words of go's type checker, old and new ones: one name and one message for what was only worded anew. */
const MESSAGES: readonly (readonly [RegExp, string, Category, ((match: RegExpExecArray) => string)?])[] = [
  [/^(?:undefined|undeclared name): (\S{1,200})/, 'undefined', 'resolution', (m) => `undefined: ${m[1]}`],
  [
    /^(?:"([^"]{1,300})" imported and not used|imported and not used: "([^"]{1,300})")/,
    'unused_import',
    'lint',
    (m) => `imported and not used: ${m[1] ?? m[2]}`,
  ],
  [/^"[^"]{1,300}" imported as \S{1,100} and not used|^imported and not used: ".{1,300}" as /, 'unused_import', 'lint'],
  [
    /^(?:declared and not used: (\S{1,200})|(\S{1,200}) declared (?:but|and) not used)/,
    'unused_variable',
    'lint',
    (m) => `declared and not used: ${m[1] ?? m[2]}`,
  ],
  [/^label .{1,100} defined and not used/, 'unused_label', 'lint'],
  [/^missing return\b/, 'missing_return', 'type'],
  [
    /^(?:syntax error: |expected .{1,100}, found |illegal |newline in |string literal not terminated|rune literal|invalid character|non-declaration statement outside)/,
    'syntax',
    'syntax',
  ],
  [/cannot refer to unexported|not exported by package|unexported field|is not exported/, 'unexported', 'visibility'],
  [/^use of internal package /, 'internal_package', 'visibility'],
  [/undefined \(type .{1,300} has no field or method|^.{1,200}\.\w{1,100} undefined\b/, 'no_field_or_method', 'resolution'],
  [/^unknown field /, 'unknown_field', 'resolution'],
  [
    /does not (?:implement|satisfy) |missing method |\(missing \w{1,100} method\)|^impossible type (?:assertion|switch case)/,
    'missing_method',
    'trait_bound',
  ],
  [/^(?:not enough|too many) arguments (?:in call to|to )/, 'wrong_arg_count', 'type'],
  [/^(?:not enough|too many) (?:return values|arguments to return)/, 'return_count', 'type'],
  [/^assignment mismatch: /, 'assignment_mismatch', 'type'],
  [/^(?:\S{1,200} redeclared|method .{1,200} already declared|duplicate (?:case|field|key|method|argument))/, 'redeclared', 'resolution'],
  [/^no new variables on left side of :=/, 'no_new_variables', 'resolution'],
  [/^(?:cannot infer|.{0,200}cannot infer )/, 'cannot_infer', 'type'],
  [
    /^(?:invalid operation: .{0,400}mismatched types|cannot (?:use|assign|convert|range over|call|index|slice|unmarshal)|first argument to|non-boolean|non-name|.{1,200} is not a type|invalid argument|.{1,200} \(.{1,200}\) is not (?:an expression|used))/,
    'type_mismatch',
    'type',
  ],
  [/ overflows | truncated|^constant .{1,100} overflow|^division by zero|^invalid operation: division by zero/, 'constant', 'const_eval'],
  [/^invalid operation: /, 'invalid_operation', 'type'],
  [/^invalid recursive type/, 'recursive_type', 'type'],
  [/^import cycle not allowed/, 'import_cycle', 'import'],
  [/^(?:package \S{1,300} is not in (?:std|GOROOT)|could not import |cannot find package )/, 'package_not_found', 'import'],
  [/^function main is undeclared in the main package/, 'no_main', 'resolution'],
  [/^missing function body/, 'missing_body', 'syntax'],
  [/^relocation target .{1,300} not defined|undefined reference to/, 'link', 'link'],
  [/^#error|^fatal error: .{1,200}: No such file/, 'cgo', 'import'],
];

/** What only vet says: its findings are advice on code that compiles. */
const VET =
  /format %|formatting directive|call has (?:arguments but no|possible)|unreachable code|unkeyed fields|self-assignment|by value|not used$|struct field tag|loop variable|possible (?:misuse|nil|formatting)|should have signature|never used|redundant|suspect|call of \S{1,100} copies|context leak|is never closed|non-constant format string/;

export const addGoError = (
  scan: Scan,
  place: { file: string; line: string; column: string | undefined },
  message: string,
  further: readonly string[],
  at: number,
): void => {
  const whole = [message, ...further].join('\n');
  const linter = scan.words.has('golangci-lint') || scan.words.has('staticcheck') ? LINT.exec(message)?.[1] : undefined;
  const known =
    linter === undefined
      ? MESSAGES.find(([words]) => words.test(whole.slice(0, 2_000)) && (words.test(message) || words.source.includes('implement')))
      : undefined;
  const vet = known === undefined && (scan.words.has('vet') || VET.test(message));
  const match = known?.[0].exec(message);
  scan.add(
    found({
      tool: 'go',
      pattern:
        linter !== undefined && linter !== 'typecheck'
          ? `golangci_${linter.toLowerCase()}`
          : known !== undefined
            ? `go_${known[1]}`
            : patternOfMessage(vet ? 'go_vet' : 'go', message),
      category: linter !== undefined ? 'lint' : (known?.[2] ?? (vet ? 'lint' : 'type')),
      message,
      details: further,
      identity: known?.[3] !== undefined && match != null ? known[3](match) : whole,
      file: place.file.replace(/^\.\//, ''),
      line: place.line,
      at,
      ...(place.column === undefined ? {} : { column: place.column }),
    }),
  );
};

/** Further lines of a message; a source line and its caret, which linters print, are left out. */
export const furtherAt = (lines: readonly string[], from: number): string[] => {
  const further: string[] = [];
  for (const line of lines.slice(from, from + 30)) {
    if (!/^(?:\t| {4,})\S/.test(line)) break;
    further.push(line.trim());
  }
  return further;
};

const readVetJson = (scan: Scan, value: unknown, at: number): boolean => {
  const packages = objectOf(value);
  if (packages === null) return false;
  let any = false;
  for (const analyses of Object.values(packages))
    for (const list of Object.values(objectOf(analyses) ?? {}))
      for (const each of listOf(list)) {
        const posn = /^(.{1,500}?):(\d{1,8}):(\d{1,8})$/.exec(stringOf(pick(each, 'posn')));
        if (posn?.[1] === undefined) continue;
        any = true;
        addGoError(scan, { file: posn[1], line: posn[2] ?? '', column: posn[3] }, stringOf(pick(each, 'message')), [], at);
      }
  return any;
};

export const goBuild: Grammar = {
  tool: 'go',
  words: ['go', 'golangci-lint', 'staticcheck', 'gotestsum', 'gofmt', 'govulncheck'],
  telltale: (line) => /^\.{1,2}\/[\w./-]{1,300}\.go:\d{1,8}:\d{1,8}: /.test(line.slice(0, 500)),
  activity: 'build',
  start: (scan) => {
    const { lines, words } = scan;
    const called = ['go', 'golangci-lint', 'staticcheck', 'gotestsum'].some((word) => words.has(word));
    const json = jsonReader(lines);
    return {
      read: (at) => {
        const line = lines[at] ?? '';
        const text = line.slice(0, 4_000);
        if (called && text.startsWith('{') && words.has('vet')) {
          const document = json(at);
          if (document !== null && readVetJson(scan, document.value, at)) return document.end;
        }
        if (HEADER.test(text) && called) return at + 1;
        if (/^package \S{1,300}$/.test(text) && /^\timports /.test(lines[at + 1] ?? '')) {
          let end = at + 1;
          while (end < lines.length && end - at < 200 && /^\timports /.test(lines[end] ?? '')) end += 1;
          const last = (lines[end - 1] ?? '').trim();
          const names = lines
            .slice(at, end)
            .map((each) => each.replace(/^(?:package |\timports )|: import cycle.*$/g, ''))
            .sort();
          if (last.endsWith('import cycle not allowed'))
            scan.add(
              found({
                tool: 'go',
                pattern: 'go_import_cycle',
                category: 'import',
                message: `import cycle not allowed: ${names.join(' ')}`,
                at,
              }),
            );
          else {
            const said = last.replace(/^imports \S{1,300}: /, '');
            scan.add(found({ tool: 'go', pattern: 'go_package_not_found', category: 'import', message: said, at }));
          }
          return end;
        }
        const place = text.includes(':') ? PLACE.exec(text) : null;
        if (place?.[1] !== undefined && (called || /^\.{1,2}\//.test(place[1])) && /\.go$|cgo/.test(place[1])) {
          const further = furtherAt(lines, at + 1);
          const message = place[4] ?? '';
          const end = at + 1 + further.length;
          if (goTrouble(scan, message, further, { file: place[1], line: place[2] ?? '' }, at)) return end;
          const skip = /^too many errors$/.test(message);
          if (!skip) addGoError(scan, { file: place[1], line: place[2] ?? '', column: place[3] }, message, further, at);
          return end;
        }
        return null;
      },
    };
  },
};
