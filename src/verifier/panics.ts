import type { Category } from './categories.js';
import { slashed } from './normalise.js';

/** Rust's panics and aborts, as the runtime prints them. */

export interface Panic {
  thread: string;
  file: string;
  place: string;
  /** First line, then the operands of an assertion. */
  message: string[];
  /** The function that panicked, when a backtrace tells. */
  frame: string | null;
  end: number;
}

const PANIC = /^(?:.{0,200} )?thread '([^']{0,300})' (?:\(\d+\) )?panicked at (.+?):(\d{1,8}):(\d{1,8}):$/;
/** Until Rust 1.72: `thread 'main' panicked at 'message', src/main.rs:2:5`; the message may run over lines. */
const OLD_PANIC = /^thread '([^']{0,300})' panicked at '(.*)$/;
const OLD_END = /^(.*)', ([^']{1,400}):(\d{1,8}):(\d{1,8})$/;
const MESSAGE_LINES = 12;

const isEndOfMessage = (line: string): boolean => line.trim() === '' || /^(?:note: |stack backtrace:|thread '|----|test )/.test(line);

/** Frames of the runtime stand above the program's own: the first that is neither std nor core is who panicked. */
const frameAfter = (lines: readonly string[], from: number): string | null => {
  const start = lines.slice(from, from + 6).findIndex((line) => line.startsWith('stack backtrace:'));
  if (start < 0) return null;
  for (const line of lines.slice(from + start + 1, from + start + 200)) {
    const match = /^ {1,6}\d{1,4}: +(?:0x[0-9a-f]+ - )?(.{1,400})$/.exec(line);
    if (match === null) {
      if (line.startsWith(' ')) continue;
      return null;
    }
    const name = (match[1] ?? '').replace(/\[[0-9a-f]{8,16}\]/g, '').replace(/::h[0-9a-f]{16}$/, '');
    if (!/^(?:<+&?(?:mut )?)?(?:std|core|alloc|__rustc|rust_begin_unwind|test|backtrace)(?:::|$|\b<)|_?rust_/.test(name)) return name;
  }
  return null;
};

export const panicAt = (lines: readonly string[], index: number): Panic | null => {
  const line = lines[index] ?? '';
  if (!line.includes("thread '")) return null;
  const match = PANIC.exec(line);
  if (match !== null) {
    const file = slashed(match[2] ?? '');
    let end = index + 1;
    while (end < lines.length && end - index <= MESSAGE_LINES && !isEndOfMessage(lines[end] ?? '')) end += 1;
    return {
      thread: match[1] ?? '',
      file,
      place: `${file}:${match[3]}:${match[4]}`,
      message: lines.slice(index + 1, end),
      frame: frameAfter(lines, end),
      end,
    };
  }
  const old = OLD_PANIC.exec(line);
  if (old === null) return null;
  const message: string[] = [];
  for (let at = index; at < lines.length && at - index <= MESSAGE_LINES; at += 1) {
    const text = at === index ? (old[2] ?? '') : (lines[at] ?? '');
    const last = OLD_END.exec(text);
    if (last === null) {
      message.push(text);
      continue;
    }
    const file = slashed(last[2] ?? '');
    return {
      thread: old[1] ?? '',
      file,
      place: `${file}:${last[3]}:${last[4]}`,
      message: [...message, last[1] ?? ''],
      frame: frameAfter(lines, at + 1),
      end: at + 1,
    };
  }
  return null;
};

/** What panicked, by the words of the standard library. */
const KINDS: readonly (readonly [RegExp, string, Category])[] = [
  [/^assertion (?:failed: )?`?\(?`?left == right/, 'test_assert_eq', 'test_assertion'],
  [/^assertion (?:failed: )?`?\(?`?left != right/, 'test_assert_ne', 'test_assertion'],
  [/^assertion (?:failed: )?`?\(?`?left matches right/, 'test_assert_matches', 'test_assertion'],
  [/^assertion failed/, 'test_assert', 'test_assertion'],
  [/^called `Result::unwrap\(\)` on an `Err` value/, 'panic_unwrap_err', 'panic'],
  [/^called `Option::unwrap\(\)` on a `None` value/, 'panic_unwrap_none', 'panic'],
  [/^called `Result::(?:unwrap|expect)_err\(\)`/, 'panic_unwrap_ok', 'panic'],
  [/^index out of bounds/, 'panic_index_out_of_bounds', 'panic'],
  [
    /^(?:range (?:start|end) index|slice index starts|byte index|begin <= end|start byte index|end byte index)/,
    'panic_slice_range',
    'panic',
  ],
  [/^attempt to (?:divide by zero|calculate the remainder with a divisor of zero)/, 'panic_divide_by_zero', 'panic'],
  [/^attempt to .{1,60} overflow/, 'panic_arith_overflow', 'panic'],
  [/^not (?:yet )?implemented/, 'panic_unimplemented', 'panic'],
  [/^internal error: entered unreachable code/, 'panic_unreachable', 'panic'],
  [/already (?:mutably )?borrowed/, 'panic_refcell_borrow', 'panic'],
  [/^explicit panic$/, 'panic_explicit', 'panic'],
];

export const kindOfPanic = (message: string): { kind: string; category: Category } | null => {
  for (const [words, kind, category] of KINDS) if (words.test(message)) return { kind, category };
  return null;
};

/** How a process ended without a panic: the runtime's last words. */
export const abortAt = (line: string): { kind: string; thread: string | null } | null => {
  if (line.length > 600) return null;
  const overflow = /^thread '([^']{0,300})' (?:\(\d+\) )?has overflowed its stack$/.exec(line);
  if (overflow !== null) return { kind: 'rust_stack_overflow', thread: overflow[1] ?? null };
  if (/^memory allocation of \d+ bytes failed$/.test(line)) return { kind: 'rust_alloc_failed', thread: null };
  return null;
};
