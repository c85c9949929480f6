import type { Category } from './categories.js';
import { JDK, jvmCause } from './java-messages.js';
import { emptyReading, type Finding, type Reading, type ToolFamily } from './types.js';

/** The virtual machine and a program in it: exceptions that nobody caught, a heap that ran out, a machine that did not start. */

const UNCAUGHT = /^Exception in thread "([^"]{1,200})" ((?:[\w$]{1,100}\.){0,12}[\w$]{1,100})(?:: (.*))?$/;
const FRAME = /^\s{1,8}at (?:[\w.@-]{1,120}\/{1,2})?([\w$.<>]{1,300})\(([^():]{1,200})(?::(\d{1,7}))?\)/;
const LIBRARY = /^(?:java|javax|jdk|sun|com\.sun|kotlin|scala|org\.(?:junit|opentest4j|hamcrest|assertj|mockito|gradle|apache\.maven))\./;

/** `org.opentest4j.AssertionFailedError` -> `java_assertionfailederror`, and what kind of failure that is. */
export const nameOfException = (type: string): { kind: string; category: Category } => {
  const simple = (type.split(/[.$]/).at(-1) ?? type).toLowerCase();
  if (
    /assertion|comparisonfailure|multiplefailures|wantedbutnotinvoked|neverwanted|noInteractionsWanted|argumentsaredifferent/i.test(
      simple,
    ) ||
    /^org\.mockito\.exceptions\.verification/.test(type)
  )
    return { kind: `java_${simple}`, category: 'test_assertion' };
  if (/^(?:outofmemoryerror|stackoverflowerror|internalerror|virtualmachineerror)$/.test(simple))
    return { kind: `java_${simple}`, category: 'runtime_crash' };
  if (/timedout|timeoutexception/.test(simple) && /^(?:org\.junit|java\.util\.concurrent)/.test(type))
    return { kind: 'test_timeout', category: 'timeout' };
  if (/^(?:noclassdeffounderror|classnotfoundexception)$/.test(simple)) return { kind: `java_${simple}`, category: 'import' };
  return { kind: `java_${simple}`, category: 'runtime' };
};

/** The program's own top frame: class and method, without its line. */
export const topFrame = (lines: readonly string[], from: number): { name: string; file: string; place: string } | null => {
  for (const line of lines.slice(from, from + 60)) {
    const match = FRAME.exec(line.slice(0, 600));
    if (match === null) {
      if (/^\s*(?:Caused by: |\.\.\. \d|\[)/.test(line) || line.startsWith('\t') || line.startsWith('    ')) continue;
      return null;
    }
    if (!LIBRARY.test(match[1] ?? '')) return { name: match[1] ?? '', file: match[2] ?? '', place: `${match[2]}:${match[3] ?? ''}` };
  }
  return null;
};

const VM: readonly (readonly [RegExp, Reading['infra'][number]['kind'], boolean])[] = [
  [
    /^Could not reserve enough space for|^# There is insufficient memory for the Java Runtime|os::commit_memory.{0,200}failed|^Error: Could not create the Java Virtual Machine.*memory/,
    'memory',
    true,
  ],
  [
    /^Unrecognized VM option|^Error: could not find (?:libjava|java)|^The operation couldn.t be completed\. Unable to locate a Java Runtime|^Error: JAVA_HOME is /,
    'toolchain',
    true,
  ],
];

const of = (
  pattern: string,
  category: Category,
  identity: string,
  messages: string[],
  at: number,
  more: Partial<Finding> = {},
): Finding => ({
  ...{ tool: 'java', pattern, code: null, category, file: null, place: '', identity, owner: null, messages, at },
  ...more,
});

const uncaughtAt = (lines: readonly string[], at: number, reading: Reading): void => {
  const line = (lines[at] ?? '').slice(0, 2_000);
  const match = UNCAUGHT.exec(line);
  if (match?.[2] === undefined) return;
  const [, , type = '', message = ''] = match;
  const wrapper = lines.slice(at + 1, at + 40).some((each) => /^\s+at org\.(?:gradle\.wrapper|apache\.maven\.wrapper)\./.test(each));
  const cause = wrapper ? jvmCause(line) : null;
  if (cause !== null || JDK.test(line)) {
    reading.infra.push({ kind: cause ?? 'toolchain', tool: wrapper ? 'gradle' : 'java', line, sure: true, at });
    return;
  }
  const { kind, category } = nameOfException(type);
  const top = topFrame(lines, at + 1);
  reading.findings.push(
    of(
      kind,
      category,
      `${type}: ${message}`,
      [`uncaught ${type}${message === '' ? '' : `: ${message}`}`, ...(top === null ? [] : [`  at ${top.name}`])],
      at,
      {
        ...{ owner: top?.name ?? '', file: top?.file ?? null, place: top?.place ?? '' },
      },
    ),
  );
};

const read = (lines: readonly string[]): Reading => {
  const reading = emptyReading('java');
  for (const [at, printed] of lines.entries()) {
    if (printed === '') continue;
    const line = printed.slice(0, 2_000);
    if (line.startsWith('Exception in thread "')) uncaughtAt(lines, at, reading);
    for (const [words, kind, sure] of VM) if (words.test(line)) reading.infra.push({ kind, tool: 'java', line, sure, at });
    if (
      /^(?:Error: )?(?:A JNI error|LinkageError occurred while loading main class)/.test(line) &&
      lines.slice(at, at + 4).some((each) => JDK.test(each))
    )
      reading.infra.push({ kind: 'toolchain', tool: 'java', line: line.trim(), sure: true, at });
    const main = /^Error: Could not find or load main class (\S{1,300})/.exec(line)?.[1];
    if (main !== undefined) reading.findings.push(of('java_classnotfound', 'import', `main class ${main}`, [line], at));
    else if (/^Error: (?:Main method (?:not found|is not static)|Unable to access jarfile|Invalid or corrupt jarfile)/.test(line))
      reading.findings.push(of(/jarfile/.test(line) ? 'java_jar_not_found' : 'java_no_main_method', 'manifest', line, [line], at));
    else if (/^# A fatal error has been detected by the Java Runtime Environment:/.test(line)) {
      const signal = lines
        .slice(at + 1, at + 6)
        .map((each) => /^#\s+(SIG\w{2,8}|EXCEPTION_\w{1,40}|Internal Error)/.exec(each)?.[1])
        .find((each) => each !== undefined);
      reading.findings.push(
        of('java_vm_crash', 'runtime_crash', `vm crash ${signal ?? ''}`, [`the virtual machine crashed: ${signal ?? ''}`], at),
      );
    }
  }
  if (reading.findings.length > 0) reading.summary = 'failed';
  return reading;
};

const TELLTALE =
  /^Exception in thread "|^Error: (?:Could not find or load main class|Main method|Unable to access jarfile|A JNI error|LinkageError)|^Error occurred during initialization of VM|^# (?:There is insufficient memory for the Java|A fatal error has been detected by the Java)/;

export const java: ToolFamily = {
  ecosystem: 'jvm',
  owns: (words, lines) => words.has('java') || lines.some((line) => TELLTALE.test(line)),
  read,
};
