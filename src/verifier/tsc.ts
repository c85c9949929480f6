import { causeOf } from './infra.js';
import { slashed } from './normalise.js';
import { categoryOfCode, patternOfCode } from './patterns.js';
import { emptyReading, type Finding, type Reading, type ToolFamily } from './types.js';

/** tsc: `file(line,col): error TSn: text`, the pretty form `file:line:col - error TSn: text`, and `error TSn: text` of no file. */

const PLAIN = /^(?:(\S.{0,500}?)\((\d{1,8}),(\d{1,8})\): )?error TS(\d{4,5}): (.*)$/;
const PRETTY = /^(\S.{0,500}?):(\d{1,8}):(\d{1,8}) - error TS(\d{4,5}): (.*)$/;
const FOUND = /^Found (\d{1,7}) errors?\b/;
const CHAIN_LINES = 8;

interface Head {
  file: string | null;
  place: string;
  code: string;
  text: string;
}

const headAt = (line: string): Head | null => {
  if (!line.includes('error TS')) return null;
  const match = PRETTY.exec(line) ?? PLAIN.exec(line);
  if (match === null) return null;
  const file = match[1] === undefined ? null : slashed(match[1]);
  return { file, place: file === null ? '' : `${file}:${match[2]}:${match[3]}`, code: `TS${match[4]}`, text: match[5] ?? '' };
};

/** The explanation under a head is indented by two spaces a level, in both forms; a blank line or a frame ends it. */
const chainAt = (lines: readonly string[], from: number): string[] => {
  const chain: string[] = [];
  for (const line of lines.slice(from, from + CHAIN_LINES)) {
    if (!/^ {2,40}\S/.test(line)) break;
    chain.push(line.trim());
  }
  return chain;
};

const read = (lines: readonly string[], words: ReadonlySet<string>): Reading => {
  const reading = emptyReading('tsc');
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? '';
    const head = headAt(line);
    if (head !== null) {
      reading.summary = 'failed';
      const chain = chainAt(lines, at + 1);
      const cause = head.code === 'TS5033' || head.code === 'TS5012' || head.code === 'TS6050' ? causeOf(head.text) : null;
      if (cause !== null) reading.infra.push({ kind: cause, tool: 'tsc', line: line.slice(0, 400), sure: true });
      else reading.findings.push(findingOf(head, chain, at));
      continue;
    }
    const found = FOUND.exec(line);
    if (found !== null) reading.summary = found[1] === '0' ? (reading.summary ?? 'passed') : 'failed';
    else if (words.has('tsc')) readTrouble(line, reading);
  }
  return reading;
};

const findingOf = (head: Head, chain: readonly string[], at: number): Finding => ({
  tool: 'tsc',
  pattern: patternOfCode(head.code),
  code: head.code,
  category: categoryOfCode(head.code),
  file: head.file,
  place: head.place,
  identity: [head.text, ...chain].join('\n'),
  owner: null,
  messages: [`${head.place === '' ? '' : `${head.place} - `}error ${head.code}: ${head.text}`, ...chain.map((line) => `  ${line}`)],
  at,
});

/** The process of the compiler itself: its heap, its installation. A program's own heap is another matter, so only where tsc was called. */
const readTrouble = (line: string, reading: Reading): void => {
  if (/^FATAL ERROR: .{0,200}JavaScript heap out of memory/.test(line))
    reading.infra.push({ kind: 'memory', tool: 'tsc', line, sure: false });
  if (
    /This is not the tsc command you are looking for|^Error: Cannot find module '.{0,300}typescript[\\/](?:bin|lib)[\\/]_?tsc(?:\.js)?'/.test(
      line,
    )
  ) {
    reading.infra.push({ kind: 'toolchain', tool: 'tsc', line: line.trim(), sure: true });
  }
};

export const tsc: ToolFamily = {
  ecosystem: 'js',
  owns: (words, lines) => words.has('tsc') || words.has('typescript') || lines.some((line) => headAt(line) !== null),
  read,
};
