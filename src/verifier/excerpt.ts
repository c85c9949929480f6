import type { Finding, InfraEvidence } from './types.js';

/** Texts for people and prompts: bounded, cut on lines, and what was cut is said. */

const LONGEST_EXCERPT = 2_000;
const LONGEST_SOURCE = 4_000;
const LONGEST_LINE = 300;

const bounded = (line: string): string => (line.length <= LONGEST_LINE ? line : `${line.slice(0, LONGEST_LINE)} […]`);

/** Messages of the diagnostics in the order they were printed; those that do not fit are counted by pattern. */
export const excerptOf = (findings: readonly Finding[], infra: readonly InfraEvidence[]): string => {
  const kept: string[] = [];
  const left = new Map<string, number>();
  let size = 0;
  for (const finding of findings) {
    const text = finding.messages.map(bounded).join('\n');
    // Room is kept for the closing line; the first diagnostic is always shown, cut if it must be.
    const room = LONGEST_EXCERPT - 250 - size;
    if (text.length + 1 <= room && left.size === 0) {
      kept.push(text);
      size += text.length + 1;
    } else if (kept.length === 0) {
      kept.push(headOf(text, room));
      size = LONGEST_EXCERPT;
    } else left.set(finding.pattern, (left.get(finding.pattern) ?? 0) + 1);
  }
  if (left.size > 0) kept.push(leftOut(left));
  if (findings.length === 0) for (const { kind, line } of infra.slice(0, 4)) kept.push(`${kind}: ${bounded(line)}`);
  return kept.join('\n');
};

const leftOut = (left: ReadonlyMap<string, number>): string => {
  const total = [...left.values()].reduce((sum, count) => sum + count, 0);
  const names = [...left].slice(0, 6).map(([pattern, count]) => `${pattern.slice(0, 60)} x${count}`);
  const line = `[${total} more left out: ${names.join(', ')}${left.size > 6 ? ', …' : ''}]`;
  return line.length <= 240 ? line : `[${total} more left out, of ${left.size} patterns]`;
};

const headOf = (text: string, room: number): string => {
  const cut = text.slice(0, Math.max(0, room));
  const end = cut.lastIndexOf('\n');
  return `${end > 0 ? cut.slice(0, end) : cut}\n[the rest of this diagnostic was left out]`;
};

/** The text as printed: two thirds from just before the first error on, one third from the end. */
export const sourceExcerptOf = (lines: readonly string[], firstError: number): string => {
  const from = Math.max(0, firstError - 2);
  const head: string[] = [];
  let size = 0;
  let at = from;
  for (; at < lines.length && size < (LONGEST_SOURCE * 2) / 3; at += 1) {
    const line = bounded(lines[at] ?? '');
    head.push(line);
    size += line.length + 1;
  }
  const tail: string[] = [];
  let end = lines.length;
  for (size = 0; end > at && size < LONGEST_SOURCE / 3; end -= 1) {
    const line = bounded(lines[end - 1] ?? '');
    tail.unshift(line);
    size += line.length + 1;
  }
  return [
    ...(from > 0 ? [`[${from} lines before this left out]`] : []),
    ...head,
    ...(end > at ? [`[${end - at} lines left out]`] : []),
    ...tail,
  ]
    .join('\n')
    .trimEnd();
};
