import { invalidArgument } from './errors.js';

const MAX_PATTERN_LENGTH = 256;
/** Roughly the longest name that a pattern is tried on. */
const NAME_LENGTH = 1000;
const MAX_COST = 4 * NAME_LENGTH ** 2;

/**
 * Compiles a client's regular expression, if it cannot take long: it runs on the event loop of this process, on the name of every event. Refused
 * is what makes a backtracking matcher slow: repeated groups that repeat or choose inside, backreferences, lookarounds, and more repetitions
 * and choices in a row than could be tried out. .NET syntax that JavaScript lacks is refused as well.
 */
export function checkPattern(source: string): RegExp {
  if (source.length > MAX_PATTERN_LENGTH)
    throw invalidArgument(`A filter's regular expression has at most ${MAX_PATTERN_LENGTH} characters.`);
  let pattern: RegExp;
  try {
    pattern = new RegExp(source);
  } catch {
    throw invalidArgument(`Not a regular expression that this node knows: ${source}`);
  }
  const reason = slowBecause(source);
  if (reason !== null) throw invalidArgument(`This node refuses the regular expression ${source}, which could be slow: ${reason}.`);
  return pattern;
}

interface Group {
  /** Whether the same text could be matched in several ways. */
  varies: boolean;
  alternatives: number;
}

/** Walks the pattern once; it has compiled, so brackets are balanced. Counts in how many ways a name could be tried, at worst. */
function slowBecause(source: string): string | null {
  const groups: Group[] = [{ varies: false, alternatives: 1 }];
  // Without an anchor at the start, every place of the name is tried.
  let cost = source.startsWith('^') && !source.includes('|^') ? 1 : NAME_LENGTH;
  let closed: Group | undefined;
  for (let i = 0; i < source.length; i++) {
    const char = source[i]!;
    const repeated = closed;
    closed = undefined;
    if (char === '\\') {
      if (/[1-9k]/.test(source[i + 1] ?? '')) return 'it has a backreference';
      i += 1;
    } else if (char === '[') {
      i = endOfClass(source, i);
    } else if (char === '(') {
      if (source[i + 1] === '?' && source[i + 2] !== ':') return 'it has a lookaround or a named group';
      if (source[i + 1] === '?') i += 2;
      groups.push({ varies: false, alternatives: 1 });
    } else if (char === ')') {
      closed = groups.pop()!;
      cost *= closed.alternatives;
      if (closed.varies) groups.at(-1)!.varies = true;
    } else if (char === '|') {
      groups.at(-1)!.varies = true;
      groups.at(-1)!.alternatives += 1;
    } else if (char === '?') {
      groups.at(-1)!.varies = true;
      cost *= 2;
    } else if (char === '*' || char === '+' || char === '{') {
      if (repeated?.varies === true) return 'a repeated group repeats or chooses inside';
      groups.at(-1)!.varies = true;
      const counted = char === '{' ? source.slice(i, source.indexOf('}', i) + 1) : '';
      if (counted === '' || counted.includes(',')) cost *= NAME_LENGTH;
      i += Math.max(0, counted.length - 1);
      // The mark of a lazy repetition is no choice of its own.
      if (source[i + 1] === '?') i += 1;
    }
  }
  return cost * (groups[0]?.alternatives ?? 1) > MAX_COST ? 'too many repetitions and choices follow each other' : null;
}

function endOfClass(source: string, start: number): number {
  let i = start + 1;
  while (i < source.length && source[i] !== ']') i += source[i] === '\\' ? 2 : 1;
  return i;
}
