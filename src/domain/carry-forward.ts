import { type CarryMode, type ErrorPattern, type InPrompt, patternKey, type Seat, type Verdict } from '../catalogue/primitives.js';
import { sha256 } from './ids.js';

/** One earlier attempt of a dispatch, as far as a block may tell of it. */
export interface CarriedAttempt {
  attempt: number;
  attemptId: string;
  seat: Seat;
  verdict: Verdict;
  patterns: ErrorPattern[];
  signature: string | null;
  infraKind: string | null;
  firstFailedStep: string | null;
  /** Equal for byte-equal outputs. */
  output: string;
}

/** Attempts that failed in the same way, told as one. */
export interface CarryRecord {
  /** Their numbers, oldest first. */
  attempts: number[];
  /** The newest stands for all. */
  newest: CarriedAttempt;
  /** Of the newest attempt that says one. */
  firstFailedStep: string | null;
  /** An earlier attempt whose output the newest one repeated byte for byte. */
  sameOutputAs: number | null;
}

/** Texts of a record: `diff` null where none was captured or the mode shows none. */
export interface RecordTexts {
  excerpt: string;
  diff: { attempt: number; text: string } | null;
}

export interface CarryBlock {
  /** "" where nothing is carried. */
  text: string;
  /** SHA-256 of the text above its closing line, which says it in short; null for an empty text: nothing, or no room for anything. */
  hash: string | null;
  tokens: number;
  records: {
    attempts: number[];
    verdict: Verdict;
    signature: string | null;
    repeated: number;
    patterns: ErrorPattern[];
    firstFailedStep: string | null;
    diffIncluded: boolean;
    diffCut: boolean;
  }[];
  /** What there was no room for, in the order in which it went. */
  leftOut: string[];
}

/** Characters that a diff is cut at, on a line (domain.md, Carry-forward). */
const MOST_OF_A_DIFF = 2_000;
const MOST_CAUSES = 8;
const LONGEST_NAME = 80;
/** Digits of the closing hash. */
const SHORT_HASH = 12;

const HEADING = 'Earlier attempts at this task, oldest first. They were tried, did not pass and were reverted.';
const PLANNER_HEADING =
  'Why earlier attempts failed, oldest first. All were reverted. These approaches must not be repeated: plan another one.';

export const NOTHING_CARRIED: CarryBlock = { text: '', hash: null, tokens: 0, records: [], leftOut: [] };

/** Attempts with an equal signature are one record, also when others lie between them. What passed is no failure to carry. */
export function foldAttempts(attempts: readonly CarriedAttempt[]): CarryRecord[] {
  const records = new Map<string, CarryRecord>();
  const outputs = new Map<string, number>();
  for (const attempt of attempts) {
    const sameOutputAs = outputs.get(attempt.output) ?? null;
    if (sameOutputAs === null) outputs.set(attempt.output, attempt.attempt);
    if (attempt.verdict === 'pass') continue;
    const key = attempt.signature === null ? attempt.attemptId : `${attempt.verdict} ${attempt.signature}`;
    const before = records.get(key);
    records.set(key, {
      attempts: [...(before?.attempts ?? []), attempt.attempt],
      newest: attempt,
      firstFailedStep: attempt.firstFailedStep ?? before?.firstFailedStep ?? null,
      sameOutputAs,
    });
  }
  return [...records.values()];
}

/**
 * The block of earlier attempts for a retry prompt, or for a planner's (domain.md, Carry-forward): oldest first, labelled, within
 * `maxTokens`. What has no room goes in this order, the oldest of each first: diffs, excerpts, then whole records; how much went is said
 * in the text. It ends with its short hash.
 */
export function composeCarryForward(
  records: readonly (CarryRecord & RecordTexts)[],
  { mode, maxTokens, planner }: { mode: CarryMode; maxTokens: number; planner: boolean },
  countTokens: (text: string) => number,
): CarryBlock {
  if (mode === 'none' || records.length === 0) return NOTHING_CARRIED;
  const parts = records.map(partsOf);
  const draft = new Draft(planner ? PLANNER_HEADING : HEADING, parts, maxTokens, countTokens);
  const { text, hash, tokens, leftOut } = draft.fitted();
  return {
    text,
    hash,
    tokens,
    leftOut,
    records: records.map(({ attempts, newest, firstFailedStep }, index) => ({
      attempts,
      verdict: newest.verdict,
      signature: newest.signature,
      repeated: attempts.length,
      patterns: newest.patterns,
      firstFailedStep,
      diffIncluded: draft.shows(parts[index]!.diff),
      diffCut: parts[index]!.cut && draft.shows(parts[index]!.diff),
    })),
  };
}

/** Whether a prompt holds a block that was handed out: whole, changed, or not at all. `characters` are those of the whole block. */
export function blockIn(prompt: string, block: { contentHash: string; characters: number }): InPrompt {
  const closing = closingLine(block.contentHash);
  const end = prompt.lastIndexOf(closing);
  if (end < 0) return 'missing';
  const start = end - (block.characters - closing.length);
  return start >= 0 && sha256(prompt.slice(start, end)) === block.contentHash ? 'whole' : 'altered';
}

function closingLine(hash: string): string {
  return `[history ${hash.slice(0, SHORT_HASH)}]`;
}

interface Part {
  text: string;
  /** How `leftOut` names it. */
  name: string;
  kind: 'diff' | 'excerpt' | 'record';
}

interface Parts {
  label: Part;
  excerpt: Part | null;
  diff: Part | null;
  cut: boolean;
}

