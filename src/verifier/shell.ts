import { causeOf } from './infra.js';
import { slashed } from './normalise.js';
import { emptyReading, type Finding, type Reading, type ToolFamily } from './types.js';

/** What shells say of scripts and of the programs that they could not start, and the linter of scripts. */

/** `bash: line 3: `, `./ci.sh: line 3: `, `sh: 1: `, `./ci.sh: 3: ci.sh: `. */
const BASH = /^([\w./-]{1,300}): (?:-c: )?(?:line |Zeile |ligne )?(\d{1,7}): (?:\1: )?(.*)$/;
const NOT_FOUND = /^(\S{1,200}): (?:command )?not found$|^(\S{1,200}): No such file or directory$/;
const SIGNALLED = /^ {0,3}\d{1,10} (Segmentation fault|Aborted|Bus error|Floating point exception|Illegal instruction|Killed)\b/;
const BARE = /^(Segmentation fault|Aborted|Bus error|Floating point exception|Illegal instruction)(?: \(core dumped\))?$/;
const NAMES: Readonly<Record<string, string>> = {
  'Segmentation fault': 'sigsegv',
  Aborted: 'sigabrt',
  'Bus error': 'sigbus',
  'Floating point exception': 'sigfpe',
  'Illegal instruction': 'sigill',
};
const SYNTAX = /^(?:syntax error|[Uu]nexpected|Syntax error: |unterminated|bad substitution|.{1,100}: bad substitution|parse error)/;
const UNBOUND = /^(\S{1,200}): (?:unbound variable|parameter (?:null or )?not set|parameter not set)$/;
const SHELLCHECK = /^In (\S{1,300}) line (\d{1,7}):$/;
const SHELLCHECK_CODE = /^\s*(?:\^[-^]*\^?|\^--) (SC\d{4}) \((error|warning|info|style)\): (.*)$/;
const SHELLCHECK_GCC = /^([^\s:]{1,300}):(\d{1,7}):(\d{1,7}): (?:error|warning|note): (.{1,500}) \[(SC\d{4})\]$/;
const LOADER = /^\S{1,300}: error while loading shared libraries: (\S{1,200}): (.{1,200})$/;

const finding = (
  tool: string,
  pattern: string,
  category: Finding['category'],
  text: string,
  file: string | null,
  place: string,
  at: number,
  more: Partial<Finding> = {},
): Finding => ({
  ...{
    tool,
    pattern,
    code: null,
    category,
    file,
    place,
    identity: text,
    owner: null,
    messages: [place === '' ? text : `${place}: ${text}`],
    at,
  },
  ...more,
});

const crash = (signal: string, at: number): Finding =>
  finding('shell', `signal_${NAMES[signal]}`, 'runtime_crash', signal, null, '', at, { recovered: true });

/** A shell that goes on after a program that is not there fails for other reasons: what a script says counts by where it ends. */
const readShellLine = (match: RegExpExecArray, at: number, reading: Reading): void => {
  const [line = '', script = '', number = '', text = ''] = match;
  const isScript = !/^(?:-?(?:ba|da|z|k|a)?sh)$/.test(script);
  const file = isScript ? slashed(script) : null;
  const place = isScript ? `${script}:${number}` : '';
  const missing = NOT_FOUND.exec(text);
  const signal = SIGNALLED.exec(text)?.[1];
  if (signal === 'Killed') reading.infra.push({ kind: 'killed', tool: 'shell', line, sure: false, at });
  else if (signal !== undefined) reading.findings.push(crash(signal, at));
  else if (missing?.[1] !== undefined) reading.infra.push({ kind: 'toolchain', tool: 'shell', line, sure: true, at });
  else if (SYNTAX.test(text)) reading.findings.push(finding('shell', 'shell_syntax', 'syntax', text, file, place, at));
  else if (UNBOUND.test(text)) reading.findings.push(finding('shell', 'shell_unbound_variable', 'resolution', text, file, place, at));
  else if (/: (?:No space left on device|Read-only file system|Cannot allocate memory)$|^fork: /.test(text) && causeOf(text) !== null)
    reading.infra.push({ kind: causeOf(text)!, tool: 'shell', line, sure: true, at });
  else if (
    /^\S{1,300}: (?:Permission denied|cannot execute: required file not found|cannot execute binary file.*|Is a directory)$/.test(text)
  )
    reading.findings.push(finding('shell', 'shell_not_executable', 'manifest', text, null, '', at, { recovered: true }));
  else if (missing?.[2] !== undefined)
    reading.findings.push(finding('shell', 'shell_no_such_file', 'import', text, file, place, at, { recovered: true }));
};

const read = (lines: readonly string[]): Reading => {
  const reading = emptyReading(null);
  let checked: { file: string; line: string } | null = null;
  for (const [at, printed] of lines.entries()) {
    if (printed === '' || printed.length > 1_000) continue;
    const match = BASH.exec(printed);
    if (match !== null) readShellLine(match, at, reading);
    const bare = BARE.exec(printed)?.[1];
    if (bare !== undefined) reading.findings.push(crash(bare, at));
    const library = LOADER.exec(printed);
    if (library !== null) {
      const kind = causeOf(printed) ?? (/failed to map|cannot allocate/.test(library[2] ?? '') ? 'memory' : 'toolchain');
      reading.infra.push({ kind, tool: 'shell', line: printed, sure: kind !== 'toolchain', at });
    }
    const head = SHELLCHECK.exec(printed);
    if (head?.[1] !== undefined) checked = { file: slashed(head[1]), line: head[2] ?? '' };
    const code = checked === null ? null : SHELLCHECK_CODE.exec(printed);
    const gcc = SHELLCHECK_GCC.exec(printed);
    if (code?.[1] !== undefined && checked !== null) {
      const category = code[2] === 'error' ? 'syntax' : 'lint';
      reading.findings.push(
        finding(
          'shellcheck',
          `shellcheck_${code[1].toLowerCase()}`,
          category,
          code[3] ?? '',
          checked.file,
          `${checked.file}:${checked.line}`,
          at,
        ),
      );
    } else if (gcc?.[5] !== undefined) {
      const file = slashed(gcc[1] ?? '');
      reading.findings.push(
        finding('shellcheck', `shellcheck_${gcc[5].toLowerCase()}`, 'lint', gcc[4] ?? '', file, `${file}:${gcc[2]}:${gcc[3]}`, at),
      );
    }
  }
  if (reading.findings.length > 0) reading.summary = 'failed';
  return reading;
};

const TELLTALE =
  /^[\w./-]{1,300}: (?:-c: )?(?:line |Zeile |ligne )?\d{1,7}: |^In \S{1,300} line \d{1,7}:$|\[SC\d{4}\]$|: error while loading shared libraries: /;

export const shell: ToolFamily = {
  owns: (_words, lines) => lines.some((line) => line.length <= 1_000 && (TELLTALE.test(line) || BARE.test(line))),
  read,
};
