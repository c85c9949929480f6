import { plainQuotes } from './c-messages.js';
import type { Category } from './categories.js';
import { slashed } from './normalise.js';
import { slugOf } from './patterns.js';
import { emptyReading, type Finding, type Reading, type ToolFamily } from './types.js';

/** How a native program says that it died: sanitizers, assert, the C library's checks, an exception that nobody caught. */

const SANITIZER = /^(?:==\d{1,10}==)?(?:ERROR|WARNING): (Address|Leak|Memory|Thread|HWAddress|UndefinedBehavior)Sanitizer: ?(.*)$/;
const SHORT: Readonly<Record<string, string>> = {
  Address: 'asan',
  HWAddress: 'hwasan',
  Leak: 'lsan',
  Memory: 'msan',
  Thread: 'tsan',
  UndefinedBehavior: 'ubsan',
};
const UBSAN = /^((?:[A-Za-z]:)?[^\s:][^:]{0,400}):(\d{1,8}):(\d{1,8}): runtime error: (.*)$/;
const FRAME =
  /^ {1,8}#\d{1,3} 0x[0-9a-f]{1,16} (?:in )?(\S.{0,300}?) (?:\(|\/|[A-Za-z]:\\|[\w.-]{1,120}\.[a-z+]{1,4}:\d|<null>|\.\.\/)(.*)$/;
/** Frames of the runtime stand above the program's own. */
const RUNTIME =
  /^(?:__interceptor_|__asan|__sanitizer|__libc|__GI_|_start|operator (?:new|delete)|malloc|free|calloc|realloc|mem(?:cpy|set|move)|str\w{2,8}|std::|__gnu|_?_?assert|abort|raise|pthread_)/;

const UB_KINDS: readonly (readonly [RegExp, string])[] = [
  [/^(?:signed integer overflow|negation of)/, 'signed-integer-overflow'],
  [/^unsigned integer overflow/, 'unsigned-integer-overflow'],
  [/^division by zero/, 'integer-divide-by-zero'],
  [/^index .{1,60} out of bounds/, 'bounds'],
  [/null pointer|^reference binding to null/, 'null'],
  [/misaligned address/, 'alignment'],
  [/^shift exponent/, 'shift-exponent'],
  [/^left shift/, 'shift-base'],
  [/not a valid value/, 'invalid-value'],
  [/outside the range of representable/, 'float-cast-overflow'],
  [/pointer index expression|pointer offset|applying .{1,40} offset/, 'pointer-overflow'],
  [/^execution reached/, 'unreachable'],
];

