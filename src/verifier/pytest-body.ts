import { exceptionAt, exceptionNamed, isForeignFrame, missingPackage, type Raised, TRACEBACK, tracebackAt } from './python-errors.js';

/** The block of one failure, in any of pytest's `--tb` styles; JUnit reports hold the same text. */
export interface Body {
  raised: Raised;
  /** Message and, where pytest shortened it, the lines that tell expected from found. */
  identity: string;
  details: string[];
  /** The innermost file of the project on the way to the exception, and the outermost. */
  file: string | null;
  firstFile: string | null;
  line: string | undefined;
  fixture: boolean;
  xpass: boolean;
  needs: string | undefined;
}

const PLACE = /^((?:[A-Za-z]:)?[^\s:"'][^:"']{0,500}):(\d{1,8}): ?(?:in .{1,300}|([\w.]{0,200}))$/;
const CAPTURED = /^-+ Captured (?:stdout|stderr|log) (?:call|setup|teardown) -+$/;
const MOST_MARKED = 400;

const strip = (line: string): string => line.slice(1).trim();

/** Lines that explain a comparison: pytest marks nothing, but each kind has its form. */
const isOperand = (line: string): boolean =>
  /^[-+] (?! where)\S?|^At index \d|^(?:Left|Right) contains|^Omitting|^\{.{0,400}\} != \{/.test(line) &&
  !/^\+ {1,4}(?:where|and) /.test(line);

/** Only where pytest shortened the message: then the lines below it hold what differs, and else they depend on its verbosity. */
const withOperands = (message: string, details: readonly string[]): string =>
  [message, ...(/\.\.\.|…/.test(message) ? details.map((each) => each.trim()).filter(isOperand) : [])].join('\n');

export const readBody = (lines: readonly string[], from: number, to: number): Body => {
  let marked: string[] = [];
  let before = -2;
  let [file, line, firstFile]: [string | null, string | undefined, string | null] = [null, undefined, null];
  let named = '';
  let [fixture, xpass] = [false, false];
  const doctest: string[] = [];
  let inDoctest = false;
  let native: ReturnType<typeof tracebackAt> = null;
  for (let at = from; at < to; at += 1) {
    const text = lines[at] ?? '';
    if (text.startsWith('---') && CAPTURED.test(text.slice(0, 300))) break;
    if (/^E(?: {2,}|$)/.test(text)) {
      if (before !== at - 1) marked = [];
      before = at;
      if (marked.length < MOST_MARKED) marked.push(strip(text));
      if (/^E {2,}fixture '.{1,200}' not found$/.test(text)) fixture = true;
      continue;
    }
    if (text.startsWith('[XPASS(strict)]')) xpass = true;
    else if (/^(?:Expected|Got):$|^Expected nothing$/.test(text)) inDoctest = true;
    else if (text === '') inDoctest = false;
    if (inDoctest) doctest.push(text.trim());
    if (text === TRACEBACK && marked.length === 0) {
      native = tracebackAt(lines, at, to) ?? native;
      continue;
    }
    const place = text.length < 900 ? PLACE.exec(text) : null;
    if (place?.[1] !== undefined) {
      named = place[3] || named;
      if (isForeignFrame(place[1]) || place[1].includes('site-packages')) continue;
      [file, line] = [place[1], place[2]];
      firstFile ??= place[1];
    } else if (marked.length === 0 && /^worker '.{1,20}' crashed while running /.test(text)) marked.push(text);
  }
  if (native !== null && marked.length === 0)
    return {
      raised: native.raised,
      identity: withOperands(native.raised.message, native.rest),
      details: native.rest,
      file: native.file,
      firstFile: native.files[0] ?? null,
      line: native.line,
      fixture,
      xpass,
      needs: missingPackage(native.raised),
    };
  const raised = raisedOf(marked, named);
  const details = marked.slice(1);
  const identity =
    doctest.length > 0
      ? doctest.join('\n')
      : fixture
        ? (marked.find((each) => each.startsWith('fixture ')) ?? '')
        : withOperands(raised.message, details);
  return {
    raised: fixture ? { name: '', message: identity } : raised,
    identity,
    details: doctest.length > 0 ? doctest : details,
    file,
    firstFile,
    line,
    fixture,
    xpass,
    needs: missingPackage(raised),
  };
};

/** The marked lines hold the exception; of a syntax error it is the last of them, of an assertion the class is only told by the place. */
const raisedOf = (marked: readonly string[], named: string): Raised => {
  const first = marked[0] ?? '';
  if (/^File ".{1,600}", line \d/.test(first)) {
    const last = marked.flatMap((each) => exceptionAt(each) ?? []).at(-1);
    if (last !== undefined) return last;
  }
  if (first.startsWith('assert ')) return { name: 'AssertionError', message: first };
  const raised = exceptionNamed(first, named.split('.').at(-1) ?? '') ?? exceptionAt(first);
  const own = raised?.name.split('.').at(-1);
  if (raised !== null && (named === '' || own === named || named.split('.').at(-1) === own)) return raised;
  return named === '' && raised === null
    ? { name: '', message: first }
    : { name: raised?.name ?? named, message: raised?.message ?? first };
};
