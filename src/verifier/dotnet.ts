import type { Category } from './categories.js';
import { causeOf } from './infra.js';
import { slashed } from './normalise.js';
import { patternOfTest, slugOf } from './patterns.js';
import { emptyReading, type Finding, findingWith, type InfraKind, type Reading, type ToolFamily } from './types.js';

/** MSBuild, the C# and F# compilers, NuGet, and `dotnet test`. */

const DIAGNOSTIC =
  /^\s{0,4}(?:\d{1,4}>)?(?:(\S.{0,400}?)(?:\((\d{1,7})(?:,(\d{1,7}))?(?:,\d{1,7},\d{1,7})?\))? ?: )?error ([A-Z]{2,10}\d{1,6}|WHITESPACE|CHARSET|FINALNEWLINE|IMPORTS)\s?: (.*?)(?: \[(?:[^\]]{1,400}proj(?:::TargetFramework=[\w.-]{1,40})?|[^\]]{1,400}\.sln)\])?$/;

const CODES: Readonly<Record<string, readonly [string, Category]>> = {
  CS0019: ['operator_not_applicable', 'type'],
  CS0029: ['cannot_convert', 'type'],
  CS0101: ['duplicate_type', 'resolution'],
  CS0103: ['name_not_found', 'resolution'],
  CS0111: ['duplicate_member', 'resolution'],
  CS0117: ['no_member', 'resolution'],
  CS0120: ['object_required', 'resolution'],
  CS0122: ['inaccessible', 'visibility'],
  CS0161: ['missing_return', 'type'],
  CS0165: ['unassigned_variable', 'null_safety'],
  CS0200: ['read_only', 'type'],
  CS0234: ['namespace_not_found', 'import'],
  CS0246: ['type_not_found', 'import'],
  CS0266: ['cannot_convert_implicitly', 'type'],
  CS0305: ['generic_arguments', 'type'],
  CS0311: ['constraint', 'trait_bound'],
  CS0506: ['cannot_override', 'trait_bound'],
  CS0534: ['abstract_not_implemented', 'trait_bound'],
  CS0535: ['interface_not_implemented', 'trait_bound'],
  CS0738: ['interface_return_type', 'trait_bound'],
  CS1061: ['no_member', 'resolution'],
  CS1501: ['argument_count', 'type'],
  CS1503: ['argument_type', 'type'],
  CS5001: ['no_main', 'manifest'],
  CS7036: ['missing_argument', 'type'],
  FS0001: ['type_mismatch', 'type'],
  FS0039: ['not_defined', 'resolution'],
  FS0010: ['syntax', 'syntax'],
  NU1100: ['package_not_resolved', 'dependency'],
  NU1101: ['package_not_found', 'dependency'],
  NU1102: ['version_not_found', 'dependency'],
  NU1103: ['version_not_found', 'dependency'],
  NU1107: ['version_conflict', 'dependency'],
  NU1202: ['incompatible_framework', 'dependency'],
  NU1605: ['package_downgrade', 'dependency'],
  NU1004: ['lock_file_out_of_date', 'dependency'],
};

const categoryOf = (code: string): Category => {
  const number = Number(code.replace(/^\D+/, ''));
  if (/^(?:WHITESPACE|CHARSET|FINALNEWLINE|IMPORTS)$/.test(code)) return 'format';
  if (code.startsWith('CS')) {
    if (number >= 8600 && number <= 8670) return 'null_safety';
    if ((number >= 1001 && number <= 1056) || (number >= 1500 && number <= 1528 && number !== 1501 && number !== 1503)) return 'syntax';
    return 'type';
  }
  if (code.startsWith('NU')) return 'dependency';
  if (/^(?:MSB|NETSDK)/.test(code)) return 'manifest';
  if (code.startsWith('FS')) return 'type';
  return /^(?:CA|IDE|SA|RCS|S|xUnit|NUnit|RS)\d/.test(code) ? 'lint' : 'unknown';
};

/** Codes whose text tells of the machine, and the ones that only say that another command failed. */
const TOOLCHAIN = new Set(['NETSDK1045', 'NETSDK1139', 'NETSDK1147', 'MSB4236', 'MSB3644', 'NETSDK1141', 'NETSDK1073']);
const CLOSING = new Set(['MSB3073', 'MSB6006', 'MSB4181']);

const troubleOf = (code: string, text: string): InfraKind | null => {
  if (TOOLCHAIN.has(code)) return 'toolchain';
  if (/^MSB30(?:21|27|26)$/.test(code) && /being used by another process|locked by/.test(text)) return 'lock';
  if (/^(?:MSB|NU|CS)/.test(code) && /not enough space on the disk|No space left/i.test(text)) return 'disk';
  if (/^(?:NU1301|NU1300|NU1801|NU1900)$/.test(code))
    return causeOf(text) ?? (/\b40[13]\b|Unauthorized|Forbidden/.test(text) ? 'auth' : /\b429\b/.test(text) ? 'rate_limit' : 'registry');
  if (/^MSB/.test(code) && /Access to the path .{1,300} is denied/.test(text)) return 'permission';
  return null;
};

