import { plainQuotes } from './c-messages.js';
import type { Category } from './categories.js';
import { causeOf } from './infra.js';
import { slashed } from './normalise.js';
import { maskNames, slugOf } from './patterns.js';
import { emptyReading, type Finding, type Reading, type ToolFamily } from './types.js';

/** make, cmake, ninja, meson: what they say of their own files. That a command of theirs failed is the command's to explain. */

const MAKE = /^(?:g?make|mingw32-make)(?:\[\d{1,3}\])?: (.*)$/;
const MAKEFILE = /^([^\s:]{1,300}):(\d{1,7}): \*\*\* (.*?)\s*(?:Stop|Schluss|Arrêt|停止|。停止)?\.?$/;
const CMAKE = /^CMake Error(?: \(dev\))?(?: at ([^:]{1,300}):(\d{1,7}))?(?: \(([\w:.-]{1,80})\))?:?(?: in .{1,200})?(.*)$/;
const NINJA = /^ninja: (?:error|fatal|fatal error): (.*)$/;
const MESON = /^([^\s:]{0,300}meson\.build):(\d{1,7}):\d{1,7}: ERROR: (.*)$/;
const RECIPE_FAILED = /^\*\*\* \[(?:([^\]:]{1,300}):\d{1,7}: )?([^\]]{1,300})\] (.*)$/;
const STATUS = /^\[ {0,2}\d{1,3}%\] |^\[\d{1,6}\/\d{1,6}\] |^-- |^Scanning dependencies|^Consolidate compiler/;

const finding = (
  tool: string,
  pattern: string,
  category: Category,
  text: string,
  file: string | null,
  place: string,
  at: number,
  more: readonly string[] = [],
): Finding => ({
  tool,
  pattern,
  code: null,
  category,
  file,
  place,
  identity: [text, ...more].join('\n'),
  owner: null,
  messages: [text, ...more],
  at,
});

