import type { Category } from './categories.js';
import { slashed } from './normalise.js';

/** Errors as V8 and node print them: a header, a stack, and (inspected) the properties in braces. Runners show the same within their frames. */

const HEADER =
  /^(?:Uncaught |Unhandled )?(?:\[)?((?:[A-Za-z_$][\w$]{0,80}\.){0,4}[A-Za-z_$][\w$]{0,80})(?: \[([\w$]{2,60})\])?(?:: ?(.*))?$/;
const NAMES = /(?:Error|Exception|Rejection|Warning|Failure|Failed|Timeout)\d?$/;
const FRAME =
  /^\s{2,40}(?:❯|at) (?:(?:async )?(.{1,300}?) \()?((?:file:\/\/|node:|webpack:\/\/|[A-Za-z]:\\|\/|\.{1,2}\/|\w)[^()\s]{0,500}?):(\d{1,8}):(\d{1,8})\)?$/;
const MOST_LINES = 400;

export interface JsError {
  name: string;
  code: string | null;
  message: string;
  /** The innermost frame of the project. */
  file: string | null;
  line: string | undefined;
  end: number;
}

/** `TypeError [Error]` names a class again, `Error [ERR_X]` a code. */
const codeOf = (text: string | undefined): string | null => (text !== undefined && /^[A-Z][A-Z0-9_]{2,60}$/.test(text) ? text : null);

export const headerAt = (line: string): { name: string; code: string | null; message: string } | null => {
  const match = HEADER.exec(line.slice(0, 3_000));
  if (match?.[1] === undefined || !NAMES.test(match[1])) return null;
  return { name: match[1].split('.').at(-1) ?? match[1], code: codeOf(match[2]), message: match[3] ?? '' };
};

export const isForeign = (file: string): boolean => /^node:|(?:^|[\\/])node_modules[\\/]|^internal\/|^<anonymous>|^native$/.test(file);
const plain = (file: string): string => slashed(file.replace(/^file:\/\/(?=\/)/, '').replace(/^webpack:\/\/[^/]{0,80}\/\.?\/?/, ''));

export const frameAt = (line: string): { file: string; line: string } | null => {
  if (!/^\s{1,40}(?:at|❯) /.test(line)) return null;
  const match = FRAME.exec(line.slice(0, 1_000));
  if (match === null && /^\s{1,40}❯ /.test(line)) {
    // vitest writes no parentheses: ` ❯ total cart.js:1:41`
    const bare = /(\S{1,500}):(\d{1,8}):\d{1,8}$/.exec(line.slice(0, 1_000));
    return bare?.[1] === undefined ? null : { file: bare[1], line: bare[2] ?? '' };
  }
  return match?.[2] === undefined ? null : { file: match[2], line: match[3] ?? '' };
};

/** The first frame of the project among lines, wherever the stack begins. */
export const ownFrame = (lines: readonly string[]): { file: string; line: string } | null => {
  for (const line of lines) {
    const frame = frameAt(line);
    if (frame !== null && !isForeign(frame.file)) return { file: plain(frame.file), line: frame.line };
  }
  return null;
};

const endsMessage = (line: string): boolean => /^\s{2,40}(?:at|❯) \S|^Node\.js v\d/.test(line);

/** An error whose header is `lines[start]`: the message runs to the stack, the braces belong to it. */
export const errorAt = (lines: readonly string[], start: number, last = lines.length): JsError | null => {
  const header = headerAt((lines[start] ?? '').trim());
  if (header === null) return null;
  const message = [header.message.replace(/ \{$/, '')];
  let index = start + 1;
  const opened = (lines[start] ?? '').endsWith(' {');
  for (; index < last && index - start < 60 && !opened; index += 1) {
    const line = lines[index] ?? '';
    if (endsMessage(line) || headerAt(line) !== null || line.startsWith('Require stack:')) break;
    if (line === '' && !(lines[index + 1] ?? '').startsWith(' ') && !/^[+-] |\S{1,40} [!=]==? /.test(lines[index + 1] ?? '')) break;
    message.push(line.trim());
  }
  const stack: string[] = [];
  let code = header.code;
  let depth = opened ? 1 : 0;
  for (; index < last && index - start < MOST_LINES; index += 1) {
    const line = lines[index] ?? '';
    if (depth > 0) {
      code ??= /^\s{2,10}code: '([A-Z][A-Z0-9_]{2,60})',?$/.exec(line)?.[1] ?? null;
      if (/^\s{0,8}\}$/.test(line)) {
        index += 1;
        break;
      }
      continue;
    }
    if (/^\s{2,40}at /.test(line) || line.startsWith('Require stack:') || /^- \//.test(line)) stack.push(line);
    else if (!/^Emitted 'error' event/.test(line)) break;
    if (line.endsWith(' {')) depth = 1;
  }
  const own = ownFrame(stack);
  return {
    ...header,
    code,
    message: message
      .filter((each) => each !== '')
      .join('\n')
      .trim(),
    file: own?.file ?? null,
    line: own?.line,
    end: index,
  };
};

const IMPORT_CODES =
  /^(?:ERR_)?(?:MODULE_NOT_FOUND|PACKAGE_PATH_NOT_EXPORTED|UNSUPPORTED_DIR_IMPORT|REQUIRE_ESM|UNKNOWN_FILE_EXTENSION|PACKAGE_IMPORT_NOT_DEFINED|REQUIRE_CYCLE_MODULE|UNSUPPORTED_ESM_URL_SCHEME)$/;
const isImportFault = (message: string): boolean =>
  /^Cannot use import statement outside a module|^The requested module .{1,400} does not provide an export named|^Named export .{1,200} not found|^Unexpected token '?export'?|^Cannot find (?:module|package) |^Failed to (?:resolve import|load url) |^require\(\) of ES Module /.test(
    message,
  );

export const categoryOfError = (name: string, code: string | null, message: string): Category => {
  if (name === 'AssertionError' || name === 'JestAssertionError' || code === 'ERR_ASSERTION') return 'test_assertion';
  if ((code !== null && IMPORT_CODES.test(code)) || isImportFault(message)) return 'import';
  if (name === 'SyntaxError') return 'syntax';
  return name === 'TypeCheckError' ? 'type' : 'runtime';
};

/** `err_module_not_found`, `typeerror_read_undefined`, `referenceerror`: the code where there is one, else the class, with what V8 says most. */
export const kindOfError = (name: string, code: string | null, message: string): string => {
  if (code === 'MODULE_NOT_FOUND') return 'err_module_not_found';
  if (code !== null && code !== 'ERR_TEST_FAILURE' && code !== 'GenericFailure') return code.toLowerCase();
  if (name === 'Error' && /^Cannot find (?:module|package) /.test(message)) return 'err_module_not_found';
  if (name === 'TypeError') {
    const read = /^Cannot read propert(?:y|ies) .{0,200}?\bof (undefined|null)\b/.exec(message)?.[1];
    if (read !== undefined) return `typeerror_read_${read}`;
    if (/ is not a function\b/.test(message)) return 'typeerror_not_a_function';
    if (/ is not a constructor\b/.test(message)) return 'typeerror_not_a_constructor';
    if (/ is not iterable\b/.test(message)) return 'typeerror_not_iterable';
  }
  return name.toLowerCase();
};

/** What an import misses, if it is to be had from a registry: not a path of the project, not a builtin. */
export const missingPackage = (message: string): string | undefined => {
  const name =
    /(?:Cannot find (?:module|package)|Failed to resolve import|Failed to load url|Could not resolve) ['"]?([^'"\s]{1,200})/.exec(
      message,
    )?.[1];
  return name === undefined || /^(?:\.|\/|node:|file:|[A-Za-z]:|#|~|@\/)/.test(name) ? undefined : 'npm:*';
};
