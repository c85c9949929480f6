import type { Category } from './categories.js';
import { slashed } from './normalise.js';

/** Exceptions and tracebacks as CPython prints them; pytest and unittest print the same within frames of their own. */

const SYNTAX = new Set(['SyntaxError', 'IndentationError', 'TabError']);
const IMPORT = new Set(['ImportError', 'ModuleNotFoundError']);

export const categoryOfException = (name: string): Category => {
  const own = name.split('.').at(-1) ?? name;
  if (own === 'AssertionError') return 'test_assertion';
  if (SYNTAX.has(own)) return 'syntax';
  return IMPORT.has(own) ? 'import' : 'runtime';
};

/** `json.decoder.JSONDecodeError: Expecting …` */
const EXCEPTION = /^((?:[A-Za-z_][\w]{0,80}\.){0,12}[A-Za-z_]\w{0,120})(?:: ?(.*))?$/;
const EXCEPTION_NAME =
  /(?:Error|Exception|Exit|Interrupt|Warning|Failed|Failure|Iteration|Timeout|TimeoutExpired|NotFound|DoesNotExist|Group|Skipped|Empty|Full|Invalid|Refused|Fault)$/;

export interface Raised {
  /** As printed, with its module. */
  name: string;
  message: string;
}

/** A line `Class: message`; without a message only a name that looks like an exception's counts. */
export const exceptionAt = (line: string): Raised | null => {
  const match = EXCEPTION.exec(line.slice(0, 2_000));
  if (match?.[1] === undefined) return null;
  const own = match[1].split('.').at(-1) ?? '';
  // Exceptions of one's own may have any name, as long as it is a class's and something is said.
  const plausible = EXCEPTION_NAME.test(own) || (match[2] !== undefined && /^[A-Z]/.test(own) && line.includes(': '));
  return plausible ? { name: match[1], message: match[2] ?? '' } : null;
};

/** The same where the class is known from elsewhere: `socket.gaierror` does not look like one. */
export const exceptionNamed = (line: string, own: string): Raised | null => {
  const match = EXCEPTION.exec(line.slice(0, 2_000));
  return match?.[1]?.split('.').at(-1) === own ? { name: match[1], message: match[2] ?? '' } : null;
};

export const exceptionSlug = (name: string): string => (name.split('.').at(-1) ?? name).toLowerCase();

/** `OSError: [Errno 24] Too many open files` -> `oserror_errno_24`: errno says more than the class. */
export const kindOfException = ({ name, message }: Raised): string => {
  const errno = /^\[Errno (-?\d{1,4})\]/.exec(message)?.[1];
  return errno === undefined || exceptionSlug(name) !== 'oserror' ? exceptionSlug(name) : `oserror_errno_${errno}`;
};

/** Which package an import misses: one of the program's own modules is not to be had from anywhere. */
export const missingPackage = ({ name, message }: Raised): string | undefined =>
  name.endsWith('ModuleNotFoundError') && /^No module named '[^'.]{1,200}/.test(message) ? 'pip:*' : undefined;

export const isForeignFrame = (file: string): boolean =>
  /(?:^|\/)(?:site-packages|dist-packages|lib\/python\d(?:\.\d{1,2})?|lib64\/python\d(?:\.\d{1,2})?)\/|^<|\/Python\d{0,3}\/Lib\//i.test(
    slashed(file),
  );

const FRAME = /^ {0,24}(?:\| )?File "([^"]{1,600})", line (\d{1,8})(?:, in (.{1,300}))?$/;

export interface Traceback {
  raised: Raised;
  /** Further lines of the message. */
  rest: string[];
  file: string | null;
  line: string | undefined;
  within: string | null;
  /** Every file of it, outermost first. */
  files: string[];
  end: number;
}

const CHAINED =
  /^(?:During handling of the above exception, another exception occurred:|The above exception was the direct cause of the following exception:)$/;
export const TRACEBACK = 'Traceback (most recent call last):';
const MOST_FRAMES = 5_000;

/** Reads one traceback whose head is at `start`; of a chain the last, which is the one that was not caught. */
export const tracebackAt = (lines: readonly string[], start: number, last = lines.length): Traceback | null => {
  let file: string | null = null;
  let line: string | undefined;
  let within: string | null = null;
  let foreign: [string, string | undefined, string | null] | null = null;
  const files: string[] = [];
  let strangers = 0;
  let index = (lines[start] ?? '').trim() === TRACEBACK ? start + 1 : start;
  for (; index < last && index - start < MOST_FRAMES; index += 1) {
    const text = lines[index] ?? '';
    const frame = FRAME.exec(text.slice(0, 1_000));
    if (frame?.[1] !== undefined) {
      files.push(frame[1]);
      if (isForeignFrame(frame[1])) foreign = [frame[1], frame[2], frame[3] ?? null];
      else [file, line, within] = [frame[1], frame[2], frame[3] ?? null];
      continue;
    }
    if (text.startsWith('  ') || text.trim() === '') {
      if (text.trim() === '' && files.length > 0 && !/^\s/.test(lines[index + 1] ?? '')) break;
      continue;
    }
    const raised = exceptionAt(text);
    if (raised === null) {
      // Another process may write a line or two in between.
      strangers += 1;
      if (strangers > 2) break;
      continue;
    }
    let end = index + 1;
    while (
      end < last &&
      end - index < 30 &&
      (lines[end] ?? '') !== '' &&
      !/^[-=]{20,}$|^ {2}File "/.test(lines[end] ?? '') &&
      isMore(lines[end] ?? '')
    )
      end += 1;
    const rest = lines.slice(index + 1, end);
    let next = end;
    while (next < last && (lines[next] ?? '').trim() === '' && next - end < 3) next += 1;
    if (CHAINED.test(lines[next] ?? '')) {
      const head = [1, 2, 3].find((step) => (lines[next + step] ?? '').trim() === TRACEBACK);
      if (head !== undefined && next + head < last && next + head - start < MOST_FRAMES / 2) {
        index = next + head;
        continue;
      }
    }
    if (file === null && foreign !== null) [file, line, within] = foreign;
    return { raised, rest, file, line, within, files, end };
  }
  return null;
};

/** The message goes on: not another program's line. Python marks nothing, so only indented lines and parts of a diff are taken. */
const isMore = (line: string): boolean => /^(?:[ \t]|[-+?] |First differing|Second list|First list|\^)/.test(line);