const ASSERT = /^(?:\S{1,300}: )?((?:[A-Za-z]:)?[^\s:]{1,300}):(\d{1,8}): (.{1,300}?): Assertion [`'‘](.{1,500})' failed\.$/;
const APPLE_ASSERT = /^Assertion failed: \((.{1,500})\), function (\S{1,200}), file (\S{1,300}), line (\d{1,8})\.$/;
const LIBC =
  /^(?:\*\*\* )?(stack smashing detected|buffer overflow detected|double free or corruption|free\(\): [\w ]{1,60}|malloc\(\): [\w ]{1,60}|malloc_consolidate\(\): [\w ]{1,60}|munmap_chunk\(\): [\w ]{1,60}|realloc\(\): [\w ]{1,60}|corrupted size vs\. prev_size|corrupted double-linked list)/;
const TERMINATE =
  /^(?:terminate called after throwing an instance of '([^']{1,300})'|libc\+\+abi: terminating (?:due to|with) uncaught exception of type ([^\s:]{1,300}))/;

const finding = (
  pattern: string,
  category: Category,
  identity: string,
  owner: string | null,
  file: string | null,
  messages: string[],
  place: string,
  at: number,
): Finding => ({
  tool: 'native',
  pattern,
  code: null,
  category,
  file,
  place,
  identity,
  owner,
  messages,
  at,
});

/** The first frame of the program's own: who did it. */
const topFrame = (lines: readonly string[], from: number): string | null => {
  for (const line of lines.slice(from, from + 40)) {
    const name = FRAME.exec(line.slice(0, 600))?.[1];
    if (name !== undefined && !RUNTIME.test(name)) return name.replace(/\(.*$/, '');
  }
  return null;
};

const sanitizerAt = (lines: readonly string[], at: number): Finding | null => {
  const match = SANITIZER.exec((lines[at] ?? '').slice(0, 600));
  if (match === null) return null;
  const kind =
    /^(?:attempting )?(detected memory leaks|data race|SEGV|[a-z][\w-]{2,60}(?: [a-z][\w-]{1,40}){0,2})/.exec(match[2] ?? '')?.[1] ??
    'error';
  const name = kind
    .replace(/ (?:on|in|at|of|\().*$/, '')
    .replace(/^detected memory leaks$/, 'memory-leak')
    .replaceAll(' ', '-')
    .toLowerCase();
  const who = topFrame(lines, at + 1);
  const tool = SHORT[match[1] ?? ''] ?? 'sanitizer';
  return finding(
    `${tool}_${name}`,
    'runtime_crash',
    `${name} in ${who ?? '?'}`,
    who ?? '',
    null,
    [`${match[1]}Sanitizer: ${name}`, ...(who === null ? [] : [`  in ${who}`])],
    '',
    at,
  );
};

const read = (lines: readonly string[]): Reading => {
  const reading = emptyReading(null);
  lines.forEach((line, at) => {
    if (line === '' || line.length > 2_000) return;
    const sanitizer = line.includes('Sanitizer') ? sanitizerAt(lines, at) : null;
    if (sanitizer !== null) reading.findings.push(sanitizer);
    const ub = line.includes(': runtime error: ') ? UBSAN.exec(line) : null;
    if (ub?.[4] !== undefined) {
      const kind = UB_KINDS.find(([words]) => words.test(ub[4]!))?.[1] ?? slugOf(ub[4]);
      const file = slashed(ub[1] ?? '');
      reading.findings.push(
        finding(`ubsan_${kind}`, 'runtime_crash', ub[4], null, file, [`${file}: runtime error: ${ub[4]}`], `${file}:${ub[2]}:${ub[3]}`, at),
      );
    }
    const assertion = line.includes('Assertion ') ? ASSERT.exec(line) : null;
    if (assertion?.[4] !== undefined) {
      const file = slashed(assertion[1] ?? '');
      reading.findings.push(
        finding(
          'c_assertion_failed',
          'test_assertion',
          assertion[4],
          assertion[3] ?? null,
          file,
          [plainQuotes(line)],
          `${file}:${assertion[2]}`,
          at,
        ),
      );
    }
    const apple = line.startsWith('Assertion failed: (') ? APPLE_ASSERT.exec(line) : null;
    if (apple?.[1] !== undefined)
      reading.findings.push(
        finding(
          'c_assertion_failed',
          'test_assertion',
          apple[1],
          apple[2] ?? null,
          slashed(apple[3] ?? ''),
          [line],
          `${apple[3]}:${apple[4]}`,
          at,
        ),
      );
    const libc = LIBC.exec(line)?.[1];
    if (libc !== undefined) reading.findings.push(finding(`libc_${slugOf(libc)}`, 'runtime_crash', libc, null, null, [line], '', at));
    const thrown = TERMINATE.exec(line);
    if (thrown !== null) {
      const type = thrown[1] ?? thrown[2] ?? '';
      const what = /^ {2}what\(\): {1,2}(.*)$/.exec(lines[at + 1] ?? '')?.[1] ?? /: (.*)$/.exec(line.slice(40))?.[1] ?? '';
      reading.findings.push(
        finding(
          'cpp_uncaught_exception',
          'runtime',
          `${type}: ${what}`,
          null,
          null,
          [`uncaught ${type}${what === '' ? '' : `: ${what}`}`],
          '',
          at,
        ),
      );
    }
  });
  if (reading.findings.length > 0) reading.summary = 'failed';
  return reading;
};

const TELLTALE = /Sanitizer: |: runtime error: |: Assertion [`'‘]|^Assertion failed: \(|^terminate called|^libc\+\+abi: terminating/;

export const nativeCrash: ToolFamily = {
  ecosystem: 'c',
  owns: (_words, lines) => lines.some((line) => line.length <= 2_000 && (TELLTALE.test(line) || LIBC.test(line))),
  read,
};
