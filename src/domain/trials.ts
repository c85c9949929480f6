import type { RecordedVerifier } from '../catalogue/commands.js';
import type { StoredText } from '../catalogue/primitives.js';
import { canonicalJson } from './chain.js';
import { sha256 } from './ids.js';

const TRIAL_LENGTH = 20;
/** Trials that a file remembers: outputs seldom come again, and when they do it is soon. */
export const KEPT_TRIALS = 500;

/** How a trial was judged so far; `both`: a verifier that says yes and no to the same thing. */
export type Tried = 'pass' | 'fail' | 'both';

/**
 * Names what was tried: the same output, for the same task on the same base, judged by the same commands. Whoever judges that both ways
 * is a flaky verifier. 20 hex digits.
 */
export function trialOf(
  { taskId, baseHash }: { taskId: string; baseHash: string | null },
  { output, verifier }: { output: StoredText; verifier: RecordedVerifier | null },
): string {
  const commands = verifier && [verifier.tool, verifier.command, ...verifier.steps.map(({ command }) => command)];
  return sha256(canonicalJson([taskId, baseHash, commands, identityOf(output)])).slice(0, TRIAL_LENGTH);
}

/** Long texts are known by the hash of the whole, also where only head and tail were kept. */
function identityOf(output: StoredText): string {
  return 'text' in output ? `text ${output.text}` : `hash ${output.whole?.hash ?? output.payload}`;
}

/** Notes a verdict on a trial; true where it is the first that contradicts an earlier one. The trials of longest ago are forgotten. */
export function tryOnce(trials: Map<string, Tried>, trial: string, verdict: 'pass' | 'fail'): boolean {
  const before = trials.get(trial);
  const now = before === undefined || before === verdict ? verdict : 'both';
  trials.delete(trial);
  trials.set(trial, now);
  if (trials.size > KEPT_TRIALS) trials.delete(trials.keys().next().value!);
  return now === 'both' && before !== 'both';
}
