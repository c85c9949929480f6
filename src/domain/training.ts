import type { LabelFormat, PairFormat, Split } from '../catalogue/queries.js';
import { chanceOf } from './ids.js';

/** A correction pair with its texts. */
export interface PairTexts {
  prompt: string | null;
  chosen: string;
  rejected: string;
}

/** One attempt that passed or failed. */
export interface LabelledText {
  prompt: string | null;
  completion: string;
  passed: boolean;
}

/**
 * The side that everything of a file is on. It follows from the file's name alone, so that no task and no file is ever in both, whatever is
 * exported when.
 */
export function splitOf({ repo, targetFile }: { repo: string; targetFile: string }, validationShare: number): Split {
  return chanceOf(['split', repo, targetFile].join('\0')) < validationShare ? 'validation' : 'train';
}

/**
 * A preference pair as a trainer reads it, with nothing else in it. A task that came without any text has the empty prompt.
 *
 * - `trl`, `trl-conversational`: the standard and the conversational preference format of TRL.
 * - `openrlhf`: whole conversations as `chosen` and `rejected`, for its `--apply_chat_template`.
 * - `axolotl`: `messages` with one answer each as `chosen` and `rejected`, for its `chat_template.default`.
 */
export function pairLine({ prompt, chosen, rejected }: PairTexts, format: PairFormat): object {
  const asked = said('user', prompt ?? '');
  const [good, bad] = [said('assistant', chosen), said('assistant', rejected)];
  switch (format) {
    case 'trl':
      return { prompt: prompt ?? '', chosen, rejected };
    case 'trl-conversational':
      return { prompt: [asked], chosen: [good], rejected: [bad] };
    case 'openrlhf':
      return { chosen: [asked, good], rejected: [asked, bad] };
    case 'axolotl':
      return { messages: [asked], chosen: good, rejected: bad };
    default:
      return format satisfies never;
  }
}

/**
 * One attempt as a KTO trainer reads it: `label` is whether it passed. `trl` and `trl-conversational` are TRL's unpaired preference
 * formats; `openrlhf` names its keys for `--input_key prompt --output_key response --label_key label`.
 */
export function labelLine({ prompt, completion, passed: label }: LabelledText, format: LabelFormat): object {
  switch (format) {
    case 'trl':
      return { prompt: prompt ?? '', completion, label };
    case 'trl-conversational':
      return { prompt: [said('user', prompt ?? '')], completion: [said('assistant', completion)], label };
    case 'openrlhf':
      return { prompt: prompt ?? '', response: completion, label };
    default:
      return format satisfies never;
  }
}

function said(role: 'user' | 'assistant', content: string): { role: string; content: string } {
  return { role, content };
}