function partsOf(record: CarryRecord & RecordTexts): Parts {
  const { attempts, excerpt, diff } = record;
  const who = `attempt${attempts.length === 1 ? '' : 's'} ${listed(attempts)}`;
  const shown = diff && cutOnLine(diff.text);
  return {
    label: { kind: 'record', name: who, text: labelOf(who, record) },
    excerpt: excerpt === '' ? null : { kind: 'excerpt', name: `excerpt of ${who}`, text: `The verifier said:\n${excerpt}` },
    diff: diff && {
      kind: 'diff',
      name: `diff of attempt ${diff.attempt}`,
      text: `Diff of attempt ${diff.attempt}, reverted:\n${shown!.text}`,
    },
    cut: shown?.cut ?? false,
  };
}

function labelOf(who: string, { attempts, newest, firstFailedStep, sameOutputAs }: CarryRecord): string {
  const { seat, verdict, infraKind, patterns } = newest;
  const name = who.charAt(0).toUpperCase() + who.slice(1);
  const by = seat === 'frontier' ? ', by the frontier' : '';
  const times = attempts.length === 1 ? '' : `, ${attempts.length} times in the same way`;
  const sentences = [`${name}${by}: ${verdict}${verdict === 'blocked' ? ` (${infraKind ?? 'unknown'})` : ''}${times}.`];
  const causes = [...new Map(patterns.map((pattern) => [patternKey(pattern), pattern])).values()];
  if (causes.length > 0) {
    const more = causes.length > MOST_CAUSES ? ` and ${causes.length - MOST_CAUSES} more` : '';
    sentences.push(`${causes.slice(0, MOST_CAUSES).map(causeOf).join(', ')}${more}.`);
  }
  if (firstFailedStep !== null) sentences.push(`First failed step: ${bounded(firstFailedStep)}.`);
  if (sameOutputAs !== null) sentences.push(`Its output was byte for byte that of attempt ${sameOutputAs}.`);
  return sentences.join(' ');
}

function causeOf({ code, pattern, category }: ErrorPattern): string {
  return `${bounded(code ?? pattern)} (${bounded(category.replaceAll('_', ' '))})`;
}

function bounded(text: string): string {
  return text.length <= LONGEST_NAME ? text : `${text.slice(0, LONGEST_NAME - 1)}…`;
}

function listed(numbers: number[]): string {
  if (numbers.length <= MOST_CAUSES) return numbers.join(', ');
  return `${numbers.slice(0, 3).join(', ')}, … ${numbers.slice(-3).join(', ')}`;
}

function cutOnLine(diff: string): { text: string; cut: boolean } {
  const whole = diff.replace(/\n+$/, '');
  if (whole.length <= MOST_OF_A_DIFF) return { text: whole, cut: false };
  const kept = whole.slice(0, Math.max(0, whole.lastIndexOf('\n', MOST_OF_A_DIFF)));
  const mark = `[diff cut here: ${whole.length - kept.length} of ${whole.length} characters left out]`;
  return { text: kept === '' ? mark : `${kept}\n${mark}`, cut: true };
}

/** A block on its way into its bounds. */
class Draft {
  private readonly dropped = new Set<Part>();

  constructor(
    private readonly heading: string,
    private readonly parts: Parts[],
    private readonly maxTokens: number,
    private readonly countTokens: (text: string) => number,
  ) {}

  shows(part: Part | null): boolean {
    return part !== null && !this.dropped.has(part);
  }

  /** Sizes of parts add up to about that of the whole, so most of what must go goes without counting the whole again. */
  fitted(): Omit<CarryBlock, 'records'> {
    const whole = this.measured();
    if (whole.tokens <= this.maxTokens) return whole;
    const sizes = new Map(this.droppable().map((part) => [part, this.countTokens(part.text)]));
    let about = whole.tokens;
    for (const part of sizes.keys()) {
      if (about <= this.maxTokens) {
        const exact = this.measured();
        if (exact.tokens <= this.maxTokens) return exact;
        about = exact.tokens;
      }
      this.dropped.add(part);
      about -= sizes.get(part)!;
    }
    const least = this.measured();
    return least.tokens <= this.maxTokens ? least : { ...NOTHING_CARRIED, leftOut: least.leftOut };
  }

  /** In the order in which they go. */
  private droppable(): Part[] {
    const present = (part: Part | null) => (part === null ? [] : [part]);
    return [
      ...this.parts.flatMap(({ diff }) => present(diff)),
      ...this.parts.flatMap(({ excerpt }) => present(excerpt)),
      ...this.parts.map(({ label }) => label),
    ];
  }

  private measured() {
    const shown = this.parts.flatMap(({ label, excerpt, diff }) => {
      const texts = [label, excerpt, diff].filter((part) => this.shows(part)).map((part) => part!.text);
      return texts.length === 0 ? [] : [texts.join('\n')];
    });
    const left = [...this.dropped];
    const said = left.length === 0 ? [] : [`[left out to keep to ${this.maxTokens} tokens: ${summaryOf(left)}]`];
    const body = `${[this.heading, ...shown, ...said].join('\n\n')}\n`;
    const hash = sha256(body);
    const text = body + closingLine(hash);
    return { text, hash, tokens: this.countTokens(text), leftOut: left.map(({ name }) => name) };
  }
}

function summaryOf(left: Part[]): string {
  const count = (kind: Part['kind']) => left.filter((part) => part.kind === kind).length;
  return (['diff', 'excerpt', 'record'] as const)
    .flatMap((kind) => (count(kind) === 0 ? [] : [`${count(kind)} ${kind}${count(kind) === 1 ? '' : 's'}`]))
    .join(', ');
}