const diagnosticAt = (line: string, lines: readonly string[], at: number, reading: Reading): void => {
  const match = DIAGNOSTIC.exec(line);
  if (match === null) return;
  const [, path, row, column, code = '', text = ''] = match;
  reading.summary = 'failed';
  const around = [text, ...lines.slice(at + 1, at + 4).filter((each) => /^\s{2,}/.test(each))].join(' ');
  const trouble = troubleOf(code, around);
  if (trouble !== null) {
    reading.infra.push({ kind: trouble, tool: 'dotnet', line: line.trim().slice(0, 400), sure: trouble !== 'toolchain', at });
    return;
  }
  const [slug, category] = CODES[code] ?? ['error', categoryOf(code)];
  const file = path === undefined || /^(?:MSBUILD|CSC|VBC|FSC)$/.test(path.trim()) ? null : slashed(path);
  const place = file === null ? '' : `${file}:${row ?? ''}:${column ?? ''}`;
  reading.findings.push(
    findingWith({
      ...{ tool: 'dotnet', pattern: `${code.toLowerCase()}_${slug}`, code, category, file, place, identity: text, at },
      messages: [`${place === '' ? '' : `${place}: `}error ${code}: ${text}`],
      ...(CLOSING.has(code) ? { recovered: true } : {}),
    }),
  );
};

const FAILED = /^\s{0,4}(?:Failed|X) (\S.{0,400}?) \[(?:< )?\d[^\]]{0,20}\]$/;
const FRAME = /^\s+at .{1,400} in (.{1,400}):line (\d{1,7})$/;
const UNHANDLED = /^Unhandled exception\. ([\w.]{1,200}): (.*)$/;

/** `Error Message:` up to `Stack Trace:`: what the assertion said. */
const failedTest = (name: string, lines: readonly string[], at: number): Finding => {
  const body = lines.slice(at + 1, at + 60);
  const from = body.findIndex((line) => /^\s+Error Message:/.test(line));
  const to = body.findIndex((line) => /^\s+Stack Trace:/.test(line));
  const said = from < 0 ? [] : body.slice(from + 1, to < 0 ? from + 10 : to).map((line) => line.trim());
  const frame = body
    .slice(Math.max(to, 0))
    .map((line) => FRAME.exec(line.slice(0, 900)))
    .find((match) => match !== null);
  const thrown = /^([\w.]{1,200}Exception) ?: /.exec(said[0] ?? '')?.[1];
  const kind = thrown === undefined ? 'dotnet_test_failed' : `dotnet_${slugOf(thrown.split('.').at(-1) ?? '')}`;
  const category: Category = thrown === undefined || /Assert|Xunit|NUnit|Shouldly|Fluent/i.test(thrown) ? 'test_assertion' : 'runtime';
  const stable = name.replace(/\(.*$/, '');
  return findingWith({
    ...{ tool: 'dotnet', pattern: patternOfTest(kind, stable), category, owner: stable, identity: said.join('\n'), at },
    ...{ messages: [`test ${name} failed`, ...said.filter((line) => line !== '').map((line) => `  ${line}`)] },
    ...{ file: frame?.[1] === undefined ? null : slashed(frame[1]), place: frame == null ? '' : `${frame[1]}:${frame[2]}` },
  });
};

const read = (lines: readonly string[], words: ReadonlySet<string>): Reading => {
  const reading = emptyReading('dotnet');
  const seen = new Set<string>();
  if (words.has('dotnet')) reading.activity = 'build';
  for (const [at, printed] of lines.entries()) {
    if (printed === '') continue;
    const line = printed.slice(0, 2_000);
    if (line.includes('error ')) diagnosticAt(line, lines, at, reading);
    const name = FAILED.exec(line)?.[1];
    if (name !== undefined && !seen.has(name)) {
      seen.add(name);
      reading.findings.push(failedTest(name, lines, at));
      reading.summary = 'failed';
    }
    const unhandled = UNHANDLED.exec(line);
    if (unhandled?.[1] !== undefined) {
      const frame = FRAME.exec((lines[at + 1] ?? '').slice(0, 900));
      reading.findings.push(
        findingWith({
          ...{ tool: 'dotnet', pattern: `dotnet_${slugOf(unhandled[1].split('.').at(-1) ?? '')}`, category: 'runtime', at },
          ...{ identity: `${unhandled[1]}: ${unhandled[2]}`, messages: [line], file: frame?.[1] === undefined ? null : slashed(frame[1]) },
        }),
      );
    }
    if (/^(?:Failed!|Test Run Failed\.|Build FAILED\.)/.test(line.trim())) reading.summary = 'failed';
    else if (/^(?:Passed!|Build succeeded\.|Test Run Successful\.)/.test(line.trim())) reading.summary ??= 'passed';
    if (/^(?:Starting test execution|Test run for )/.test(line)) reading.activity = 'test';
    else if (/^\s+Determining projects to restore/.test(line)) reading.activity = 'network';
    else if (/^\s+\S+ -> .{1,400}\.dll$|^\s+Restored /.test(line)) reading.activity = 'build';
    if (
      /^(?:A compatible \.NET SDK was not found|You must install (?:or update )?\.NET|The command could not be loaded|.{0,80}It was not possible to find any (?:compatible framework|installed \.NET))/.test(
        line,
      )
    )
      reading.infra.push({ kind: 'toolchain', tool: 'dotnet', line, sure: true, at });
  }
  return reading;
};

export const dotnet: ToolFamily = {
  ecosystem: 'dotnet',
  owns: (words, lines) =>
    words.has('dotnet') ||
    words.has('msbuild') ||
    lines.some(
      (line) =>
        line.length < 2_000 &&
        ((line.includes('error ') && DIAGNOSTIC.test(line) && /error (?:CS|FS|MSB|NU|NETSDK|CA|IDE)\d/.test(line)) ||
          /^(?:Failed|Passed)! {1,3}- Failed: |^Unhandled exception\. System\.|^Build FAILED\.$/.test(line)),
    ),
  read,
};