/** `make: *** No rule to make target 'x', needed by 'y'.` and the like. */
const readMake = (text: string, at: number, reading: Reading): void => {
  const plain = plainQuotes(text);
  const failed = RECIPE_FAILED.exec(text);
  if (failed !== null) {
    reading.summary = 'failed';
    const why = failed[3] ?? '';
    const signal = /^(Segmentation fault|Aborted|Bus error|Floating point exception|Illegal instruction)/.exec(why)?.[1];
    const name = signal === undefined ? undefined : SIGNALS[signal];
    if (name !== undefined)
      reading.findings.push({
        ...finding('make', `signal_${name}`, 'runtime_crash', `${failed[2]}: ${signal}`, null, '', at),
        recovered: true,
      });
    else if (/^(?:Killed|Error 137)\b/.test(why)) reading.infra.push({ kind: 'killed', tool: 'make', line: text, sure: false, at });
    return;
  }
  const missing = /^(\S{1,200}): (?:Command not found|No such file or directory)$/.exec(text);
  if (missing !== null && !text.startsWith('***') && !/[/\\]/.test(missing[1] ?? ''))
    reading.infra.push({ kind: 'toolchain', tool: 'make', line: text, sure: true, at });
  else if (/^(?:\*\*\* )?(?:fork|execvp|vfork): /.test(text) && causeOf(text) !== null)
    reading.infra.push({ kind: causeOf(text)!, tool: 'make', line: text, sure: true, at });
  else if (/^\*\*\* No rule to make target/.test(plain))
    reading.findings.push(finding('make', 'make_no_rule', 'manifest', plain.replace(/\s*Stop\.$/, ''), null, '', at));
  else if (/^\*\*\* No (?:targets|makefile)/.test(plain))
    reading.findings.push(finding('make', 'make_no_makefile', 'manifest', plain, null, '', at));
  else if (/^\*\*\* (?!Waiting|Deleting|\[)/.test(plain))
    reading.findings.push(finding('make', `make_${slugOf(maskNames(plain.slice(4)))}`, 'manifest', plain, null, '', at));
  else return;
  reading.summary = 'failed';
};

const SIGNALS: Readonly<Record<string, string>> = {
  'Segmentation fault': 'sigsegv',
  Aborted: 'sigabrt',
  'Bus error': 'sigbus',
  'Floating point exception': 'sigfpe',
  'Illegal instruction': 'sigill',
};

const CMAKE_NAMES: readonly (readonly [RegExp, string, Category])[] = [
  [
    /Could not find a (?:package configuration|configuration file)|By not providing "|Could NOT find |None of the required '|package '.{1,200}' not found/,
    'package_not_found',
    'manifest',
  ],
  [/Unknown CMake command/, 'unknown_command', 'manifest'],
  [/Parse error|Syntax error in cmake|Function missing ending/, 'parse_error', 'syntax'],
  [/Cannot find source file|No SOURCES given to target/, 'source_not_found', 'manifest'],
  [/does not appear to contain CMakeLists|source directory .{0,300} does not exist/, 'no_lists_file', 'manifest'],
  [/Target .{1,200} (?:not found|links to)|Cannot specify .{1,60} for target/, 'target_not_found', 'manifest'],
  [/Compatibility with CMake < /, 'policy_version', 'build_config'],
];
const CMAKE_TOOLCHAIN =
  /No CMAKE_\w{1,20}_COMPILER could be found|CMake was unable to find a build program|is not able to compile a simple test program|CMAKE_\w{1,20}_COMPILER not set|The CMAKE_\w{1,20}_COMPILER:/;

/** The words of a cmake error are indented under its head; two blank lines, or the margin, end them. */
const cmakeBlock = (lines: readonly string[], at: number): string[] => {
  const block: string[] = [];
  for (const line of lines.slice(at + 1, at + 60)) {
    if (line.trim() !== '' && !/^ {2}/.test(line)) break;
    if (line.trim() === '' && block.at(-1) === '') break;
    block.push(line.trim());
  }
  return block.filter((line) => line !== '');
};

const readCmake = (match: RegExpExecArray, lines: readonly string[], at: number, reading: Reading): void => {
  reading.summary = 'failed';
  const block = cmakeBlock(lines, at);
  const text = [(match[4] ?? '').replace(/^[:\s]+/, ''), ...block].filter((line) => line !== '').join(' ');
  const first = text.split('. ', 1)[0] ?? '';
  if (CMAKE_TOOLCHAIN.test(text))
    return void reading.infra.push({ kind: 'toolchain', tool: 'cmake', line: text.slice(0, 400), sure: true, at });
  if (/CMake \S{1,20} or higher is required/.test(text))
    return void reading.infra.push({ kind: 'toolchain', tool: 'cmake', line: text.slice(0, 400), sure: false, at });
  const download = /\b(?:downloading|DOWNLOAD|download step|Failed to clone|git clone|status_code)\b/.test(text) ? causeOf(text) : null;
  const cause =
    download ?? (/^(?:file |.{0,80}(?:failed to (?:open|write|create)|cannot (?:write|create)))/i.test(text) ? causeOf(text) : null);
  if (cause !== null) return void reading.infra.push({ kind: cause, tool: 'cmake', line: text.slice(0, 400), sure: true, at });
  const file = match[1] === undefined ? null : slashed(match[1]);
  const known = CMAKE_NAMES.find(([words]) => words.test(text));
  const pattern = known === undefined ? `cmake_${slugOf(maskNames(first)) || 'error'}` : `cmake_${known[1]}`;
  reading.findings.push(
    finding(
      'cmake',
      pattern,
      known?.[2] ?? 'manifest',
      `CMake Error${match[3] === undefined ? '' : ` (${match[3]})`}: ${text.slice(0, 600)}`,
      file,
      `${file ?? ''}:${match[2] ?? ''}`,
      at,
    ),
  );
};

const readNinja = (text: string, at: number, reading: Reading): void => {
  reading.summary = 'failed';
  const plain = plainQuotes(text);
  const cause = causeOf(text);
  if (cause !== null) return void reading.infra.push({ kind: cause, tool: 'ninja', line: text, sure: true, at });
  const name = /missing and no known rule/.test(plain)
    ? 'ninja_missing_input'
    : /^loading /.test(plain)
      ? 'ninja_no_build_file'
      : `ninja_${slugOf(maskNames(plain))}`;
  reading.findings.push(finding('ninja', name, 'manifest', plain, null, '', at));
};

const readLine = (line: string, lines: readonly string[], at: number, reading: Reading): void => {
  if (STATUS.test(line)) {
    reading.activity = 'build';
    return;
  }
  const make = MAKE.exec(line)?.[1];
  const file = line.includes(': *** ') ? MAKEFILE.exec(line) : null;
  const cmake = line.startsWith('CMake Error') ? CMAKE.exec(line) : null;
  const ninja = NINJA.exec(line)?.[1];
  const meson = MESON.exec(line);
  if (make !== undefined) readMake(make, at, reading);
  else if (cmake !== null) readCmake(cmake, lines, at, reading);
  else if (ninja !== undefined) readNinja(ninja, at, reading);
  else if (file?.[3] !== undefined) {
    reading.summary = 'failed';
    const syntax = /missing separator|recipe commences|commands commence/.test(file[3]);
    const name = syntax ? 'make_syntax' : `make_${slugOf(maskNames(plainQuotes(file[3])))}`;
    reading.findings.push(finding('make', name, 'manifest', plainQuotes(file[3]), slashed(file[1] ?? ''), `${file[1]}:${file[2]}`, at));
  } else if (meson?.[3] !== undefined) {
    reading.summary = 'failed';
    const name = /^Dependency .* not found/.test(meson[3]) ? 'meson_package_not_found' : `meson_${slugOf(maskNames(meson[3]))}`;
    reading.findings.push(finding('meson', name, 'manifest', meson[3], slashed(meson[1] ?? ''), `${meson[1]}:${meson[2]}`, at));
  } else if (/^ninja: build stopped: |^-- Configuring incomplete, errors occurred/.test(line)) reading.summary = 'failed';
};

const read = (lines: readonly string[], words: ReadonlySet<string>): Reading => {
  const reading = emptyReading(['ninja', 'cmake', 'meson'].find((tool) => words.has(tool)) ?? 'make');
  for (const [at, line] of lines.entries()) if (line !== '') readLine(line.slice(0, 1_000), lines, at, reading);
  return reading;
};

const TELLTALE =
  /^(?:g?make|mingw32-make)(?:\[\d{1,3}\])?: |^CMake Error|^ninja: |^[^\s:]{0,300}meson\.build:\d|^[^\s:]{1,300}:\d{1,7}: \*\*\* /;

export const make: ToolFamily = {
  ecosystem: 'c',
  owns: (words, lines) =>
    ['make', 'gmake', 'cmake', 'ninja', 'meson', 'ctest'].some((word) => words.has(word)) || lines.some((line) => TELLTALE.test(line)),
  read,
};
