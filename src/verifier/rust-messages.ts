import type { Category } from './categories.js';
import { maskNames, slugOf } from './patterns.js';

/** What an error of the Rust tools is called when it carries no code. */
export interface Named {
  pattern: string;
  category: Category;
}

/** Messages that are worth a name of their own. The message is what follows `error: `, its first line. */
const KNOWN: readonly (readonly [RegExp, string, Category])[] = [
  [/^lifetime may not live long enough/, 'rust_lifetime_may_not_live', 'lifetime'],
  [/^cannot find (?:derive |attribute )?macro /, 'rust_macro_not_found', 'resolution'],
  [/^cannot find attribute /, 'rust_attribute_not_found', 'resolution'],
  [/^cannot determine resolution for the /, 'rust_macro_unresolved', 'resolution'],
  [/^(?:this file contains an unclosed delimiter|unclosed delimiter)/, 'rust_unclosed_delimiter', 'syntax'],
  [/^unexpected closing delimiter/, 'rust_unexpected_closing_delimiter', 'syntax'],
  [/^mismatched closing delimiter/, 'rust_mismatched_closing_delimiter', 'syntax'],
  [/^no rules expected /, 'rust_macro_no_rule', 'syntax'],
  [/^recursion limit reached while expanding/, 'rust_macro_recursion', 'build_config'],
  [/^environment variable `[^`]*` not defined at compile time/, 'rust_env_not_defined', 'build_config'],
  [/^couldn't read /, 'rust_included_file_unreadable', 'import'],
  [/^(?:higher-ranked lifetime error|implementation of `[^`]*` is not general enough)/, 'rust_not_general_enough', 'lifetime'],
  [/^captured variable cannot escape /, 'rust_captured_variable_escapes', 'lifetime'],
  [/^future cannot be (?:sent|shared) between threads safely/, 'rust_future_not_send', 'trait_bound'],
  [/^(?:.{1,200} )?(?:cannot be (?:sent|shared) between threads safely)/, 'rust_not_send', 'trait_bound'],
  [/^this (?:operation will panic at runtime|arithmetic operation will overflow)/, 'rust_unconditional_panic', 'lint'],
  [/^(?:internal compiler error|the compiler unexpectedly panicked)/, 'rust_ice', 'tool_crash'],
  [/^rustc interrupted by SIG/, 'rust_compiler_crash', 'tool_crash'],
  [/^cannot construct `[^`]*` with struct literal syntax due to private fields/, 'rust_private_fields_in_literal', 'visibility'],
  [/^let chains are only allowed in Rust 2024/, 'rust_let_chains_edition', 'build_config'],
  [/^format argument must be a string literal/, 'rust_format_not_literal', 'syntax'],
  [
    /^(?:\d+ positional arguments? in format string|invalid format string|argument never used|multiple unused formatting arguments)/,
    'rust_format_arguments',
    'syntax',
  ],
  [/^linking with `[^`]*` failed/, 'rust_link_failed', 'link'],
];

/** The grammar's own complaints: the parser and the lexer speak in these openings. */
const SYNTAX =
  /^(?:expected |unexpected |missing |unknown (?:start of token|character escape|prefix)|unterminated |invalid (?:suffix|character|digit|escape)|incorrect |leading |trailing |numeric character escape|empty character literal|character literal may only|mismatched |found |chained comparison|comparison operators cannot|`[^`]*` is not a valid|macros? (?:expansion|that expand)|attributes? |an inner attribute|inner attributes?|keyword |struct literals? |ambiguous |expected$|cannot parse|free function without a body|visibility |`let` |outer attributes|type parameters must|order of|generic |this file contains|prefix )/;
const TRAIT = /the trait|trait bound|is not (?:dyn compatible|implemented)|trait objects?/;
const TYPE = /^(?:type annotations|concrete type|mismatched|literal out of range|cannot infer|non-primitive cast)/;

export const nameOfMessage = (message: string): Named => {
  const first = message.split('\n', 1)[0] ?? '';
  for (const [words, pattern, category] of KNOWN) if (words.test(first)) return { pattern, category };
  const category: Category = SYNTAX.test(first) ? 'syntax' : TYPE.test(first) ? 'type' : TRAIT.test(first) ? 'trait_bound' : 'unknown';
  return { pattern: `rust_${slugOf(maskNames(first))}`, category };
};

/** `unused_variables` -> `rust_unused_variables`; `clippy::len_zero` -> `clippy_len_zero`. */
export const nameOfLint = (lint: string): Named => {
  const parts = lint.replaceAll('-', '_').split('::');
  const [tool, name] = parts.length > 1 ? [parts[0] ?? 'rust', parts.slice(1).join('_')] : ['rust', parts[0] ?? ''];
  return { pattern: `${tool}_${slugOf(name)}`, category: 'lint' };
};

/** Words that close a run; each is said of other errors, and is none itself. */
const CLOSING =
  /^(?:aborting due to |could not compile |could not document |test failed, to rerun|test run failed|no tests to run|doctest failed, to rerun|bench failed|\d+ targets? failed|build failed|Recipe |unused lint check|\d+ errors? emitted|some errors occurred)/;
export const isClosing = (message: string): boolean => CLOSING.test(message);
