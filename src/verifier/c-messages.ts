import type { Category } from './categories.js';
import { maskNames, slugOf } from './patterns.js';

/** What gcc and clang mean by a message. Both phrase the same error in their own words; one name stands for both phrasings. */

/** Typographic quotes of every locale as plain ones, so that names can be masked and compared. */
export const plainQuotes = (text: string): string => text.replace(/[‘’‚‛`´»«„“”‹›「」][\u00a0\u202f]?|[\u00a0\u202f][»’]/g, "'");

/** A suggestion is no part of the error; which one is made changes with the rest of the program. */
export const withoutAdvice = (message: string): string =>
  message.replace(/; did you mean .{0,300}$|[;,] (?:use|maybe you meant) .{0,300}$/, '');

const NAMES: readonly (readonly [RegExp, string, Category])[] = [
  [/^internal compiler error|^(?:fatal )?error in backend|^Segmentation fault|^PLEASE submit a bug report/, 'ice', 'tool_crash'],
  [
    /: (?:No such file or directory|Datei oder Verzeichnis nicht gefunden)$|^'[^']*' file not found|没有那个文件或目录$|Aucun fichier ou dossier/,
    'missing_header',
    'import',
  ],
  [
    /^(?:implicit declaration of|call to undeclared (?:library )?function|implicitly declaring)|Implizite Deklaration|隐式声明/,
    'implicit_declaration',
    'resolution',
  ],
  [
    /^unknown type name|does not name a (?:type|template)|^no type named|^(?:use of undeclared|unknown) (?:type|class name)|is not a (?:class, namespace|class or namespace|type)|未知的类型名|unbekannter Typname/,
    'unknown_type',
    'resolution',
  ],
  [
    /has no member named|^no member named|is not a member of|^member reference (?:base )?type .{1,400} is not a|^request for member|hat kein Element namens|没有名为/,
    'no_member',
    'resolution',
  ],
  [
    /undeclared|was not declared in this scope|has not been declared|^use of undeclared|nicht (?:deklariert|in diesem)|未声明|が宣言されていません|n'a pas été déclaré|non déclaré|no se declaró|no fue declarad|не описан|não declarad|non dichiarat/,
    'undeclared',
    'resolution',
  ],
  [
    /^no match for 'operator|^no match for call|^invalid operands to binary|^invalid argument type .{1,300} to unary/,
    'no_match_operator',
    'type',
  ],
  [
    /^no matching (?:function|member function|constructor|conversion)|^call (?:to|of) .{1,400} is ambiguous|^no viable (?:overloaded|constructor)|^candidate /,
    'no_matching_function',
    'type',
  ],
  [
    /^too (?:few|many) arguments|^(?:function|constructor) .{1,200}requires .{1,40}arguments?|^wrong number of template arguments/,
    'argument_count',
    'type',
  ],
  [
    /private within this context|protected within this context|is (?:a )?(?:private|protected)(?: member)?|is inaccessible/,
    'inaccessible',
    'visibility',
  ],
  [/deleted function|implicitly[- ]deleted|deleted (?:constructor|member|copy|special)|^call to deleted/, 'deleted_function', 'type'],
  [
    /abstract (?:class )?type|because the following virtual functions are pure|marked 'override', but does not override|does not override/,
    'abstract_or_override',
    'trait_bound',
  ],
  [/constraints? (?:not|was not) satisfied|unsatisfied constraints|constraints not satisfied/, 'constraint', 'trait_bound'],
  [/^static(?:_assert| assertion) failed|^static_assert/, 'static_assert', 'const_eval'],
  [
    /not a constant expression|must be (?:initialized by )?a constant expression|not (?:an integral )?constant(?: expression)?$|initializer element is not (?:a compile-time )?constant|non-constant/,
    'not_constant',
    'const_eval',
  ],
  [/^#error/, 'error_directive', 'build_config'],
  [
    /read-only|const-qualified|discards? .{0,60}qualifiers?|drops? .{0,60}qualifier|cannot bind .{1,300}(?:lvalue|rvalue)|non-const lvalue reference/,
    'const_violation',
    'type',
  ],
  [
    /incompatible|cannot convert|could not convert|^invalid conversion|^conversion from|no viable conversion|^cannot (?:initialize|assign)|^assigning to|^passing |^initializing|^initialization of|^assignment to|^return(?:ing)? .{0,80}(?:from|makes|with)|makes (?:integer|pointer) from|^wrong type argument|^invalid (?:initializer|operands|cast|type argument|static_cast|use of)|^array (?:subscript|type)|subscripted value|^void value not ignored|^variable or field .{1,200} declared void|called object|^called |cannot be used as a function|^indirection requires|^narrowing conversion|cannot be narrowed|^aggregate value used|^used .{1,40} type value where|^lvalue required|^expression is not assignable|^deduced conflicting|^inconsistent deduction|unable to deduce|^cannot deduce|template argument/,
    'incompatible_types',
    'type',
  ],
  [
    /^redefinition of|^redeclaration|^conflicting (?:types|declaration)|^duplicate (?:case|member|label)|redeclared|cannot be overloaded|^(?:previous|multiple) definition|different type|^functions that differ only/,
    'redefinition',
    'resolution',
  ],
  [
    /^expected |^stray |^missing (?:terminating|binary operator)|^unterminated|^extraneous |^unexpected |^invalid (?:suffix|preprocessing|digit|token)|without a previous|^unbalanced|not allowed here|^empty (?:character|file)|^unknown (?:escape|directive)|^invalid preprocessing|^case label|^(?:break|continue|return) statement|^label |^parameter name omitted|^two or more data types|^#(?:if|else|elif|endif|include)|^macro |^at end of input|^ISO C|^no such instruction|^Error: |^junk at end|^parse error|^syntax error|erwartet|^expr?ected|应输入|预期/i,
    'expected_token',
    'syntax',
  ],
  [/^template instantiation depth|^recursive template instantiation/, 'template_depth', 'type'],
  [
    /unrecogni[sz]ed command[- ]line option|^unknown argument|^unsupported (?:option|argument)|^no input files|^no such file or directory|^invalid (?:value|argument) |^cannot specify -o|^language .{1,60} not recognized/,
    'bad_option',
    'manifest',
  ],
];

/** Warnings that newer standards turned into errors: they are known by what they say, like any error. */
const HARD = new Set([
  'implicit-function-declaration',
  'implicit-int',
  'int-conversion',
  'incompatible-pointer-types',
  'return-mismatch',
  'declaration-missing-parameter-type',
]);

export const nameOfC = (tool: string, message: string, option: string | null): { pattern: string; category: Category } => {
  if (option !== null && !HARD.has(option)) return { pattern: `${tool}_werror_${option}`, category: 'lint' };
  for (const [words, slug, category] of NAMES) if (words.test(message)) return { pattern: `${tool}_${slug}`, category };
  return { pattern: `${tool}_${slugOf(maskNames(message))}`, category: 'unknown' };
};
