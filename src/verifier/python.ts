import { found } from './found.js';
import { baseName } from './normalise.js';
import { categoryOfException, isForeignFrame, kindOfException, missingPackage, TRACEBACK, tracebackAt } from './python-errors.js';
import type { Grammar, Scan } from './scan.js';

/** What the interpreter says itself: tracebacks, fatal errors, a script or module that it cannot find. */

const FATAL: readonly (readonly [RegExp, string])[] = [
  [/^Segmentation fault/, 'signal_sigsegv'],
  [/^Aborted/, 'signal_sigabrt'],
  [/^Bus error/, 'signal_sigbus'],
  [/^Floating[- ]point exception/, 'signal_sigfpe'],
  [/^Illegal instruction/, 'signal_sigill'],
  [/stack overflow|recursion/i, 'python_stack_overflow'],
];
const HEAD_OF_SYNTAX_ERROR = /^ {2}File "[^"]{1,600}", line \d{1,8}$/;
const NO_MODULE =
  /^(?:\S{0,300}[\\/])?(?:python[\d.]{0,6}|pypy3?|py)(?:\.exe)?: (?:Error while finding module specification for .{0,300}|No module named (\S{1,200}))/i;
const NO_FILE = /^(?:\S{0,300}[\\/])?python[\d.]{0,6}(?:\.exe)?: can't open file '(.{1,400}?)': \[Errno 2\]/i;
const THREADS = /^(?:Current thread|Thread) 0x[0-9a-f]+ (?:\[.{1,40}\] )?\(most recent call first\):$/;

/** faulthandler prints the innermost frame first. */
const crashed = (lines: readonly string[], from: number): { file: string | null; within: string | null; end: number } => {
  let end = from;
  let own: { file: string; within: string | null } | null = null;
  for (; end < lines.length && end - from < 400; end += 1) {
    const line = lines[end] ?? '';
    const frame = /^ {2}File "([^"]{1,600})", line \d{1,8} in (.{1,200})$/.exec(line.slice(0, 900));
    if (frame?.[1] !== undefined && own === null && !isForeignFrame(frame[1])) own = { file: frame[1], within: frame[2] ?? null };
    else if (frame === null && line !== '' && !THREADS.test(line) && !/^(?: {2}|Extension modules: |Python runtime state)/.test(line))
      break;
  }
  return { file: own?.file ?? null, within: own?.within ?? null, end };
};

const readTraceback = (scan: Scan, at: number): number | null => {
  const before = scan.lines[at - 1] ?? '';
  const traceback = tracebackAt(scan.lines, at);
  if (traceback === null) return null;
  // The interpreter goes on after these.
  if (/^Exception ignored (?:in|on)\b/.test(before)) return traceback.end;
  const { raised, file, line, within } = traceback;
  scan.add(
    found({
      tool: 'python',
      pattern: `python_${kindOfException(raised)}`,
      category: categoryOfException(raised.name),
      message: raised.message === '' ? raised.name : `${raised.name}: ${raised.message}`,
      identity: `${raised.name.split('.').at(-1)} ${[raised.message, ...traceback.rest].join('\n')}`,
      owner: `${baseName(file ?? '')}::${within ?? ''}`,
      file,
      at,
      ...(line === undefined ? {} : { line }),
      needs: missingPackage(raised),
    }),
    true,
  );
  return traceback.end;
};

/** Drawn as a tree: the group's own line, and what was raised in it. */
const readGroup = (scan: Scan, at: number): number => {
  let end = at + 1;
  while (end < scan.lines.length && end - at < 2_000 && /^ {2,40}[|+]/.test(scan.lines[end] ?? '')) end += 1;
  const said = scan.lines.slice(at + 1, end).map((line) => line.replace(/^[ |+]{1,40}(?=\S)/, ''));
  const raised = said.flatMap((line) =>
    /^(?:[\w.]{0,200}\.)?\w{1,100}(?:Error|Exception|Group|Exit)\b.{0,400}$/.test(line) ? [line] : [],
  );
  const [file] = said.flatMap((line) => {
    const frame = /^File "([^"]{1,600})", line \d/.exec(line)?.[1];
    return frame === undefined || isForeignFrame(frame) ? [] : [frame];
  });
  scan.add(
    found({
      tool: 'python',
      pattern: 'python_exceptiongroup',
      category: 'runtime',
      message: raised[0] ?? 'ExceptionGroup',
      details: raised.slice(1),
      identity: raised.join('\n'),
      owner: `${baseName(file ?? '')}::`,
      file: file ?? null,
      at,
    }),
    true,
  );
  return end;
};

export const python: Grammar = {
  tool: 'python',
  words: [
    'python',
    'python2',
    'python3',
    'python3.8',
    'python3.9',
    'python3.10',
    'python3.11',
    'python3.12',
    'python3.13',
    'python3.14',
    'pypy',
    'pypy3',
    'py',
    'ipython',
  ],
  telltale: (line) => line === TRACEBACK || NO_MODULE.test(line.slice(0, 500)) || line.startsWith('Fatal Python error: '),
  activity: 'program',
  start: (scan) => ({
    read: (at) => {
      const line = scan.lines[at] ?? '';
      if (line === TRACEBACK || HEAD_OF_SYNTAX_ERROR.test(line.slice(0, 700))) return readTraceback(scan, at);
      if (/^ {2}\+ Exception Group Traceback \(most recent call last\):$/.test(line)) return readGroup(scan, at);
      if (line.startsWith('Fatal Python error: ')) {
        const what = line.slice('Fatal Python error: '.length, 500);
        const { file, within, end } = crashed(scan.lines, at + 1);
        const pattern = FATAL.find(([words]) => words.test(what))?.[1] ?? 'python_fatal_error';
        scan.add(
          found({
            tool: 'python',
            pattern,
            category: 'runtime_crash',
            message: line,
            identity: pattern,
            owner: `${baseName(file ?? '')}::${within ?? ''}`,
            file,
            at,
          }),
        );
        return end;
      }
      if (/^Timeout \(\d{1,3}:\d\d:\d\d(?:\.\d+)?\)!$/.test(line)) {
        const { file, within, end } = crashed(scan.lines, at + 1);
        scan.add(
          found({
            tool: 'python',
            pattern: 'python_timeout',
            category: 'timeout',
            message: line,
            identity: 'timeout',
            owner: `${baseName(file ?? '')}::${within ?? ''}`,
            file,
            at,
          }),
        );
        return end;
      }
      const script = NO_FILE.exec(line.slice(0, 900));
      if (script?.[1] !== undefined) {
        scan.add(
          found({
            tool: 'python',
            pattern: 'python_file_not_found',
            category: 'manifest',
            message: line,
            identity: baseName(script[1]),
            at,
          }),
        );
        return at + 1;
      }
      const module = NO_MODULE.exec(line.slice(0, 700));
      if (module !== null) {
        // `python -m tool`: that the tool is not there is the machine's, if it is a tool.
        scan.infra({
          kind: 'toolchain',
          tool: 'python',
          line,
          sure: /^(?:pytest|mypy|ruff|pip|venv|tox|nox|black|flake8|pylint|coverage|build|unittest)\b/.test(module[1] ?? ''),
        });
        return at + 1;
      }
      return null;
    },
  }),
};
